//! What a server may be asked for.

use serde_json::{Map, Value};
use wire::request::StreamUsage;

/// Whether an engine does something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Support {
    /// It does; seen in the version named at the engine.
    Yes,
    /// It does not.
    No,
    /// Nobody knows before it is tried.
    Unknown,
}

/// Who finds a prompt that was sent before in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptCache {
    /// Every request: one request warms the server, or one rank of it.
    Shared,
    /// A request in the same slot: each slot has to be warmed.
    PerSlot,
    /// Not known.
    Unknown,
}

/// What an engine was seen to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    /// Cumulative usage in every event, with `continuous_usage_stats`.
    pub continuous_usage: Support,
    /// Every event with text is exactly one token.
    pub one_token_per_event: Support,
    /// `ignore_eos` keeps an answer going to its limit.
    pub ignore_eos: Support,
    /// Who profits from a warm prompt.
    pub prompt_cache: PromptCache,
    /// Fields that make the engine count tokens in its events.
    pub count_fields: Map<String, Value>,
}

impl Features {
    /// How much usage to ask a stream for: in every event where that works.
    #[must_use]
    pub fn stream_usage(&self) -> StreamUsage {
        match self.continuous_usage {
            Support::Yes => StreamUsage::Continuous,
            Support::No | Support::Unknown => StreamUsage::Final,
        }
    }
}
