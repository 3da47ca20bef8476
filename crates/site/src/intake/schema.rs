//! Types, names and ranges: the published schema of run documents with the bounds
//! that this site adds, checked field by field.

use std::sync::LazyLock;

use document::run_document_schema;
use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{ValidationError, Validator};
use serde_json::{Value, json};

use super::{Problems, Refusal};

/// Cells of a run: 64 contexts at 64 concurrency levels.
pub const MAX_CELLS: usize = 4096;
/// Events of a run.
pub const MAX_EVENTS: usize = 10_000;
/// Contexts, and concurrency levels, that were asked for.
pub const MAX_SHAPES: usize = 1024;
/// Flags, and remarks, of a cell.
pub const MAX_NOTES_PER_CELL: usize = 64;
/// Characters of a name: of a model, an engine, a GPU, a person.
pub const MAX_NAME_CHARS: usize = 256;
/// Characters of a sentence: evidence, a reason, an event.
pub const MAX_TEXT_CHARS: usize = 4096;
/// Characters of the launch command and of notes.
pub const MAX_COMMAND_CHARS: usize = 65_536;
/// Largest context, tokens: as `tokgrid run` takes it.
pub const MAX_CONTEXT_TOKENS: u64 = 1 << 30;
/// Most requests at once: as `tokgrid run` takes it.
pub const MAX_CONCURRENCY: u64 = 65_536;
/// Largest count, 2^53: what programs that know only floating point still count.
pub const MAX_COUNT: u64 = 1 << 53;
/// Largest figure: a million million tok/s, ms or s is a slip.
pub const MAX_FIGURE: f64 = 1e12;

/// A UUID as documents write it.
const UUID: &str = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";
/// SHA-256 in hex.
const SHA256: &str = "^[0-9a-f]{64}$";
/// RFC 3339; whether there is such a day is checked apart.
const TIME: &str = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$";

/// Where the schema is bounded beyond what holds for every number and text.
fn bounds() -> Vec<(&'static str, Value)> {
    let contexts = json!({ "maxItems": MAX_SHAPES, "items": { "type": "integer", "minimum": 1, "maximum": MAX_CONTEXT_TOKENS } });
    let notes = json!({ "maxItems": MAX_NOTES_PER_CELL });
    let long = json!({ "maxLength": MAX_COMMAND_CHARS });
    vec![
        ("/properties/id", json!({ "pattern": UUID })),
        ("/properties/samples_sha256", json!({ "pattern": SHA256 })),
        (
            "/$defs/ImportedFrom/properties/file_sha256",
            json!({ "pattern": SHA256 }),
        ),
        ("/properties/started_at", json!({ "pattern": TIME })),
        ("/properties/finished_at", json!({ "pattern": TIME })),
        ("/properties/author", json!({ "maxLength": MAX_NAME_CHARS })),
        (
            "/properties/organization",
            json!({ "maxLength": MAX_NAME_CHARS }),
        ),
        ("/properties/notes", long.clone()),
        ("/$defs/Launch/properties/command", long.clone()),
        ("/$defs/Launch/properties/note", long),
        (
            "/properties/cells",
            json!({ "minItems": 1, "maxItems": MAX_CELLS }),
        ),
        ("/properties/events", json!({ "maxItems": MAX_EVENTS })),
        ("/$defs/Cell/properties/flags", notes.clone()),
        ("/$defs/Cell/properties/remarks", notes),
        ("/$defs/Settings/properties/contexts", contexts.clone()),
        ("/$defs/Settings/properties/prefill_contexts", contexts),
        (
            "/$defs/Settings/properties/concurrency",
            json!({ "maxItems": MAX_SHAPES }),
        ),
        (
            "/$defs/Settings/properties/seed",
            json!({ "maximum": u64::MAX }),
        ),
        (
            "/$defs/Cell/properties/context_tokens",
            json!({ "minimum": 1, "maximum": MAX_CONTEXT_TOKENS }),
        ),
        (
            "/$defs/Cell/properties/concurrency",
            json!({ "minimum": 1, "maximum": MAX_CONCURRENCY }),
        ),
        (
            "/$defs/Cell/properties/kv_used_peak",
            json!({ "maximum": 1.0 }),
        ),
        (
            "/$defs/Hardware/properties/gpu_count",
            json!({ "maximum": MAX_CONCURRENCY }),
        ),
    ]
}

/// Definitions whose texts are names.
const NAMED: [&str; 5] = ["Engine", "Hardware", "ImportedFrom", "Model", "Tool"];

/// JSON Schema of what may be uploaded: that of run documents, with bounds.
#[must_use]
pub fn upload_schema() -> Value {
    let mut schema = run_document_schema();
    schema["$id"] = "urn:tokgrid:upload:1".into();
    bound(&mut schema, MAX_TEXT_CHARS);
    for name in NAMED {
        if let Some(definition) = schema.pointer_mut(&format!("/$defs/{name}")) {
            bound(definition, MAX_NAME_CHARS);
        }
    }
    for (place, bounds) in bounds() {
        let node = schema.pointer_mut(place).and_then(Value::as_object_mut);
        if let (Some(node), Value::Object(bounds)) = (node, bounds) {
            node.extend(bounds);
        }
    }
    schema
}

