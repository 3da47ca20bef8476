use askama::Template;
use document::{CellStatus, RunDocument, Source, format};

use super::grid::Grid;
use super::shown::{trusted_per_request_tok_s, trusted_prompt_tok_s, trusted_total_tok_s};
use super::words::counted;

/// The first figures of a page, and what is wrong with the run as a whole.
#[derive(Debug, Template)]
#[template(path = "run/lead.html")]
pub struct Lead {
    /// At most four.
    pub figures: Vec<LeadFigure>,
    /// The run is not whole: what is missing.
    pub warning: Option<String>,
}

/// One leading figure.
#[derive(Debug)]
pub struct LeadFigure {
    /// The figure in the pages' format.
    pub value: String,
    /// Its unit.
    pub unit: &'static str,
    /// What it is of.
    pub words: String,
}

impl Lead {
    pub(crate) fn of(run: &RunDocument, grid: &Grid) -> Lead {
        let figures = [alone(grid), together(grid), reading(grid), cells(grid)];
        Lead {
            figures: figures.into_iter().flatten().collect(),
            warning: warning(run, grid),
        }
    }
}

/// What one request gets, at the fewest at once and the shortest context measured.
fn alone(grid: &Grid) -> Option<LeadFigure> {
    let cell = grid
        .valid_decode_cells()
        .filter(|cell| trusted_total_tok_s(cell).is_some())
        .min_by_key(|cell| (cell.concurrency, cell.context_tokens))?;
    let context = format::context(cell.context_tokens);
    let (value, words) = match cell.concurrency {
        1 => (
            trusted_total_tok_s(cell)?,
            format!("for one request at {context}"),
        ),
        several => (
            trusted_per_request_tok_s(cell)?,
            format!("for each of {several} requests at {context}"),
        ),
    };
    Some(LeadFigure {
        value: format::tok_s(value),
        unit: "tok/s",
        words,
    })
}

fn together(grid: &Grid) -> Option<LeadFigure> {
    let (value, cell) = grid
        .valid_decode_cells()
        .filter_map(|cell| trusted_total_tok_s(cell).map(|value| (value, cell)))
        .max_by(|left, right| left.0.total_cmp(&right.0))?;
    Some(LeadFigure {
        value: format::tok_s(value),
        unit: "tok/s",
        words: format!(
            "most in all: {} at once, {}",
            cell.concurrency,
            format::context(cell.context_tokens)
        ),
    })
}

fn reading(grid: &Grid) -> Option<LeadFigure> {
    let (value, cell) = grid
        .prefill_cells()
        .filter(|cell| cell.status == CellStatus::Valid)
        .filter_map(|cell| trusted_prompt_tok_s(cell).map(|value| (value, cell)))
        .max_by(|left, right| left.0.total_cmp(&right.0))?;
    Some(LeadFigure {
        value: format::tok_s_chart(value),
        unit: "tok/s",
        words: format!(
            "reading a prompt of {}",
            format::context(cell.context_tokens)
        ),
    })
}

/// Whether the run can be trusted: how many decode cells are valid, and the rest.
fn cells(grid: &Grid) -> Option<LeadFigure> {
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
        (of(CellStatus::Queued), "queued"),
        (of(CellStatus::OverCapacity), "over capacity"),
        (of(CellStatus::Failed), "failed"),
        (grid.decode_missing(), "not measured"),
        (flagged, "flagged"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    // Hard spaces: a line breaks between counts, not within one.
    .map(|(count, word)| format!("{} {word}", format::count(count as u64)).replace(' ', "\u{a0}"))
    .collect();
    let valid = of(CellStatus::Valid);
    Some(LeadFigure {
        value: format::count(valid as u64),
        unit: if valid == 1 {
            "valid cell"
        } else {
            "valid cells"
        },
        words: if rest.is_empty() {
            "every cell of the matrix".to_owned()
        } else {
            rest.join(" · ")
        },
    })
}

fn warning(run: &RunDocument, grid: &Grid) -> Option<String> {
    let missing = grid.decode_missing() + grid.prefill_missing();
    let was_interrupted = run.source == Source::Measured && run.finished_at.is_none();
    match (missing, was_interrupted) {
        (0, _) if run.cells.is_empty() => Some("Nothing was measured.".to_owned()),
        (0, true) => {
            Some("The run did not come to its end, though every cell was measured.".to_owned())
        }
        (0, false) => None,
        (missing, true) => Some(format!(
            "The run was interrupted: {} not measured.",
            counted(missing, "cell was", "cells were")
        )),
        (missing, false) => Some(format!(
            "The run is not complete: {} not measured.",
            counted(missing, "cell was", "cells were")
        )),
    }
}
