use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum_extra::extract::cookie::CookieJar;
use store::StoreError;

use super::secret::Secret;
use super::session::{self, OpenSession};
use super::{Scope, SignedIn};
use crate::site::Site;

/// What a token begins with.
pub(crate) const TOKEN_PREFIX: &str = "tg_";

/// Whose request it is, for programs: by a token, or by a browser's session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// `None` for anybody.
    pub account: Option<SignedIn>,
    /// What the credential may be used for; all for a session, none for anybody.
    pub scopes: Vec<Scope>,
}

/// Why a caller may not do what is asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallerError {
    /// The header is not `Authorization: Bearer tg_…`.
    #[error("the Authorization header is not understood: send `Authorization: Bearer tg_…`")]
    Malformed,
    /// There is no such token.
    #[error("this token is unknown or was revoked: make one on your account's page")]
    Unknown,
    /// The token's time is over.
    #[error("this token has expired: make one on your account's page")]
    Expired,
    /// Nobody is signed in, and somebody must be.
    #[error("send a token: `Authorization: Bearer tg_…`, made on your account's page")]
    Missing,
    /// The token may not be used for this.
    #[error("this token may not {0}: make one that may on your account's page")]
    Scope(Scope),
    /// The database failed.
    #[error(transparent)]
    Store(Arc<StoreError>),
}

impl CallerError {
    /// The answer's status: 401, 403, or 500.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        match self {
            CallerError::Malformed
            | CallerError::Unknown
            | CallerError::Expired
            | CallerError::Missing => StatusCode::UNAUTHORIZED,
            CallerError::Scope(_) => StatusCode::FORBIDDEN,
            CallerError::Store(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// `WWW-Authenticate` of the answer, where it needs one.
    #[must_use]
    pub fn challenge(&self) -> Option<&'static str> {
        match self {
            CallerError::Missing => Some("Bearer"),
            CallerError::Malformed => Some(r#"Bearer error="invalid_request""#),
            CallerError::Unknown | CallerError::Expired => Some(r#"Bearer error="invalid_token""#),
            CallerError::Scope(_) => Some(r#"Bearer error="insufficient_scope""#),
            CallerError::Store(_) => None,
        }
    }
}

impl From<StoreError> for CallerError {
    fn from(error: StoreError) -> CallerError {
        CallerError::Store(Arc::new(error))
    }
}

impl IntoResponse for CallerError {
    fn into_response(self) -> Response {
        let challenge = self.challenge().map(|words| [(WWW_AUTHENTICATE, words)]);
        (self.status(), challenge, ()).into_response()
    }
}

impl Caller {
    /// The account, if the credential may be used for `scope`.
    ///
    /// # Errors
    /// [`CallerError::Missing`] where nobody is signed in, [`CallerError::Scope`] where
    /// the token is not for this.
    pub fn require(&self, scope: Scope) -> Result<&SignedIn, CallerError> {
        let account = self.account.as_ref().ok_or(CallerError::Missing)?;
        if self.scopes.contains(&scope) {
            Ok(account)
        } else {
            Err(CallerError::Scope(scope))
        }
    }
}

/// What a request shows of who sends it. [`crate::security::guard`] puts it there.
#[derive(Debug, Clone)]
pub(crate) enum Identity {
    /// Nothing that counts.
    Nobody,
    /// A browser's session.
    Session(OpenSession),
    /// A token.
    Token(SignedIn, Vec<Scope>),
    /// A credential that is not let in.
    Refused(CallerError),
}

impl Identity {
    /// The account, however it is shown.
    pub(crate) fn account(&self) -> Option<&SignedIn> {
        match self {
            Identity::Session(session) => Some(&session.account),
            Identity::Token(account, _) => Some(account),
            Identity::Nobody | Identity::Refused(_) => None,
        }
    }
}

/// Whose request has these headers. A token goes before a session: what sends one
/// means it.
pub(crate) async fn identify(site: &Site, headers: &HeaderMap) -> Identity {
    let found = match bearer(headers) {
        Ok(Some(secret)) => token(site, &secret).await,
        Ok(None) => session::open(site, &CookieJar::from_headers(headers))
            .await
            .map(|session| session.map_or(Identity::Nobody, Identity::Session))
            .map_err(CallerError::from),
        Err(error) => Err(error),
    };
    found.unwrap_or_else(Identity::Refused)
}

/// The token of a request. `Basic` is a proxy's affair: browsers send it along with
/// every request to a site behind one.
fn bearer(headers: &HeaderMap) -> Result<Option<Secret>, CallerError> {
    let Some(header) = headers.get(AUTHORIZATION) else {
        return Ok(None);
    };
    let text = header.to_str().map_err(|_| CallerError::Malformed)?;
    let (scheme, rest) = text.split_once(' ').unwrap_or((text, ""));
    match scheme.to_ascii_lowercase().as_str() {
        "basic" => Ok(None),
        "bearer" if rest.trim().starts_with(TOKEN_PREFIX) => Ok(Some(Secret::shown(rest.trim()))),
        "bearer" if !rest.trim().is_empty() => Err(CallerError::Unknown),
        _ => Err(CallerError::Malformed),
    }
}

async fn token(site: &Site, secret: &Secret) -> Result<Identity, CallerError> {
    let now_ms = session::now_ms();
    let (account, token) = site
        .store
        .token(&secret.sha256())
        .await?
        .ok_or(CallerError::Unknown)?;
    if token.expires_at_ms.is_some_and(|end_ms| end_ms <= now_ms) {
        return Err(CallerError::Expired);
    }
    site.store.note_token_used(&token, now_ms).await?;
    let may = [
        (token.may_read, Scope::Read),
        (token.may_publish, Scope::Publish),
    ];
    let scopes = may
        .into_iter()
        .filter(|(may, _)| *may)
        .map(|(_, scope)| scope);
    Ok(Identity::Token(account.into(), scopes.collect()))
}

impl FromRequestParts<Site> for Caller {
    type Rejection = CallerError;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Caller, CallerError> {
        let identity = match parts.extensions.get::<Identity>() {
            Some(identity) => identity.clone(),
            None => identify(site, &parts.headers).await,
        };
        match identity {
            Identity::Nobody => Ok(Caller {
                account: None,
                scopes: Vec::new(),
            }),
            Identity::Session(session) => Ok(Caller {
                account: Some(session.account),
                scopes: Scope::ALL.to_vec(),
            }),
            Identity::Token(account, scopes) => Ok(Caller {
                account: Some(account),
                scopes,
            }),
            Identity::Refused(error) => Err(error),
        }
    }
}
