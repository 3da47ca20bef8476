use document::{CacheProof, CellStatus, Phase};
use serde::{Deserialize, Serialize};

/// How a run's figures came to be: never ranked together unseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Measured by tokgrid on a real machine.
    Measured,
    /// Read from another tool's result file.
    Imported,
    /// Measured on a simulated engine.
    Simulated,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Kind; 3] = [Kind::Measured, Kind::Imported, Kind::Simulated];

    /// The name as it stands in columns and URLs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Measured => "measured",
            Kind::Imported => "imported",
            Kind::Simulated => "simulated",
        }
    }

    /// The kind with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// What a leaderboard orders by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Total tok/s; prompt tok/s of a prefill cell. More is better.
    Total,
    /// Total tok/s for each GPU. More is better.
    PerGpu,
    /// tok/s of one request (decode only). More is better.
    PerRequest,
    /// Median TTFT, ms. Less is better.
    Ttft,
}

impl Metric {
    /// All metrics.
    pub const ALL: [Metric; 4] = [
        Metric::Total,
        Metric::PerGpu,
        Metric::PerRequest,
        Metric::Ttft,
    ];

    /// The name as it stands in columns and URLs.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Metric::Total => "total",
            Metric::PerGpu => "per_gpu",
            Metric::PerRequest => "per_request",
            Metric::Ttft => "ttft",
        }
    }

    /// The metric with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Metric> {
        Metric::ALL
            .into_iter()
            .find(|metric| metric.as_str() == name)
    }

    /// The number in columns.
    pub(crate) fn column(self) -> i64 {
        match self {
            Metric::Total => 1,
            Metric::PerGpu => 2,
            Metric::PerRequest => 3,
            Metric::Ttft => 4,
        }
    }

    /// The value behind a score: scores are negative where less is better.
    pub(crate) fn value(self, score: f64) -> f64 {
        if self.less_is_better() { -score } else { score }
    }

    /// Whether a smaller figure is the better one.
    #[must_use]
    pub fn less_is_better(self) -> bool {
        match self {
            Metric::Ttft => true,
            Metric::Total | Metric::PerGpu | Metric::PerRequest => false,
        }
    }
}

/// Which cells are compared: one phase at one context and one concurrency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shape {
    /// Prefill or decode.
    pub phase: Phase,
    /// Target prompt length, tokens.
    pub context_tokens: u64,
    /// Requests at once.
    pub concurrency: u32,
}

/// A thing with a page of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Named {
    /// Its place in the URL of its page.
    pub slug: String,
    /// What people call it.
    pub name: String,
}

/// A word that stands in a column for a value.
pub(crate) trait Word: Sized + Copy + 'static {
    /// All values with their words.
    const WORDS: &'static [(Self, &'static str)];

    /// The word of this value.
    fn word(self) -> &'static str
    where
        Self: PartialEq,
    {
        Self::WORDS
            .iter()
            .find(|(value, _)| *value == self)
            .map_or("", |(_, word)| word)
    }

    /// The value of this word.
    fn from_word(word: &str) -> Option<Self> {
        Self::WORDS
            .iter()
            .find(|(_, known)| *known == word)
            .map(|(value, _)| *value)
    }
}

impl Word for Phase {
    const WORDS: &'static [(Phase, &'static str)] =
        &[(Phase::Prefill, "prefill"), (Phase::Decode, "decode")];
}

impl Word for CellStatus {
    const WORDS: &'static [(CellStatus, &'static str)] = &[
        (CellStatus::Valid, "valid"),
        (CellStatus::Queued, "queued"),
        (CellStatus::OverCapacity, "over_capacity"),
        (CellStatus::Failed, "failed"),
    ];
}

impl Word for CacheProof {
    const WORDS: &'static [(CacheProof, &'static str)] = &[
        (CacheProof::Proved, "proved"),
        (CacheProof::Failed, "failed"),
        (CacheProof::Unproven, "unproven"),
    ];
}
