use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::flag::{Figure, Flag};
use crate::run::Extra;

/// Which of the two things a cell measures.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Phase {
    /// Reading a prompt.
    Prefill,
    /// Writing answers, many at once.
    Decode,
}

impl Phase {
    /// What the pages call it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Phase::Prefill => "Prefill",
            Phase::Decode => "Sustained decode",
        }
    }
}

/// What names a cell within a run.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub struct CellKey {
    /// Prefill or decode.
    pub phase: Phase,
    /// Target prompt length, tokens; the label of the row.
    pub context_tokens: u64,
    /// Requests kept in flight at once.
    pub concurrency: u32,
}

/// The verdict on a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CellStatus {
    /// Every request was admitted without queueing and nothing failed.
    Valid,
    /// The server could not run all requests at once.
    Queued,
    /// Not run: the requests would exceed the KV cache.
    OverCapacity,
    /// A stream was refused or broke, or the server did not drain; see `reason`.
    Failed,
}

impl CellStatus {
    /// The word the pages use.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            CellStatus::Valid => "Valid",
            CellStatus::Queued => "Requests queued",
            CellStatus::OverCapacity => "Over capacity",
            CellStatus::Failed => "Failed",
        }
    }

    /// Whether a cell of this status was measured and has figures.
    #[must_use]
    pub fn has_figures(self) -> bool {
        match self {
            CellStatus::Valid | CellStatus::Queued => true,
            CellStatus::OverCapacity | CellStatus::Failed => false,
        }
    }

    /// The sentence the pages put below a matrix where the status occurs.
    #[must_use]
    pub fn sentence(self) -> Option<&'static str> {
        match self {
            CellStatus::Valid => None,
            CellStatus::Queued => Some(
                "Requests queued: the server could not run all requests at once, so some waited in a queue.",
            ),
            CellStatus::OverCapacity => Some(
                "Over capacity: not run because this many requests at this context would exceed the server's KV cache.",
            ),
            CellStatus::Failed => Some(
                "Failed: a request was refused or broke off, or the server did not come to rest; no figure is shown.",
            ),
        }
    }
}

/// What is known of a set of values. Shown: `p50`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Distribution {
    /// Median (of an even count, the mean of the middle two).
    pub p50: Option<f64>,
    /// 90th percentile.
    pub p90: Option<f64>,
    /// 95th percentile.
    pub p95: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Smallest.
    pub min: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
    /// Arithmetic mean.
    pub mean: Option<f64>,
    /// How many values.
    pub n: Option<u64>,
}

/// Whether the prompt cache was as cold or as warm as the cell needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CacheProof {
    /// The server reported it.
    Proved,
    /// The server reported the opposite.
    Failed,
    /// The server does not say.
    Unproven,
}

/// How tokens were counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenSource {
    /// Cumulative usage (or the engine's own running count) in each event.
    ContinuousUsage,
    /// The engine sends one token in each event, and final usage agreed.
    EventIsToken,
    /// Final usage spread evenly over the events.
    SpreadUsage,
    /// No usage at all: events were counted, and events need not be tokens.
    EventsOnly,
}

/// Where arrival times come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimestampSource {
    /// The kernel's receive timestamp.
    Kernel,
    /// The time of the read that brought the bytes.
    Read,
}

/// Three counts of the tokens written inside the window.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TokenLedger {
    /// Counted from the events as they came.
    pub client_tokens: Option<f64>,
    /// Final usage of completed requests, counted over whole requests.
    pub usage_tokens: Option<f64>,
    /// The client's count over the same completed requests.
    pub usage_client_tokens: Option<f64>,
    /// Growth of the engine's counter, interpolated to the window's edges (or
    /// over the stretches of the window in which it can be compared).
    pub engine_tokens: Option<f64>,
    /// The client's count over the same stretches.
    pub engine_client_tokens: Option<f64>,
}

