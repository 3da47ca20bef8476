//! Errors of the API: problem documents (RFC 9457) that name the field.

use axum::extract::rejection::PathRejection;
use axum::http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use store::StoreError;
use utoipa::ToSchema;

use crate::accounts::CallerError;
use crate::intake::{Problem, Refusal};
use crate::query::QueryError;
use crate::security::TooMany;

/// Media type of problem documents.
pub(super) const PROBLEM_JSON: &str = "application/problem+json";

/// What went wrong (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct ProblemDocument {
    /// Always `about:blank`: the status says what kind of problem it is.
    #[serde(rename = "type")]
    #[schema(example = "about:blank")]
    kind: &'static str,
    /// The status in words.
    #[schema(example = "Unprocessable Entity")]
    title: String,
    /// The status.
    #[schema(example = 422, minimum = 400, maximum = 599)]
    status: u16,
    /// What happened, and what to do.
    detail: String,
    /// What is wrong with the request, one by one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    errors: Vec<Problem>,
}

/// Why a request of the API is not answered.
#[derive(Debug, thiserror::Error)]
pub(super) enum ApiError {
    #[error("there is nothing at this address: /api lists what there is")]
    NoSuchAddress,
    #[error("there is no {0} here, or it is not shown to you")]
    NotFound(&'static str),
    #[error("this address does not know this method: `Allow` lists those it knows")]
    Method,
    #[error("{0}")]
    Query(#[from] QueryError),
    #[error("{field}: {detail}")]
    Parameter { field: &'static str, detail: String },
    #[error(transparent)]
    Caller(#[from] CallerError),
    #[error("{0}")]
    Forbidden(&'static str),
    #[error("send the document as `Content-Type: application/json`")]
    ContentType,
    #[error("the upload broke off: send it again")]
    BrokenBody,
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    TooMany(#[from] TooMany),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("an answer could not be written: {0}")]
    Unwritable(String),
}

impl ApiError {
    fn status(&self) -> StatusCode {
        match self {
            ApiError::Query(_) | ApiError::Parameter { .. } | ApiError::BrokenBody => {
                StatusCode::BAD_REQUEST
            }
            ApiError::NoSuchAddress | ApiError::NotFound(_) => StatusCode::NOT_FOUND,
            ApiError::Method => StatusCode::METHOD_NOT_ALLOWED,
            ApiError::Caller(error) => error.status(),
            ApiError::Forbidden(_) => StatusCode::FORBIDDEN,
            ApiError::ContentType | ApiError::Refused(Refusal::Encoding(_)) => {
                StatusCode::UNSUPPORTED_MEDIA_TYPE
            }
            ApiError::Refused(Refusal::TooLarge) => StatusCode::PAYLOAD_TOO_LARGE,
            ApiError::Refused(Refusal::Document { .. }) => StatusCode::UNPROCESSABLE_ENTITY,
            ApiError::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            ApiError::Store(error) => match error {
                StoreError::Cursor(_) => StatusCode::BAD_REQUEST,
                StoreError::RunExists(_) | StoreError::IdempotencyKeyReused => StatusCode::CONFLICT,
                StoreError::Unstorable(_) => StatusCode::UNPROCESSABLE_ENTITY,
                StoreError::NoRoom(_) => StatusCode::INSUFFICIENT_STORAGE,
                StoreError::Database(_)
                | StoreError::Migration(_)
                | StoreError::Url(_)
                | StoreError::ExportFile(_)
                | StoreError::Export { .. }
                | StoreError::NotEmpty(_)
                | StoreError::ImportDiffers(_)
                | StoreError::Damaged { .. } => StatusCode::INTERNAL_SERVER_ERROR,
            },
            ApiError::Unwritable(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// What is wrong, one by one, and where.
    fn problems(&self) -> Vec<Problem> {
        let one = |field: &str| {
            vec![Problem {
                field: Some(field.to_owned()),
                detail: self.to_string(),
            }]
        };
        match self {
            ApiError::Query(error) => one(error.parameter()),
            ApiError::Parameter { field, detail } => vec![Problem {
                field: Some((*field).to_owned()),
                detail: detail.clone(),
            }],
            ApiError::Refused(refusal) => refusal.problems(),
            ApiError::ContentType => one("Content-Type"),
            ApiError::Store(StoreError::Cursor(_)) => one("after"),
            ApiError::Store(StoreError::RunExists(_)) => one("id"),
            ApiError::Store(StoreError::IdempotencyKeyReused) => one("Idempotency-Key"),
            ApiError::NoSuchAddress
            | ApiError::NotFound(_)
            | ApiError::Method
            | ApiError::Caller(_)
            | ApiError::Forbidden(_)
            | ApiError::BrokenBody
            | ApiError::TooMany(_)
            | ApiError::Store(_)
            | ApiError::Unwritable(_) => Vec::new(),
        }
    }

    /// One sentence; what broke inside is for the log.
    fn detail(&self, status: StatusCode) -> String {
        if status.is_server_error() {
            tracing::error!(error = %self, "a request of the API failed");
            if status == StatusCode::INSUFFICIENT_STORAGE {
                return "this site's disk is full, and nothing was kept: try again when its \
                        operator has made room"
                    .to_owned();
            }
            return "the fault is ours, and it was logged: please try again in a moment".to_owned();
        }
        let ApiError::Refused(Refusal::Document { problems, untold }) = self else {
            return self.to_string();
        };
        match untold {
            0 => "the document cannot be taken: `errors` says why".to_owned(),
            more => format!(
                "the document cannot be taken: `errors` says the first {} reasons, {more} more are left out",
                problems.len()
            ),
        }
    }
}

impl From<PathRejection> for ApiError {
    fn from(_: PathRejection) -> ApiError {
        ApiError::NoSuchAddress
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.status();
        let document = ProblemDocument {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or_default().to_owned(),
            status: status.as_u16(),
            detail: self.detail(status),
            errors: self.problems(),
        };
        // Texts and numbers: they can be written.
        let body = serde_json::to_vec(&document).unwrap_or_default();
        let mut response = (status, [(CONTENT_TYPE, PROBLEM_JSON)], body).into_response();
        let headers = response.headers_mut();
        if let ApiError::Caller(error) = &self
            && let Some(challenge) = error.challenge()
        {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
        }
        if let ApiError::TooMany(error) = self {
            error.tell(headers);
        }
        response
    }
}
