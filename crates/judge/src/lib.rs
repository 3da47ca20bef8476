#![doc = include_str!("../README.md")]

mod decode;
mod derived;
mod drift;
mod flags;
mod ledger;
mod prefill;
mod statistics;
mod timeline;
mod verdict;
mod warmth;

use document::{Cell, CellSamples, CellStatus, Phase};

pub use derived::{DerivedFlag, add_derived_flags, derived_flags};
pub use statistics::median;

/// The cell that these samples make: figures, verdict and flags.
#[must_use]
pub fn judge(samples: &CellSamples) -> Cell {
    if let Some(reason) = &samples.over_capacity {
        return Cell {
            reason: Some(reason.clone()),
            ..Cell::empty(samples.key, CellStatus::OverCapacity)
        };
    }
    if let Some(reason) = verdict::failure(samples) {
        let failed = samples
            .requests
            .iter()
            .filter(|r| r.outcome.failure().is_some())
            .count();
        return Cell {
            reason: Some(reason),
            failed: Some(failed as u64),
            ..Cell::empty(samples.key, CellStatus::Failed)
        };
    }
    match samples.key.phase {
        Phase::Prefill => prefill::judge(samples),
        Phase::Decode => decode::judge(samples),
    }
}
