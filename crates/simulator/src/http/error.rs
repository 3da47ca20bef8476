//! Errors in vLLM's shapes.

use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};
use serde::Serialize;

/// An error a client gets, as vLLM writes it.
#[derive(Debug)]
pub(super) struct ApiError {
    status: StatusCode,
    kind: &'static str,
    param: Option<&'static str>,
    message: String,
}

#[derive(Serialize)]
struct Envelope<'a> {
    error: Inner<'a>,
}

#[derive(Serialize)]
struct Inner<'a> {
    message: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    param: Option<&'a str>,
    code: u16,
}

impl ApiError {
    /// A request that makes no sense.
    pub fn bad_request(param: Option<&'static str>, message: String) -> ApiError {
        ApiError {
            status: StatusCode::BAD_REQUEST,
            kind: "BadRequestError",
            param,
            message,
        }
    }

    /// A model that is not served.
    pub fn unknown_model(asked: &str, served: &str) -> ApiError {
        ApiError {
            status: StatusCode::NOT_FOUND,
            kind: "NotFoundError",
            param: Some("model"),
            message: format!("The model `{asked}` does not exist. Valid aliases: {served}."),
        }
    }

    /// A prompt that alone is too long. vLLM stops counting one past the limit.
    pub fn prompt_too_long(max_model_len: u64) -> ApiError {
        let counted = max_model_len + 1;
        ApiError::bad_request(
            Some("input_tokens"),
            format!(
                "This model's maximum context length is {max_model_len} tokens. However, your \
                 prompt contains at least {counted} input tokens, which exceeds this limit even \
                 without any output tokens. Please reduce the length of the input prompt. \
                 (parameter=input_tokens, value={counted})"
            ),
        )
    }

    /// A prompt that is too long for the answer asked for. vLLM stops counting one
    /// past what is left.
    pub fn sequence_too_long(max_model_len: u64, max_tokens: u64) -> ApiError {
        let counted = max_model_len.saturating_sub(max_tokens) + 1;
        let total = counted + max_tokens;
        ApiError::bad_request(
            Some("input_tokens"),
            format!(
                "This model's maximum context length is {max_model_len} tokens. However, you \
                 requested {max_tokens} output tokens and your prompt contains at least {counted} \
                 input tokens, for a total of at least {total} tokens. Please reduce the length \
                 of the input prompt or the number of requested output tokens. \
                 (parameter=input_tokens, value={counted})"
            ),
        )
    }

    /// Something inside broke.
    pub fn internal() -> ApiError {
        ApiError {
            status: StatusCode::INTERNAL_SERVER_ERROR,
            kind: "InternalServerError",
            param: None,
            message: "EngineCore encountered an issue. See stack trace (above) for the root \
                      cause."
                .to_owned(),
        }
    }

    /// The error as a JSON object, for a response or inside a stream.
    pub fn json(&self) -> String {
        let envelope = Envelope {
            error: Inner {
                message: &self.message,
                kind: self.kind,
                param: self.param,
                code: self.status.as_u16(),
            },
        };
        serde_json::to_string(&envelope).unwrap_or_default()
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        json_response(self.status, self.json())
    }
}

/// A response with a JSON body.
pub(super) fn json_response(status: StatusCode, body: String) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
