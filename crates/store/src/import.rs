use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::Value;
use sqlx::{AnyConnection, AssertSqlSafe, Row as _, query};

use crate::export::{Carried, EXPORT_FORMAT, migrations, names};
use crate::statement::Statement;
use crate::tables::{Column, ColumnKind, Table, tables};
use crate::{Dialect, Store, StoreError};

/// Values of one statement: both databases bound their number.
const VALUES_AT_ONCE: usize = 10_000;
/// Bytes of one statement: a row of documents is long.
const BYTES_AT_ONCE: usize = 4 << 20;

/// The first line.
#[derive(Deserialize)]
struct Head {
    tokgrid_export: u64,
    migrations: Vec<i64>,
}

/// A line that is no row.
#[derive(Deserialize)]
#[serde(untagged)]
enum Mark {
    Table {
        table: String,
        columns: Vec<String>,
        last_number: Option<i64>,
    },
    End {
        rows: u64,
    },
}

impl Store {
    /// Reads what [`Store::export`] wrote, of either database, into an empty one: all
    /// or nothing, and then checks it.
    ///
    /// # Errors
    /// [`StoreError::NotEmpty`] for a database that has rows, [`StoreError::Export`]
    /// for a file that is no export of this version or is cut off.
    pub async fn import(&self, input: impl Read) -> Result<Carried, StoreError> {
        let mut transaction = self.begin_writing().await?;
        let tables = tables(&mut transaction, self.dialect).await?;
        for table in &tables {
            let sql = AssertSqlSafe(format!("SELECT 1 FROM {} LIMIT 1", table.name));
            if query(sql)
                .fetch_optional(&mut *transaction)
                .await?
                .is_some()
            {
                return Err(StoreError::NotEmpty(table.name.clone()));
            }
        }
        let migrations = migrations(&mut transaction).await?;
        let mut lines = Lines {
            input: BufReader::new(zstd::Decoder::new(input)?),
            line: String::new(),
            number: 0,
        };
        lines.read_head(&migrations)?;
        let mut import = Import {
            dialect: self.dialect,
            tables: tables
                .into_iter()
                .map(|table| (table.name.clone(), table))
                .collect(),
            batch: None,
            carried: Carried::default(),
        };
        import.read(&mut lines, &mut transaction).await?;
        transaction.commit().await?;
        let report = self.check().await?;
        match report.differences.first() {
            None => Ok(import.carried),
            Some(first) => Err(StoreError::ImportDiffers(format!(
                "{} differences, which `tokgrid db check` tells; the first: {first}",
                report.difference_count
            ))),
        }
    }
}

/// The lines of an export.
struct Lines<R> {
    input: R,
    line: String,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> Result<&str, StoreError> {
        self.line.clear();
        self.number += 1;
        if self.input.read_line(&mut self.line)? == 0 {
            return Err(self.wrong("it ends before its last line: export again"));
        }
        Ok(&self.line)
    }

    fn wrong(&self, why: impl ToString) -> StoreError {
        StoreError::Export {
            line: self.number,
            why: why.to_string(),
        }
    }

    fn read_head(&mut self, migrations: &[i64]) -> Result<(), StoreError> {
        let head = serde_json::from_str::<Head>(self.next()?);
        let head = head.map_err(|_| {
            self.wrong("this is no export: give a file that `tokgrid db export` wrote")
        })?;
        if head.tokgrid_export != EXPORT_FORMAT || head.migrations != migrations {
            return Err(self.wrong(
                "it is of another version: export it with this version, after `tokgrid db migrate`",
            ));
        }
        Ok(())
    }
}

/// Rows on their way into a table.
struct Batch {
    table: Table,
    rows: Vec<Vec<Value>>,
    bytes: usize,
    last_number: Option<i64>,
}

struct Import {
    dialect: Dialect,
    /// Those that are still to come.
    tables: BTreeMap<String, Table>,
    batch: Option<Batch>,
    carried: Carried,
}

impl Import {
    async fn read<R: BufRead>(
        &mut self,
        lines: &mut Lines<R>,
        connection: &mut AnyConnection,
    ) -> Result<(), StoreError> {
        loop {
            let line = lines.next()?;
            if line.starts_with('[') {
                let bytes = line.len();
                let row: Vec<Value> =
                    serde_json::from_str(line).map_err(|error| lines.wrong(error))?;
                self.take_row(row, bytes).map_err(|why| lines.wrong(why))?;
                if self.batch.as_ref().is_some_and(Batch::is_full) {
                    self.flush(connection, lines).await?;
                }
                continue;
            }
            let mark: Mark = serde_json::from_str(line).map_err(|error| lines.wrong(error))?;
            self.flush(connection, lines).await?;
            if let Some(batch) = self.batch.take() {
                set_last_number(connection, self.dialect, &batch).await?;
            }
            match mark {
                Mark::Table {
                    table,
                    columns,
                    last_number,
                } => {
                    let batch = self.begin(&table, &columns, last_number);
                    self.batch = Some(batch.map_err(|why| lines.wrong(why))?);
                    self.carried.table_count += 1;
                }
                Mark::End { rows } if rows == self.carried.row_count && self.tables.is_empty() => {
                    return Ok(());
                }
                Mark::End { .. } => {
                    return Err(lines.wrong("rows or tables are missing: export again"));
                }
            }
        }
    }

