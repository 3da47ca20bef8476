//! Schemas of the names that documents and columns have.

use document::{CacheProof, CellStatus, Phase};
use serde::Serialize;
use serde_json::Value;
use store::Kind;
use utoipa::openapi::Object;
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};

fn names<T: Serialize>(all: &[T]) -> Vec<Value> {
    all.iter()
        .filter_map(|one| serde_json::to_value(one).ok())
        .collect()
}

fn one_of(names: Vec<Value>) -> ObjectBuilder {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(names))
}

pub(super) fn phase() -> Object {
    one_of(names(&[Phase::Prefill, Phase::Decode])).build()
}

pub(crate) fn kind() -> Object {
    one_of(names(&Kind::ALL)).build()
}

pub(super) fn status() -> Object {
    one_of(names(&[
        CellStatus::Valid,
        CellStatus::Queued,
        CellStatus::OverCapacity,
        CellStatus::Failed,
    ]))
    .build()
}

/// `null` where nothing is known of the cache.
pub(super) fn cache_proof() -> Object {
    let mut names = names(&[CacheProof::Proved, CacheProof::Failed, CacheProof::Unproven]);
    names.push(Value::Null);
    one_of(names)
        .schema_type(SchemaType::Array(vec![Type::String, Type::Null]))
        .build()
}
