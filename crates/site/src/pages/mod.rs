//! What people see.

pub mod run;

use axum::Router;

use crate::site::Site;

/// Pages that anyone can read.
pub(crate) fn routes() -> Router<Site> {
    Router::new()
}