    fn begin(
        &mut self,
        name: &str,
        columns: &[String],
        last_number: Option<i64>,
    ) -> Result<Batch, String> {
        let table = self
            .tables
            .remove(name)
            .ok_or_else(|| format!("there is no table `{name}`, or it was there before"))?;
        if !names(&table).eq(columns.iter().map(String::as_str)) {
            return Err(format!("the table `{name}` has other columns here"));
        }
        Ok(Batch {
            table,
            rows: Vec::new(),
            bytes: 0,
            last_number,
        })
    }

    fn take_row(&mut self, row: Vec<Value>, bytes: usize) -> Result<(), String> {
        let batch = self.batch.as_mut().ok_or("a row without a table")?;
        if row.len() != batch.table.columns.len() {
            return Err(format!(
                "{} values for {} columns",
                row.len(),
                batch.table.columns.len()
            ));
        }
        batch.rows.push(row);
        batch.bytes += bytes;
        self.carried.row_count += 1;
        Ok(())
    }

    async fn flush<R: BufRead>(
        &mut self,
        connection: &mut AnyConnection,
        lines: &Lines<R>,
    ) -> Result<(), StoreError> {
        let Some(batch) = self.batch.as_mut().filter(|batch| !batch.rows.is_empty()) else {
            return Ok(());
        };
        let table = &batch.table;
        let columns: Vec<&str> = names(table).collect();
        let mut statement = Statement::new("INSERT INTO ");
        statement
            .push(&table.name)
            .push(" (")
            .push(&columns.join(", "))
            .push(") VALUES ");
        for (place, row) in std::mem::take(&mut batch.rows).into_iter().enumerate() {
            statement.push(if place == 0 { "(" } else { ", (" });
            for (place, (column, value)) in table.columns.iter().zip(row).enumerate() {
                statement.push(if place == 0 { "" } else { ", " });
                let is_bound = bind(&mut statement, column, value)?;
                if !is_bound {
                    return Err(lines.wrong(format!(
                        "at or before this line, {} of {} has a value of another type",
                        column.name, table.name
                    )));
                }
            }
            statement.push(")");
        }
        batch.bytes = 0;
        statement.query_once().execute(connection).await?;
        Ok(())
    }
}

impl Batch {
    fn is_full(&self) -> bool {
        (self.rows.len() + 1) * self.table.columns.len() > VALUES_AT_ONCE
            || self.bytes > BYTES_AT_ONCE
    }
}

/// Binds a value as its column's type; false where it is none of it.
fn bind(statement: &mut Statement, column: &Column, value: Value) -> Result<bool, StoreError> {
    let is_missing = value.is_null();
    let is_of_type = match column.kind {
        ColumnKind::Integer => {
            let value = value.as_i64();
            statement.bind(value)?;
            value.is_some()
        }
        ColumnKind::Float => {
            let value = value.as_f64();
            statement.bind(value)?;
            value.is_some()
        }
        ColumnKind::Text => {
            let value = value.as_str();
            statement.bind(value)?;
            value.is_some()
        }
        ColumnKind::Bytes => {
            let value = value.as_str().and_then(|value| BASE64.decode(value).ok());
            let is_of_type = value.is_some();
            statement.bind(value)?;
            is_of_type
        }
    };
    Ok(is_of_type || is_missing)
}

/// Goes on numbering where the other database would have.
async fn set_last_number(
    connection: &mut AnyConnection,
    dialect: Dialect,
    batch: &Batch,
) -> Result<(), StoreError> {
    let (Some(column), Some(last)) = (&batch.table.numbered, batch.last_number) else {
        return Ok(());
    };
    let name = batch.table.name.as_str();
    match dialect {
        Dialect::Sqlite => {
            query("DELETE FROM sqlite_sequence WHERE name = $1")
                .bind(name)
                .execute(&mut *connection)
                .await?;
            query("INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)")
                .bind(name)
                .bind(last)
                .execute(connection)
                .await?;
        }
        Dialect::Postgres => {
            // A sequence that gave no number yet begins with 1.
            let row = query(
                "SELECT setval(pg_get_serial_sequence(quote_ident($1), $2), \
                 CASE WHEN $3 > 0 THEN $3 ELSE 1 END, $3 > 0)",
            )
            .bind(name)
            .bind(column.as_str())
            .bind(last)
            .fetch_one(connection)
            .await?;
            row.try_get::<i64, _>(0)?;
        }
    }
    Ok(())
}
