use sqlx::any::AnyArguments;
use sqlx::query::Query;
use sqlx::{Any, Arguments as _, AssertSqlSafe, Encode, Type};

use crate::StoreError;

/// A statement put together from pieces of this crate's own text; everything that
/// comes from outside is bound.
#[derive(Default)]
pub(crate) struct Statement {
    text: String,
    arguments: AnyArguments,
}

impl Statement {
    pub(crate) fn new(text: &str) -> Statement {
        Statement {
            text: text.to_owned(),
            arguments: AnyArguments::default(),
        }
    }

    pub(crate) fn push(&mut self, text: &str) -> &mut Statement {
        self.text.push_str(text);
        self
    }

    /// Writes a placeholder for a value.
    pub(crate) fn bind<'value, T>(&mut self, value: T) -> Result<&mut Statement, StoreError>
    where
        T: Encode<'value, Any> + Type<Any>,
    {
        self.arguments.add(value).map_err(sqlx::Error::Encode)?;
        self.text.push('$');
        self.text.push_str(&self.arguments.len().to_string());
        Ok(self)
    }

    /// Writes placeholders for values, separated by commas.
    pub(crate) fn bind_all<'value, T>(
        &mut self,
        values: impl IntoIterator<Item = T>,
    ) -> Result<&mut Statement, StoreError>
    where
        T: Encode<'value, Any> + Type<Any>,
    {
        for (place, value) in values.into_iter().enumerate() {
            if place > 0 {
                self.text.push_str(", ");
            }
            self.bind(value)?;
        }
        Ok(self)
    }

    pub(crate) fn query(self) -> Query<'static, Any, AnyArguments> {
        sqlx::query_with(AssertSqlSafe(self.text), self.arguments)
    }

    /// For statements with figures that may be missing: `Any` tells PostgreSQL another
    /// type for a missing figure than for a figure, so the statement may not be kept
    /// for the next figures. Also for those whose length varies.
    pub(crate) fn query_once(self) -> Query<'static, Any, AnyArguments> {
        self.query().persistent(false)
    }
}
