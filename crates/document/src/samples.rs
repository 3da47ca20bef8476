use serde::{Deserialize, Serialize};

use crate::cell::CellKey;
use crate::events::TokenEvents;
use crate::reading::EngineReading;
use crate::units::Micros;

/// All that was seen of one cell: what a judge needs to compute its figures,
/// now or again later. One line of the samples file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellSamples {
    /// Which cell.
    pub key: CellKey,
    /// Why the cell was not run: it would exceed the KV cache.
    #[serde(default)]
    pub over_capacity: Option<String>,
    /// Why the cell as a whole came to nothing (did not drain, server gone).
    #[serde(default)]
    pub failure: Option<String>,
    /// What the judge must know of server and plan.
    pub limits: SampledLimits,
    /// The measured stretch; absent for prefill cells and cells that never got ready.
    #[serde(default)]
    pub window: Option<Window>,
    /// Every request, in the order they were sent, failures included.
    #[serde(default)]
    pub requests: Vec<RequestSample>,
    /// What the engine said of itself, in time order.
    #[serde(default)]
    pub readings: Vec<EngineReading>,
    /// Wall clock at offset 0, microseconds since 1970: for laying these offsets
    /// beside a log of the server. Never used for a figure.
    #[serde(default)]
    pub clock_origin_unix_us: Option<u64>,
}

impl CellSamples {
    /// Samples of a cell of which nothing has been seen yet.
    #[must_use]
    pub fn empty(key: CellKey, limits: SampledLimits) -> CellSamples {
        CellSamples {
            key,
            over_capacity: None,
            failure: None,
            limits,
            window: None,
            requests: Vec::new(),
            readings: Vec::new(),
            clock_origin_unix_us: None,
        }
    }
}

/// What the judge must know of server and plan.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SampledLimits {
    /// Longest sequence of the model (or of one slot), tokens.
    pub max_model_len: Option<u64>,
    /// Longest answer asked for, tokens.
    pub max_output_tokens: u64,
    /// Block of the prefix cache, tokens.
    pub block_tokens: Option<u64>,
    /// Tokens the chat template adds, at most.
    pub template_tokens: u64,
    /// The engine writes exactly one token in each event.
    pub one_token_per_event: bool,
    /// The engine's readings tell running and waiting requests.
    pub queue_is_reported: bool,
    /// `ignore_eos` was in force, so a `stop` is unexpected.
    pub ignore_eos: bool,
}

/// The measured stretch of a decode cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    /// When the streams were found ready.
    pub open_us: Micros,
    /// When measuring ended.
    pub close_us: Micros,
}

impl Window {
    /// Length, s.
    #[must_use]
    pub fn length_s(&self) -> f64 {
        self.close_us.seconds_since(self.open_us)
    }

    /// Whether `at` lies inside, edges included.
    #[must_use]
    pub fn contains(&self, at: Micros) -> bool {
        (self.open_us..=self.close_us).contains(&at)
    }
}

/// What a request was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RequestRole {
    /// Cold, alone: its TTFT is the prefill measurement.
    Scout,
    /// Warms a slot; not judged but for failure.
    Warmup,
    /// One of a decode cell's streams.
    Stream,
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Outcome {
    /// The stream ended with a finish reason.
    Completed {
        /// `length`, `stop`, …
        finish_reason: String,
    },
    /// The server answered with an error: status and what it said.
    Refused {
        /// HTTP status; 200 where the error came inside a stream.
        status: u16,
        /// What the server said, in one line.
        message: String,
    },
    /// The connection or the stream broke off.
    Broke {
        /// What happened, in words.
        reason: String,
    },
    /// Nothing came for too long.
    TimedOut {
        /// What was waited for, in words.
        reason: String,
    },
    /// We cut it when the window closed (or the wave was over). Not a failure.
    CutAtWindowEnd,
}

