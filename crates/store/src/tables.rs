//! What tables there are, as the database itself says.

use std::collections::BTreeMap;

use sqlx::{AnyConnection, Row as _, query};

use crate::{Dialect, StoreError};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnKind {
    Integer,
    Float,
    Text,
    Bytes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: ColumnKind,
}

/// A column whose values are those of another table's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) column: String,
    pub(crate) table: String,
    pub(crate) to: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) name: String,
    /// By name.
    pub(crate) columns: Vec<Column>,
    /// The primary key, in its order.
    pub(crate) key: Vec<String>,
    pub(crate) references: Vec<Reference>,
    /// The column that the database numbers.
    pub(crate) numbered: Option<String>,
}

/// How each database is asked; the rows have the same columns.
struct Questions {
    tables: &'static str,
    columns: &'static str,
    keys: &'static str,
    references: &'static str,
    numbered: &'static str,
}

const SQLITE: Questions = Questions {
    tables: "SELECT name FROM sqlite_master WHERE type = 'table' \
             AND substr(name, 1, 7) <> 'sqlite_' AND name <> '_sqlx_migrations'",
    columns: "SELECT name, type FROM pragma_table_info($1)",
    keys: "SELECT name FROM pragma_table_info($1) WHERE pk > 0 ORDER BY pk",
    references: "SELECT f.\"from\", f.\"table\", \
                 COALESCE(f.\"to\", (SELECT name FROM pragma_table_info(f.\"table\") WHERE pk = 1)) \
                 FROM pragma_foreign_key_list($1) f ORDER BY 1",
    numbered: "SELECT i.name FROM sqlite_master m, pragma_table_info(m.name) i \
               WHERE m.name = $1 AND m.sql LIKE '%AUTOINCREMENT%' AND i.pk = 1",
};

const POSTGRES: Questions = Questions {
    tables: "SELECT CAST(table_name AS TEXT) FROM information_schema.tables \
             WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' \
             AND table_name <> '_sqlx_migrations'",
    columns: "SELECT CAST(column_name AS TEXT), CAST(data_type AS TEXT) \
              FROM information_schema.columns \
              WHERE table_schema = current_schema() AND table_name = $1",
    keys: "SELECT CAST(k.column_name AS TEXT) FROM information_schema.table_constraints c \
           JOIN information_schema.key_column_usage k USING (constraint_schema, constraint_name) \
           WHERE c.table_schema = current_schema() AND c.table_name = $1 \
           AND c.constraint_type = 'PRIMARY KEY' ORDER BY k.ordinal_position",
    references: "SELECT CAST(a.attname AS TEXT), CAST(t.relname AS TEXT), CAST(b.attname AS TEXT) \
                 FROM pg_constraint f \
                 JOIN pg_class s ON s.oid = f.conrelid \
                 JOIN pg_namespace n ON n.oid = s.relnamespace AND n.nspname = current_schema() \
                 JOIN pg_class t ON t.oid = f.confrelid \
                 JOIN pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = f.conkey[1] \
                 JOIN pg_attribute b ON b.attrelid = f.confrelid AND b.attnum = f.confkey[1] \
                 WHERE f.contype = 'f' AND s.relname = $1 ORDER BY 1",
    numbered: "SELECT CAST(column_name AS TEXT) FROM information_schema.columns \
               WHERE table_schema = current_schema() AND table_name = $1 AND is_identity = 'YES'",
};

/// All tables of the registry, each after those it refers to.
pub(crate) async fn tables(
    connection: &mut AnyConnection,
    dialect: Dialect,
) -> Result<Vec<Table>, StoreError> {
    let questions = match dialect {
        Dialect::Sqlite => SQLITE,
        Dialect::Postgres => POSTGRES,
    };
    let mut tables = BTreeMap::new();
    for row in query(questions.tables).fetch_all(&mut *connection).await? {
        let name: String = row.try_get(0)?;
        tables.insert(name.clone(), table(connection, &questions, name).await?);
    }
    in_order(tables)
}

async fn table(
    connection: &mut AnyConnection,
    questions: &Questions,
    name: String,
) -> Result<Table, StoreError> {
    let ask = |sql: &'static str| query(sql).bind(name.clone());
    let mut columns = Vec::new();
    for row in ask(questions.columns).fetch_all(&mut *connection).await? {
        let kind: String = row.try_get(1)?;
        columns.push(Column {
            name: row.try_get(0)?,
            kind: column_kind(&name, &kind)?,
        });
    }
    columns.sort_by(|one, other| one.name.cmp(&other.name));
    let keys = ask(questions.keys).fetch_all(&mut *connection).await?;
    let key = keys.iter().map(|row| row.try_get(0));
    let references = ask(questions.references)
        .fetch_all(&mut *connection)
        .await?;
    let references = references.iter().map(|row| {
        Ok::<_, sqlx::Error>(Reference {
            column: row.try_get(0)?,
            table: row.try_get(1)?,
            to: row.try_get(2)?,
        })
    });
    let numbered = ask(questions.numbered).fetch_optional(connection).await?;
    Ok(Table {
        key: key.collect::<Result<_, _>>()?,
        references: references.collect::<Result<_, _>>()?,
        numbered: numbered.map(|row| row.try_get(0)).transpose()?,
        name,
        columns,
    })
}

fn column_kind(table: &str, kind: &str) -> Result<ColumnKind, StoreError> {
    match kind.to_ascii_uppercase().as_str() {
        "BIGINT" | "INTEGER" => Ok(ColumnKind::Integer),
        "DOUBLE PRECISION" => Ok(ColumnKind::Float),
        "TEXT" => Ok(ColumnKind::Text),
        "BLOB" | "BYTEA" => Ok(ColumnKind::Bytes),
        other => Err(StoreError::Damaged {
            what: format!("the table {table}"),
            why: format!("it has a column of the type {other}, which is in no migration"),
        }),
    }
}

/// By name, but each after those it refers to.
fn in_order(mut left: BTreeMap<String, Table>) -> Result<Vec<Table>, StoreError> {
    let mut ordered: Vec<Table> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_free = |table: &Table| {
            table.references.iter().all(|reference| {
                reference.table == table.name || !left.contains_key(&reference.table)
            })
        };
        let next = left
            .values()
            .find(|table| is_free(table))
            .map(|table| table.name.clone());
        let Some(table) = next.and_then(|name| left.remove(&name)) else {
            return Err(StoreError::Damaged {
                what: "the tables".to_owned(),
                why: format!("{left:?} refer to each other"),
            });
        };
        ordered.push(table);
    }
    Ok(ordered)
}
