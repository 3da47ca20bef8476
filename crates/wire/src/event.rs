//! The payload of one server-sent event of a generation.
//!
//! One type serves chat and plain completions, for the engines agree on the
//! frame and differ in what they leave out: see [`StreamEvent`]. Parsing borrows
//! from the payload and builds no tree; unknown fields are skipped.

mod chunk;
mod fields;

use std::borrow::Cow;

pub use chunk::{ErrorCode, PromptProgress, StreamError, Timings, Usage};

/// What one `data:` payload says.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a box would be an allocation per token"
)]
pub enum Payload<'a> {
    /// `[DONE]`: the server has said everything.
    Done,
    /// An error inside a stream that began with status 200.
    Error(StreamError<'a>),
    /// A frame of the answer.
    Chunk(StreamEvent<'a>),
}

/// A frame of an answer: any of text, a finish reason, usage and timings.
///
/// With several choices in one frame (`n` > 1) the texts of the first choice are
/// kept and [`choices`](Self::choices) tells how many there were; engines send
/// one choice per frame.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StreamEvent<'a> {
    /// How many choices the frame had; 0 in a frame of usage only.
    pub choices: usize,
    /// `choices[0].index`: which of `n` answers this belongs to.
    pub index: u32,
    /// Answer text: `delta.content`, `delta.refusal` or, for completions, `text`.
    pub content: Cow<'a, str>,
    /// Reasoning text: `delta.reasoning_content` or `delta.reasoning`. Servers
    /// that send both repeat the same text, so one is taken.
    pub reasoning: Cow<'a, str>,
    /// Names and arguments of tool calls, as text.
    pub tool: Cow<'a, str>,
    /// The frame names a role, as first frames do.
    pub has_role: bool,
    /// Why the answer ended; may come in the frame of the last token.
    pub finish_reason: Option<Cow<'a, str>>,
    /// Token counts so far, or of the whole request in the last frame.
    pub usage: Option<Usage>,
    /// llama.cpp's own clock and counts.
    pub timings: Option<Timings>,
    /// llama.cpp's report while it reads the prompt, with `return_progress`.
    pub prompt_progress: Option<PromptProgress>,
}

impl StreamEvent<'_> {
    /// Whether the frame carries generated text of any kind. A frame with a role
    /// only, an empty one and one of usage only carry none.
    #[must_use]
    pub fn carries_token(&self) -> bool {
        self.carries_answer() || self.carries_reasoning()
    }

    /// Whether the frame carries part of the answer: content or a tool call.
    #[must_use]
    pub fn carries_answer(&self) -> bool {
        !self.content.is_empty() || !self.tool.is_empty()
    }

    /// Whether the frame carries reasoning that precedes the answer.
    #[must_use]
    pub fn carries_reasoning(&self) -> bool {
        !self.reasoning.is_empty()
    }

    /// Output tokens of the request so far, where this frame tells: from
    /// cumulative usage, else from llama.cpp's `timings_per_token`.
    #[must_use]
    pub fn output_tokens_so_far(&self) -> Option<u64> {
        let of_usage = self
            .usage
            .as_ref()
            .and_then(|usage| usage.completion_tokens);
        of_usage.or_else(|| {
            self.timings
                .as_ref()
                .and_then(|timings| timings.predicted_n)
        })
    }

    /// Prompt tokens that came from a cache, where this frame tells: usage's
    /// `cached_tokens`, else llama.cpp's `cache_n`.
    #[must_use]
    pub fn cached_tokens(&self) -> Option<u64> {
        let of_usage = self.usage.as_ref().and_then(|usage| usage.cached_tokens);
        of_usage.or_else(|| self.timings.as_ref().and_then(|timings| timings.cache_n))
    }
}

/// Why a payload could not be understood.
#[derive(Debug, thiserror::Error)]
pub enum EventError {
    /// Not JSON, or JSON of another shape.
    #[error("an event of the stream is not a completion frame ({source}): {excerpt}")]
    NotAFrame {
        /// The beginning of the payload.
        excerpt: String,
        /// What the JSON reader said.
        source: serde_json::Error,
    },
}

/// Parses one `data:` payload.
///
/// # Errors
///
/// [`EventError::NotAFrame`] if it is neither `[DONE]` nor a JSON object whose
/// known fields have their known types.
pub fn parse(data: &[u8]) -> Result<Payload<'_>, EventError> {
    if data.trim_ascii() == b"[DONE]" {
        return Ok(Payload::Done);
    }
    // Serde would take a list for the fields in their order.
    let frame = match data.trim_ascii_start().first() {
        Some(b'[') => Err(serde::de::Error::custom("a list where an object should be")),
        Some(_) | None => serde_json::from_slice::<chunk::Frame<'_>>(data),
    };
    frame.map(chunk::Frame::into_payload).map_err(|source| {
        let excerpt = crate::error_body::excerpt(&String::from_utf8_lossy(data));
        EventError::NotAFrame { excerpt, source }
    })
}
