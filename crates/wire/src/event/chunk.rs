//! The JSON shapes of a frame, and how they become a [`Payload`].

use std::borrow::Cow;

use serde::Deserialize;

use super::fields::{Choices, Count, ErrorField, Millis, Text};
use super::{Payload, StreamEvent};

/// Token counts of a request, so far or in the end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt, the chat template's included.
    pub prompt_tokens: Option<u64>,
    /// Tokens generated.
    pub completion_tokens: Option<u64>,
    /// Prompt tokens that a cache served; `None` where the engine does not say,
    /// which is not 0.
    pub cached_tokens: Option<u64>,
    /// Generated tokens that were reasoning, where told.
    pub reasoning_tokens: Option<u64>,
}

/// llama.cpp's `timings`: what the server's own clock says.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Timings {
    /// Prompt tokens found in the slot's cache.
    pub cache_n: Option<u64>,
    /// Prompt tokens processed, cached ones excluded.
    pub prompt_n: Option<u64>,
    /// Time to process them, ms.
    pub prompt_ms: Option<f64>,
    /// Tokens generated so far.
    pub predicted_n: Option<u64>,
    /// Time to generate them, ms; the first token counts for nothing.
    pub predicted_ms: Option<f64>,
    /// Tokens drafted by speculative decoding.
    pub draft_n: Option<u64>,
    /// Drafted tokens that were accepted.
    pub draft_n_accepted: Option<u64>,
}

/// llama.cpp's `prompt_progress`: how much of the prompt is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PromptProgress {
    /// Tokens of the prompt.
    pub total: Option<u64>,
    /// Of these, found in the cache.
    pub cache: Option<u64>,
    /// Of these, read so far, cached ones included.
    pub processed: Option<u64>,
}

/// An error that came inside a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamError<'a> {
    /// What the server says; empty if it says nothing.
    pub message: Cow<'a, str>,
    /// The server's class of error, such as `BadRequestError`.
    pub kind: Option<Cow<'a, str>>,
    /// The server's code, most often an HTTP status.
    pub code: Option<ErrorCode<'a>>,
}

/// A code that some servers send as a number and some as a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ErrorCode<'a> {
    /// Such as `400`.
    Number(i64),
    /// Such as `context_length_exceeded`.
    Word(Cow<'a, str>),
}

/// One payload as it is written.
#[derive(Deserialize)]
pub(super) struct Frame<'a> {
    #[serde(borrow, default)]
    choices: Choices<'a>,
    #[serde(default)]
    usage: Option<RawUsage>,
    #[serde(default)]
    timings: Option<RawTimings>,
    #[serde(default)]
    prompt_progress: Option<RawProgress>,
    #[serde(borrow, default)]
    error: Option<ErrorField<'a>>,
    // vLLM before 0.10 and FastAPI write an error without the `error` wrapper.
    #[serde(borrow, default)]
    object: Text<'a>,
    #[serde(borrow, default)]
    message: Option<Text<'a>>,
    #[serde(borrow, default)]
    detail: Option<Text<'a>>,
    #[serde(borrow, default, rename = "type")]
    kind: Option<Text<'a>>,
    #[serde(borrow, default)]
    code: Option<super::fields::Code<'a>>,
}

impl<'a> Frame<'a> {
    pub(super) fn into_payload(self) -> Payload<'a> {
        if let Some(error) = self.error {
            return Payload::Error(error.0);
        }
        let unwrapped_error = self.object.0 == "error" || self.choices.count.is_none();
        if unwrapped_error && let Some(message) = self.message.or(self.detail) {
            return Payload::Error(StreamError {
                message: message.0,
                kind: self.kind.map(|kind| kind.0),
                code: self.code.map(|code| code.0),
            });
        }
        let first = self.choices.first;
        let delta = first.delta.unwrap_or_default();
        Payload::Chunk(StreamEvent {
            choices: self.choices.count.unwrap_or(0),
            index: first.index.unwrap_or(0),
            content: first_filled([first.text, delta.content, delta.refusal]),
            reasoning: first_filled([delta.reasoning_content, delta.reasoning, Text::default()]),
            tool: first_filled([
                delta.tool_calls.map(|calls| calls.0).unwrap_or_default(),
                delta
                    .function_call
                    .map(FunctionText::into_text)
                    .unwrap_or_default(),
                Text::default(),
            ]),
            has_role: delta.role.is_some(),
            finish_reason: first.finish_reason.map(|reason| reason.0),
            usage: self.usage.map(Usage::from),
            timings: self.timings.map(Timings::from),
            prompt_progress: self.prompt_progress.map(PromptProgress::from),
        })
    }
}

