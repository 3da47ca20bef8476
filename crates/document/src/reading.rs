use serde::{Deserialize, Serialize};

use crate::units::Micros;

/// What the engine said of itself at one moment.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineReading {
    /// When it was asked.
    pub asked_us: Micros,
    /// When the answer was complete.
    pub answered_us: Micros,
    /// Requests running.
    pub running: Option<f64>,
    /// Requests waiting.
    pub waiting: Option<f64>,
    /// Share of the KV cache in use, 0 to 1.
    pub kv_used: Option<f64>,
    /// Output tokens since the engine started; only where it grows with each step.
    pub generated_tokens: Option<f64>,
    /// Preemptions since the engine started.
    pub preemptions: Option<f64>,
    /// Engine steps since the engine started.
    pub steps: Option<f64>,
    /// Prompt tokens looked up in the prefix cache since the engine started.
    pub cache_queried_tokens: Option<f64>,
    /// Of these, tokens found.
    pub cache_hit_tokens: Option<f64>,
    /// Time spent in prefill since the engine started, summed over requests, s.
    pub prefill_s: Option<f64>,
    /// Slots, for engines with fixed ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<SlotReading>,
}

impl EngineReading {
    /// The moment the reading speaks of: midway between question and answer.
    #[must_use]
    pub fn at_us(&self) -> Micros {
        Micros(self.asked_us.0 + self.answered_us.0.saturating_sub(self.asked_us.0) / 2)
    }
}

/// One slot of an engine with fixed ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotReading {
    /// Which slot.
    pub slot: u32,
    /// Which request it serves.
    pub task: i64,
    /// Whether it is at work.
    pub is_processing: bool,
    /// Tokens written for that request so far.
    pub decoded_tokens: u64,
    /// Tokens of its prompt.
    #[serde(default)]
    pub prompt_tokens: Option<u64>,
    /// Of these, tokens found in the slot's cache.
    #[serde(default)]
    pub cached_tokens: Option<u64>,
}
