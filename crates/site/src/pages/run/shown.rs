use askama::Template;
use document::{Cell, CellStatus, Figure, format};

use crate::words::Said;

/// A figure as it is written, struck through where a flag takes it away.
#[derive(Debug, Clone, PartialEq, Eq, Template)]
#[template(path = "run/shown.html")]
pub struct Shown {
    /// The figure in the pages' format, or `—`.
    pub text: Said,
    /// A flag takes it away.
    pub is_struck: bool,
}

impl Shown {
    /// `text` of `cell`, whose trust hangs on `figure`. A failed cell shows no figure.
    pub(crate) fn of(cell: &Cell, figure: Figure, text: Option<String>) -> Shown {
        match text {
            Some(text) if cell.status != CellStatus::Failed => Shown {
                text: text.into(),
                is_struck: cell.is_taken_away(figure),
            },
            Some(_) | None => Shown::nothing(),
        }
    }

    /// What stands where nothing was measured.
    pub(crate) fn nothing() -> Shown {
        Shown {
            text: Said::Borrowed(format::NOTHING),
            is_struck: false,
        }
    }
}

/// TTFT in the pages' format. `≥` where requests still waited for their first
/// token when the window closed, so that the true figure is larger.
pub(crate) fn ttft(cell: &Cell) -> Option<String> {
    let mut text = format::ttft_ms(cell.ttft_ms_p50()?);
    if cell.ttft_censored == Some(true) {
        text.insert_str(0, "≥ ");
    }
    Some(text)
}

/// Total tok/s that may be compared: measured and not taken away.
pub(crate) fn trusted_total_tok_s(cell: &Cell) -> Option<f64> {
    trusted(cell, Figure::DecodeTotal, cell.total_tok_s)
}

/// Per-request tok/s that may be compared: measured and not taken away.
pub(crate) fn trusted_per_request_tok_s(cell: &Cell) -> Option<f64> {
    trusted(cell, Figure::DecodeLatency, cell.per_request_tok_s)
}

/// Prompt tok/s that may be compared: measured and not taken away.
pub(crate) fn trusted_prompt_tok_s(cell: &Cell) -> Option<f64> {
    trusted(cell, Figure::Prefill, cell.total_tok_s)
}

fn trusted(cell: &Cell, figure: Figure, value: Option<f64>) -> Option<f64> {
    value.filter(|value| {
        cell.status.has_figures()
            && value.is_finite()
            && *value > 0.0
            && !cell.is_taken_away(figure)
    })
}
