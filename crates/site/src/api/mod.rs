//! `/api/v1`: JSON for programs, and the page that shows it to people.

mod answers;
mod asked;
mod catalogue;
mod describe;
mod lists;
mod operations;
mod page;
mod problem;
mod runs;
mod schemas;
mod table;
mod upload_page;

use std::sync::LazyLock;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::header::{ACCEPT, ETAG, IF_NONE_MATCH, LINK, RETRY_AFTER};
use axum::http::{HeaderName, Method};
use axum::response::Response;
use axum::routing::{any, get};
use serde_json::Value;
use tower_http::cors::{Any, CorsLayer};
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::intake::MAX_DOCUMENT_BYTES;
use crate::site::Site;
use crate::words::{Language, Words};
use asked::Asked;
use problem::ApiError;

pub(crate) use schemas::kind as kind_schema;

/// How long browsers remember that other sites may read: a day.
const CORS_KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// What the limits are told in.
const RATE_HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("ratelimit-limit"),
    HeaderName::from_static("ratelimit-remaining"),
    HeaderName::from_static("ratelimit-reset"),
];

/// Routes below `/api`.
pub(crate) fn routes() -> Router<Site> {
    let (operations, _) = operations_and_document();
    let programs = operations
        .route("/api/openapi.json", get(document))
        .method_not_allowed_fallback(wrong_method)
        .route("/api/{*elsewhere}", any(nowhere))
        .layer(cors());
    programs.merge(page::routes()).merge(upload_page::routes())
}

/// Schemas that no handler's answer names.
#[derive(utoipa::OpenApi)]
#[openapi(components(schemas(problem::ProblemDocument)))]
struct Shared;

fn operations_and_document() -> (Router<Site>, OpenApi) {
    OpenApiRouter::with_openapi(<Shared as utoipa::OpenApi>::openapi())
        .routes(routes!(lists::runs, runs::publish))
        .routes(routes!(runs::validate))
        .routes(routes!(runs::read, runs::delete))
        .routes(routes!(lists::cells))
        .routes(routes!(lists::leaderboard))
        .routes(routes!(lists::models))
        .routes(routes!(lists::model))
        .routes(routes!(lists::hardware_list))
        .routes(routes!(lists::hardware))
        .routes(routes!(lists::organizations))
        .routes(routes!(lists::organization))
        .layer(DefaultBodyLimit::max(MAX_DOCUMENT_BYTES))
        .split_for_parts()
}

/// Anybody's page may read what anybody may read; credentials are not sent along.
fn cors() -> CorsLayer {
    let told = [ETAG, LINK, RETRY_AFTER].into_iter().chain(RATE_HEADERS);
    CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET, Method::HEAD])
        .allow_headers([ACCEPT, IF_NONE_MATCH])
        .expose_headers(told.collect::<Vec<_>>())
        .max_age(CORS_KEPT)
}

static DOCUMENTS: LazyLock<[(Language, Value); 2]> = LazyLock::new(|| {
    let (_, base) = operations_and_document();
    Language::ALL.map(|language| (language, describe::describe(&base, Words::of(language))))
});

/// The OpenAPI document in a language.
fn document_in(language: Language) -> &'static Value {
    let [(_, first), ..] = &*DOCUMENTS;
    DOCUMENTS
        .iter()
        .find(|(of, _)| *of == language)
        .map_or(first, |(_, document)| document)
}

/// The OpenAPI document, in English.
#[must_use]
pub fn openapi() -> &'static Value {
    document_in(Language::English)
}

async fn document(asked: Asked) -> Result<Response, ApiError> {
    asked.one()?.json(openapi())
}

async fn nowhere() -> ApiError {
    ApiError::NoSuchAddress
}

async fn wrong_method() -> ApiError {
    ApiError::Method
}
