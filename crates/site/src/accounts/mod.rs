//! Who people are: accounts, sessions, tokens, organizations.

use axum::Router;
use axum_extra::extract::cookie::CookieJar;

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

/// What a token may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Read what the account sees, hidden runs of its own included.
    Read,
    /// Publish and delete runs.
    Publish,
}

/// Pages of accounts.
pub(crate) fn routes() -> Router<Site> {
    Router::new()
}

/// The account that a session cookie stands for.
pub(crate) async fn signed_in(_site: &Site, _cookies: &CookieJar) -> Option<SignedIn> {
    None
}
