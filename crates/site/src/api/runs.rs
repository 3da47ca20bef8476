//! One run: read, published, checked, deleted.

use axum::body::Bytes;
use axum::extract::rejection::BytesRejection;
use axum::extract::{FromRequest, FromRequestParts, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use store::StoredRun;
use utoipa::ToSchema;

use super::asked::{Api, Asked, Name};
use super::problem::ApiError;
use crate::accounts::{Caller, Scope, SignedIn};
use crate::intake::{self, AddedFlag, Encoding, Imported, Preview, Publisher, Received, Standing};
use crate::security::UploadAllowance;
use crate::site::Site;

/// Makes a repeated upload one run.
pub(super) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Characters of an idempotency key.
pub(super) const MAX_IDEMPOTENCY_KEY_CHARS: usize = 255;

/// Nobody in between keeps what only some may see.
const PRIVATE: HeaderValue = HeaderValue::from_static("private, no-store");

#[utoipa::path(get, path = "/api/v1/runs/{id}", operation_id = "getRun",
    responses((status = 200, content_type = "application/json", body = serde_json::Value)))]
pub(super) async fn read(
    State(site): State<Site>,
    Name(id): Name,
    Api(caller): Api<Caller>,
    asked: Asked,
) -> Result<Response, ApiError> {
    let answer = asked.one()?;
    let run = site.store.run(&id).await?;
    let run = run
        .filter(|run| run.hidden.is_none() || may_see_hidden(&caller, run))
        .ok_or(ApiError::NotFound("run"))?;
    let mut response = answer.stored(&run.sha256, run.document);
    if run.hidden.is_some() {
        response.headers_mut().insert(CACHE_CONTROL, PRIVATE);
    }
    Ok(response)
}

fn may_see_hidden(caller: &Caller, run: &StoredRun) -> bool {
    caller
        .require(Scope::Read)
        .is_ok_and(|account| is_answerable(account, run))
}

/// Whether it is the account's own run, or the account looks after all of them.
fn is_answerable(account: &SignedIn, run: &StoredRun) -> bool {
    account.is_administrator || run.account.as_ref() == Some(&account.name)
}

/// An account whose credential may publish.
pub(super) struct MayPublish(SignedIn);

impl FromRequestParts<Site> for MayPublish {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<MayPublish, ApiError> {
        let Api(caller) = Api::<Caller>::from_request_parts(parts, site).await?;
        Ok(MayPublish(caller.require(Scope::Publish)?.clone()))
    }
}

/// An uploaded document, read and judged.
pub(super) struct Uploaded(Received);

impl FromRequest<Site> for Uploaded {
    type Rejection = ApiError;

    async fn from_request(request: Request, site: &Site) -> Result<Uploaded, ApiError> {
        let headers = request.headers();
        if !is_json(headers) {
            return Err(ApiError::ContentType);
        }
        let encoding = headers
            .get(CONTENT_ENCODING)
            .map(|value| value.to_str().unwrap_or("?"));
        let encoding = Encoding::from_header(encoding)?;
        let bytes = Bytes::from_request(request, site).await.map_err(broken)?;
        let received = intake::read_aside(bytes.into(), encoding, site.options.clone()).await?;
        Ok(Uploaded(received))
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let essence = kind
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    essence.trim().eq_ignore_ascii_case("application/json")
}

fn broken(rejection: BytesRejection) -> ApiError {
    if rejection.status() == StatusCode::PAYLOAD_TOO_LARGE {
        ApiError::Refused(intake::Refusal::TooLarge)
    } else {
        ApiError::BrokenBody
    }
}

/// What became of an upload.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PublishedRun {
    /// Names the run.
    #[schema(format = Uuid)]
    id: String,
    /// Its page.
    #[schema(format = Uri)]
    url: String,
    /// False where it was there before.
    created: bool,
    /// The tool whose file was read, where it was another one's.
    #[schema(required)]
    imported: Option<Imported>,
    /// Flags that the document proves and did not carry: they count, and are shown.
    added_flags: Vec<AddedFlag>,
}

