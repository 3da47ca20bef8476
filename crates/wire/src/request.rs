//! Bodies of generation requests.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Which of the two OpenAI routes generates text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// `/v1/chat/completions`: messages, through the model's chat template.
    #[default]
    Chat,
    /// `/v1/completions`: the prompt as it is, or as token ids.
    Completions,
}

impl Api {
    /// The route, from the server's root.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Completions => "/v1/completions",
        }
    }
}

/// What the model is to continue. Shared, because many streams send the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompt {
    /// Text; with [`Api::Chat`] one message of the user.
    Text(Arc<str>),
    /// Token ids, for [`Api::Completions`] only.
    Tokens(Arc<[u32]>),
}

impl From<&str> for Prompt {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

/// How much usage a stream is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StreamUsage {
    /// Not asked for: `stream_options` is left out, which some servers require.
    None,
    /// One usage frame at the end.
    #[default]
    Final,
    /// Cumulative usage in every frame (`continuous_usage_stats`, a vLLM
    /// extension that others ignore).
    Continuous,
}

/// One request for generated text.
///
/// ```
/// use wire::{Api, GenerationRequest};
/// let mut request = GenerationRequest::new("tiny", "Once upon", 16);
/// request.ignore_eos = true;
/// let body = request.body(Api::Completions)?;
/// assert!(body.starts_with(br#"{"model":"tiny","prompt":"Once upon","max_tokens":16"#));
/// # Ok::<(), wire::request::RequestError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct GenerationRequest {
    /// The model's id as the server lists it.
    pub model: String,
    /// What to continue.
    pub prompt: Prompt,
    /// Most tokens to generate.
    pub max_tokens: u32,
    /// `Some` asks for server-sent events and says with how much usage.
    pub stream: Option<StreamUsage>,
    /// Go on after the end-of-text token; an extension of vLLM, SGLang and
    /// llama.cpp. Written only when true, for strict servers refuse the field.
    pub ignore_eos: bool,
    /// Seed of the sampler.
    pub seed: Option<u64>,
    /// Further fields, such as `temperature` or llama.cpp's `timings_per_token`.
    pub extra: Map<String, Value>,
}

/// Why a request cannot be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// Token ids have no place in chat messages.
    #[error("a chat request takes text; token ids need the completions API")]
    TokensInChat,
    /// An extra field would silently change what is measured.
    #[error("the extra field `{0}` is set by the measurement itself and cannot be given")]
    ReservedField(String),
}

/// Fields that decide what is measured, so extra fields may not replace them.
const RESERVED_FIELDS: [&str; 12] = [
    "ignore_eos",
    "max_completion_tokens",
    "max_tokens",
    "messages",
    "min_tokens",
    "model",
    "n",
    "n_predict",
    "prompt",
    "seed",
    "stream",
    "stream_options",
];

impl GenerationRequest {
    /// A streamed request with usage at the end and nothing optional.
    #[must_use]
    pub fn new(model: impl Into<String>, prompt: impl Into<Prompt>, max_tokens: u32) -> Self {
        Self {
            model: model.into(),
            prompt: prompt.into(),
            max_tokens,
            stream: Some(StreamUsage::default()),
            ignore_eos: false,
            seed: None,
            extra: Map::new(),
        }
    }

    /// The request's JSON body for `api`.
    ///
    /// # Errors
    ///
    /// [`RequestError`] when the prompt or a field does not fit the API.
    pub fn body(&self, api: Api) -> Result<Vec<u8>, RequestError> {
        let mut body = Map::new();
        body.insert("model".into(), json!(self.model));
        let (name, prompt) = self.prompt_field(api)?;
        body.insert(name.into(), prompt);
        body.insert("max_tokens".into(), json!(self.max_tokens));
        body.insert("stream".into(), json!(self.stream.is_some()));
        if let Some(options) = self.stream.and_then(stream_options) {
            body.insert("stream_options".into(), options);
        }
        if self.ignore_eos {
            body.insert("ignore_eos".into(), json!(true));
        }
        if let Some(seed) = self.seed {
            body.insert("seed".into(), json!(seed));
        }
        for (name, value) in &self.extra {
            if RESERVED_FIELDS.contains(&name.as_str()) {
                return Err(RequestError::ReservedField(name.clone()));
            }
            body.insert(name.clone(), value.clone());
        }
        Ok(Value::Object(body).to_string().into_bytes())
    }

    fn prompt_field(&self, api: Api) -> Result<(&'static str, Value), RequestError> {
        match (api, &self.prompt) {
            (Api::Chat, Prompt::Tokens(_)) => Err(RequestError::TokensInChat),
            (Api::Chat, Prompt::Text(text)) => Ok((
                "messages",
                json!([{"role": "user", "content": text.as_ref()}]),
            )),
            (Api::Completions, Prompt::Text(text)) => Ok(("prompt", json!(text.as_ref()))),
            (Api::Completions, Prompt::Tokens(ids)) => Ok(("prompt", json!(ids.as_ref()))),
        }
    }
}

fn stream_options(usage: StreamUsage) -> Option<Value> {
    match usage {
        StreamUsage::None => None,
        StreamUsage::Final => Some(json!({"include_usage": true})),
        StreamUsage::Continuous => {
            Some(json!({"include_usage": true, "continuous_usage_stats": true}))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(request: &GenerationRequest, api: Api) -> Value {
        serde_json::from_slice(&request.body(api).unwrap()).unwrap()
    }

    #[test]
    fn optional_fields_are_left_out_so_that_strict_servers_accept_the_rest() {
        let body = read(&GenerationRequest::new("m", "hi", 8), Api::Chat);
        let expected = json!({
            "model": "m", "messages": [{"role": "user", "content": "hi"}], "max_tokens": 8,
            "stream": true, "stream_options": {"include_usage": true},
        });
        assert_eq!(body, expected);
    }

    #[test]
    fn every_option_reaches_the_body() {
        let mut request = GenerationRequest::new("m", Prompt::Tokens([1, 2, 3].into()), 8);
        request.stream = Some(StreamUsage::Continuous);
        request.ignore_eos = true;
        request.seed = Some(7);
        request.extra.insert("id_slot".into(), json!(3));
        let expected = json!({
            "model": "m", "prompt": [1, 2, 3], "max_tokens": 8, "stream": true,
            "stream_options": {"include_usage": true, "continuous_usage_stats": true},
            "ignore_eos": true, "seed": 7, "id_slot": 3,
        });
        assert_eq!(read(&request, Api::Completions), expected);
    }

    #[test]
    fn without_a_stream_no_stream_options_are_sent() {
        let mut request = GenerationRequest::new("m", "hi", 8);
        request.stream = None;
        let body = read(&request, Api::Chat);
        assert_eq!(
            (&body["stream"], body.get("stream_options")),
            (&json!(false), None)
        );
    }

    #[test]
    fn what_does_not_fit_the_api_is_refused() {
        let tokens = GenerationRequest::new("m", Prompt::Tokens([1].into()), 8);
        assert_eq!(tokens.body(Api::Chat), Err(RequestError::TokensInChat));
        let mut extra = GenerationRequest::new("m", "hi", 8);
        extra.extra.insert("stream".into(), json!(false));
        let refused = RequestError::ReservedField("stream".into());
        assert_eq!(extra.body(Api::Chat), Err(refused));
    }

    #[test]
    fn api_is_written_in_snake_case() {
        assert_eq!(
            json!([Api::Chat, Api::Completions]),
            json!(["chat", "completions"])
        );
    }
}
