use std::collections::HashMap;

use document::{CacheProof, Cell, CellKey, CellStatus, Figure, Phase, RunDocument, Source};

use crate::{Kind, Shape, StoreError};

/// Names and versions in columns are cut here; the document keeps them whole.
const NAME_CHARS_MAX: usize = 200;
/// What a model or hardware is called that the document does not name.
const UNKNOWN: &str = "unknown";

/// What of a run stands in columns.
pub(crate) struct RunColumns {
    pub(crate) id: String,
    pub(crate) kind: Kind,
    pub(crate) model: String,
    pub(crate) hardware: String,
    pub(crate) engine: String,
    pub(crate) quantization: String,
    pub(crate) gpu_count: i64,
    pub(crate) engine_version: Option<String>,
    pub(crate) author: Option<String>,
    pub(crate) measured_at_ms: Option<i64>,
    pub(crate) context_tokens_max: Option<i64>,
    pub(crate) concurrency_max: Option<i64>,
    pub(crate) decode_tok_s_max: Option<f64>,
    pub(crate) prefill_tok_s_max: Option<f64>,
    pub(crate) cells: Vec<CellColumns>,
}

/// What of a cell stands in columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CellColumns {
    pub(crate) shape: Shape,
    pub(crate) status: CellStatus,
    pub(crate) total_tok_s: Option<f64>,
    pub(crate) per_request_tok_s: Option<f64>,
    pub(crate) ttft_ms_p50: Option<f64>,
    pub(crate) tbt_ms_p50: Option<f64>,
    pub(crate) average_active: Option<f64>,
    pub(crate) flags: String,
    pub(crate) ranks_total: bool,
    pub(crate) ranks_per_request: bool,
    pub(crate) ranks_ttft: bool,
    pub(crate) cache_proof: Option<CacheProof>,
}

impl RunColumns {
    /// Reads the columns off a document.
    ///
    /// # Errors
    /// [`StoreError::Unstorable`] for a number or an id that no column holds.
    pub(crate) fn of(document: &RunDocument) -> Result<RunColumns, StoreError> {
        let cells = cells(document)?;
        let hardware = &document.hardware;
        let model = &document.model;
        let best = |phase| {
            cells
                .iter()
                .filter(|cell: &&CellColumns| cell.ranks_total && cell.shape.phase == phase)
                .filter_map(|cell| cell.total_tok_s)
                .max_by(f64::total_cmp)
        };
        let contexts = cells.iter().map(|cell| cell.shape.context_tokens).max();
        let concurrency = cells.iter().map(|cell| cell.shape.concurrency).max();
        Ok(RunColumns {
            id: id(&document.id)?,
            kind: kind(document),
            model: first_name(&[&model.id, &model.served_name]),
            hardware: first_name(&[&hardware.gpu, &hardware.cpu, &hardware.kind]),
            engine: name(&document.engine.name).unwrap_or_default(),
            quantization: name(&document.engine.quantization).unwrap_or_default(),
            gpu_count: hardware.gpu_count.map_or(0, i64::from),
            engine_version: name(&document.engine.version),
            author: name(&document.author),
            measured_at_ms: [&document.started_at, &document.finished_at]
                .into_iter()
                .find_map(|at| at.as_deref()?.parse::<jiff::Timestamp>().ok())
                .map(jiff::Timestamp::as_millisecond),
            context_tokens_max: contexts.map(context_column).transpose()?,
            concurrency_max: concurrency.map(i64::from),
            decode_tok_s_max: best(Phase::Decode),
            prefill_tok_s_max: best(Phase::Prefill),
            cells,
        })
    }

    /// Lower case, everything of a variant that a search looks at.
    pub(crate) fn variant_search_text(&self) -> String {
        format!("{}\n{}", self.engine, self.quantization).to_lowercase()
    }
}

/// The context as a column holds it.
pub(crate) fn context_column(context_tokens: u64) -> Result<i64, StoreError> {
    i64::try_from(context_tokens)
        .map_err(|_| StoreError::Unstorable(format!("a context of {context_tokens} tokens")))
}

fn id(id: &str) -> Result<String, StoreError> {
    let fits = !id.is_empty() && id.len() <= NAME_CHARS_MAX && !id.contains('\0');
    if fits {
        Ok(id.to_owned())
    } else {
        Err(StoreError::Unstorable(format!(
            "a run id of {} bytes (1 to {NAME_CHARS_MAX}, without a zero byte, are)",
            id.len()
        )))
    }
}

fn kind(document: &RunDocument) -> Kind {
    match document.source {
        _ if document.hardware.is_simulated() => Kind::Simulated,
        Source::Measured => Kind::Measured,
        Source::Imported => Kind::Imported,
    }
}

/// A name as columns hold it; `None` where there is none.
fn name(text: &Option<String>) -> Option<String> {
    // PostgreSQL has no zero byte in texts.
    let text = text.as_deref()?.replace('\0', "");
    let text: String = text.trim().chars().take(NAME_CHARS_MAX).collect();
    Some(text).filter(|text| !text.is_empty())
}

fn first_name(texts: &[&Option<String>]) -> String {
    texts
        .iter()
        .find_map(|text| name(text))
        .unwrap_or_else(|| UNKNOWN.to_owned())
}

fn cells(document: &RunDocument) -> Result<Vec<CellColumns>, StoreError> {
    // A cell that was measured again stands twice; the later one counts.
    let last: HashMap<CellKey, usize> = document
        .cells
        .iter()
        .enumerate()
        .map(|(index, cell)| (cell.key(), index))
        .collect();
    let cells = document.cells.iter().enumerate();
    cells
        .map(|(index, cell)| {
            context_column(cell.context_tokens)?;
            let columns = CellColumns::of(cell);
            let counts = last.get(&cell.key()) == Some(&index);
            Ok(if counts { columns } else { columns.unranked() })
        })
        .collect()
}

impl CellColumns {
    fn of(cell: &Cell) -> CellColumns {
        let (total, latency, ttft) = match cell.phase {
            Phase::Decode => (Figure::DecodeTotal, Figure::DecodeLatency, Figure::Ttft),
            Phase::Prefill => (Figure::Prefill, Figure::Prefill, Figure::Prefill),
        };
        let ranks = |value: Option<f64>, figure| {
            cell.status == CellStatus::Valid
                && value.is_some_and(|value| value > 0.0)
                && !cell.is_taken_away(figure)
        };
        let [total_tok_s, per_request_tok_s, ttft_ms_p50] =
            [cell.total_tok_s, cell.per_request_tok_s, cell.ttft_ms_p50()].map(finite);
        let flags: Vec<&str> = cell.flags.iter().map(|flag| flag.name.as_str()).collect();
        CellColumns {
            shape: Shape {
                phase: cell.phase,
                context_tokens: cell.context_tokens,
                concurrency: cell.concurrency,
            },
            status: cell.status,
            total_tok_s,
            per_request_tok_s,
            ttft_ms_p50,
            tbt_ms_p50: finite(cell.tbt_ms_p50()),
            average_active: finite(cell.average_active),
            flags: flags.join(" "),
            ranks_total: ranks(total_tok_s, total),
            ranks_per_request: cell.phase == Phase::Decode && ranks(per_request_tok_s, latency),
            // With requests still waiting, the median is only a lower bound.
            ranks_ttft: cell.ttft_censored != Some(true) && ranks(ttft_ms_p50, ttft),
            cache_proof: cell.cache_proof,
        }
    }

    fn unranked(self) -> CellColumns {
        CellColumns {
            ranks_total: false,
            ranks_per_request: false,
            ranks_ttft: false,
            ..self
        }
    }
}

fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}
