//! What the events so far add up to. No terminal and no clock: the same events
//! give the same state, in whatever order they come.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use document::{Cell, CellKey, CellStatus, Phase, format};
use load::{Progress, Server, Stage, Tick};

use super::words;

/// Lines of the event log that are kept.
const LOG_LINES_KEPT: usize = 200;
/// Readings of tok/s that are kept for the sparkline.
const RECENT_KEPT: usize = 60;

/// A line of the event log.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LogLine {
    /// Since the run started, s.
    pub(super) at_s: f64,
    /// One line, without control characters.
    pub(super) text: String,
    /// Said by the run; otherwise it is a cell's end, which the matrix shows too.
    pub(super) is_note: bool,
}

/// A run as far as its events have told it.
#[derive(Debug, Default)]
pub(super) struct State {
    /// The server, once recognised.
    pub(super) server: Option<Server>,
    /// The cell being measured, where it stands in the matrix.
    pub(super) current: Option<CellKey>,
    /// The cell begun or finished last: what a view too small for all keeps in sight.
    pub(super) focus: Option<CellKey>,
    /// The current cell's stage.
    pub(super) stage: Option<Stage>,
    /// Its last tick.
    pub(super) tick: Option<Tick>,
    /// Its tok/s of late, oldest first.
    pub(super) recent_tok_s: VecDeque<f64>,
    /// Oldest first.
    pub(super) log: VecDeque<LogLine>,
    /// When the last event came, s since the run started.
    pub(super) at_s: f64,
    /// Time left, as guessed then, s.
    pub(super) left_s: Option<f64>,
    /// Whether the run has told that it is over.
    pub(super) is_finished: bool,
    /// Planned cells and those that came unplanned; `None` where not measured yet.
    cells: BTreeMap<CellKey, Option<Cell>>,
}

impl State {
    /// Takes in one event.
    pub(super) fn apply(&mut self, event: Progress) {
        match event {
            Progress::Detected(server) => self.server = Some(calm(server)),
            Progress::Planned {
                cells,
                kept,
                estimated_s,
            } => {
                for key in cells {
                    self.cells.entry(key).or_insert(None);
                }
                for cell in kept {
                    self.cells.insert(cell.key(), Some(cell));
                }
                self.left_s = Some(estimated_s);
            }
            Progress::Note { at_s, text } => {
                self.at(at_s);
                self.note(at_s, words::one_line(&text), true);
            }
            Progress::CellStarted { cell, at_s } => {
                self.at(at_s);
                self.leave_cell();
                self.current = Some(cell);
                self.focus = Some(cell);
                self.cells.insert(cell, None);
            }
            Progress::StageEntered { stage, at_s } => {
                self.at(at_s);
                self.stage = Some(stage);
            }
            Progress::Tick(tick) => self.tick(tick),
            Progress::CellFinished {
                cell, at_s, left_s, ..
            } => {
                self.at(at_s);
                self.left_s = Some(left_s);
                if let Some(text) = outcome(&cell) {
                    self.note(at_s, text, false);
                }
                if self.current == Some(cell.key()) {
                    self.leave_cell();
                }
                self.focus = Some(cell.key());
                self.cells.insert(cell.key(), Some(*cell));
            }
            Progress::Finished { at_s, .. } => {
                self.at(at_s);
                self.leave_cell();
                self.is_finished = true;
                self.left_s = Some(0.0);
            }
        }
    }

    fn tick(&mut self, tick: Tick) {
        self.at(tick.at_s);
        self.left_s = Some(tick.left_s);
        if let Some(tok_s) = tick.tok_s.filter(|tok_s| tok_s.is_finite()) {
            if self.recent_tok_s.len() == RECENT_KEPT {
                self.recent_tok_s.pop_front();
            }
            self.recent_tok_s.push_back(tok_s);
        }
        self.tick = Some(tick);
    }

    /// Time never runs backwards, whatever an event says.
    fn at(&mut self, at_s: f64) {
        self.at_s = self.at_s.max(at_s);
    }

    fn leave_cell(&mut self) {
        self.current = None;
        self.stage = None;
        self.tick = None;
        self.recent_tok_s.clear();
    }

    fn note(&mut self, at_s: f64, text: String, is_note: bool) {
        if self.log.len() == LOG_LINES_KEPT {
            self.log.pop_front();
        }
        self.log.push_back(LogLine {
            at_s,
            text,
            is_note,
        });
    }

    /// Whether the cell is part of the matrix.
    pub(super) fn is_planned(&self, key: CellKey) -> bool {
        self.cells.contains_key(&key)
    }

