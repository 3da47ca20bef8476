use askama::Template;
use document::{CellStatus, Figure, Phase, format};

use super::grid::Grid;
use super::shown::{Shown, ttft};
use super::words::list;
use crate::words::{Said, Words};

/// Prompt tok/s by context: bars from zero.
#[derive(Debug, Template)]
#[template(path = "run/prefill.html")]
pub struct PrefillChart {
    /// The page's words.
    pub words: Words,
    /// Heading.
    pub title: Said,
    /// What the time to the first token is called.
    pub ttft: Said,
    /// What a prompt's length is called, beside it.
    pub context: Said,
    /// One for each context.
    pub rows: Vec<PrefillRow>,
}

/// A context's bar.
#[derive(Debug)]
pub struct PrefillRow {
    /// `8K`.
    pub context: String,
    /// Length of the bar, percent of the longest.
    pub bar_percent: String,
    /// Prompt tok/s as in the chart: `18.5K`, `8,174`.
    pub figure: Shown,
    /// `442 ms`.
    pub ttft: Shown,
    /// What there is instead of figures, or beside them: `Failed`, names of flags.
    pub words: Option<Said>,
}

impl PrefillRow {
    /// Whether a TTFT stands there, which then needs its name.
    #[must_use]
    pub fn has_ttft(&self) -> bool {
        self.ttft != Shown::nothing()
    }
}

impl PrefillChart {
    pub(crate) fn of(grid: &Grid, words: Words) -> Option<PrefillChart> {
        let longest = grid
            .prefill_cells()
            .filter_map(|cell| cell.total_tok_s)
            .fold(0.0, f64::max);
        let rows: Vec<PrefillRow> = grid
            .prefill_contexts
            .iter()
            .map(|tokens| row(grid, *tokens, longest, words))
            .collect();
        (!rows.is_empty()).then(|| PrefillChart {
            words,
            title: words.phase(Phase::Prefill),
            ttft: words.t("run-ttft"),
            context: words.t("run-prefill-context"),
            rows,
        })
    }
}

fn row(grid: &Grid, context_tokens: u64, longest: f64, words: Words) -> PrefillRow {
    let context = format::context(context_tokens);
    let Some(cell) = grid.prefill_at(context_tokens) else {
        return PrefillRow {
            context,
            bar_percent: "0".to_owned(),
            figure: Shown::nothing(),
            ttft: Shown::nothing(),
            words: Some(words.t("run-not-measured")),
        };
    };
    let figure = Shown::of(
        cell,
        Figure::Prefill,
        cell.total_tok_s.map(format::tok_s_chart),
    );
    let share = match cell.total_tok_s {
        Some(tok_s) if longest > 0.0 && cell.status != CellStatus::Failed => tok_s / longest,
        Some(_) | None => 0.0,
    };
    let mut said = match cell.status {
        CellStatus::Valid => Vec::new(),
        CellStatus::Queued | CellStatus::OverCapacity | CellStatus::Failed => {
            vec![words.status(cell.status).into_owned()]
        }
    };
    said.extend(
        cell.flags
            .iter()
            .map(|flag| words.flag(flag.name).into_owned()),
    );
    PrefillRow {
        context,
        bar_percent: format!("{:.1}", share * 100.0),
        ttft: Shown::of(cell, Figure::Prefill, ttft(cell)),
        figure,
        words: (!said.is_empty()).then(|| list(words, &said).into()),
    }
}
