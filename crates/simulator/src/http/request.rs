//! What a generation request asks for, read as vLLM reads it.

use serde::Deserialize;

use super::error::ApiError;
use crate::tokenizer::{TokenId, apply_chat_template, tokenize};

/// Answers to one prompt at most (vLLM's `VLLM_MAX_N_SEQUENCES` is higher; more
/// than this is a mistake here).
const MOST_ANSWERS: u32 = 1024;

/// Longest answer of `/v1/completions` where the client does not say (OpenAI's default).
const DEFAULT_COMPLETION_TOKENS: u64 = 16;

/// Which of the two generation routes was called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    /// `/v1/chat/completions`
    Chat,
    /// `/v1/completions`
    Completions,
}

/// The body of a generation request; unknown fields are ignored, as vLLM does.
#[derive(Debug, Deserialize)]
pub(super) struct GenerateBody {
    pub model: Option<String>,
    messages: Option<Vec<Message>>,
    prompt: Option<Prompt>,
    #[serde(default)]
    pub stream: bool,
    stream_options: Option<StreamOptions>,
    max_tokens: Option<i64>,
    max_completion_tokens: Option<i64>,
    n: Option<u32>,
    #[serde(default)]
    pub ignore_eos: bool,
    #[serde(default)]
    pub min_tokens: u64,
    pub seed: Option<i64>,
}

/// A message of a conversation.
#[derive(Debug, Deserialize)]
pub(super) struct Message {
    role: String,
    content: Option<Content>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Deserialize)]
struct Part {
    #[serde(default)]
    text: String,
}

/// What `/v1/completions` and `/tokenize` call a prompt.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Prompt {
    Text(String),
    Ids(Vec<TokenId>),
    Texts(Vec<String>),
    IdLists(Vec<Vec<TokenId>>),
}

#[derive(Debug, Default, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
    #[serde(default)]
    continuous_usage_stats: bool,
}

/// Which usage a stream carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StreamUsage {
    Never,
    AtEnd,
    EveryEvent,
}

/// A request that can be served.
#[derive(Debug)]
pub(super) struct Asked {
    pub prompts: Vec<Vec<TokenId>>,
    pub answers_each: u32,
    pub max_tokens: u64,
}

impl GenerateBody {
    /// The prompts as tokens, and how long the answers may be.
    pub fn asked(&self, api: Api, max_model_len: u64) -> Result<Asked, ApiError> {
        let prompts = match api {
            Api::Chat => vec![chat_prompt(self.messages.as_deref())?],
            Api::Completions => self.completion_prompts()?,
        };
        let answers_each = self.n.unwrap_or(1);
        if answers_each == 0 || answers_each > MOST_ANSWERS {
            return Err(ApiError::bad_request(
                Some("n"),
                format!("n must be between 1 and {MOST_ANSWERS}, got {answers_each}."),
            ));
        }
        let longest = prompts.iter().map(Vec::len).max().unwrap_or(0) as u64;
        let max_tokens = self.max_tokens(api, longest, max_model_len)?;
        Ok(Asked {
            prompts,
            answers_each,
            max_tokens,
        })
    }

    fn max_tokens(&self, api: Api, prompt: u64, max_model_len: u64) -> Result<u64, ApiError> {
        if prompt >= max_model_len {
            return Err(ApiError::prompt_too_long(max_model_len));
        }
        let left = max_model_len - prompt;
        let Some(asked) = self.max_completion_tokens.or(self.max_tokens) else {
            return Ok(match api {
                Api::Chat => left,
                Api::Completions => left.min(DEFAULT_COMPLETION_TOKENS),
            });
        };
        let asked = u64::try_from(asked).ok().filter(|asked| *asked > 0);
        let Some(asked) = asked else {
            return Err(ApiError::bad_request(
                Some("max_tokens"),
                "max_tokens must be at least 1.".to_owned(),
            ));
        };
        if asked > left {
            return Err(ApiError::sequence_too_long(max_model_len, asked));
        }
        Ok(asked)
    }

    /// Which usage events the client gets.
    pub fn stream_usage(&self) -> StreamUsage {
        match &self.stream_options {
            Some(options) if options.include_usage && options.continuous_usage_stats => {
                StreamUsage::EveryEvent
            }
            Some(options) if options.include_usage => StreamUsage::AtEnd,
            Some(_) | None => StreamUsage::Never,
        }
    }

    fn completion_prompts(&self) -> Result<Vec<Vec<TokenId>>, ApiError> {
        let prompts: Vec<Vec<TokenId>> = match &self.prompt {
            Some(Prompt::Text(text)) => vec![tokenize(text)],
            Some(Prompt::Ids(ids)) => vec![ids.clone()],
            Some(Prompt::Texts(texts)) => texts.iter().map(|text| tokenize(text)).collect(),
            Some(Prompt::IdLists(lists)) => lists.clone(),
            None => Vec::new(),
        };
        if prompts.is_empty() || prompts.iter().any(Vec::is_empty) {
            return Err(ApiError::bad_request(
                Some("prompt"),
                "The prompt must not be empty.".to_owned(),
            ));
        }
        Ok(prompts)
    }
}

/// A conversation as tokens.
fn chat_prompt(messages: Option<&[Message]>) -> Result<Vec<TokenId>, ApiError> {
    let messages = messages.unwrap_or_default();
    if messages.is_empty() {
        return Err(ApiError::bad_request(
            Some("messages"),
            "messages must hold at least one message.".to_owned(),
        ));
    }
    let texts: Vec<(&str, String)> = messages
        .iter()
        .map(|message| {
            let text = match &message.content {
                None => String::new(),
                Some(Content::Text(text)) => text.clone(),
                Some(Content::Parts(parts)) => {
                    parts.iter().map(|part| part.text.as_str()).collect()
                }
            };
            (message.role.as_str(), text)
        })
        .collect();
    let pairs = texts.iter().map(|(role, text)| (*role, text.as_str()));
    Ok(apply_chat_template(pairs))
}

/// The body of `/tokenize`.
#[derive(Debug, Deserialize)]
pub(super) struct TokenizeBody {
    pub model: Option<String>,
    messages: Option<Vec<Message>>,
    prompt: Option<String>,
}

impl TokenizeBody {
    /// The tokens of the text, or of the conversation with its template.
    pub fn ids(&self) -> Result<Vec<TokenId>, ApiError> {
        match &self.prompt {
            Some(text) => Ok(tokenize(text)),
            None => chat_prompt(self.messages.as_deref()),
        }
    }
}