fn first_filled<'a>(texts: [Text<'a>; 3]) -> Cow<'a, str> {
    let filled = texts.into_iter().find(|text| !text.0.is_empty());
    filled.unwrap_or_default().0
}

#[derive(Default, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    index: Option<u32>,
    #[serde(borrow, default)]
    text: Text<'a>,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    finish_reason: Option<Text<'a>>,
}

#[derive(Default, Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    role: Option<Text<'a>>,
    #[serde(borrow, default)]
    content: Text<'a>,
    #[serde(borrow, default)]
    refusal: Text<'a>,
    #[serde(borrow, default)]
    reasoning_content: Text<'a>,
    #[serde(borrow, default)]
    reasoning: Text<'a>,
    #[serde(borrow, default)]
    tool_calls: Option<super::fields::ToolCalls<'a>>,
    #[serde(borrow, default)]
    function_call: Option<FunctionText<'a>>,
}

/// A function's name and arguments; either may come alone.
#[derive(Default, Deserialize)]
pub(super) struct FunctionText<'a> {
    #[serde(borrow, default)]
    name: Text<'a>,
    #[serde(borrow, default)]
    arguments: Text<'a>,
}

impl<'a> FunctionText<'a> {
    pub(super) fn into_text(self) -> Text<'a> {
        match (self.name.0.is_empty(), self.arguments.0.is_empty()) {
            (true, _) => self.arguments,
            (false, true) => self.name,
            (false, false) => Text(Cow::Owned(self.name.0.into_owned() + &self.arguments.0)),
        }
    }
}

#[derive(Deserialize)]
struct RawUsage {
    #[serde(default)]
    prompt_tokens: Option<Count>,
    #[serde(default)]
    completion_tokens: Option<Count>,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
    #[serde(default)]
    completion_tokens_details: Option<CompletionDetails>,
    /// DeepSeek's name for cached tokens.
    #[serde(default)]
    prompt_cache_hit_tokens: Option<Count>,
}

#[derive(Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Option<Count>,
}

#[derive(Deserialize)]
struct CompletionDetails {
    #[serde(default)]
    reasoning_tokens: Option<Count>,
}

impl From<RawUsage> for Usage {
    fn from(raw: RawUsage) -> Self {
        let detailed = raw
            .prompt_tokens_details
            .and_then(|details| details.cached_tokens);
        let reasoning = raw
            .completion_tokens_details
            .and_then(|details| details.reasoning_tokens);
        Self {
            prompt_tokens: raw.prompt_tokens.map(|count| count.0),
            completion_tokens: raw.completion_tokens.map(|count| count.0),
            cached_tokens: detailed
                .or(raw.prompt_cache_hit_tokens)
                .map(|count| count.0),
            reasoning_tokens: reasoning.map(|count| count.0),
        }
    }
}

#[derive(Deserialize)]
struct RawTimings {
    // llama.cpp writes −1 for "not known", which `Count` would refuse.
    #[serde(default)]
    cache_n: Option<i64>,
    #[serde(default)]
    prompt_n: Option<i64>,
    #[serde(default)]
    prompt_ms: Option<Millis>,
    #[serde(default)]
    predicted_n: Option<i64>,
    #[serde(default)]
    predicted_ms: Option<Millis>,
    #[serde(default)]
    draft_n: Option<i64>,
    #[serde(default)]
    draft_n_accepted: Option<i64>,
}

impl From<RawTimings> for Timings {
    fn from(raw: RawTimings) -> Self {
        Self {
            cache_n: known(raw.cache_n),
            prompt_n: known(raw.prompt_n),
            prompt_ms: raw.prompt_ms.map(|ms| ms.0),
            predicted_n: known(raw.predicted_n),
            predicted_ms: raw.predicted_ms.map(|ms| ms.0),
            draft_n: known(raw.draft_n),
            draft_n_accepted: known(raw.draft_n_accepted),
        }
    }
}

#[derive(Deserialize)]
struct RawProgress {
    #[serde(default)]
    total: Option<i64>,
    #[serde(default)]
    cache: Option<i64>,
    #[serde(default)]
    processed: Option<i64>,
}

impl From<RawProgress> for PromptProgress {
    fn from(raw: RawProgress) -> Self {
        Self {
            total: known(raw.total),
            cache: known(raw.cache),
            processed: known(raw.processed),
        }
    }
}

fn known(count: Option<i64>) -> Option<u64> {
    count.and_then(|count| u64::try_from(count).ok())
}
