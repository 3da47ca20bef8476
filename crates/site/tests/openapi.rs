//! The OpenAPI document says what the API does.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code)]
mod api_world;

use api_world::{World, id_of};
use serde_json::Value;

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

fn operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    document["paths"]
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().unwrap().iter();
            methods.map(move |(method, operation)| (path.as_str(), method.as_str(), operation))
        })
}

#[tokio::test]
async fn the_document_is_the_one_in_the_repository() {
    let answer = World::empty().await.get("/api/openapi.json").await;
    let mut text = serde_json::to_string_pretty(&answer.json()).unwrap();
    text.push('\n');
    if std::env::var_os("TOKGRID_BLESS").is_some() {
        std::fs::write(SNAPSHOT, &text).unwrap();
    }
    let kept = std::fs::read_to_string(SNAPSHOT).unwrap_or_default();
    assert!(
        kept == text,
        "docs/openapi.json is not what the site answers: TOKGRID_BLESS=1 writes it anew"
    );
}

#[tokio::test]
async fn the_document_is_openapi_3_1_with_words_for_everything() {
    let document = World::empty().await.get("/api/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    let mut count = 0;
    for (path, method, operation) in operations(&document) {
        count += 1;
        let what = format!("{method} {path}");
        for field in ["summary", "description"] {
            let said = operation[field].as_str().unwrap_or_default();
            assert!(said.contains(' '), "{what}: {field} `{said}`");
        }
        for parameter in operation["parameters"].as_array().unwrap() {
            assert!(
                parameter["description"].as_str().unwrap().contains(' '),
                "{what}"
            );
        }
        for (status, response) in operation["responses"].as_object().unwrap() {
            let response = match response["$ref"].as_str() {
                Some(reference) => document.pointer(&reference[1..]).unwrap(),
                None => response,
            };
            assert!(
                !response["description"].as_str().unwrap().is_empty(),
                "{what}: {status}"
            );
        }
    }
    assert_eq!(count, 13);
    assert!(!document.to_string().contains("#/$defs/"));
}

#[tokio::test]
async fn every_reference_is_to_something() {
    fn check(node: &Value, document: &Value) {
        match node {
            Value::Object(fields) => {
                if let Some(Value::String(reference)) = fields.get("$ref") {
                    assert!(document.pointer(&reference[1..]).is_some(), "{reference}");
                }
                fields.values().for_each(|node| check(node, document));
            }
            Value::Array(items) => items.iter().for_each(|node| check(node, document)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let document = World::empty().await.get("/api/openapi.json").await.json();
    check(&document, &document);
}

#[tokio::test]
async fn the_documented_parameters_are_those_that_are_read() {
    let (world, _) = World::with_examples().await;
    let document = world.get("/api/openapi.json").await.json();
    for (path, method, operation) in operations(&document) {
        if method != "get" {
            continue;
        }
        let path = path
            .replace("{id}", &id_of(api_world::EXAMPLES[0]))
            .replace("{slug}", "x");
        let answer = world.get(&format!("{path}?no_such_parameter=1")).await;
        let detail = answer.problem(400)["detail"].as_str().unwrap().to_owned();
        let documented: Vec<&str> = operation["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|parameter| parameter["in"] == "query")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        for name in &documented {
            assert!(
                detail.contains(name),
                "{path}: {name} is not read: {detail}"
            );
            let answer = world.get(&format!("{path}?{name}=")).await;
            assert!(
                answer.status.is_success(),
                "{path}: {name}: {}",
                answer.text()
            );
        }
        let named = detail
            .split(':')
            .next_back()
            .unwrap_or_default()
            .split(',')
            .count();
        if !documented.is_empty() {
            assert_eq!(named, documented.len(), "{path}: {detail}");
        }
    }
}

/// Whether an answer is documented, with the body's fields in the schema.
#[tokio::test]
async fn answers_keep_to_their_schemas() {
    let (world, _) = World::with_examples().await;
    let document = world.get("/api/openapi.json").await.json();
    for (path, method, operation) in operations(&document) {
        if method != "get" {
            continue;
        }
        let slug = |list: &str| {
            let address = format!("/api/v1/{list}");
            let world = &world;
            async move { world.get(&address).await.json()["items"][0]["slug"].clone() }
        };
        let slug = match path {
            "/api/v1/models/{slug}" => slug("models").await,
            "/api/v1/hardware/{slug}" => slug("hardware").await,
            "/api/v1/organizations/{slug}" => continue,
            _ => Value::Null,
        };
        let address = path
            .replace("{id}", &id_of(api_world::EXAMPLES[0]))
            .replace("{slug}", slug.as_str().unwrap_or_default());
        let answer = world.get(&address).await;
        assert_eq!(answer.status, 200, "{address}: {}", answer.text());
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        let mut schema = schema.clone();
        schema["components"] = document["components"].clone();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let body = answer.json();
        let errors: Vec<String> = validator
            .iter_errors(&body)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{address}: {errors:?}");
        if let Some(items) = body["items"].as_array()
            && !path.contains("organizations")
        {
            assert!(!items.is_empty(), "{address}");
        }
    }
}
