use futures_util::TryStreamExt as _;
use serde::Serialize;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Column as _, Row as _, query};

use crate::kept_sql::KEPT;
use crate::tables::{Table, tables};
use crate::{Store, StoreError, check_documents};

/// Differences that are told; more are counted.
const DIFFERENCES_TOLD_MAX: usize = 100;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct CheckReport {
    /// Runs whose documents were read.
    pub run_count: u64,
    /// Cells that were compared with their documents.
    pub cell_count: u64,
    /// All differences.
    pub difference_count: u64,
    /// The first of them, each in a sentence.
    pub differences: Vec<String>,
}

impl CheckReport {
    /// Whether all is as it must be.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.difference_count == 0
    }

    pub(crate) fn found(&mut self, difference: String) {
        self.difference_count += 1;
        if self.differences.len() < DIFFERENCES_TOLD_MAX {
            self.differences.push(difference);
        }
    }
}

impl Store {
    /// Proves that documents have the content they are named by, that columns say what
    /// the documents say, that counts and best cells are what the cells make them, and
    /// that nothing refers to what is not there.
    ///
    /// # Errors
    /// When the database fails; a difference is no error.
    pub async fn check(&self) -> Result<CheckReport, StoreError> {
        let mut report = CheckReport::default();
        let mut reading = self.begin_reading().await?;
        check_documents::check(&mut reading, &mut report).await?;
        let last = last_configuration_key(&mut reading).await?;
        for kept in KEPT {
            for (sql, fault) in [
                (kept.superfluous(), "kept, and not so by the runs:"),
                (kept.missing(), "by the runs, and not kept so:"),
            ] {
                for part in kept.parts(&sql, last) {
                    let mut rows = part.query().fetch(&mut *reading);
                    while let Some(row) = rows.try_next().await? {
                        report.found(format!("{}: {fault} {}", kept.table, told(&row)?));
                    }
                }
            }
        }
        for table in tables(&mut reading, self.dialect).await? {
            check_references(&mut reading, &table, &mut report).await?;
        }
        reading.rollback().await?;
        Ok(report)
    }

    /// Makes counts and best cells anew from the runs.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn rebuild(&self) -> Result<(), StoreError> {
        let mut transaction = self.begin_writing().await?;
        let last = last_configuration_key(&mut transaction).await?;
        for kept in KEPT {
            for sql in kept.rebuild() {
                for part in kept.parts(&sql, last) {
                    part.query().execute(&mut *transaction).await?;
                }
            }
        }
        transaction.commit().await?;
        Ok(())
    }
}

async fn last_configuration_key(connection: &mut AnyConnection) -> Result<i64, StoreError> {
    let row = query("SELECT COALESCE(MAX(configuration_key), 0) FROM configurations")
        .fetch_one(connection)
        .await?;
    Ok(row.try_get(0)?)
}

async fn check_references(
    connection: &mut AnyConnection,
    table: &Table,
    report: &mut CheckReport,
) -> Result<(), StoreError> {
    let name = &table.name;
    for reference in &table.references {
        let (column, to_table, to) = (&reference.column, &reference.table, &reference.to);
        let sql = format!(
            "SELECT COUNT(*) FROM {name} f WHERE f.{column} IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM {to_table} t WHERE t.{to} = f.{column})"
        );
        let row = query(AssertSqlSafe(sql))
            .fetch_one(&mut *connection)
            .await?;
        let count: i64 = row.try_get(0)?;
        if count > 0 {
            report.found(format!(
                "{name}: {count} rows have a {column} that is in no row of {to_table}"
            ));
        }
    }
    Ok(())
}

/// A row as `column value, column value`.
fn told(row: &AnyRow) -> Result<String, StoreError> {
    let mut told = Vec::with_capacity(row.len());
    for (place, column) in row.columns().iter().enumerate() {
        let value = if let Ok(value) = row.try_get::<Option<i64>, _>(place) {
            value.map(|value| value.to_string())
        } else if let Ok(value) = row.try_get::<Option<f64>, _>(place) {
            value.map(|value| value.to_string())
        } else {
            row.try_get::<Option<String>, _>(place)?
        };
        let value = value.unwrap_or_else(|| "nothing".to_owned());
        told.push(format!("{} {value}", column.name()));
    }
    Ok(told.join(", "))
}
