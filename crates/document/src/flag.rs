use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A doubt about a cell, with what was seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Flag {
    /// Which doubt.
    pub name: FlagName,
    /// What was seen, in words a person understands, with its figures.
    pub evidence: String,
}

/// The flags of METHOD.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum FlagName {
    /// The server ran more requests than ours inside the window.
    Contaminated,
    /// This machine could not keep up with the server.
    ClientLimited,
    /// Client, usage and engine counts of tokens disagree.
    TokenCountDisputed,
    /// Prompt and output together pass the model's limit.
    ExceedsContext,
    /// Answers looped.
    Repetition,
    /// Throughput drifted beyond its confidence band.
    Unsteady,
    /// The engine's preemption counter moved.
    Preempted,
    /// Answers stopped before max output.
    ShortOutput,
    /// Every prefill sample was served from cache.
    PrefixCacheHit,
    /// The first prefill sample was colder than cold (compile, autotune) and is left out.
    ColdOutlier,
    /// A decode request's prompt was not in the cache, so its TTFT includes prefill.
    PrefixCacheMiss,
    /// The GPU's clocks were held down.
    Throttled,
}

/// A group of figures that a flag can take away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// Total tok/s of a decode cell.
    DecodeTotal,
    /// Per-request tok/s and time between tokens of a decode cell.
    DecodeLatency,
    /// TTFT of a decode cell.
    Ttft,
    /// Prompt tok/s and TTFT of a prefill cell.
    Prefill,
}

impl FlagName {
    /// Whether this flag takes the figure away: kept in the document, struck on
    /// the page, never ranked (METHOD, "Flags").
    #[must_use]
    pub fn takes_away(self, figure: Figure) -> bool {
        match self {
            FlagName::Contaminated
            | FlagName::ClientLimited
            | FlagName::TokenCountDisputed
            | FlagName::ExceedsContext => true,
            FlagName::Repetition => figure != Figure::Prefill,
            FlagName::Unsteady => figure == Figure::DecodeTotal,
            FlagName::PrefixCacheHit => figure == Figure::Prefill,
            FlagName::PrefixCacheMiss => figure == Figure::Ttft,
            // The outlying sample is left out of the figure, which then stands.
            FlagName::ColdOutlier
            | FlagName::Preempted
            | FlagName::ShortOutput
            | FlagName::Throttled => false,
        }
    }

    /// The name as it stands in the document.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            FlagName::Contaminated => "contaminated",
            FlagName::ClientLimited => "client_limited",
            FlagName::TokenCountDisputed => "token_count_disputed",
            FlagName::ExceedsContext => "exceeds_context",
            FlagName::Repetition => "repetition",
            FlagName::Unsteady => "unsteady",
            FlagName::Preempted => "preempted",
            FlagName::ShortOutput => "short_output",
            FlagName::PrefixCacheHit => "prefix_cache_hit",
            FlagName::ColdOutlier => "cold_outlier",
            FlagName::PrefixCacheMiss => "prefix_cache_miss",
            FlagName::Throttled => "throttled",
        }
    }
}
