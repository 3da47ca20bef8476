//! `/api/v1`: JSON for programs.

use axum::Router;

use crate::site::Site;

/// Routes below `/api`.
pub(crate) fn routes() -> Router<Site> {
    Router::new()
}
