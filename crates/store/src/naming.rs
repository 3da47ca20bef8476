//! Names and what stands for them: each is stored once.

use sqlx::{AnyConnection, Row as _, query};

use crate::StoreError;
use crate::columns::RunColumns;
use crate::slug::{free_slug, slug};

/// The statements of a table of names.
struct NameTable {
    find: &'static str,
    slugs: &'static str,
    insert: &'static str,
}

const MODELS: NameTable = NameTable {
    find: "SELECT model_key FROM models WHERE id = $1",
    slugs: "SELECT slug FROM models WHERE slug = $1 OR slug LIKE $2",
    insert: "INSERT INTO models (slug, id, search_text) VALUES ($1, $2, $3) RETURNING model_key",
};
const HARDWARE: NameTable = NameTable {
    find: "SELECT hardware_key FROM hardware WHERE name = $1",
    slugs: "SELECT slug FROM hardware WHERE slug = $1 OR slug LIKE $2",
    insert: "INSERT INTO hardware (slug, name, search_text) VALUES ($1, $2, $3) \
             RETURNING hardware_key",
};

/// The key of a model, new where it is.
pub(crate) async fn model(connection: &mut AnyConnection, id: &str) -> Result<i64, StoreError> {
    named(connection, &MODELS, id).await
}

/// The key of a GPU or processor, new where it is.
pub(crate) async fn hardware(
    connection: &mut AnyConnection,
    name: &str,
) -> Result<i64, StoreError> {
    named(connection, &HARDWARE, name).await
}

async fn named(
    connection: &mut AnyConnection,
    table: &NameTable,
    name: &str,
) -> Result<i64, StoreError> {
    let found = query(table.find)
        .bind(name)
        .fetch_optional(&mut *connection)
        .await?;
    if let Some(row) = found {
        return Ok(row.try_get(0)?);
    }
    let base = slug(name);
    let taken = query(table.slugs)
        .bind(base.as_str())
        .bind(format!("{base}-%"))
        .fetch_all(&mut *connection)
        .await?;
    let taken: Vec<String> = taken
        .iter()
        .map(|row| row.try_get(0))
        .collect::<Result<_, _>>()?;
    let row = query(table.insert)
        .bind(free_slug(&base, &taken))
        .bind(name)
        .bind(name.to_lowercase())
        .fetch_one(connection)
        .await?;
    Ok(row.try_get(0)?)
}

/// The key of what the run has beside model and hardware, new where it is.
pub(crate) async fn variant(
    connection: &mut AnyConnection,
    run: &RunColumns,
) -> Result<i64, StoreError> {
    let found = query(
        "SELECT variant_key FROM variants \
         WHERE engine = $1 AND quantization = $2 AND gpu_count = $3 AND kind = $4",
    )
    .bind(run.engine.as_str())
    .bind(run.quantization.as_str())
    .bind(run.gpu_count)
    .bind(run.kind.as_str())
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(row) = found {
        return Ok(row.try_get(0)?);
    }
    let row = query(
        "INSERT INTO variants (engine, quantization, gpu_count, kind, search_text) \
         VALUES ($1, $2, $3, $4, $5) RETURNING variant_key",
    )
    .bind(run.engine.as_str())
    .bind(run.quantization.as_str())
    .bind(run.gpu_count)
    .bind(run.kind.as_str())
    .bind(run.variant_search_text())
    .fetch_one(connection)
    .await?;
    Ok(row.try_get(0)?)
}

/// The key of a configuration, new where it is.
pub(crate) async fn configuration(
    connection: &mut AnyConnection,
    model_key: i64,
    hardware_key: i64,
    variant_key: i64,
) -> Result<i64, StoreError> {
    let found = query(
        "SELECT configuration_key FROM configurations \
         WHERE model_key = $1 AND hardware_key = $2 AND variant_key = $3",
    )
    .bind(model_key)
    .bind(hardware_key)
    .bind(variant_key)
    .fetch_optional(&mut *connection)
    .await?;
    if let Some(row) = found {
        return Ok(row.try_get(0)?);
    }
    let row = query(
        "INSERT INTO configurations (model_key, hardware_key, variant_key) \
         VALUES ($1, $2, $3) RETURNING configuration_key",
    )
    .bind(model_key)
    .bind(hardware_key)
    .bind(variant_key)
    .fetch_one(connection)
    .await?;
    Ok(row.try_get(0)?)
}
