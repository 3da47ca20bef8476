use std::collections::{BTreeMap, BTreeSet};

use document::{Cell, CellStatus, Phase, RunDocument};

/// A run's cells at their places: what was planned and what was measured.
pub(crate) struct Grid<'run> {
    /// Decode contexts, tokens, ascending.
    pub contexts: Vec<u64>,
    /// Requests at once, ascending.
    pub concurrency: Vec<u32>,
    /// Prefill contexts, tokens, ascending.
    pub prefill_contexts: Vec<u64>,
    decode: BTreeMap<(u64, u32), &'run Cell>,
    prefill: BTreeMap<(u64, u32), &'run Cell>,
}

impl<'run> Grid<'run> {
    /// Places of the plan and of every cell, so that an interrupted run shows
    /// what is missing and no cell is without a place.
    pub fn of(run: &'run RunDocument) -> Grid<'run> {
        let mut decode = BTreeMap::new();
        let mut prefill = BTreeMap::new();
        for cell in &run.cells {
            let place = (cell.context_tokens, cell.concurrency);
            match cell.phase {
                Phase::Decode => decode.insert(place, cell),
                Phase::Prefill => prefill.insert(place, cell),
            };
        }
        let plan = &run.settings;
        let contexts: BTreeSet<u64> = decode.keys().map(|place| place.0).collect();
        let concurrency: BTreeSet<u32> = decode.keys().map(|place| place.1).collect();
        let prefill_contexts: BTreeSet<u64> = prefill.keys().map(|place| place.0).collect();
        Grid {
            contexts: joined(contexts, &plan.contexts),
            concurrency: joined(concurrency, &plan.concurrency),
            prefill_contexts: joined(prefill_contexts, &plan.prefill_contexts),
            decode,
            prefill,
        }
    }

    /// The decode cell at a place, if it was measured.
    pub fn decode_at(&self, context_tokens: u64, concurrency: u32) -> Option<&'run Cell> {
        self.decode.get(&(context_tokens, concurrency)).copied()
    }

    /// The prefill cell of a context (one request at once), if it was measured.
    pub fn prefill_at(&self, context_tokens: u64) -> Option<&'run Cell> {
        let mut at_context = self
            .prefill
            .range((context_tokens, 0)..=(context_tokens, u32::MAX));
        at_context.next().map(|(_, cell)| *cell)
    }

    /// Decode cells by context, then requests at once.
    pub fn decode_cells(&self) -> impl Iterator<Item = &'run Cell> {
        self.decode.values().copied()
    }

    /// Decode cells that may be compared: a queued one says more of the queue than
    /// of speed.
    pub fn valid_decode_cells(&self) -> impl Iterator<Item = &'run Cell> {
        self.decode_cells()
            .filter(|cell| cell.status == CellStatus::Valid)
    }

    /// Prefill cells by context.
    pub fn prefill_cells(&self) -> impl Iterator<Item = &'run Cell> {
        self.prefill.values().copied()
    }

    /// All cells in the order of the pages: prefill, then decode.
    pub fn cells(&self) -> impl Iterator<Item = &'run Cell> {
        self.prefill_cells().chain(self.decode_cells())
    }

    /// Decode places without a cell.
    pub fn decode_missing(&self) -> usize {
        (self.contexts.len() * self.concurrency.len()).saturating_sub(self.decode.len())
    }

    /// Prefill contexts without a cell.
    pub fn prefill_missing(&self) -> usize {
        let measured = |tokens: &&u64| self.prefill_at(**tokens).is_none();
        self.prefill_contexts.iter().filter(measured).count()
    }
}

fn joined<T: Ord + Copy>(mut measured: BTreeSet<T>, planned: &[T]) -> Vec<T> {
    measured.extend(planned);
    measured.into_iter().collect()
}
