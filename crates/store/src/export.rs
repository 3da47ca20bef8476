use std::io::{BufWriter, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use futures_util::TryStreamExt as _;
use serde_json::{Value, json};
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Row as _, query};

use crate::tables::{ColumnKind, Table, tables};
use crate::{Dialect, Store, StoreError};

/// The format of an export.
pub(crate) const EXPORT_FORMAT: u64 = 1;
/// Higher is smaller and slower; documents are compressed already.
const ZSTD_LEVEL: i32 = 3;

/// How much was carried over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Carried {
    /// Tables.
    pub table_count: u64,
    /// Rows of all tables.
    pub row_count: u64,
}

impl Store {
    /// Writes all that is stored as zstd-compressed JSON lines, which
    /// [`Store::import`] reads into either database: a line that says the format,
    /// then of every table a line with its columns and a line for each row, then a
    /// line that says how many there were. It is one state of the database, and the
    /// same from both.
    ///
    /// # Errors
    /// When the database fails or `out` does.
    pub async fn export(&self, out: impl Write) -> Result<Carried, StoreError> {
        let mut out = BufWriter::new(zstd::Encoder::new(out, ZSTD_LEVEL)?);
        let mut reading = self.begin_reading().await?;
        let migrations = migrations(&mut reading).await?;
        let head = json!({ "tokgrid_export": EXPORT_FORMAT, "migrations": migrations });
        writeln!(out, "{head}")?;
        let mut carried = Carried::default();
        for table in tables(&mut reading, self.dialect).await? {
            let last = last_number(&mut reading, self.dialect, &table).await?;
            let columns: Vec<&str> = names(&table).collect();
            let head = json!({ "table": table.name, "columns": columns, "last_number": last });
            writeln!(out, "{head}")?;
            let sql = AssertSqlSafe(select(self.dialect, &table));
            let mut rows = query(sql).fetch(&mut *reading);
            while let Some(row) = rows.try_next().await? {
                serde_json::to_writer(&mut out, &values(&table, &row)?)
                    .map_err(std::io::Error::from)?;
                out.write_all(b"\n")?;
                carried.row_count += 1;
            }
            carried.table_count += 1;
        }
        reading.rollback().await?;
        writeln!(out, "{}", json!({ "end": true, "rows": carried.row_count }))?;
        let encoder = out.into_inner().map_err(|error| error.into_error())?;
        encoder.finish()?.flush()?;
        Ok(carried)
    }
}

/// The names of a table's columns.
pub(crate) fn names(table: &Table) -> impl Iterator<Item = &str> {
    table.columns.iter().map(|column| column.name.as_str())
}

/// The numbers of the migrations that made the tables.
pub(crate) async fn migrations(connection: &mut AnyConnection) -> Result<Vec<i64>, StoreError> {
    let rows = query("SELECT version FROM _sqlx_migrations ORDER BY version")
        .fetch_all(connection)
        .await?;
    rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
}

/// The last number given to a row, also one that is deleted; `None` where nothing is
/// numbered.
async fn last_number(
    connection: &mut AnyConnection,
    dialect: Dialect,
    table: &Table,
) -> Result<Option<i64>, StoreError> {
    let Some(column) = &table.numbered else {
        return Ok(None);
    };
    let row = match dialect {
        Dialect::Sqlite => {
            query("SELECT seq FROM sqlite_sequence WHERE name = $1")
                .bind(table.name.as_str())
                .fetch_optional(connection)
                .await?
        }
        Dialect::Postgres => {
            let sequence: String = query("SELECT pg_get_serial_sequence(quote_ident($1), $2)")
                .bind(table.name.as_str())
                .bind(column.as_str())
                .fetch_one(&mut *connection)
                .await?
                .try_get(0)?;
            let sql =
                format!("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}");
            query(AssertSqlSafe(sql)).fetch_optional(connection).await?
        }
    };
    let last = row.map(|row| row.try_get(0)).transpose()?;
    Ok(Some(last.unwrap_or(0)))
}

/// Selects all of a table in an order that both databases agree on.
fn select(dialect: Dialect, table: &Table) -> String {
    let collate = match dialect {
        Dialect::Sqlite => "",
        Dialect::Postgres => " COLLATE \"C\"",
    };
    let is_text = |key: &str| {
        table
            .columns
            .iter()
            .any(|column| column.name == key && column.kind == ColumnKind::Text)
    };
    let order = table.key.iter().map(|key| {
        let collate = if is_text(key) { collate } else { "" };
        format!("{key}{collate}")
    });
    format!(
        "SELECT {} FROM {} ORDER BY {}",
        names(table).collect::<Vec<_>>().join(", "),
        table.name,
        order.collect::<Vec<_>>().join(", ")
    )
}

fn values(table: &Table, row: &AnyRow) -> Result<Vec<Value>, StoreError> {
    let mut values = Vec::with_capacity(table.columns.len());
    for (place, column) in table.columns.iter().enumerate() {
        values.push(match column.kind {
            ColumnKind::Integer => row.try_get::<Option<i64>, _>(place)?.into(),
            ColumnKind::Float => row.try_get::<Option<f64>, _>(place)?.into(),
            ColumnKind::Text => row.try_get::<Option<String>, _>(place)?.into(),
            ColumnKind::Bytes => row
                .try_get::<Option<Vec<u8>>, _>(place)?
                .map(|bytes| BASE64.encode(bytes))
                .into(),
        });
    }
    Ok(values)
}
