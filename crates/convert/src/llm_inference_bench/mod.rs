//! Result files of llm-inference-bench, 0.4 to 0.8. The format moves: everything
//! is read by field, what is not read is kept, what is missing is named.
//! `docs/IMPORT.md` says which field becomes what.

mod decode;
mod machine;
mod prefill;

use document::{Extra, RunDocument, Settings, Tool};
use serde_json::{Map, Value};

use crate::error::ImportError;
use crate::fields::Fields;
use crate::import::push_cell;

/// As errors name it.
pub(crate) const NAME: &str = "llm-inference-bench result files (0.4 to 0.8)";
/// As documents name it.
const TOOL: &str = "llm-inference-bench";
/// Minor versions of 0.x whose files are known.
const KNOWN_MINORS: std::ops::RangeInclusive<u32> = 4..=8;
/// Most cells of a file that are read.
const MAX_CELLS: usize = 10_000;
/// Most contexts or concurrencies in a list.
const MAX_LISTED: usize = 1000;
/// Where fields that are not read are kept, in a cell and in `imported_from`.
const KEPT: &str = "imported_fields";
/// Fields of `metadata` that only this tool writes.
const MARKS: [&str; 4] = [
    "concurrency_levels",
    "context_lengths",
    "decode_mode",
    "primary_decode_layer",
];
/// Parts of the file that describe the machine by name, or repeat what is read.
const NOT_KEPT: [&str; 4] = ["results", "prefill", "metadata", "summary_table"];

/// Whether an object is a file of this tool.
pub(crate) fn recognises(map: &Map<String, Value>) -> bool {
    let has_marks = map
        .get("metadata")
        .and_then(Value::as_object)
        .is_some_and(|metadata| MARKS.iter().any(|mark| metadata.contains_key(*mark)));
    has_marks && (map.contains_key("results") || map.contains_key("prefill"))
}

/// What cells must know of the run.
struct Asked {
    /// `request-count` instead of a window.
    is_request_count: bool,
    max_output_tokens: Option<u64>,
}

/// Fills a run.
pub(crate) fn read(file: &Fields<'_>, run: &mut RunDocument) -> Result<(), ImportError> {
    let mut notes = Vec::new();
    let metadata = file
        .object("metadata")?
        .ok_or_else(|| file.wrong("metadata", "is missing"))?;
    let asked = header(&metadata, run, &mut notes)?;
    machine::read(file, &metadata, run, &mut notes)?;
    prefill::read(file, run)?;
    for fields in file.objects("results", MAX_CELLS)? {
        let cell = decode::cell(&fields, &asked)?;
        push_cell(run, cell, &fields)?;
    }
    if run.cells.is_empty() {
        return Err(file.wrong("results", "no cell stands in the file, nor under `prefill`"));
    }
    let bursts = file.objects("burst_results", MAX_CELLS)?.len();
    if bursts > 0 {
        notes.push(format!(
            "`burst_results` is left out: {bursts} bursts of a fixed number of requests are no sustained decode."
        ));
    }
    notes.push("The file has no 95th percentile, smallest or largest of a latency, no confidence interval and no count of requests that waited: they are null. Its latencies are over all requests of a cell, the warm-up's included.".to_owned());
    keep(file, &metadata, run);
    run.notes = Some(notes.join(" "));
    Ok(())
}

fn header(
    metadata: &Fields<'_>,
    run: &mut RunDocument,
    notes: &mut Vec<String>,
) -> Result<Asked, ImportError> {
    let version = metadata.text("version")?;
    notes.push(origin(version.as_deref()));
    run.tool = Tool {
        name: Some(TOOL.to_owned()),
        version: version.clone(),
        extra: Extra::new(),
    };
    if let Some(from) = &mut run.imported_from {
        from.tool = Some(TOOL.to_owned());
        from.version = version;
    }
    // A time without its zone is no moment; it is kept as it came.
    run.finished_at = metadata
        .text("timestamp")?
        .and_then(|text| text.parse::<jiff::Timestamp>().ok())
        .map(|at| at.to_string());
    let mode = metadata.text("decode_mode")?;
    let max_output_tokens = positive(match metadata.count("max_tokens")? {
        None => metadata.count("max_output_tokens")?,
        tokens => tokens,
    });
    let concurrency = metadata.counts("concurrency_levels", MAX_LISTED)?;
    run.settings = Settings {
        decode_test: mode.as_deref().map(|mode| match mode {
            "duration" => "Fixed duration".to_owned(),
            "request-count" => "Fixed number of requests".to_owned(),
            other => other.to_owned(),
        }),
        prefill_mode: prefill_mode(metadata)?,
        window_s: metadata.figure("duration_per_test")?,
        max_output_tokens,
        contexts: metadata.counts("context_lengths", MAX_LISTED)?,
        concurrency: concurrency
            .into_iter()
            .enumerate()
            .map(|(i, level)| {
                let at = format!("concurrency_levels[{i}]");
                u32::try_from(level).map_err(|_| metadata.wrong(&at, "is more than can be true"))
            })
            .collect::<Result<_, _>>()?,
        ignore_eos: metadata.is("ignore_eos")?,
        ..Settings::default()
    };
    Ok(Asked {
        is_request_count: mode.as_deref() == Some("request-count"),
        max_output_tokens,
    })
}

fn origin(version: Option<&str>) -> String {
    let Some(version) = version else {
        return format!("Imported from {TOOL}; the file does not say which version.");
    };
    let is_known = version
        .strip_prefix("0.")
        .and_then(|rest| rest.split('.').next()?.parse().ok())
        .is_some_and(|minor: u32| KNOWN_MINORS.contains(&minor));
    let beyond = if is_known {
        ""
    } else {
        ", a version that is not known here: its fields are read by their names"
    };
    format!("Imported from {TOOL} {version}{beyond}.")
}

fn prefill_mode(metadata: &Fields<'_>) -> Result<Option<String>, ImportError> {
    Ok(match metadata.text("prefill_mode")?.as_deref() {
        None | Some("skipped") => None,
        Some("integrated_decode_scout") => Some("Measured during decode warm-up".to_owned()),
        Some("standalone_cold") => Some("Separate cold samples".to_owned()),
        Some(other) => Some(other.to_owned()),
    })
}

/// Keeps what was not read, but for what names the machine.
fn keep(file: &Fields<'_>, metadata: &Fields<'_>, run: &mut RunDocument) {
    let mut kept = metadata.unread(&[]);
    if let Ok(Some(timestamp)) = metadata.text("timestamp")
        && run.finished_at.is_none()
    {
        kept.insert("timestamp".to_owned(), timestamp.into());
    }
    for (name, value) in file.unread(&NOT_KEPT) {
        // Scalars and small notes only: diagnostics of a machine are its owner's.
        if !value.is_object() && !value.is_array() {
            kept.insert(name, value);
        }
    }
    if let Some(from) = &mut run.imported_from
        && !kept.is_empty()
    {
        from.extra.insert(KEPT.to_owned(), kept.into());
    }
}

/// Of a count where 0 stands for unknown.
fn positive(count: Option<u64>) -> Option<u64> {
    count.filter(|count| *count > 0)
}
