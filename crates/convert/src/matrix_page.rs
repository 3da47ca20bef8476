//! A published matrix page: its facts and the rows of its "All measurements".

use document::{
    Cell, CellKey, CellStatus, Distribution, Engine, Hardware, ImportedFrom, Launch, Model, Phase,
    RunDocument, SCHEMA, SCHEMA_MINOR, Settings, Source, Tool, format,
};
use serde::Deserialize;

/// Milliseconds in a second.
const MS_PER_S: f64 = 1000.0;

/// Why facts and figures do not make a run.
#[derive(Debug, thiserror::Error)]
pub enum MatrixPageError {
    /// The facts are not what is expected.
    #[error("the facts cannot be read: {0}")]
    Facts(serde_json::Error),
    /// The figures are not what is expected.
    #[error("the figures cannot be read: {0}")]
    Figures(serde_json::Error),
    /// Facts and figures speak of different models.
    #[error("the facts are of `{facts}` and the figures of `{figures}`")]
    OtherModel {
        /// Model of the facts.
        facts: String,
        /// Model of the figures.
        figures: String,
    },
    /// A count that is no whole number.
    #[error("{what} {value} of a row is no count")]
    NotACount {
        /// Which column.
        what: &'static str,
        /// What stands there.
        value: f64,
    },
}

/// What a page states beside its figures.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Facts {
    id: String,
    #[serde(default)]
    author: Option<String>,
    #[serde(default)]
    tool: Tool,
    imported_from: ImportedFrom,
    model: Model,
    engine: Engine,
    hardware: Hardware,
    settings: Settings,
    launch: Launch,
}

/// The figures of a page; what it repeats of the facts is left aside.
#[derive(Debug, Deserialize)]
struct Figures {
    model: String,
    rows: Vec<Row>,
}

/// One row of "All measurements". Units as in the run document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    phase: RowPhase,
    #[serde(rename = "context")]
    _label: String,
    context_tokens: u64,
    concurrency: u32,
    status: RowStatus,
    total_tok_s: Option<f64>,
    per_request_tok_s: Option<f64>,
    ttft_ms: Option<f64>,
    tbt_ms: Option<f64>,
    avg_active: Option<f64>,
    completed: Option<f64>,
    output_tokens: Option<f64>,
    measured_s: Option<f64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RowPhase {
    Prefill,
    SustainedDecode,
}

#[derive(Debug, Clone, Copy, Deserialize)]
enum RowStatus {
    Valid,
    #[serde(rename = "Requests queued")]
    Queued,
    #[serde(rename = "Over capacity")]
    OverCapacity,
}

/// Makes a run document of a page's facts and figures, both JSON.
///
/// # Errors
/// When either cannot be read, or they belong to different models.
pub fn run_document(facts: &[u8], figures: &[u8]) -> Result<RunDocument, MatrixPageError> {
    let facts: Facts = serde_json::from_slice(facts).map_err(MatrixPageError::Facts)?;
    let figures: Figures = serde_json::from_slice(figures).map_err(MatrixPageError::Figures)?;
    if facts.model.id.as_deref() != Some(figures.model.as_str()) {
        return Err(MatrixPageError::OtherModel {
            facts: facts.model.id.unwrap_or_default(),
            figures: figures.model,
        });
    }
    let cells = figures.rows.iter().map(cell).collect::<Result<_, _>>()?;
    Ok(RunDocument {
        schema: SCHEMA.to_owned(),
        schema_minor: SCHEMA_MINOR,
        samples_sha256: None,
        samples_bytes: None,
        id: facts.id,
        started_at: None,
        finished_at: None,
        tool: facts.tool,
        author: facts.author,
        organization: None,
        source: Source::Imported,
        imported_from: Some(facts.imported_from),
        model: facts.model,
        engine: facts.engine,
        hardware: facts.hardware,
        settings: facts.settings,
        launch: facts.launch,
        cells,
        telemetry: None,
        events: Vec::new(),
        notes: None,
        extra: document::Extra::new(),
    })
}

fn cell(row: &Row) -> Result<Cell, MatrixPageError> {
    let (phase, total_tok_s) = match row.phase {
        RowPhase::Prefill => (
            Phase::Prefill,
            prefill_tok_s(row.context_tokens, row.total_tok_s, row.ttft_ms),
        ),
        RowPhase::SustainedDecode => (Phase::Decode, row.total_tok_s),
    };
    let status = match row.status {
        RowStatus::Valid => CellStatus::Valid,
        RowStatus::Queued => CellStatus::Queued,
        RowStatus::OverCapacity => CellStatus::OverCapacity,
    };
    let key = CellKey {
        phase,
        context_tokens: row.context_tokens,
        concurrency: row.concurrency,
    };
    Ok(Cell {
        total_tok_s,
        per_request_tok_s: row.per_request_tok_s,
        ttft_ms: median_only(row.ttft_ms),
        tbt_ms: median_only(row.tbt_ms),
        average_active: row.avg_active,
        completed: whole("completed", row.completed)?,
        output_tokens: whole("output_tokens", row.output_tokens)?,
        measured_s: row.measured_s,
        ..Cell::empty(key, status)
    })
}

/// Pages write prompt tok/s of 10,000 and more rounded, as `18.5K`. Context ÷ TTFT
/// is finer, and taken where it is written the same; else the page knows better.
pub(crate) fn prefill_tok_s(
    context_tokens: u64,
    printed: Option<f64>,
    ttft_ms: Option<f64>,
) -> Option<f64> {
    let printed = printed?;
    let Some(ttft_ms) = ttft_ms.filter(|ttft| *ttft > 0.0) else {
        return Some(printed);
    };
    let tok_s = context_tokens as f64 / ttft_ms * MS_PER_S;
    let to_a_tenth = (tok_s * 10.0).round() / 10.0;
    let agrees = format::tok_s(to_a_tenth) == format::tok_s(printed)
        && format::tok_s_chart(to_a_tenth) == format::tok_s_chart(printed);
    Some(if agrees { to_a_tenth } else { printed })
}

fn median_only(p50: Option<f64>) -> Option<Distribution> {
    p50.map(|p50| Distribution {
        p50: Some(p50),
        ..Distribution::default()
    })
}

fn whole(what: &'static str, value: Option<f64>) -> Result<Option<u64>, MatrixPageError> {
    match value {
        None => Ok(None),
        Some(value) if value >= 0.0 && value.fract() == 0.0 && value < u64::MAX as f64 => {
            Ok(Some(value as u64))
        }
        Some(value) => Err(MatrixPageError::NotACount { what, value }),
    }
}