/// One phase at one context and one concurrency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cell {
    /// Prefill or decode.
    pub phase: Phase,
    /// Target prompt length, tokens.
    pub context_tokens: u64,
    /// Requests kept in flight at once.
    pub concurrency: u32,
    /// The verdict.
    pub status: CellStatus,
    /// Why, for a failed or over-capacity cell, in words.
    #[serde(default)]
    pub reason: Option<String>,
    /// Doubts, with evidence.
    #[serde(default)]
    pub flags: Vec<Flag>,
    /// What is worth saying and casts no doubt.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Output tok/s of all requests inside the window; of a prefill cell, prompt tok/s.
    #[serde(default)]
    pub total_tok_s: Option<f64>,
    /// 95 % confidence interval of `total_tok_s`.
    #[serde(default)]
    pub total_tok_s_ci95: Option<[f64; 2]>,
    /// Median over requests of 1000 / time between tokens.
    #[serde(default)]
    pub per_request_tok_s: Option<f64>,
    /// Time to first token, ms.
    #[serde(default)]
    pub ttft_ms: Option<Distribution>,
    /// Requests were still waiting when the window closed, so TTFT is a lower bound.
    #[serde(default)]
    pub ttft_censored: Option<bool>,
    /// Time between tokens of one request, ms.
    #[serde(default)]
    pub tbt_ms: Option<Distribution>,
    /// Time to the first answer token where reasoning came first, ms.
    #[serde(default)]
    pub first_answer_ms: Option<Distribution>,
    /// Gaps between events of one request, ms. An event may carry several tokens.
    #[serde(default)]
    pub chunk_gap_ms: Option<Distribution>,
    /// Time average of requests the server was decoding during the window.
    #[serde(default)]
    pub average_active: Option<f64>,
    /// Requests completed inside the window.
    #[serde(default)]
    pub completed: Option<u64>,
    /// Requests that were refused or broke.
    #[serde(default)]
    pub failed: Option<u64>,
    /// Prompt tokens the server counted, of one request (median).
    #[serde(default)]
    pub prompt_tokens: Option<u64>,
    /// Of these, tokens served from cache (median).
    #[serde(default)]
    pub cached_tokens: Option<u64>,
    /// Output tokens inside the window, whole tokens.
    #[serde(default)]
    pub output_tokens: Option<u64>,
    /// Length of the window, s.
    #[serde(default)]
    pub measured_s: Option<f64>,
    /// Requests without a first token when the window closed.
    #[serde(default)]
    pub waiting_at_end: Option<u64>,
    /// The queue was inferred from the client's view, not reported by the server.
    #[serde(default)]
    pub queue_inferred: Option<bool>,
    /// Cold (prefill) or warm (decode) as it must be?
    #[serde(default)]
    pub cache_proof: Option<CacheProof>,
    /// How tokens were counted.
    #[serde(default)]
    pub token_source: Option<TokenSource>,
    /// Where arrival times come from.
    #[serde(default)]
    pub timestamp_source: Option<TimestampSource>,
    /// Three counts of the window's tokens.
    #[serde(default)]
    pub token_ledger: Option<TokenLedger>,
    /// The engine's own prefill time for this prompt, ms.
    #[serde(default)]
    pub engine_prefill_ms: Option<f64>,
    /// Largest share of the KV cache in use, 0 to 1.
    #[serde(default)]
    pub kv_used_peak: Option<f64>,
    /// Fields of a newer writer.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Cell {
    /// A cell of which nothing is known but its place and status.
    #[must_use]
    pub fn empty(key: CellKey, status: CellStatus) -> Cell {
        Cell {
            phase: key.phase,
            context_tokens: key.context_tokens,
            concurrency: key.concurrency,
            status,
            reason: None,
            flags: Vec::new(),
            remarks: Vec::new(),
            total_tok_s: None,
            total_tok_s_ci95: None,
            per_request_tok_s: None,
            ttft_ms: None,
            ttft_censored: None,
            tbt_ms: None,
            first_answer_ms: None,
            chunk_gap_ms: None,
            average_active: None,
            completed: None,
            failed: None,
            prompt_tokens: None,
            cached_tokens: None,
            output_tokens: None,
            measured_s: None,
            waiting_at_end: None,
            queue_inferred: None,
            cache_proof: None,
            token_source: None,
            timestamp_source: None,
            token_ledger: None,
            engine_prefill_ms: None,
            kv_used_peak: None,
            extra: Extra::new(),
        }
    }

    /// Where this cell stands in the matrix.
    #[must_use]
    pub fn key(&self) -> CellKey {
        CellKey {
            phase: self.phase,
            context_tokens: self.context_tokens,
            concurrency: self.concurrency,
        }
    }

    /// Whether some flag takes the figure away.
    #[must_use]
    pub fn is_taken_away(&self, figure: Figure) -> bool {
        self.flags.iter().any(|flag| flag.name.takes_away(figure))
    }

    /// Median TTFT, ms.
    #[must_use]
    pub fn ttft_ms_p50(&self) -> Option<f64> {
        self.ttft_ms.and_then(|ttft| ttft.p50)
    }

    /// Median time between tokens, ms.
    #[must_use]
    pub fn tbt_ms_p50(&self) -> Option<f64> {
        self.tbt_ms.and_then(|tbt| tbt.p50)
    }
}
