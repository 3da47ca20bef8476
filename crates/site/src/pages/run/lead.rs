use askama::Template;
use document::{CellStatus, RunDocument, Source, format};

use super::grid::Grid;
use super::shown::{trusted_per_request_tok_s, trusted_prompt_tok_s, trusted_total_tok_s};
use super::words::counted;
use crate::words::{Said, Words};

/// The first figures of a page, and what is wrong with the run as a whole.
#[derive(Debug, Template)]
#[template(path = "run/lead.html")]
pub struct Lead {
    /// The page's words.
    pub words: Words,
    /// At most four.
    pub figures: Vec<LeadFigure>,
    /// The run is not whole: what is missing.
    pub warning: Option<Said>,
}

/// One leading figure.
#[derive(Debug)]
pub struct LeadFigure {
    /// The figure in the pages' format.
    pub value: String,
    /// Its unit.
    pub unit: Said,
    /// What it is of.
    pub words: Said,
}

impl Lead {
    pub(crate) fn of(run: &RunDocument, grid: &Grid, words: Words) -> Lead {
        let figures = [
            alone(grid, words),
            together(grid, words),
            reading(grid, words),
            cells(grid, words),
        ];
        Lead {
            words,
            figures: figures.into_iter().flatten().collect(),
            warning: warning(run, grid, words),
        }
    }
}

/// What one request gets, at the fewest at once and the shortest context measured.
fn alone(grid: &Grid, words: Words) -> Option<LeadFigure> {
    let cell = grid
        .valid_decode_cells()
        .filter(|cell| trusted_total_tok_s(cell).is_some())
        .min_by_key(|cell| (cell.concurrency, cell.context_tokens))?;
    let context = ("context", format::context(cell.context_tokens).into());
    let (value, said) = match cell.concurrency {
        1 => (
            trusted_total_tok_s(cell)?,
            words.with("run-lead-one-request", &[context]),
        ),
        several => (
            trusted_per_request_tok_s(cell)?,
            words.with(
                "run-lead-each-request",
                &[context, ("concurrency", several.to_string().into())],
            ),
        ),
    };
    Some(LeadFigure {
        value: format::tok_s(value),
        unit: words.t("run-tok-s"),
        words: said.into(),
    })
}

fn together(grid: &Grid, words: Words) -> Option<LeadFigure> {
    let (value, cell) = grid
        .valid_decode_cells()
        .filter_map(|cell| trusted_total_tok_s(cell).map(|value| (value, cell)))
        .max_by(|left, right| left.0.total_cmp(&right.0))?;
    Some(LeadFigure {
        value: format::tok_s(value),
        unit: words.t("run-tok-s"),
        words: words
            .with(
                "run-lead-most",
                &[
                    ("concurrency", cell.concurrency.to_string().into()),
                    ("context", format::context(cell.context_tokens).into()),
                ],
            )
            .into(),
    })
}

fn reading(grid: &Grid, words: Words) -> Option<LeadFigure> {
    let (value, cell) = grid
        .prefill_cells()
        .filter(|cell| cell.status == CellStatus::Valid)
        .filter_map(|cell| trusted_prompt_tok_s(cell).map(|value| (value, cell)))
        .max_by(|left, right| left.0.total_cmp(&right.0))?;
    Some(LeadFigure {
        value: format::tok_s_chart(value),
        unit: words.t("run-tok-s"),
        words: words
            .with(
                "run-lead-reading",
                &[("context", format::context(cell.context_tokens).into())],
            )
            .into(),
    })
}

/// Whether the run can be trusted: how many decode cells are valid, and the rest.
fn cells(grid: &Grid, words: Words) -> Option<LeadFigure> {
    let of = |status| {
        grid.decode_cells()
            .filter(|cell| cell.status == status)
            .count()
    };
    let total = grid.contexts.len() * grid.concurrency.len();
    if total == 0 {
        return None;
    }
    let flagged = grid
        .decode_cells()
        .filter(|cell| !cell.flags.is_empty())
        .count();
    let rest: Vec<String> = [
        (of(CellStatus::Queued), "run-lead-queued"),
        (of(CellStatus::OverCapacity), "run-lead-over-capacity"),
        (of(CellStatus::Failed), "run-lead-failed"),
        (grid.decode_missing(), "run-lead-not-measured"),
        (flagged, "run-lead-flagged"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    // Hard spaces: a line breaks between counts, not within one.
    .map(|(count, key)| {
        let shown = format::count(count as u64);
        words
            .with(key, &[("shown", shown.into())])
            .replace(' ', "\u{a0}")
    })
    .collect();
    let valid = of(CellStatus::Valid);
    Some(LeadFigure {
        value: format::count(valid as u64),
        unit: words
            .with("run-lead-valid-cells", &[("count", valid.into())])
            .into(),
        words: if rest.is_empty() {
            words.t("run-lead-every-cell")
        } else {
            rest.join(" · ").into()
        },
    })
}

fn warning(run: &RunDocument, grid: &Grid, words: Words) -> Option<Said> {
    let missing = grid.decode_missing() + grid.prefill_missing();
    let was_interrupted = run.source == Source::Measured && run.finished_at.is_none();
    match (missing, was_interrupted) {
        (0, _) if run.cells.is_empty() => Some(words.t("run-nothing-measured")),
        (0, true) => Some(words.t("run-no-end")),
        (0, false) => None,
        (missing, true) => Some(words.with("run-interrupted", &counted(missing)).into()),
        (missing, false) => Some(words.with("run-not-complete", &counted(missing)).into()),
    }
}