/// Bounds every number and text below a node.
fn bound(node: &mut Value, max_chars: usize) {
    match node {
        Value::Array(nodes) => nodes.iter_mut().for_each(|node| bound(node, max_chars)),
        Value::Object(_) => bound_object(node, max_chars),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn bound_object(node: &mut Value, max_chars: usize) {
    let is = |kind: &str| match &node["type"] {
        Value::String(only) => only == kind,
        Value::Array(kinds) => kinds.iter().any(|k| k == kind),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    };
    let is_named = node.get("enum").is_some() || node.get("const").is_some();
    let (number, integer, text) = (is("number"), is("integer"), is("string") && !is_named);
    if number {
        node["minimum"] = 0.into();
        node["maximum"] = MAX_FIGURE.into();
    }
    if integer {
        let is_small = node["format"] == "uint32";
        node["maximum"] = if is_small {
            u32::MAX.into()
        } else {
            MAX_COUNT.into()
        };
    }
    if text {
        node["maxLength"] = max_chars.into();
    }
    for below in ["properties", "$defs"] {
        if let Some(Value::Object(nodes)) = node.get_mut(below) {
            nodes.values_mut().for_each(|node| bound(node, max_chars));
        }
    }
    for below in ["items", "prefixItems", "anyOf", "oneOf", "allOf"] {
        if let Some(node) = node.get_mut(below) {
            bound(node, max_chars);
        }
    }
}

/// The schema is made of our own types: that it compiles is tested.
static VALIDATOR: LazyLock<Option<Validator>> =
    LazyLock::new(|| jsonschema::validator_for(&upload_schema()).ok());

/// Checks types, names and ranges.
pub(super) fn check(value: &Value) -> Result<(), Refusal> {
    let Some(validator) = &*VALIDATOR else {
        return Err(Refusal::document(
            None,
            "documents cannot be checked here at present",
        ));
    };
    let mut problems = Problems::default();
    for error in validator.iter_errors(value) {
        told(&error, &mut problems);
    }
    problems.refuse()
}

/// Says an error, or those of the alternative that was meant.
fn told(error: &ValidationError<'_>, problems: &mut Problems) {
    let alternatives = if let ValidationErrorKind::AnyOf { context }
    | ValidationErrorKind::OneOfNotValid { context } = error.kind()
    {
        context.as_slice()
    } else {
        &[]
    };
    let meant = alternatives
        .iter()
        .filter(|errors| !errors.iter().any(is_wrong_type_itself(error)))
        .min_by_key(|errors| errors.len());
    match meant {
        Some(errors) => errors.iter().for_each(|error| told(error, problems)),
        None => problems.add(place(error.instance_path().as_str()), sentence(error)),
    }
}

/// `null` is an alternative too, and not the one that is meant by an object.
fn is_wrong_type_itself(whole: &ValidationError<'_>) -> impl Fn(&ValidationError<'static>) -> bool {
    let place = whole.instance_path().as_str().to_owned();
    move |error| {
        matches!(error.kind(), ValidationErrorKind::Type { .. })
            && error.instance_path().as_str() == place
    }
}

/// `/cells/12/ttft_ms/p50` as `cells[12].ttft_ms.p50`.
fn place(pointer: &str) -> Option<String> {
    let mut place = String::new();
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        if !step.is_empty() && step.bytes().all(|b| b.is_ascii_digit()) {
            place.push_str(&format!("[{step}]"));
        } else {
            if !place.is_empty() {
                place.push('.');
            }
            place.push_str(&step);
        }
    }
    (!place.is_empty()).then_some(place)
}

// There are thirty kinds, and those not named here say themselves well enough.
#[allow(clippy::wildcard_enum_match_arm)]
fn sentence(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Type { kind } => format!("must be {}", kinds(kind)),
        ValidationErrorKind::Required { property } => format!("lacks {property}"),
        ValidationErrorKind::Enum { options } => format!("must be one of {options}"),
        ValidationErrorKind::Constant { expected_value } => format!("must be {expected_value}"),
        ValidationErrorKind::Minimum { limit } => format!("must be at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("must be at most {limit}"),
        ValidationErrorKind::MaxLength { limit } => format!("has more than {limit} characters"),
        ValidationErrorKind::MaxItems { limit } => format!("has more than {limit} items"),
        ValidationErrorKind::MinItems { limit } => format!("has fewer than {limit} items"),
        ValidationErrorKind::Pattern { pattern } => match pattern.as_str() {
            UUID => "must be a UUID in lower case, such as 0198f2c4-9a7e-7c31-8d0e-5b1c2a3d4e5f",
            SHA256 => "must be a SHA-256 of 64 hexadecimal digits in lower case",
            _ => "must be a time as RFC 3339 writes it, such as 2026-12-01T14:45:00Z",
        }
        .to_owned(),
        // The value itself is left out: it can be as long as the document.
        _ => error.masked().to_string(),
    }
}

fn kinds(kind: &TypeKind) -> String {
    let said = |kind: jsonschema::JsonType| kind.to_string();
    match kind {
        TypeKind::Single(kind) => said(*kind),
        TypeKind::Multiple(kinds) => kinds.iter().map(said).collect::<Vec<_>>().join(" or "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bound_has_its_place_in_the_schema() {
        let schema = run_document_schema();
        for (place, _) in bounds() {
            assert!(schema.pointer(place).is_some(), "{place}");
        }
        for name in NAMED {
            assert!(schema["$defs"].get(name).is_some(), "{name}");
        }
        assert!(VALIDATOR.is_some());
    }
}
