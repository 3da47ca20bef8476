use crate::run::{RunDocument, SCHEMA};

/// JSON Schema (draft 2020-12) of a run document. Unknown fields are allowed:
/// a newer writer may add some.
#[must_use]
pub fn run_document_schema() -> serde_json::Value {
    let mut schema = schemars::schema_for!(RunDocument).to_value();
    schema["$id"] = "urn:tokgrid:run:1".into();
    schema["title"] = SCHEMA.into();
    schema["properties"]["schema"] = serde_json::json!({ "const": SCHEMA });
    schema
}
