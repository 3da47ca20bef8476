//! Every route of the site, in one place. Each area lists its own below its prefix.

use axum::Router;
use axum::middleware;
use axum::routing::get;

use crate::site::Site;
use crate::{accounts, api, files, frame, pages, security};

/// All routes, behind what holds for all of them.
pub(crate) fn router(site: Site) -> Router {
    Router::new()
        .route("/style.css", get(files::style))
        .route("/favicon.svg", get(files::favicon))
        .merge(pages::routes())
        .merge(accounts::routes())
        .merge(api::routes())
        .fallback(frame::not_found)
        .layer(middleware::from_fn_with_state(
            site.clone(),
            security::guard,
        ))
        .with_state(site)
}
