//! Values of rows as this crate's types.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::names::Word;
use crate::{Hidden, Kind, Named, Shape, StoreError};

/// A word that must be one of a column's.
pub(crate) fn word<T: Word>(row: &AnyRow, column: usize) -> Result<T, StoreError> {
    let word: String = row.try_get(column)?;
    T::from_word(&word).ok_or_else(|| strange(&word))
}

/// A word that may be missing.
pub(crate) fn word_if_any<T: Word>(row: &AnyRow, column: usize) -> Result<Option<T>, StoreError> {
    let word: Option<String> = row.try_get(column)?;
    word.map(|word| T::from_word(&word).ok_or_else(|| strange(&word)))
        .transpose()
}

/// How figures came to be.
pub(crate) fn kind(row: &AnyRow, column: usize) -> Result<Kind, StoreError> {
    let word: String = row.try_get(column)?;
    Kind::from_name(&word).ok_or_else(|| strange(&word))
}

/// A count or a length, which is never negative.
pub(crate) fn unsigned<T: TryFrom<i64>>(row: &AnyRow, column: usize) -> Result<T, StoreError> {
    let number: i64 = row.try_get(column)?;
    T::try_from(number).map_err(|_| strange(&number.to_string()))
}

/// A count or a length that may be missing.
pub(crate) fn unsigned_if_any<T: TryFrom<i64>>(
    row: &AnyRow,
    column: usize,
) -> Result<Option<T>, StoreError> {
    let number: Option<i64> = row.try_get(column)?;
    number
        .map(|number| T::try_from(number).map_err(|_| strange(&number.to_string())))
        .transpose()
}

/// A number that stands as 0 where it is unknown.
pub(crate) fn unsigned_if_positive<T: TryFrom<i64>>(
    row: &AnyRow,
    column: usize,
) -> Result<Option<T>, StoreError> {
    let number: i64 = row.try_get(column)?;
    if number == 0 {
        Ok(None)
    } else {
        unsigned(row, column).map(Some)
    }
}

/// Phase, context and concurrency, in three columns.
pub(crate) fn shape(row: &AnyRow, column: usize) -> Result<Shape, StoreError> {
    Ok(Shape {
        phase: word(row, column)?,
        context_tokens: unsigned(row, column + 1)?,
        concurrency: unsigned(row, column + 2)?,
    })
}

/// Slug and name, in two columns.
pub(crate) fn named(row: &AnyRow, column: usize) -> Result<Named, StoreError> {
    Ok(Named {
        slug: row.try_get(column)?,
        name: row.try_get(column + 1)?,
    })
}

/// Slug and name where there are any.
pub(crate) fn named_if_any(row: &AnyRow, column: usize) -> Result<Option<Named>, StoreError> {
    let slug: Option<String> = row.try_get(column)?;
    let name: Option<String> = row.try_get(column + 1)?;
    Ok(slug.zip(name).map(|(slug, name)| Named { slug, name }))
}

/// A text that stands as '' where it is unknown.
pub(crate) fn text_if_any(row: &AnyRow, column: usize) -> Result<Option<String>, StoreError> {
    let text: String = row.try_get(column)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// When a run was hidden and why, in two columns.
pub(crate) fn hidden(row: &AnyRow, column: usize) -> Result<Option<Hidden>, StoreError> {
    let at_ms: Option<i64> = row.try_get(column)?;
    let reason: Option<String> = row.try_get(column + 1)?;
    Ok(at_ms.map(|at_ms| Hidden {
        at_ms,
        reason: reason.unwrap_or_default(),
    }))
}

fn strange(value: &str) -> StoreError {
    StoreError::Damaged {
        what: "a column".to_owned(),
        why: format!("it holds `{value}`"),
    }
}
