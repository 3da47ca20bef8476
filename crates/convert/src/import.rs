//! Which foreign format a file is, and the run document it makes.

use document::{Extra, ImportedFrom, RunDocument, SCHEMA, SCHEMA_MINOR, Source, Tool};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::error::ImportError;
use crate::fields::Fields;
use crate::{llm_inference_bench, page_figures};

/// Largest file that is read.
pub const MAX_FILE_BYTES: usize = 64 * 1024 * 1024;
/// Fields that an unknown object is told by, at most.
const MAX_TOLD_FIELDS: usize = 5;
/// Longest field name that is told, characters.
const MAX_TOLD_CHARS: usize = 40;
/// Hex digits of a SHA-256 that name a run.
const ID_BYTES: usize = 16;

/// A format that can be read.
struct Format {
    /// As errors name it.
    name: &'static str,
    /// Whether an object is of this format.
    recognises: fn(&Map<String, Value>) -> bool,
    /// Fills a run.
    read: fn(&Fields<'_>, &mut RunDocument) -> Result<(), ImportError>,
}

/// Every format that is known; the first that recognises a file reads it.
const FORMATS: [Format; 2] = [
    Format {
        name: llm_inference_bench::NAME,
        recognises: llm_inference_bench::recognises,
        read: llm_inference_bench::read,
    },
    Format {
        name: page_figures::NAME,
        recognises: page_figures::recognises,
        read: page_figures::read,
    },
];

/// The names of all formats, for a sentence.
pub(crate) fn known_formats() -> String {
    FORMATS.map(|format| format.name).join(", ")
}

/// Makes a run document of another tool's result file: recognised by its fields,
/// judged like a run of ours, and the same whenever the same bytes come. What the
/// file cannot vouch for is `null` and named in `notes` and in the cells' remarks.
///
/// # Errors
/// When the file is none that is known, or a field of it is not what it must be;
/// each says what was seen and, of a field, where.
pub fn import(bytes: &[u8]) -> Result<RunDocument, ImportError> {
    let map = object(bytes)?;
    if let Some(schema) = map.get("schema").and_then(Value::as_str)
        && schema.starts_with("tokgrid.run/")
    {
        return Err(ImportError::AlreadyARun {
            schema: schema.chars().take(MAX_TOLD_CHARS).collect(),
        });
    }
    let Some(format) = FORMATS.iter().find(|format| (format.recognises)(&map)) else {
        return Err(ImportError::Unknown { seen: seen(&map) });
    };
    let mut run = blank(&Sha256::digest(bytes).into());
    (format.read)(&Fields::root(&map), &mut run)?;
    judge::add_derived_flags(&mut run);
    Ok(run)
}

fn object(bytes: &[u8]) -> Result<Map<String, Value>, ImportError> {
    if bytes.len() > MAX_FILE_BYTES {
        return Err(ImportError::TooLarge { bytes: bytes.len() });
    }
    // Some editors put a byte order mark before the text.
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = text.trim_ascii();
    let what = match text {
        [] => return Err(ImportError::Empty),
        [b'<', ..] => Some("a page (HTML or XML)"),
        [0x1f, 0x8b, ..] => Some("compressed with gzip: unpack it first"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Some("compressed with zstd (perhaps samples of a run)"),
        [b'P', b'K', 3, 4, ..] => Some("a zip archive: unpack it first"),
        _ => None,
    };
    if let Some(what) = what {
        return Err(ImportError::NotText { what });
    }
    let value: Value = serde_json::from_slice(text).map_err(|error| {
        if error.is_eof() {
            ImportError::Truncated {
                line: error.line(),
                column: error.column(),
            }
        } else {
            ImportError::NotJson(error)
        }
    })?;
    match value {
        Value::Object(map) => Ok(map),
        Value::Array(_) => Err(unknown("a JSON list")),
        Value::String(_) => Err(unknown("a JSON text")),
        Value::Null | Value::Bool(_) | Value::Number(_) => Err(unknown("a bare JSON value")),
    }
}

fn unknown(seen: &str) -> ImportError {
    ImportError::Unknown {
        seen: seen.to_owned(),
    }
}

/// What an unknown object is told by.
fn seen(map: &Map<String, Value>) -> String {
    let cut = |name: &String| -> String {
        let name: String = name.chars().take(MAX_TOLD_CHARS).collect();
        format!("`{name}`")
    };
    let names: Vec<String> = map.keys().take(MAX_TOLD_FIELDS).map(cut).collect();
    match map.len() - names.len() {
        _ if names.is_empty() => "an empty JSON object".to_owned(),
        0 => format!("a JSON object with {}", names.join(", ")),
        others => format!("a JSON object with {} and {others} more", names.join(", ")),
    }
}

/// A run of which only the file is known. Its id is of the file's hash (a UUID of
/// version 8, "custom"), so that the same file is the same run.
fn blank(sha256: &[u8; 32]) -> RunDocument {
    let mut id = [0; ID_BYTES];
    id.copy_from_slice(&sha256[..ID_BYTES]);
    RunDocument {
        schema: SCHEMA.to_owned(),
        schema_minor: SCHEMA_MINOR,
        samples_sha256: None,
        samples_bytes: None,
        id: uuid::Builder::from_custom_bytes(id).into_uuid().to_string(),
        started_at: None,
        finished_at: None,
        tool: Tool::default(),
        author: None,
        organization: None,
        source: Source::Imported,
        imported_from: Some(ImportedFrom {
            file_sha256: Some(sha256.iter().map(|byte| format!("{byte:02x}")).collect()),
            ..ImportedFrom::default()
        }),
        model: document::Model::default(),
        engine: document::Engine::default(),
        hardware: document::Hardware::default(),
        settings: document::Settings::default(),
        launch: document::Launch::default(),
        cells: Vec::new(),
        telemetry: None,
        events: Vec::new(),
        notes: None,
        extra: Extra::new(),
    }
}

/// Refuses cells that stand twice: which of them counts is not for us to say.
///
/// # Errors
/// Names the second of the two.
pub(crate) fn push_cell(
    run: &mut RunDocument,
    cell: document::Cell,
    fields: &Fields<'_>,
) -> Result<(), ImportError> {
    if run.cells.iter().any(|other| other.key() == cell.key()) {
        let problem = "this phase, context and concurrency stands in the file twice";
        return Err(fields.wrong("context_tokens", problem));
    }
    run.cells.push(cell);
    Ok(())
}
