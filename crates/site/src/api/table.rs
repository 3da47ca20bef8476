//! Lists as CSV.

use super::problem::ApiError;

/// What a spreadsheet takes for the beginning of a formula.
const FORMULA_STARTS: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// A line of a table.
pub(super) trait Row {
    /// The names of the columns.
    const COLUMNS: &'static [&'static str];

    /// One field for each column.
    fn fields(&self) -> Vec<String>;
}

/// The table with a header line, which an empty list has too.
pub(super) fn csv<T: Row>(rows: &[T]) -> Result<Vec<u8>, ApiError> {
    let unwritable = |error: csv::Error| ApiError::Unwritable(error.to_string());
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(T::COLUMNS).map_err(unwritable)?;
    for row in rows {
        writer.write_record(row.fields()).map_err(unwritable)?;
    }
    writer
        .into_inner()
        .map_err(|error| ApiError::Unwritable(error.to_string()))
}

/// A text that no spreadsheet runs as a formula: an apostrophe before it, which
/// spreadsheets do not show.
pub(super) fn text(text: &str) -> String {
    if text.starts_with(FORMULA_STARTS) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

/// A text that need not be there.
pub(super) fn maybe(given: Option<&str>) -> String {
    given.map(text).unwrap_or_default()
}

/// A number that need not be there.
pub(super) fn number<N: ToString>(given: Option<N>) -> String {
    given.map(|number| number.to_string()).unwrap_or_default()
}
