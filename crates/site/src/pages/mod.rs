//! What people see.

mod catalogue;
mod chart;
mod figures;
mod filters;
mod hardware;
mod home;
mod leaderboard;
mod links;
mod lists;
mod matrix_run;
mod model;
mod names;
mod occurring;
mod organization;
pub mod run;
mod runs;
mod start;

use axum::Router;
use axum::routing::get;

use crate::site::Site;

/// Pages that anyone can read.
pub(crate) fn routes() -> Router<Site> {
    Router::new()
        .route("/", get(home::home))
        .route("/start", get(start::start))
        .route("/leaderboard", get(leaderboard::leaderboard))
        .route("/models", get(catalogue::models))
        .route("/models/{slug}", get(model::model))
        .route("/organizations", get(catalogue::organizations))
        .route("/organizations/{slug}", get(organization::organization))
        .route("/runs", get(runs::runs))
        .route("/runs/{id}", get(matrix_run::run))
        .route("/runs/{id}/measurements.csv", get(matrix_run::measurements))
        .route("/hardware", get(catalogue::hardware))
        .route("/hardware/{slug}", get(hardware::hardware))
}
