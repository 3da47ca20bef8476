//! The way through the matrix: what is done, what is left, how long it takes.

use document::{Cell, CellKey, CellStatus, Phase, RunDocument};

use crate::bench::Bench;
use crate::matrix::{Matrix, PlannedCell};
use crate::progress::Progress;

/// The way through the matrix: what is to be done, what is done, how long it takes.
pub(crate) struct Course {
    pub cells: Vec<PlannedCell>,
    kept: Vec<CellKey>,
    pub done: usize,
    pub decode_s: Vec<f64>,
    window_s: f64,
}

/// Beside its window a decode cell takes about this long, before any is known, s.
const USUAL_OVERHEAD_S: f64 = 2.0;
/// Prefill, before any is known, tok/s.
const USUAL_PREFILL_TOK_S: f64 = 5000.0;

impl Course {
    pub fn new(bench: &Bench, matrix: &Matrix, document: &RunDocument) -> Course {
        let kept = document
            .cells
            .iter()
            .filter(|cell| cell.status != CellStatus::Failed)
            .map(Cell::key)
            .collect();
        Course {
            cells: matrix.cells.clone(),
            kept,
            done: 0,
            decode_s: Vec::new(),
            window_s: bench.plan.window_s,
        }
    }

    pub fn announce(&mut self, bench: &mut Bench, document: &RunDocument) {
        self.done = self
            .cells
            .iter()
            .filter(|cell| self.kept.contains(&cell.key))
            .count();
        bench.left_s = self.left_s(None);
        bench.tell(Progress::Planned {
            cells: self.cells.iter().map(|cell| cell.key).collect(),
            kept: document
                .cells
                .iter()
                .filter(|c| self.kept.contains(&c.key()))
                .cloned()
                .collect(),
            estimated_s: bench.left_s,
        });
    }

    pub fn is_kept(&self, key: CellKey) -> bool {
        self.kept.contains(&key)
    }

    /// A guess at the time for the cells after `after`, by those that are done.
    pub fn left_s(&self, after: Option<CellKey>) -> f64 {
        let begin = after
            .and_then(|key| self.cells.iter().position(|c| c.key == key))
            .map_or(0, |at| at + 1);
        let decode_s =
            judge::median(self.decode_s.clone()).unwrap_or(self.window_s + USUAL_OVERHEAD_S);
        self.cells[begin..]
            .iter()
            .filter(|cell| cell.over_capacity.is_none() && !self.is_kept(cell.key))
            .map(|cell| match cell.key.phase {
                Phase::Prefill => cell.key.context_tokens as f64 / USUAL_PREFILL_TOK_S,
                Phase::Decode => decode_s,
            })
            .sum()
    }
}
