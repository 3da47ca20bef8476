use axum::http::StatusCode;
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::response::{IntoResponse, Response};
use axum_extra::extract::cookie::Cookie;

use super::one_form::OneForm;
use super::password::HashError;
use crate::frame::PageError;
use crate::security::TooMany;
use crate::words::Words;

/// Why an attempt is not even looked at.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotTried {
    #[error(transparent)]
    TooMany(#[from] TooMany),
    #[error(transparent)]
    Hash(#[from] HashError),
}

impl NotTried {
    /// What the form says.
    pub(super) fn words(&self, words: Words) -> String {
        match self {
            NotTried::TooMany(limit) => words.with(
                "account-too-many-attempts",
                &[("seconds", limit.retry_after_s.into())],
            ),
            NotTried::Hash(_) => words.t("account-busy").into_owned(),
        }
    }

    /// The form, with the status and the headers that go with it.
    pub(super) fn answer(self, form: OneForm) -> Result<Response, PageError> {
        match self {
            NotTried::TooMany(limit) => {
                let mut response = form.answer_with(StatusCode::TOO_MANY_REQUESTS)?;
                limit.tell(response.headers_mut());
                Ok(response)
            }
            NotTried::Hash(error) => {
                tracing::warn!(%error, "no password was checked");
                form.answer_with(StatusCode::SERVICE_UNAVAILABLE)
            }
        }
    }
}

/// On to another page of this site, which is asked for with GET.
pub(super) fn go_to(path: &str) -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, path.to_owned())]).into_response()
}

/// The same, with a cookie.
pub(super) fn go_to_with(path: &str, cookie: &Cookie<'_>) -> Response {
    let headers = [
        (LOCATION, path.to_owned()),
        (SET_COOKIE, cookie.to_string()),
    ];
    (StatusCode::SEE_OTHER, headers).into_response()
}