impl Outcome {
    /// What went wrong, in words; `None` for an end that is no failure.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        match self {
            Outcome::Completed { .. } | Outcome::CutAtWindowEnd => None,
            Outcome::Refused { status, message } => Some(format!(
                "the server refused a request (HTTP {status}): {message}"
            )),
            Outcome::Broke { reason } => Some(format!("a stream broke off: {reason}")),
            Outcome::TimedOut { reason } => Some(format!("a stream went silent: {reason}")),
        }
    }
}

/// Token counts as the server reports them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the prompt, template included.
    pub prompt_tokens: u64,
    /// Tokens written.
    pub completion_tokens: u64,
    /// Prompt tokens served from cache, where the server says.
    pub cached_tokens: Option<u64>,
}

/// The engine's own clockings of one request.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineTimings {
    /// Time the engine spent on the prompt, ms.
    pub prefill_ms: Option<f64>,
    /// Time the engine spent writing, ms.
    pub decode_ms: Option<f64>,
}

/// An answer that repeats itself at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetition {
    /// Length of the repeated text, characters.
    pub unit_chars: u32,
    /// How often it stands in a row.
    pub times: u32,
}

/// One request: offsets on the run's clock, never durations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RequestSample {
    /// Which of the cell's streams, from 0.
    pub stream: u32,
    /// What it was for.
    pub role: RequestRole,
    /// When connecting began, where a new connection was needed.
    #[serde(default)]
    pub connect_began_us: Option<Micros>,
    /// When that connection stood.
    #[serde(default)]
    pub connected_us: Option<Micros>,
    /// When the request's last byte was written; absent if it never was.
    #[serde(default)]
    pub sent_us: Option<Micros>,
    /// First event that carried content, where reasoning came before it.
    #[serde(default)]
    pub first_answer_us: Option<Micros>,
    /// When the stream closed, or we closed it.
    #[serde(default)]
    pub closed_us: Option<Micros>,
    /// How it ended.
    pub outcome: Outcome,
    /// Every event that carried generated text.
    #[serde(default)]
    pub events: TokenEvents,
    /// The last usage the server sent.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// Prompt tokens by the server's own tokenizer, asked before; for servers that
    /// report no usage.
    #[serde(default)]
    pub counted_prompt_tokens: Option<u64>,
    /// Cached prompt tokens by the engine's counters, where only this request can have moved them.
    #[serde(default)]
    pub counted_cached_tokens: Option<u64>,
    /// The engine's own clockings.
    #[serde(default)]
    pub timings: Option<EngineTimings>,
    /// The answer's end loops.
    #[serde(default)]
    pub repetition: Option<Repetition>,
}

impl RequestSample {
    /// A request of which nothing has been seen yet: cut, unless it comes to more.
    #[must_use]
    pub fn unsent(stream: u32, role: RequestRole) -> RequestSample {
        RequestSample {
            stream,
            role,
            connect_began_us: None,
            connected_us: None,
            sent_us: None,
            first_answer_us: None,
            closed_us: None,
            outcome: Outcome::CutAtWindowEnd,
            events: TokenEvents::default(),
            usage: None,
            counted_prompt_tokens: None,
            counted_cached_tokens: None,
            timings: None,
            repetition: None,
        }
    }

    /// Arrival of the first event that carried generated text.
    #[must_use]
    pub fn first_token_us(&self) -> Option<Micros> {
        self.events.at_us.first().copied()
    }

    /// Arrival of the last event that carried generated text.
    #[must_use]
    pub fn last_token_us(&self) -> Option<Micros> {
        self.events.at_us.last().copied()
    }

    /// Tokens of the prompt, as the server reported or else counted them.
    #[must_use]
    pub fn prompt_tokens(&self) -> Option<u64> {
        let reported = self
            .usage
            .map(|usage| usage.prompt_tokens)
            .filter(|tokens| *tokens > 0);
        reported.or(self.counted_prompt_tokens)
    }

    /// Cached prompt tokens, by usage or else by counters.
    #[must_use]
    pub fn cached_tokens(&self) -> Option<u64> {
        self.usage
            .and_then(|usage| usage.cached_tokens)
            .or(self.counted_cached_tokens)
    }
}
