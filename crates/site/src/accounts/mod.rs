//! Who people are: accounts, sessions, tokens, organizations.

mod account;
mod attempt;
mod caller;
mod device;
mod form;
mod here;
mod moderation;
mod names;
mod oidc;
mod one_form;
mod organizations;
mod password;
mod secret;
mod session;
mod sign_in;
mod sign_up;
mod tokens;

use std::fmt;

use axum::Router;
use axum::routing::{get, post};
use axum_extra::extract::cookie::CookieJar;

pub use caller::{Caller, CallerError};
pub(crate) use caller::{Identity, identify};
pub(crate) use password::Hasher;

use crate::site::Site;

/// The account behind a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedIn {
    /// Names it in the database.
    pub account_key: i64,
    /// What people call it.
    pub name: String,
    /// May hide runs and see hidden ones.
    pub is_administrator: bool,
}

impl From<store::Account> for SignedIn {
    fn from(account: store::Account) -> SignedIn {
        SignedIn {
            account_key: account.account_key,
            name: account.name,
            is_administrator: account.is_administrator,
        }
    }
}

/// What a token may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Read what the account sees, hidden runs of its own included.
    Read,
    /// Publish and delete runs.
    Publish,
}

impl Scope {
    /// All scopes.
    pub const ALL: [Scope; 2] = [Scope::Read, Scope::Publish];

    /// The name as it stands in forms and in the device request.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Read => "read",
            Scope::Publish => "publish",
        }
    }

    /// The scope with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Scope> {
        Scope::ALL.into_iter().find(|scope| scope.as_str() == name)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Pages of accounts.
pub(crate) fn routes() -> Router<Site> {
    Router::new()
        .route("/sign-up", get(sign_up::form).post(sign_up::sign_up))
        .route("/sign-in", get(sign_in::form).post(sign_in::sign_in))
        .route("/sign-out", post(sign_in::sign_out))
        .route("/sign-in/openid", get(oidc::start))
        .route("/sign-in/openid/callback", get(oidc::finish))
        .route("/account", get(account::show))
        .route("/account/password", post(account::change_password))
        .route("/account/sessions/{key}/end", post(account::end_session))
        .route(
            "/account/runs/{id}/delete",
            get(account::confirm_delete).post(account::delete),
        )
        .route("/account/tokens", post(tokens::create))
        .route("/account/tokens/{key}/revoke", post(tokens::revoke))
        .route("/account/organizations", post(organizations::create))
        .route("/account/organizations/{slug}", get(organizations::show))
        .route(
            "/account/organizations/{slug}/members",
            post(organizations::change),
        )
        .route("/device", get(device::form).post(device::confirm))
        .route("/device/answer", post(device::answer))
        .route("/api/device/code", post(device::code))
        .route("/api/device/token", post(device::token))
        .route("/moderation", get(moderation::list))
        .route(
            "/moderation/runs/{id}/hide",
            get(moderation::ask_reason).post(moderation::hide),
        )
        .route("/moderation/runs/{id}/show", post(moderation::show_again))
}

/// The account that a session cookie stands for. A database that fails is logged, and
/// the visitor is nobody.
pub(crate) async fn signed_in(site: &Site, cookies: &CookieJar) -> Option<SignedIn> {
    match session::open(site, cookies).await {
        Ok(session) => session.map(|session| session.account),
        Err(error) => {
            tracing::error!(%error, "a session cannot be looked up");
            None
        }
    }
}
