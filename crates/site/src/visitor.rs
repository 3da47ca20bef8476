//! Who asks, and in which language.

use std::convert::Infallible;

use axum::extract::{FromRequestParts, Query};
use axum::http::HeaderMap;
use axum::http::header::ACCEPT_LANGUAGE;
use axum::http::request::Parts;
use axum_extra::extract::cookie::{Cookie, CookieJar, SameSite};
use serde::Deserialize;

use crate::accounts::{self, Identity, SignedIn};
use crate::site::Site;
use crate::words::{Language, Words};

/// The cookie that remembers the language.
const LANGUAGE_COOKIE: &str = "lang";
/// A year.
const LANGUAGE_KEPT_DAYS: i64 = 365;

/// Who asks for a page.
#[derive(Debug, Clone)]
pub struct Visitor {
    /// What pages say to them.
    pub words: Words,
    /// The account they are signed in to.
    pub account: Option<SignedIn>,
    /// Path and query of the page, without the language: for links that change it.
    pub(crate) here: String,
    /// The language asked for by the URL, to be remembered.
    pub(crate) chosen: Option<Language>,
}

#[derive(Debug, Deserialize)]
struct Chosen {
    lang: Option<String>,
}

impl FromRequestParts<Site> for Visitor {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Visitor, Infallible> {
        let chosen = Query::<Chosen>::try_from_uri(&parts.uri)
            .ok()
            .and_then(|query| query.0.lang)
            .and_then(|code| Language::from_code(&code));
        let cookies = CookieJar::from_headers(&parts.headers);
        let language = chosen
            .or_else(|| Language::from_code(cookies.get(LANGUAGE_COOKIE)?.value()))
            .or_else(|| accepted(&parts.headers))
            .unwrap_or_default();
        // A token is for programs: pages are shown to whom the browser signed in.
        let account = match parts.extensions.get::<Identity>() {
            Some(Identity::Session(session)) => Some(session.account.clone()),
            Some(Identity::Nobody | Identity::Token(..) | Identity::Refused(_)) => None,
            None => accounts::signed_in(site, &cookies).await,
        };
        Ok(Visitor {
            words: Words::of(language),
            account,
            here: without_language(parts.uri.path(), parts.uri.query().unwrap_or_default()),
            chosen,
        })
    }
}

impl Visitor {
    /// The cookie that remembers the language, where the URL chose one.
    pub(crate) fn language_cookie(&self, site: &Site) -> Option<Cookie<'static>> {
        let language = self.chosen?;
        Some(
            Cookie::build((LANGUAGE_COOKIE, language.code()))
                .path("/")
                .same_site(SameSite::Lax)
                .secure(site.is_https())
                .max_age(cookie::time::Duration::days(LANGUAGE_KEPT_DAYS))
                .build(),
        )
    }
}

/// The first language of the browser's list that is spoken here.
fn accepted(headers: &HeaderMap) -> Option<Language> {
    let list = headers.get(ACCEPT_LANGUAGE)?.to_str().ok()?;
    list.split(',')
        .filter_map(|entry| Language::from_code(entry.split(';').next()?.trim()))
        .next()
}

fn without_language(path: &str, query: &str) -> String {
    let kept: Vec<&str> = query
        .split('&')
        .filter(|pair| !pair.is_empty() && *pair != "lang" && !pair.starts_with("lang="))
        .collect();
    if kept.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{}", kept.join("&"))
    }
}