    /// The finished cell at a place.
    pub(super) fn cell(&self, key: CellKey) -> Option<&Cell> {
        self.cells.get(&key)?.as_ref()
    }

    /// All finished cells.
    pub(super) fn finished(&self) -> impl Iterator<Item = &Cell> {
        self.cells.values().flatten()
    }

    /// Cells done, and cells in all.
    pub(super) fn progress(&self) -> (usize, usize) {
        (self.finished().count(), self.cells.len())
    }

    /// The matrix's rows: contexts of either phase, tokens.
    pub(super) fn contexts(&self) -> Vec<u64> {
        let contexts: BTreeSet<u64> = self.cells.keys().map(|key| key.context_tokens).collect();
        contexts.into_iter().collect()
    }

    /// The matrix's columns: requests at once of the decode cells.
    pub(super) fn concurrencies(&self) -> Vec<u32> {
        let decode = self.cells.keys().filter(|key| key.phase == Phase::Decode);
        let concurrencies: BTreeSet<u32> = decode.map(|key| key.concurrency).collect();
        concurrencies.into_iter().collect()
    }

    /// Whether some prefill is part of the matrix.
    pub(super) fn has_prefill(&self) -> bool {
        self.cells.keys().any(|key| key.phase == Phase::Prefill)
    }
}

/// The server's words without control characters.
fn calm(server: Server) -> Server {
    Server {
        url: words::one_line(&server.url),
        engine: words::one_line(&server.engine),
        version: server.version.as_deref().map(words::one_line),
        model: words::one_line(&server.model),
        ..server
    }
}

/// A finished cell in a line of the log; cells that were not run would flood it.
fn outcome(cell: &Cell) -> Option<String> {
    let name = words::cell(cell.key());
    let mut line = match cell.status {
        CellStatus::Valid | CellStatus::Queued => {
            let total = format::or_nothing(cell.total_tok_s, format::tok_s);
            format!("{name}: {total} tok/s, TTFT {}", words::ttft(cell))
        }
        CellStatus::OverCapacity => return None,
        CellStatus::Failed => {
            let reason = cell.reason.as_deref().unwrap_or("no reason was told");
            format!("{name} failed: {}", words::one_line(reason))
        }
    };
    if cell.status == CellStatus::Queued {
        line.push_str(", requests queued");
    }
    for flag in &cell.flags {
        line.push_str(&format!(", {}", flag.name.as_str()));
    }
    Some(line)
}

#[cfg(test)]
mod tests {
    use super::super::scripted;
    use super::*;

    #[test]
    fn a_kept_cell_counts_as_done() {
        let mut state = State::default();
        let (cells, kept) = (scripted::keys(), vec![scripted::finished_cell(0)]);
        let of = cells.len();
        state.apply(Progress::Planned {
            cells,
            kept,
            estimated_s: 60.0,
        });
        assert_eq!(state.progress(), (1, of));
    }

    #[test]
    fn events_before_the_plan_are_not_lost_to_it() {
        let mut state = State::default();
        let cell = scripted::finished_cell(0);
        let key = cell.key();
        state.apply(Progress::CellFinished {
            cell: Box::new(cell),
            at_s: 4.0,
            done: 1,
            of: 1,
            left_s: 0.0,
        });
        state.apply(Progress::Planned {
            cells: scripted::keys(),
            kept: Vec::new(),
            estimated_s: 60.0,
        });
        assert!(state.cell(key).is_some());
    }

    #[test]
    fn a_new_cell_starts_without_the_figures_of_the_last() {
        let mut state = State::default();
        state.apply(Progress::Tick(scripted::tick(3.0)));
        assert!(!state.recent_tok_s.is_empty());
        state.apply(Progress::CellStarted {
            cell: scripted::keys()[1],
            at_s: 2.0,
        });
        assert!(state.tick.is_none() && state.recent_tok_s.is_empty());
        assert_eq!(state.at_s, 3.0, "time does not run backwards");
    }

    #[test]
    fn the_log_and_the_sparkline_have_an_end() {
        let mut state = State::default();
        for at in 0..1000 {
            state.apply(Progress::Note {
                at_s: f64::from(at),
                text: "again".to_owned(),
            });
            state.apply(Progress::Tick(scripted::tick(f64::from(at))));
        }
        assert_eq!(state.log.len(), LOG_LINES_KEPT);
        assert_eq!(state.recent_tok_s.len(), RECENT_KEPT);
    }
}
