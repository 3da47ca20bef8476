use axum::http::HeaderMap;
use axum::http::header::USER_AGENT;
use axum_extra::extract::cookie::{Cookie, CookieJar, SameSite};
use cookie::time::Duration;
use jiff::Timestamp;
use store::{NewSession, StoreError};

use super::SignedIn;
use super::secret::Secret;
use crate::site::Site;

/// How long a browser stays signed in.
const SESSION_KEPT_DAYS: i64 = 30;
/// Of what a browser calls itself.
const BROWSER_CHARS_MAX: usize = 200;

/// A session that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenSession {
    /// Whose.
    pub(crate) account: SignedIn,
    /// Names it in the database.
    pub(crate) session_key: i64,
    /// What is kept of its secret.
    pub(crate) sha256: String,
}

/// Now, ms since 1970.
pub(crate) fn now_ms() -> i64 {
    Timestamp::now().as_millisecond()
}

/// Name of the cookie. By TLS browsers see to it that no other site of the domain, and
/// nobody on the wire, can have set it.
fn cookie_name(site: &Site) -> &'static str {
    if site.is_https() {
        "__Host-session"
    } else {
        "session"
    }
}

/// The session that a cookie stands for.
pub(crate) async fn open(
    site: &Site,
    cookies: &CookieJar,
) -> Result<Option<OpenSession>, StoreError> {
    let Some(cookie) = cookies.get(cookie_name(site)) else {
        return Ok(None);
    };
    let sha256 = Secret::shown(cookie.value()).sha256();
    let found = site.store.session(&sha256, now_ms()).await?;
    Ok(found.map(|(account, session)| OpenSession {
        account: account.into(),
        session_key: session.session_key,
        sha256,
    }))
}

/// Opens a session with a new secret, whatever the browser had before, and makes its
/// cookie.
pub(crate) async fn start(
    site: &Site,
    account_key: i64,
    headers: &HeaderMap,
) -> Result<Cookie<'static>, StoreError> {
    let secret = Secret::random("");
    let kept = Duration::days(SESSION_KEPT_DAYS);
    let now_ms = now_ms();
    let browser: String = headers
        .get(USER_AGENT)
        .map(|name| String::from_utf8_lossy(name.as_bytes()))
        .unwrap_or_default()
        .chars()
        .filter(|character| !character.is_control())
        .take(BROWSER_CHARS_MAX)
        .collect();
    site.store
        .open_session(NewSession {
            account_key,
            sha256: &secret.sha256(),
            browser: &browser,
            now_ms,
            expires_at_ms: now_ms + kept.whole_seconds() * 1000,
        })
        .await?;
    Ok(cookie(site, secret.reveal().to_owned(), kept))
}

/// A cookie that takes the session's away.
pub(crate) fn end_cookie(site: &Site) -> Cookie<'static> {
    cookie(site, String::new(), Duration::ZERO)
}

fn cookie(site: &Site, value: String, kept: Duration) -> Cookie<'static> {
    Cookie::build((cookie_name(site), value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(site.is_https())
        .max_age(kept)
        .build()
}