#[utoipa::path(post, path = "/api/v1/runs", operation_id = "publishRun",
    responses((status = 200, body = PublishedRun), (status = 201, body = PublishedRun)))]
pub(super) async fn publish(
    State(site): State<Site>,
    MayPublish(account): MayPublish,
    Api(_): Api<UploadAllowance>,
    mut asked: Asked,
    headers: HeaderMap,
    Uploaded(received): Uploaded,
) -> Result<Response, ApiError> {
    let organization = asked.take(|parameters| Ok(parameters.take("organization")))?;
    asked.one()?;
    let organization_key = match organization {
        Some(slug) => Some(organization_key(&site, &account, &slug).await?),
        None => None,
    };
    let publisher = Publisher {
        account_key: Some(account.account_key),
        organization_key,
        idempotency_key: idempotency_key(&headers)?,
    };
    let published = intake::publish(&site, &received, publisher).await?;
    let status = if published.created {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let location = format!("/api/v1/runs/{}", published.id);
    let body = PublishedRun {
        url: format!("{}/runs/{}", site.options.public_url, published.id),
        id: published.id,
        created: published.created,
        added_flags: AddedFlag::of(&received),
        imported: received.imported,
    };
    Ok((status, [(LOCATION, location)], axum::Json(body)).into_response())
}

/// The key of an organization that the account publishes for.
async fn organization_key(site: &Site, account: &SignedIn, slug: &str) -> Result<i64, ApiError> {
    let found = site
        .store
        .organization_for_publishing(account.account_key, slug)
        .await?;
    match found {
        Some(key) => Ok(key),
        None => Err(ApiError::Forbidden(
            "your account is no member of this organization, so it cannot publish for it",
        )),
    }
}

fn idempotency_key(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let Some(value) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(None);
    };
    let key = value.to_str().unwrap_or_default().trim();
    if key.is_empty() || key.len() > MAX_IDEMPOTENCY_KEY_CHARS {
        return Err(ApiError::Parameter {
            field: "Idempotency-Key",
            detail: format!("must have 1 to {MAX_IDEMPOTENCY_KEY_CHARS} printable characters"),
        });
    }
    Ok(Some(key))
}

/// What would become of an upload.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CheckedRun {
    /// Whether it is here already.
    standing: Standing,
    #[serde(flatten)]
    preview: Preview,
}

#[utoipa::path(post, path = "/api/v1/runs/validate", operation_id = "validateRun",
    responses((status = 200, body = CheckedRun)))]
pub(super) async fn validate(
    State(site): State<Site>,
    Api(_): Api<Caller>,
    Api(_): Api<UploadAllowance>,
    asked: Asked,
    Uploaded(received): Uploaded,
) -> Result<Response, ApiError> {
    asked.one()?;
    let standing = intake::standing(&site, &received).await?;
    let preview = Preview::of(&received);
    Ok(axum::Json(CheckedRun { standing, preview }).into_response())
}

#[utoipa::path(delete, path = "/api/v1/runs/{id}", operation_id = "deleteRun",
    responses((status = 204)))]
pub(super) async fn delete(
    State(site): State<Site>,
    Name(id): Name,
    MayPublish(account): MayPublish,
    asked: Asked,
) -> Result<Response, ApiError> {
    asked.one()?;
    let run = site
        .store
        .run(&id)
        .await?
        .ok_or(ApiError::NotFound("run"))?;
    if !is_answerable(&account, &run) {
        return Err(if run.hidden.is_some() {
            ApiError::NotFound("run")
        } else {
            ApiError::Forbidden("only who published a run, or an administrator, may delete it")
        });
    }
    if site.store.delete_run(&id).await? {
        Ok(StatusCode::NO_CONTENT.into_response())
    } else {
        Err(ApiError::NotFound("run"))
    }
}
