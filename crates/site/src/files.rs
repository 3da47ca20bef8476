//! The files that pages ask for beside themselves: one stylesheet and the icon.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::IntoResponse;

/// Kept for an hour: the address does not change with the content.
const KEPT: &str = "public, max-age=3600";

/// `/style.css`
pub(crate) async fn style() -> impl IntoResponse {
    (
        [
            (CONTENT_TYPE, "text/css; charset=utf-8"),
            (CACHE_CONTROL, KEPT),
        ],
        concat!(
            include_str!("../templates/style.css"),
            include_str!("../templates/site.css")
        ),
    )
}

/// `/favicon.svg`
pub(crate) async fn favicon() -> impl IntoResponse {
    (
        [(CONTENT_TYPE, "image/svg+xml"), (CACHE_CONTROL, KEPT)],
        include_str!("../templates/favicon.svg"),
    )
}
