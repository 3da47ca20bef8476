//! What a request of the API asks for, and the answer in the form it asks for.

use axum::extract::{FromRequestParts, Path};
use axum::http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LINK, VARY};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sha2::{Digest, Sha256};
use store::{Page, PageRequest};

use super::problem::ApiError;
use super::table::{self, Row};
use crate::query::{Parameters, QueryError};
use crate::site::Site;

/// Items of a page where `limit` is not given.
pub(super) const DEFAULT_LIMIT: u32 = 50;
/// The largest `limit`.
pub(super) const MAX_LIMIT: u32 = 200;
/// Characters of a name in a path.
const MAX_NAME_CHARS: usize = 200;
/// Bytes of a hash that make an ETag.
const ETAG_BYTES: usize = 16;

/// Ask again, but only for what changed.
const REVALIDATED: &str = "no-cache";

const CSV: &str = "text/csv";
const JSON: &str = "application/json";

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Csv,
}

impl Format {
    fn from_name(name: &str) -> Option<Format> {
        match name {
            "json" => Some(Format::Json),
            "csv" => Some(Format::Csv),
            _ => None,
        }
    }

    /// The first form that the `Accept` header names.
    fn accepted(headers: &HeaderMap) -> Format {
        let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
        accepted
            .unwrap_or_default()
            .split(',')
            .find_map(|range| match range.split(';').next()?.trim() {
                CSV => Some(Format::Csv),
                JSON | "application/*" | "*/*" => Some(Format::Json),
                _ => None,
            })
            .unwrap_or(Format::Json)
    }
}

/// An extractor whose rejection is a problem document.
pub(super) struct Api<T>(pub(super) T);

impl<T> FromRequestParts<Site> for Api<T>
where
    T: FromRequestParts<Site>,
    T::Rejection: Into<ApiError>,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Api<T>, ApiError> {
        T::from_request_parts(parts, site)
            .await
            .map(Api)
            .map_err(Into::into)
    }
}

/// The id of a run, or a slug, in a path. What cannot be one is nowhere to be found.
pub(super) struct Name(pub(super) String);

impl FromRequestParts<Site> for Name {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, site: &Site) -> Result<Name, ApiError> {
        let Api(Path(name)) = Api::<Path<String>>::from_request_parts(parts, site).await?;
        let is_name = !name.is_empty()
            && name.chars().count() <= MAX_NAME_CHARS
            && !name.chars().any(char::is_control);
        if is_name {
            Ok(Name(name))
        } else {
            Err(ApiError::NoSuchAddress)
        }
    }
}

/// A request without parameters that select anything.
pub(super) struct Asked {
    path: String,
    query: String,
    parameters: Parameters,
    accepted: Format,
    if_none_match: Option<HeaderValue>,
}

impl FromRequestParts<Site> for Asked {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Site) -> Result<Asked, ApiError> {
        let query = parts.uri.query().unwrap_or_default();
        Ok(Asked {
            path: parts.uri.path().to_owned(),
            query: query.to_owned(),
            parameters: parameters(query)?,
            accepted: Format::accepted(&parts.headers),
            if_none_match: parts.headers.get(IF_NONE_MATCH).cloned(),
        })
    }
}

/// No value has a control character: no name does, and PostgreSQL refuses some.
fn parameters(query: &str) -> Result<Parameters, ApiError> {
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        if name.contains(char::is_control) || value.contains(char::is_control) {
            return Err(ApiError::Query(QueryError::Invalid {
                parameter: "query",
                value: value.escape_debug().to_string(),
                expected: "text without control characters".to_owned(),
            }));
        }
    }
    Ok(Parameters::of(Some(query))?)
}

impl Asked {
    /// Reads what selects.
    pub(super) fn take<T>(
        &mut self,
        read: impl FnOnce(&mut Parameters) -> Result<T, QueryError>,
    ) -> Result<T, ApiError> {
        Ok(read(&mut self.parameters)?)
    }

    /// Reads which part of a list, and refuses what is left.
    pub(super) fn page(mut self) -> Result<(PageRequest, Answer), ApiError> {
        let page = self.parameters.take_page(DEFAULT_LIMIT, Some(MAX_LIMIT))?;
        let format = self
            .parameters
            .take_as("format", Format::from_name, || "json, csv".to_owned())?
            .unwrap_or(self.accepted);
        Ok((page, self.answer(format)?))
    }

