use axum::http::header::{CONTENT_TYPE, HOST, ORIGIN};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};

use crate::accounts::Identity;
use crate::site::Site;

/// What the browser says of where a request was made.
const FETCH_SITE: &str = "sec-fetch-site";
/// Where programs speak to the site; pages are everywhere else.
pub(super) const API: &str = "/api/";
/// What a form sends. A page elsewhere could also send `text/plain`.
const FORMS: [&str; 2] = ["application/x-www-form-urlencoded", "multipart/form-data"];

/// Why a request that would change something is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Suspicion {
    /// Another site's page sent it, or nothing says that ours did.
    CrossSite,
    /// It goes to a page's form and is none.
    NoForm,
}

/// Refuses what another site's page makes a browser send here. `docs/decisions/0010`
/// says why this suffices.
pub(super) fn suspect(site: &Site, parts: &Parts, identity: &Identity) -> Option<Suspicion> {
    if matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return None;
    }
    let by_session = matches!(identity, Identity::Session(_));
    let to_page = !parts.uri.path().starts_with(API);
    if !by_session && !to_page {
        return None;
    }
    match sender(site, &parts.headers) {
        Sender::Elsewhere => return Some(Suspicion::CrossSite),
        // No browser, so no browser's cookie that somebody else makes use of.
        Sender::Unsaid if by_session => return Some(Suspicion::CrossSite),
        Sender::Unsaid | Sender::Here => {}
    }
    (to_page && !is_form(&parts.headers)).then_some(Suspicion::NoForm)
}

/// What the headers say of the page that sent a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sender {
    Here,
    Elsewhere,
    Unsaid,
}

fn sender(site: &Site, headers: &HeaderMap) -> Sender {
    // A page cannot set either header; browsers leave the first away without TLS.
    if let Some(fetch_site) = headers.get(FETCH_SITE) {
        return if fetch_site == "same-origin" {
            Sender::Here
        } else {
            Sender::Elsewhere
        };
    }
    let Some(origin) = headers.get(ORIGIN) else {
        return Sender::Unsaid;
    };
    let origin = origin.to_str().unwrap_or_default();
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    let is_host = origin
        .split_once("://")
        .is_some_and(|(_, of_origin)| Some(of_origin) == host);
    if is_host || origin == site.options.public_url {
        Sender::Here
    } else {
        Sender::Elsewhere
    }
}

fn is_form(headers: &HeaderMap) -> bool {
    let Some(kind) = headers.get(CONTENT_TYPE) else {
        return false;
    };
    let kind = kind.to_str().unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    FORMS.iter().any(|form| form.eq_ignore_ascii_case(kind))
}
