use serde::Deserialize;

use crate::run::{RunDocument, SCHEMA};

/// The schema's name without its major version.
const SCHEMA_FAMILY: &str = "tokgrid.run/";
/// The major version this crate reads.
const SCHEMA_MAJOR: u64 = 1;

/// Why bytes are not a run document this version can read.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// Nothing there.
    #[error("the file is empty; a run document is JSON with \"schema\": \"{SCHEMA}\"")]
    Empty,
    /// Not JSON at all.
    #[error(
        "not JSON ({0}); give the run document that `tokgrid run --out` writes, not a report or a samples file"
    )]
    NotJson(serde_json::Error),
    /// JSON of something else.
    #[error("JSON, but not a run document: it has no \"schema\" field; expected \"{SCHEMA}\"")]
    NoSchema,
    /// JSON that says it is something else.
    #[error(
        "the document says \"schema\": \"{0}\"; expected \"{SCHEMA}\": give a document that `tokgrid run --out` wrote"
    )]
    OtherSchema(String),
    /// A document of a later tokgrid.
    #[error(
        "the document says \"schema\": \"{0}\", newer than \"{SCHEMA}\", which is all this version reads; use a newer tokgrid"
    )]
    NewerSchema(String),
    /// The right schema, with something wrong inside.
    #[error("the document says \"schema\": \"{SCHEMA}\" but does not keep to it: {0}")]
    Malformed(serde_json::Error),
}

/// Only what tells whether the rest may be read.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    schema: Option<serde_json::Value>,
}

impl RunDocument {
    /// Reads a run document. Fields of a newer minor version are kept.
    ///
    /// # Errors
    /// [`DocumentError`], which says what was found and what to give instead.
    pub fn from_json(bytes: &[u8]) -> Result<RunDocument, DocumentError> {
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Err(DocumentError::Empty);
        }
        match serde_json::from_slice::<RunDocument>(bytes) {
            Ok(run) => check_schema(&run.schema).map(|()| run),
            // Its error names line and column; what the bytes are comes first.
            Err(error) => Err(what_is_wrong(bytes)
                .err()
                .unwrap_or(DocumentError::Malformed(error))),
        }
    }
}

/// Why bytes that are no run document are none; nothing where the schema is right
/// and the fault is deeper.
fn what_is_wrong(bytes: &[u8]) -> Result<(), DocumentError> {
    let value: serde_json::Value = serde_json::from_slice(bytes).map_err(DocumentError::NotJson)?;
    if !value.is_object() {
        return Err(DocumentError::NoSchema);
    }
    let head = Head::deserialize(&value).map_err(DocumentError::Malformed)?;
    match head.schema {
        None => Err(DocumentError::NoSchema),
        Some(serde_json::Value::String(schema)) => check_schema(&schema),
        Some(other) => Err(DocumentError::OtherSchema(other.to_string())),
    }
}

fn check_schema(schema: &str) -> Result<(), DocumentError> {
    let major = schema
        .strip_prefix(SCHEMA_FAMILY)
        .and_then(|major| major.parse::<u64>().ok());
    match major {
        Some(SCHEMA_MAJOR) => Ok(()),
        Some(newer) if newer > SCHEMA_MAJOR => Err(DocumentError::NewerSchema(schema.to_owned())),
        Some(_) | None => Err(DocumentError::OtherSchema(schema.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> DocumentError {
        RunDocument::from_json(text.as_bytes()).expect_err("is no run document")
    }

    #[test]
    fn a_run_document_is_read() {
        let text = r#"{"schema":"tokgrid.run/1","id":"r","source":"measured","later":1}"#;
        let run = RunDocument::from_json(text.as_bytes()).expect("a run document");
        assert_eq!(run.id, "r");
        assert_eq!(run.extra["later"], 1);
    }

    #[test]
    fn what_is_no_run_document_is_refused_by_what_it_is() {
        assert!(matches!(error(" \n"), DocumentError::Empty));
        assert!(matches!(error("<html>"), DocumentError::NotJson(_)));
        assert!(matches!(error("[1]"), DocumentError::NoSchema));
        assert!(matches!(error(r#"{"model":"m"}"#), DocumentError::NoSchema));
        assert!(matches!(
            error(r#"{"schema":"other/1"}"#),
            DocumentError::OtherSchema(found) if found == "other/1"
        ));
        assert!(matches!(
            error(r#"{"schema":1}"#),
            DocumentError::OtherSchema(found) if found == "1"
        ));
        assert!(matches!(
            error(r#"{"schema":"tokgrid.run/2"}"#),
            DocumentError::NewerSchema(found) if found == "tokgrid.run/2"
        ));
    }

    #[test]
    fn a_fault_inside_is_told_with_line_and_column() {
        let told = error("{\"schema\":\"tokgrid.run/1\",\n\"id\":7,\"source\":\"measured\"}");
        assert!(matches!(told, DocumentError::Malformed(_)));
        assert!(told.to_string().contains("line 2"), "{told}");
    }
}