    /// Refuses what is left of the parameters.
    pub(super) fn one(self) -> Result<Answer, ApiError> {
        self.answer(Format::Json)
    }

    fn answer(self, format: Format) -> Result<Answer, ApiError> {
        self.parameters.finish()?;
        Ok(Answer {
            path: self.path,
            query: self.query,
            format,
            if_none_match: self.if_none_match,
        })
    }
}

/// Part of a list.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Listed<T> {
    /// In the list's order.
    items: Vec<T>,
    /// Give it as `after` for the next page; `null` on the last.
    #[schema(required)]
    next: Option<String>,
    /// Items of the whole list; `null` where it is not counted.
    #[schema(required)]
    total: Option<u64>,
}

/// How to answer.
pub(super) struct Answer {
    path: String,
    query: String,
    format: Format,
    if_none_match: Option<HeaderValue>,
}

impl Answer {
    /// A page of a list, as JSON or CSV.
    pub(super) fn list<S, T: From<S> + Serialize + Row>(
        &self,
        page: Page<S>,
    ) -> Result<Response, ApiError> {
        let items: Vec<T> = page.items.into_iter().map(T::from).collect();
        let next = page.next.as_deref().map(|after| self.next_address(after));
        let mut response = match self.format {
            Format::Csv => self.bytes(
                table::csv(&items)?,
                "text/csv; charset=utf-8; header=present",
            ),
            Format::Json => self.json(&Listed {
                items,
                next: page.next,
                total: page.total,
            })?,
        };
        let headers = response.headers_mut();
        headers.insert(VARY, HeaderValue::from_static("Accept"));
        if let Some(link) = next.and_then(|next| HeaderValue::try_from(next).ok()) {
            headers.insert(LINK, link);
        }
        Ok(response)
    }

    /// One thing, as JSON.
    pub(super) fn json(&self, thing: &impl Serialize) -> Result<Response, ApiError> {
        let body =
            serde_json::to_vec(thing).map_err(|error| ApiError::Unwritable(error.to_string()))?;
        Ok(self.bytes(body, JSON))
    }

    fn bytes(&self, body: Vec<u8>, content_type: &'static str) -> Response {
        let etag = etag_of(&Sha256::digest(&body));
        self.tagged(&etag, content_type, || body)
    }

    /// A document as it is stored, whose hash is known.
    pub(super) fn stored(&self, sha256: &str, body: Vec<u8>) -> Response {
        self.tagged(&format!("\"{sha256}\""), JSON, || body)
    }

    fn tagged(
        &self,
        etag: &str,
        content_type: &'static str,
        body: impl FnOnce() -> Vec<u8>,
    ) -> Response {
        let mut response = if self.is_known(etag) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            ([(CONTENT_TYPE, content_type)], body()).into_response()
        };
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(REVALIDATED));
        if let Ok(etag) = HeaderValue::from_str(etag) {
            headers.insert(ETAG, etag);
        }
        response
    }

    /// Whether the client has it: `If-None-Match` compares weakly.
    fn is_known(&self, etag: &str) -> bool {
        let known = self
            .if_none_match
            .as_ref()
            .and_then(|value| value.to_str().ok());
        known.is_some_and(|list| {
            list.split(',')
                .map(|tag| tag.trim().trim_start_matches("W/"))
                .any(|tag| tag == "*" || tag == etag)
        })
    }

    fn next_address(&self, after: &str) -> String {
        let kept = form_urlencoded::parse(self.query.as_bytes())
            .filter(|(name, value)| name != "after" && !value.is_empty());
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(kept);
        query.append_pair("after", after);
        format!("<{}?{}>; rel=\"next\"", self.path, query.finish())
    }
}

fn etag_of(hash: &[u8]) -> String {
    use std::fmt::Write;
    let mut etag = String::from("\"");
    for byte in hash.iter().take(ETAG_BYTES) {
        // Writing to a string cannot fail.
        let _ = write!(etag, "{byte:02x}");
    }
    etag.push('"');
    etag
}
