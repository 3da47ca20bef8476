//! An engine's state at one moment.

/// What an engine tells of itself. Counters run since it started; what it does
/// not tell is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EngineState {
    /// Requests being processed, in prefill or decode.
    pub running: Option<f64>,
    /// Requests waiting for a place.
    pub waiting: Option<f64>,
    /// Share of the KV cache in use, 0 to 1; the mean over data-parallel engines.
    pub kv_used_fraction: Option<f64>,
    /// Output tokens. Only a counter that moves with every step is given: one
    /// that moves when requests end would look like a burst.
    pub generation_tokens: Option<f64>,
    /// Engine steps.
    pub engine_steps: Option<f64>,
    /// Preemptions.
    pub preemptions: Option<f64>,
    /// Prompt tokens looked up in the prefix cache.
    pub prefix_cache_queries: Option<f64>,
    /// Of these, tokens found.
    pub prefix_cache_hits: Option<f64>,
    /// Time spent in prefill, s, summed over requests.
    pub prefill_seconds: Option<f64>,
    /// Slots, for engines with fixed ones.
    pub slots: Vec<SlotState>,
}

/// One slot of an engine with fixed ones. Its counts are of the request it
/// serves, or served last; `task` tells requests apart, so that a caller can add
/// up what each decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SlotState {
    /// Which slot.
    pub slot: u32,
    /// Which request; `None` for a slot never used.
    pub task: Option<i64>,
    /// Whether it is at work.
    pub is_processing: bool,
    /// Tokens decoded for this request.
    pub decoded_tokens: u64,
    /// Tokens of its prompt and what was decoded since.
    pub prompt_tokens: Option<u64>,
    /// Prompt tokens found in the slot's cache.
    pub cached_prompt_tokens: Option<u64>,
}

impl SlotState {
    /// The slot as samples keep it; `None` if it never served a request.
    #[must_use]
    pub fn to_reading(&self) -> Option<document::SlotReading> {
        Some(document::SlotReading {
            slot: self.slot,
            task: self.task?,
            is_processing: self.is_processing,
            decoded_tokens: self.decoded_tokens,
            prompt_tokens: self.prompt_tokens,
            cached_tokens: self.cached_prompt_tokens,
        })
    }
}
