//! What holds for every request and every answer.

mod address;
mod limits;
mod origin;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::accounts::{self, Identity};
use crate::frame;
use crate::site::Site;
use crate::visitor::Visitor;

pub(crate) use address::Network;
pub(crate) use limits::{Budget, Gates};
pub use limits::{Limits, TooMany};
use origin::Suspicion;

/// No script at all, nothing from elsewhere, no frame around a page.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self' data:; \
     form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// Lets in what may come in, says to the handlers whose it is, and sets the headers
/// that every answer carries.
pub(crate) async fn guard(State(site): State<Site>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    let mut response = match admit(&site, &mut parts).await {
        Ok((budget, is_signed_in)) => {
            let mut response = next.run(Request::from_parts(parts, body)).await;
            let headers = response.headers_mut();
            budget.tell(headers);
            // What is made for one person is nobody else's, nor for who comes after a sign-out.
            if is_signed_in && !headers.contains_key(CACHE_CONTROL) {
                headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            }
            response
        }
        Err(refusal) => refusal.answer(&site, &mut parts).await,
    };
    protect(response.headers_mut());
    response
}

fn protect(headers: &mut HeaderMap) {
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
}

/// Counts a request, finds whose it is, and refuses what somebody else's page sent.
/// What is left of the tighter limit, and whether somebody is signed in.
async fn admit(site: &Site, parts: &mut Parts) -> Result<(Budget, bool), Refusal> {
    let network = Network::of(site, parts);
    let mut budget = site.gates.request(network)?;
    let identity = accounts::identify(site, &parts.headers).await;
    if let Some(account) = identity.account() {
        budget = budget.tighter(site.gates.request_of(account.account_key)?);
    }
    if let Some(suspicion) = origin::suspect(site, parts, &identity) {
        return Err(Refusal::Suspicious(suspicion));
    }
    let is_signed_in = identity.account().is_some();
    parts.extensions.insert(network);
    parts.extensions.insert(identity);
    Ok((budget, is_signed_in))
}

/// Why a request does not reach its handler.
#[derive(Debug)]
enum Refusal {
    TooMany(TooMany),
    Suspicious(Suspicion),
}

impl From<TooMany> for Refusal {
    fn from(error: TooMany) -> Refusal {
        Refusal::TooMany(error)
    }
}

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Refusal::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Refusal::Suspicious(Suspicion::CrossSite) => StatusCode::FORBIDDEN,
            Refusal::Suspicious(Suspicion::NoForm) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        }
    }
}

impl Refusal {
    /// A page for people, a problem document for programs.
    async fn answer(self, site: &Site, parts: &mut Parts) -> Response {
        let visitor = match Visitor::from_request_parts(parts, site).await {
            Ok(visitor) => visitor,
            Err(never) => match never {},
        };
        let words = visitor.words;
        let (title, explanation) = match self {
            Refusal::TooMany(TooMany { retry_after_s, .. }) => (
                words.t("trouble-too-many"),
                words.with("trouble-too-many-why", &[("seconds", retry_after_s.into())]),
            ),
            Refusal::Suspicious(Suspicion::CrossSite) => (
                words.t("trouble-cross-site"),
                words.t("trouble-cross-site-why").into_owned(),
            ),
            Refusal::Suspicious(Suspicion::NoForm) => (
                words.t("trouble-no-form"),
                words.t("trouble-no-form-why").into_owned(),
            ),
        };
        let mut response = if parts.uri.path().starts_with(origin::API) {
            problem(self.status(), &title, &explanation)
        } else {
            frame::trouble(site, &visitor, self.status(), title, explanation)
        };
        if let Refusal::TooMany(error) = self {
            error.tell(response.headers_mut());
        }
        response
    }
}

/// A problem document (RFC 9457).
fn problem(status: StatusCode, title: &str, detail: &str) -> Response {
    let document = serde_json::json!({
        "type": "about:blank",
        "title": title,
        "status": status.as_u16(),
        "detail": detail,
    });
    let headers = [(CONTENT_TYPE, "application/problem+json")];
    (status, headers, document.to_string()).into_response()
}

/// Room for one more upload, taken by asking for it in a handler's arguments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UploadAllowance;

impl FromRequestParts<Site> for UploadAllowance {
    type Rejection = TooMany;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Self, TooMany> {
        let network = Network::of(site, parts);
        let account = parts
            .extensions
            .get::<Identity>()
            .and_then(Identity::account);
        site.gates
            .upload(network, account.map(|account| account.account_key))?;
        Ok(UploadAllowance)
    }
}
