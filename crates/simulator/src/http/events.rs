//! Server-sent events as vLLM writes them, formatted without building JSON trees.

use std::fmt::Write;

use super::request::{Api, StreamUsage};
use crate::engine::FinishReason;
use crate::fault::ReasoningField;

/// What is the same in all events of a response.
#[derive(Debug, Clone)]
pub(super) struct Voice {
    pub api: Api,
    pub id: String,
    pub created: u64,
    /// The model's name as a JSON string, quotes included.
    pub model_json: String,
    pub usage: StreamUsage,
    pub prompt_tokens: u64,
    /// Set where usage says how many prompt tokens were cached.
    pub cached_tokens: Option<u64>,
}

/// Text of one answer in one event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece<'a> {
    pub index: usize,
    pub text: &'a str,
    pub reasoning: Option<ReasoningField>,
    pub finish: Option<FinishReason>,
    /// Tokens of this answer so far, for usage in every event.
    pub completion_tokens: u64,
}

/// The name of a finish reason.
pub(super) fn reason_name(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
    }
}

impl Voice {
    /// Appends the event that begins an answer of a conversation.
    pub fn role(&self, index: usize, to: &mut String) {
        self.head(to);
        let _ = write!(
            to,
            r#"{{"index":{index},"delta":{{"role":"assistant","content":""}},"logprobs":null,"finish_reason":null}}]"#
        );
        if self.usage == StreamUsage::EveryEvent {
            self.continuous_usage(0, to);
        }
        to.push_str("}\n\n");
    }

    /// Appends an event with text.
    pub fn piece(&self, piece: Piece<'_>, to: &mut String) {
        self.head(to);
        let Piece { index, text, .. } = piece;
        let _ = match (self.api, piece.reasoning) {
            (Api::Completions, _) => write!(
                to,
                r#"{{"index":{index},"text":"{text}","logprobs":null,"finish_reason":"#
            ),
            (Api::Chat, field) => {
                let field = match field {
                    None => "content",
                    Some(ReasoningField::Reasoning) => "reasoning",
                    Some(ReasoningField::ReasoningContent) => "reasoning_content",
                };
                write!(
                    to,
                    r#"{{"index":{index},"delta":{{"{field}":"{text}"}},"logprobs":null,"finish_reason":"#
                )
            }
        };
        match piece.finish {
            None => to.push_str("null"),
            Some(reason) => {
                let _ = write!(to, r#""{}","stop_reason":null"#, reason_name(reason));
            }
        }
        to.push_str(r#","token_ids":null}]"#);
        if self.usage == StreamUsage::EveryEvent {
            self.continuous_usage(piece.completion_tokens, to);
        }
        to.push_str("}\n\n");
    }

    /// Appends the event that says how many tokens there were.
    pub fn final_usage(&self, completion_tokens: u64, to: &mut String) {
        self.head(to);
        to.push(']');
        let total = self.prompt_tokens + completion_tokens;
        let _ = write!(
            to,
            r#","usage":{{"prompt_tokens":{},"total_tokens":{total},"completion_tokens":{completion_tokens}"#,
            self.prompt_tokens
        );
        if let Some(cached) = self.cached_tokens {
            let _ = write!(
                to,
                r#","prompt_tokens_details":{{"cached_tokens":{cached}}}"#
            );
        }
        to.push_str("}}\n\n");
    }

    fn continuous_usage(&self, completion_tokens: u64, to: &mut String) {
        let total = self.prompt_tokens + completion_tokens;
        let _ = write!(
            to,
            r#","usage":{{"prompt_tokens":{},"total_tokens":{total},"completion_tokens":{completion_tokens},"completion_tokens_details":null}}"#,
            self.prompt_tokens
        );
    }

    fn head(&self, to: &mut String) {
        let object = match self.api {
            Api::Chat => "chat.completion.chunk",
            Api::Completions => "text_completion",
        };
        let _ = write!(
            to,
            r#"data: {{"id":"{}","object":"{object}","created":{},"model":{},"choices":["#,
            self.id, self.created, self.model_json
        );
    }
}
