//! Every route of the server.

use std::time::Instant;

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use bytes::Bytes;
use http::{StatusCode, header};
use serde::de::DeserializeOwned;

use super::Shared;
use super::error::{ApiError, json_response};
use super::generate::generate;
use super::metrics;
use super::request::{Api, TokenizeBody};
use crate::fault::FaultKind;

/// What a proxy shows that has lost its server.
const PROXY_PAGE: &str = include_str!("proxy_page.html");

/// All routes.
pub(crate) fn router(app: Shared) -> Router {
    Router::new()
        .route("/health", get(|| async { StatusCode::OK }))
        .route("/version", get(version))
        .route("/metrics", get(metrics_text))
        .route("/tokenize", post(tokenize))
        .route("/v1/models", get(models))
        .route("/v1/chat/completions", post(chat))
        .route("/v1/completions", post(completions))
        .fallback(not_found)
        .layer(from_fn_with_state(app.clone(), guard))
        // Prompts of a million tokens have five megabytes and more.
        .layer(DefaultBodyLimit::disable())
        .with_state(app)
}

/// When the head of a request had been read. The engine counts from here, so that
/// what reading and tokenizing cost on this machine is not added to the times of
/// the machine that is simulated.
#[derive(Debug, Clone, Copy)]
struct Arrived(Instant);

/// What concerns every route: the key, and a proxy in the way.
async fn guard(State(app): State<Shared>, mut request: Request, next: Next) -> Response {
    request.extensions_mut().insert(Arrived(Instant::now()));
    let path = request.uri().path();
    let always_html = |fault: &crate::fault::Fault| {
        fault.kind == FaultKind::Html && fault.every == 1 && fault.skip == 0
    };
    if app.config.faults.iter().any(always_html) {
        return proxy_page(StatusCode::OK);
    }
    let asks_for_key = path.starts_with("/v1");
    if let Some(key) = app.config.api_key.as_deref().filter(|_| asks_for_key) {
        let given = request.headers().get(header::AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok());
        if given.and_then(|value| value.strip_prefix("Bearer ")) != Some(key) {
            let body = r#"{"error":"Unauthorized"}"#.to_owned();
            return json_response(StatusCode::UNAUTHORIZED, body);
        }
    }
    next.run(request).await
}

/// A page of a proxy instead of an answer.
pub(super) fn proxy_page(status: StatusCode) -> Response {
    (status, [(header::CONTENT_TYPE, "text/html")], PROXY_PAGE).into_response()
}

async fn not_found() -> Response {
    json_response(
        StatusCode::NOT_FOUND,
        r#"{"detail":"Not Found"}"#.to_owned(),
    )
}

async fn version(State(app): State<Shared>) -> Response {
    let version = serde_json::json!({
        "version": app.config.engine_version,
        "simulated_by": format!("tokgrid sim {}, {} × speed", env!("CARGO_PKG_VERSION"), app.config.speed),
    });
    json_response(StatusCode::OK, version.to_string())
}

async fn metrics_text(State(app): State<Shared>) -> Response {
    let hidden = |fault: &crate::fault::Fault| fault.kind == FaultKind::HtmlMetrics;
    if app.config.faults.iter().any(hidden) {
        return proxy_page(StatusCode::BAD_GATEWAY);
    }
    let text = metrics::render(&app.config, &app.driver.counters(), app.started_unix_s);
    ([(header::CONTENT_TYPE, metrics::CONTENT_TYPE)], text).into_response()
}

async fn models(State(app): State<Shared>) -> Response {
    let config = &app.config;
    let list = serde_json::json!({
        "object": "list",
        "data": [{
            "id": config.model,
            "object": "model",
            "created": app.started_unix_s,
            "owned_by": "vllm",
            "root": config.model,
            "parent": null,
            "max_model_len": config.max_model_len,
            "permission": [{
                "id": "modelperm-simulated",
                "object": "model_permission",
                "created": app.started_unix_s,
                "allow_create_engine": false,
                "allow_sampling": true,
                "allow_logprobs": true,
                "allow_search_indices": false,
                "allow_view": true,
                "allow_fine_tuning": false,
                "organization": "*",
                "group": null,
                "is_blocking": false,
            }],
        }],
    });
    json_response(StatusCode::OK, list.to_string())
}

async fn tokenize(State(app): State<Shared>, bytes: Bytes) -> Result<Response, ApiError> {
    let read = tokio::task::spawn_blocking(move || {
        let body: TokenizeBody = parse(&bytes)?;
        check_model(body.model.as_deref(), &app.config.model)?;
        let ids = body.ids()?;
        let mut json = String::with_capacity(ids.len() * 7 + 96);
        json.push_str(&format!(
            r#"{{"count":{},"max_model_len":{},"tokens":["#,
            ids.len(),
            app.config.max_model_len
        ));
        for (at, id) in ids.iter().enumerate() {
            if at > 0 {
                json.push(',');
            }
            json.push_str(&id.to_string());
        }
        json.push_str(r#"],"token_strs":null}"#);
        Ok(json)
    });
    let json: Result<String, ApiError> = read
        .await
        .unwrap_or_else(|_panicked| Err(ApiError::internal()));
    Ok(json_response(StatusCode::OK, json?))
}

async fn chat(
    State(app): State<Shared>,
    Extension(Arrived(arrived)): Extension<Arrived>,
    bytes: Bytes,
) -> Result<Response, ApiError> {
    generate(app, Api::Chat, bytes, arrived).await
}

async fn completions(
    State(app): State<Shared>,
    Extension(Arrived(arrived)): Extension<Arrived>,
    bytes: Bytes,
) -> Result<Response, ApiError> {
    generate(app, Api::Completions, bytes, arrived).await
}

/// Reads a JSON body.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    serde_json::from_slice(bytes).map_err(|error| {
        ApiError::bad_request(None, format!("The request body cannot be read: {error}"))
    })
}

/// Refuses models other than the one served.
pub(super) fn check_model(asked: Option<&str>, served: &str) -> Result<(), ApiError> {
    match asked {
        Some(asked) if asked != served => Err(ApiError::unknown_model(asked, served)),
        Some(_) | None => Ok(()),
    }
}
