//! The cells a fit starts from.

use document::{Cell, CellStatus, Figure, Phase, RunDocument};

/// A cold prefill.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrefillPoint {
    /// Prompt tokens that were computed.
    pub prompt_tokens: f64,
    /// Time to first token, ms.
    pub ttft_ms: f64,
}

/// A sustained decode cell that was run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecodePoint {
    /// Prompt length, tokens.
    pub context_tokens: f64,
    /// Requests kept in flight.
    pub concurrency: u32,
    /// Of these, requests that ran at once.
    pub running: f64,
    /// Time average of running requests, restarts' gaps included.
    pub average_active: Option<f64>,
    /// Output of all requests, tok/s.
    pub total_tok_s: f64,
    /// Median over requests, tok/s.
    pub per_request_tok_s: Option<f64>,
    /// Median time between tokens, ms.
    pub tbt_ms: Option<f64>,
    /// Median warm time to first token, ms.
    pub ttft_ms: Option<f64>,
}

/// What is known of a real server's speed.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Cold prefills, one for each length.
    pub prefill: Vec<PrefillPoint>,
    /// Decode cells.
    pub decode: Vec<DecodePoint>,
    /// Longest answer of the run, tokens.
    pub max_output_tokens: f64,
    /// Window of the decode cells, s.
    pub window_s: f64,
}

/// Prompt tokens of a prefill cell are taken from its rate where that is this
/// close to the cell's label.
const LABEL_REACH: f64 = 0.05;

/// Window and longest answer of a document that does not say.
const ASSUMED_WINDOW_S: f64 = 30.0;
const ASSUMED_MAX_OUTPUT_TOKENS: f64 = 4096.0;

impl Measured {
    /// The cells of a run that have figures nothing takes away.
    #[must_use]
    pub fn from_document(run: &RunDocument) -> Measured {
        let settings = &run.settings;
        Measured {
            prefill: run.cells.iter().filter_map(prefill_point).collect(),
            decode: run.cells.iter().filter_map(decode_point).collect(),
            max_output_tokens: settings
                .max_output_tokens
                .map_or(ASSUMED_MAX_OUTPUT_TOKENS, |tokens| tokens as f64),
            window_s: settings
                .window_s
                .filter(|window| *window > 0.0)
                .unwrap_or(ASSUMED_WINDOW_S),
        }
    }
}

fn prefill_point(cell: &Cell) -> Option<PrefillPoint> {
    if cell.phase != Phase::Prefill || cell.is_taken_away(Figure::Prefill) {
        return None;
    }
    let ttft_ms = cell.ttft_ms_p50().filter(|ms| *ms > 0.0)?;
    let label = cell.context_tokens as f64;
    let divided = cell.total_tok_s? * ttft_ms / 1e3;
    let close = (divided / label - 1.0).abs() <= LABEL_REACH;
    Some(PrefillPoint {
        prompt_tokens: if close { divided } else { label },
        ttft_ms,
    })
}

fn decode_point(cell: &Cell) -> Option<DecodePoint> {
    if cell.phase != Phase::Decode || cell.is_taken_away(Figure::DecodeTotal) {
        return None;
    }
    let concurrency = f64::from(cell.concurrency);
    let running = match cell.status {
        CellStatus::Valid => concurrency,
        CellStatus::Queued => cell.average_active.unwrap_or(concurrency).min(concurrency),
        CellStatus::OverCapacity | CellStatus::Failed => return None,
    };
    Some(DecodePoint {
        context_tokens: cell.context_tokens as f64,
        concurrency: cell.concurrency,
        running,
        average_active: cell.average_active,
        total_tok_s: cell.total_tok_s.filter(|rate| *rate > 0.0)?,
        per_request_tok_s: cell.per_request_tok_s,
        tbt_ms: cell.tbt_ms_p50().filter(|ms| *ms > 0.0),
        ttft_ms: cell.ttft_ms_p50(),
    })
}
