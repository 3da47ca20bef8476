//! Counting tokens with the server's own tokenizer.

use serde::Deserialize;

use crate::Answer;

/// What is to be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenizeInput<'a> {
    /// A text as it is, without a begin-of-text token.
    Text(&'a str),
    /// A text as the only message of a chat, template included.
    UserMessage(&'a str),
}

/// What the server counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tokenized {
    /// Number of tokens.
    pub count: u64,
    /// The ids, where the route tells them.
    pub ids: Option<Vec<u32>>,
}

/// Why a reply is no count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenizeError {
    /// The server refused.
    #[error("the tokenize route answered {status}: {said}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// What the server says.
        said: String,
    },
    /// A reply of another shape.
    #[error("the tokenize route answered neither tokens nor their count: {0}")]
    Shape(String),
    /// This engine has no such route, so nothing can be its reply.
    #[error("this engine has no tokenize route")]
    NoRoute,
}

/// The replies of `/tokenize` (vLLM, llama.cpp) and of llama.cpp's
/// `/v1/chat/completions/input_tokens`.
#[derive(Deserialize)]
struct Reply {
    #[serde(default)]
    tokens: Option<Vec<u32>>,
    #[serde(default)]
    count: Option<u64>,
    #[serde(default)]
    input_tokens: Option<u64>,
}

pub(crate) fn read(answer: &Answer) -> Result<Tokenized, TokenizeError> {
    if !answer.is_success() {
        return Err(TokenizeError::Refused {
            status: answer.status,
            said: answer.sentence(),
        });
    }
    let reply: Reply = serde_json::from_slice(&answer.body)
        .map_err(|_| TokenizeError::Shape(answer.sentence()))?;
    let of_ids = reply.tokens.as_ref().map(|ids| ids.len() as u64);
    match of_ids.or(reply.count).or(reply.input_tokens) {
        Some(count) => Ok(Tokenized {
            count,
            ids: reply.tokens,
        }),
        None => Err(TokenizeError::Shape(answer.sentence())),
    }
}
