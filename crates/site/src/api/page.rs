//! `/api`: the OpenAPI document for people, with forms to try it.

use askama::Template;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::asked::MAX_LIMIT;
use super::document_in;
use crate::frame::{Frame, PageError, Place, page, shown};
use crate::intake::{MAX_CELLS, MAX_DEPTH, MAX_DOCUMENT_BYTES};
use crate::query::Parameters;
use crate::site::Site;
use crate::visitor::Visitor;

/// What has single things below it: a form cannot write into a path.
const OPENED: [&str; 4] = ["runs", "models", "hardware", "organizations"];

pub(super) fn routes() -> Router<Site> {
    Router::new()
        .route("/api", get(documentation))
        .route("/api/open/{list}", get(open))
}

#[derive(Template)]
#[template(path = "api/page.html")]
struct Documentation {
    frame: Frame,
    public_url: String,
    tags: Vec<Tag>,
    limit_most: u32,
    document_mib: usize,
    cells_most: usize,
    depth_most: usize,
}

struct Tag {
    name: String,
    words: String,
    operations: Vec<Operation>,
}

struct Operation {
    id: String,
    method: String,
    path: String,
    summary: String,
    description: String,
    parameters: Vec<Parameter>,
    answers: Vec<Answer>,
    curl: String,
    /// Where its form goes; only what reads has one.
    form: Option<String>,
    is_upload: bool,
    needs_token: bool,
}

struct Parameter {
    name: String,
    place: String,
    description: String,
    example: String,
    /// The only values that it can have.
    options: Vec<String>,
    is_required: bool,
}

impl Parameter {
    /// Its name in the form.
    fn field(&self) -> &str {
        if self.is_required { "name" } else { &self.name }
    }

    /// What its place is called.
    fn place_words(&self) -> &'static str {
        match self.place.as_str() {
            "path" => "api-place-path",
            "header" => "api-place-header",
            _ => "api-place-query",
        }
    }
}

struct Answer {
    status: String,
    words: String,
}

async fn documentation(State(site): State<Site>, visitor: Visitor) -> Response {
    shown(&site, &visitor, async {
        let words = visitor.words;
        let document = document_in(words.language());
        let public_url = site.options.public_url.clone();
        let template = Documentation {
            frame: Frame::new(&site, &visitor, Place::Api, words.t("menu-api")),
            tags: tags(document, &public_url),
            public_url,
            limit_most: MAX_LIMIT,
            document_mib: MAX_DOCUMENT_BYTES >> 20,
            cells_most: MAX_CELLS,
            depth_most: MAX_DEPTH,
        };
        page(&template.frame, &template)
    })
    .await
}

/// `/api/open/models?name=SLUG` is `/api/v1/models/SLUG`.
async fn open(
    State(site): State<Site>,
    visitor: Visitor,
    Path(list): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    shown(&site, &visitor, async {
        let list = OPENED.iter().find(|known| **known == list);
        let list = list.ok_or(PageError::NotFound)?;
        let mut parameters = Parameters::of(query.as_deref())
            .map_err(|error| PageError::BadRequest(error.said(visitor.words)))?;
        let name = parameters.take("name").ok_or(PageError::NotFound)?;
        let name = utf8_percent_encode(&name, NON_ALPHANUMERIC);
        Ok(Redirect::to(&format!("/api/v1/{list}/{name}")).into_response())
    })
    .await
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => String::new(),
    }
}

fn tags(document: &Value, public_url: &str) -> Vec<Tag> {
    let all = operations(document, public_url);
    let mut tags: Vec<Tag> = items(&document["tags"])
        .map(|tag| Tag {
            name: text(&tag["name"]),
            words: text(&tag["description"]),
            operations: Vec::new(),
        })
        .collect();
    for (tag_name, operation) in all {
        if let Some(tag) = tags.iter_mut().find(|tag| tag.name == tag_name) {
            tag.operations.push(operation);
        }
    }
    tags
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Every operation with its tag, as it stands in the document.
fn operations(document: &Value, public_url: &str) -> Vec<(String, Operation)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    let methods = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().into_iter().flatten();
        methods.map(move |(method, described)| (path, method, described))
    });
    methods
        .map(|(path, method, described)| {
            let tag = text(&described["tags"][0]);
            (
                tag,
                operation(document, path, method, described, public_url),
            )
        })
        .collect()
}

fn operation(
    document: &Value,
    path: &str,
    method: &str,
    described: &Value,
    public_url: &str,
) -> Operation {
    let is_upload = described.get("requestBody").is_some();
    let security = &described["security"];
    let needs_token =
        security.is_array() && !items(security).any(|one| *one == serde_json::json!({}));
    let answers = described["responses"].as_object().into_iter().flatten();
    Operation {
        id: text(&described["operationId"]),
        method: method.to_ascii_uppercase(),
        path: path.to_owned(),
        summary: text(&described["summary"]),
        description: text(&described["description"]),
        parameters: items(&described["parameters"]).map(parameter).collect(),
        answers: answers
            .map(|(status, response)| Answer {
                status: status.clone(),
                words: answer_words(document, response),
            })
            .collect(),
        curl: curl(method, path, public_url, is_upload, needs_token),
        form: (method == "get").then(|| form_of(path)),
        is_upload,
        needs_token,
    }
}

fn answer_words(document: &Value, response: &Value) -> String {
    let referred = response["$ref"]
        .as_str()
        .and_then(|reference| document.pointer(reference.trim_start_matches('#')));
    text(&referred.unwrap_or(response)["description"])
}

fn parameter(described: &Value) -> Parameter {
    Parameter {
        name: text(&described["name"]),
        place: text(&described["in"]),
        description: text(&described["description"]),
        example: text(&described["example"]),
        options: items(&described["schema"]["enum"]).map(text).collect(),
        is_required: described["required"] == true,
    }
}

/// Where a form goes: to the list itself, or to what opens one of its things.
fn form_of(path: &str) -> String {
    match path
        .strip_prefix("/api/v1/")
        .and_then(|rest| rest.split_once("/{"))
    {
        Some((list, _)) => format!("/api/open/{list}"),
        None => path.to_owned(),
    }
}

fn curl(method: &str, path: &str, public_url: &str, is_upload: bool, needs_token: bool) -> String {
    let path = path.replace("{id}", "$ID").replace("{slug}", "$SLUG");
    let mut line = "curl".to_owned();
    if method == "delete" {
        line.push_str(" -X DELETE");
    }
    if needs_token {
        line.push_str(" -H \"Authorization: Bearer $TOKGRID_TOKEN\"");
    }
    if is_upload {
        line.push_str(" -H 'Content-Type: application/json'");
        if needs_token {
            line.push_str(" -H \"Idempotency-Key: $(uuidgen)\"");
        }
        line.push_str(" --data-binary @run.json");
    }
    format!("{line} \"{public_url}{path}\"")
}
