use document::{CellStatus, FlagName, Phase};

use super::{Said, Words};

impl Words {
    /// What pages call a phase: `Sustained decode`.
    #[must_use]
    pub fn phase(&self, phase: Phase) -> Said {
        self.t(match phase {
            Phase::Prefill => "run-phase-prefill",
            Phase::Decode => "run-phase-decode",
        })
    }

    /// What pages call a status: `Over capacity`.
    #[must_use]
    pub fn status(&self, status: CellStatus) -> Said {
        self.t(match status {
            CellStatus::Valid => "run-status-valid",
            CellStatus::Queued => "run-status-queued",
            CellStatus::OverCapacity => "run-status-over-capacity",
            CellStatus::Failed => "run-status-failed",
        })
    }

    /// The sentence that stands below a matrix where the status occurs.
    #[must_use]
    pub fn status_sentence(&self, status: CellStatus) -> Option<Said> {
        Some(self.t(match status {
            CellStatus::Valid => return None,
            CellStatus::Queued => "run-sentence-queued",
            CellStatus::OverCapacity => "run-sentence-over-capacity",
            CellStatus::Failed => "run-sentence-failed",
        }))
    }

    /// What pages call a flag: in English its name in the document, `client_limited`.
    #[must_use]
    pub fn flag(&self, name: FlagName) -> Said {
        self.t(match name {
            FlagName::Contaminated => "run-flag-contaminated",
            FlagName::ClientLimited => "run-flag-client-limited",
            FlagName::TokenCountDisputed => "run-flag-token-count-disputed",
            FlagName::ExceedsContext => "run-flag-exceeds-context",
            FlagName::Repetition => "run-flag-repetition",
            FlagName::Unsteady => "run-flag-unsteady",
            FlagName::Preempted => "run-flag-preempted",
            FlagName::ShortOutput => "run-flag-short-output",
            FlagName::PrefixCacheHit => "run-flag-prefix-cache-hit",
            FlagName::ColdOutlier => "run-flag-cold-outlier",
            FlagName::PrefixCacheMiss => "run-flag-prefix-cache-miss",
            FlagName::Throttled => "run-flag-throttled",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;

    #[test]
    fn english_nouns_are_those_of_the_terminal_and_of_the_document() {
        let english = Words::of(Language::English);
        for phase in [Phase::Prefill, Phase::Decode] {
            assert_eq!(english.phase(phase), phase.title());
        }
        for status in [
            CellStatus::Valid,
            CellStatus::Queued,
            CellStatus::OverCapacity,
            CellStatus::Failed,
        ] {
            assert_eq!(english.status(status), status.title());
            assert_eq!(
                english.status_sentence(status).as_deref(),
                status.sentence()
            );
        }
        for name in [
            FlagName::Contaminated,
            FlagName::ClientLimited,
            FlagName::TokenCountDisputed,
            FlagName::ExceedsContext,
            FlagName::Repetition,
            FlagName::Unsteady,
            FlagName::Preempted,
            FlagName::ShortOutput,
            FlagName::PrefixCacheHit,
            FlagName::ColdOutlier,
            FlagName::PrefixCacheMiss,
            FlagName::Throttled,
        ] {
            assert_eq!(english.flag(name), name.as_str());
        }
    }
}
