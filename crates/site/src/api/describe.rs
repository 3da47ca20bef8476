//! The OpenAPI document: what utoipa finds in the handlers, with words, parameters
//! and answers from [`super::operations`], in any language of the site.

use serde_json::{Map, Value, json};
use utoipa::openapi::OpenApi;

use super::operations::{OPERATIONS, Operation, Parameter, Shape, answer_words};
use super::problem::PROBLEM_JSON;
use crate::intake::upload_schema;
use crate::words::Words;

/// The name of run documents among the schemas.
const DOCUMENT: &str = "RunDocument";
/// Problems that every operation can have.
const COMMON_PROBLEMS: [u16; 2] = [400, 429];

/// The document, in one language.
pub(super) fn describe(base: &OpenApi, words: Words) -> Value {
    let mut document = serde_json::to_value(base).unwrap_or_default();
    document["info"] = json!({
        "title": words.t("api-title"),
        "description": words.t("api-description"),
        "version": env!("CARGO_PKG_VERSION"),
        "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
    });
    document["servers"] = json!([{ "url": "/" }]);
    document["tags"] = json!([
        { "name": "runs", "description": words.t("api-tag-runs") },
        { "name": "figures", "description": words.t("api-tag-figures") },
        { "name": "catalogue", "description": words.t("api-tag-catalogue") },
    ]);
    document["components"]["securitySchemes"] = json!({
        "token": { "type": "http", "scheme": "bearer", "description": words.t("api-token") },
    });
    document["components"]["responses"] = problems(words);
    add_document_schema(&mut document["components"]["schemas"]);
    let paths = document["paths"].as_object_mut();
    let operations = paths
        .into_iter()
        .flat_map(Map::values_mut)
        .filter_map(Value::as_object_mut)
        .flat_map(Map::values_mut);
    for described in operations {
        let operation = OPERATIONS
            .iter()
            .find(|operation| described["operationId"] == operation.id);
        if let Some(operation) = operation {
            complete(described, operation, words);
        }
    }
    document
}

/// A response for each status that says a problem.
fn problems(words: Words) -> Value {
    let statuses = [400, 401, 403, 404, 409, 413, 415, 422, 429, 507];
    let problem = |status: u16| {
        let mut response = json!({
            "description": words.t(answer_words(status)),
            "content": { PROBLEM_JSON: { "schema": { "$ref": "#/components/schemas/ProblemDocument" } } },
        });
        let text = json!({ "schema": { "type": "string" } });
        match status {
            401 => response["headers"] = json!({ "WWW-Authenticate": text }),
            429 => {
                response["headers"] = json!({ "Retry-After": { "schema": { "type": "integer" } } })
            }
            _ => {}
        }
        (format!("Problem{status}"), response)
    };
    Value::Object(statuses.map(problem).into_iter().collect())
}

/// The schema of what may be uploaded, its parts beside it.
fn add_document_schema(schemas: &mut Value) {
    let mut schema = upload_schema();
    let parts = schema["$defs"].take();
    if let Some(schema) = schema.as_object_mut() {
        for key in ["$defs", "$id", "$schema"] {
            schema.remove(key);
        }
    }
    let parts = parts.as_object().cloned().unwrap_or_default();
    let named = parts
        .into_iter()
        .map(|(name, part)| (format!("Run{name}"), part));
    for (name, mut part) in named.chain([(DOCUMENT.to_owned(), schema)]) {
        relocate(&mut part);
        schemas[name] = part;
    }
}

/// References into the parts, where they are now; their own documentation stays.
fn relocate(node: &mut Value) {
    match node {
        Value::Object(fields) => {
            if let Some(Value::String(reference)) = fields.get_mut("$ref") {
                *reference = reference.replace("#/$defs/", "#/components/schemas/Run");
            }
            fields.values_mut().for_each(relocate);
        }
        Value::Array(items) => items.iter_mut().for_each(relocate),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Adds to an operation what its handler does not say.
fn complete(described: &mut Value, operation: &Operation, words: Words) {
    described["summary"] = words.t(operation.summary).into();
    described["description"] = words.t(operation.description).into();
    described["tags"] = json!([operation.tag]);
    let parameters = operation.parameters.iter();
    described["parameters"] = parameters.map(|of| parameter(of, words)).collect();
    let responses = &mut described["responses"];
    for status in operation.problems.iter().chain(&COMMON_PROBLEMS) {
        responses[status.to_string()] =
            json!({ "$ref": format!("#/components/responses/Problem{status}") });
    }
    let text = json!({ "schema": { "type": "string" } });
    match operation.shape {
        Shape::List => {
            responses["200"]["content"]["text/csv"] = json!({ "schema": { "type": "string" } });
            responses["200"]["headers"] = json!({ "ETag": text, "Link": text });
        }
        Shape::Document => {
            let reference = json!({ "$ref": format!("#/components/schemas/{DOCUMENT}") });
            responses["200"]["content"]["application/json"]["schema"] = reference;
            responses["200"]["headers"] = json!({ "ETag": text });
        }
        Shape::One => responses["200"]["headers"] = json!({ "ETag": text }),
        Shape::Publish | Shape::Validate => {
            let reference = json!({ "$ref": format!("#/components/schemas/{DOCUMENT}") });
            described["requestBody"] = json!({
                "required": true,
                "description": words.t("api-upload"),
                "content": { "application/json": { "schema": reference } },
            });
        }
        Shape::Delete => {}
    }
    let responses = &mut described["responses"];
    match operation.shape {
        Shape::List | Shape::Document | Shape::One => {
            responses["304"] = json!({ "headers": { "ETag": text } });
        }
        Shape::Publish => {
            for status in ["200", "201"] {
                responses[status]["headers"] = json!({ "Location": text });
            }
        }
        Shape::Validate | Shape::Delete => {}
    }
    if let Some(responses) = responses.as_object_mut() {
        for (status, response) in responses.iter_mut() {
            if response.get("$ref").is_none() {
                let status = status.parse().unwrap_or_default();
                response["description"] = words.t(answer_words(status)).into();
            }
        }
        responses.sort_keys();
    }
    match operation.shape {
        Shape::Publish | Shape::Delete => described["security"] = json!([{ "token": [] }]),
        // A token shows more, and none is needed.
        Shape::Document => described["security"] = json!([{}, { "token": [] }]),
        Shape::List | Shape::One | Shape::Validate => {}
    }
}

fn parameter(parameter: &Parameter, words: Words) -> Value {
    let mut described = json!({
        "name": parameter.name,
        "in": parameter.place,
        "required": parameter.place == "path",
        "description": words.t(parameter.words),
        "schema": (parameter.schema)(),
    });
    if let Some(example) = parameter.example {
        let is_number = described["schema"]["type"] == "integer";
        described["example"] = match example.parse::<u32>() {
            Ok(number) if is_number => number.into(),
            _ => example.into(),
        };
    }
    described
}
