//! What the API answers to those who read.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code)]
mod api_world;

use std::num::NonZeroU32;

use api_world::{EXAMPLES, World, changed, id_of, numbered};
use axum::http::{Method, StatusCode};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use site::Limits;

/// Lists, each with parameters that it takes.
const LISTS: [&str; 6] = [
    "/api/v1/runs",
    "/api/v1/cells",
    "/api/v1/leaderboard",
    "/api/v1/models",
    "/api/v1/hardware",
    "/api/v1/organizations",
];

#[tokio::test]
async fn a_run_is_answered_byte_for_byte_with_its_hash_as_etag() {
    let (world, _) = World::with_examples().await;
    for text in EXAMPLES {
        let address = format!("/api/v1/runs/{}", id_of(text));
        let answer = world.get(&address).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.body, text.as_bytes());
        assert_eq!(answer.header("content-type"), "application/json");
        let hash = Sha256::digest(text.as_bytes());
        let sha256: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(answer.header("etag"), format!("\"{sha256}\""));
    }
}

#[tokio::test]
async fn what_did_not_change_is_304_and_what_did_is_sent() {
    let (world, token) = World::with_examples().await;
    let run = format!("/api/v1/runs/{}", id_of(EXAMPLES[0]));
    for address in LISTS.into_iter().chain([run.as_str(), "/api/openapi.json"]) {
        let first = world.get(address).await;
        let etag = first.header("etag").to_owned();
        assert!(etag.len() > 30, "{address}: `{etag}`");
        for known in [etag.clone(), format!("\"other\", W/{etag}"), "*".to_owned()] {
            let again = world.get_with(address, &[("if-none-match", &known)]).await;
            assert_eq!(again.status, StatusCode::NOT_MODIFIED, "{address}: {known}");
            assert!(again.body.is_empty());
            assert_eq!(again.header("etag"), etag);
        }
        let other = world
            .get_with(address, &[("if-none-match", "\"other\"")])
            .await;
        assert_eq!(other.status, StatusCode::OK);
    }
    let before = world.get("/api/v1/runs").await.header("etag").to_owned();
    world.publish(&token, &numbered(7)).await;
    let after = world
        .get_with("/api/v1/runs", &[("if-none-match", &before)])
        .await;
    assert_eq!(after.status, StatusCode::OK);
}

#[tokio::test]
async fn pages_hold_every_run_once_and_link_to_each_other() {
    let (world, token) = World::with_examples().await;
    for number in 0..5 {
        world.publish(&token, &numbered(number)).await;
    }
    let mut ids = Vec::new();
    let mut address = "/api/v1/runs?limit=3&kind=imported&q=".to_owned();
    loop {
        let answer = world.get(&address).await;
        let page = answer.json();
        assert_eq!(page["total"], 7);
        let items = page["items"].as_array().unwrap();
        ids.extend(
            items
                .iter()
                .map(|run| run["id"].as_str().unwrap().to_owned()),
        );
        let link = answer.header("link").to_owned();
        if page["next"].is_null() {
            assert_eq!(link, "");
            break;
        }
        assert_eq!(items.len(), 3);
        let next = link
            .strip_prefix('<')
            .unwrap()
            .strip_suffix(">; rel=\"next\"")
            .unwrap();
        assert!(
            next.contains("kind=imported") && next.contains("limit=3"),
            "{next}"
        );
        address = next.to_owned();
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 7);
}

#[tokio::test]
async fn cells_and_ranking_are_those_of_the_documents() {
    let (world, _) = World::with_examples().await;
    let run: Value = serde_json::from_str(EXAMPLES[1]).unwrap();
    let id = id_of(EXAMPLES[1]);
    let answer = world
        .get(&format!("/api/v1/cells?run={id}&limit=200"))
        .await
        .json();
    let cells = answer["items"].as_array().unwrap();
    assert_eq!(cells.len(), run["cells"].as_array().unwrap().len());
    for cell in cells {
        let original = &run["cells"][cell["cell_index"].as_u64().unwrap() as usize];
        for field in [
            "phase",
            "context_tokens",
            "concurrency",
            "status",
            "total_tok_s",
        ] {
            assert_eq!(cell[field], original[field], "{field}: {cell}");
        }
    }
    let address = "/api/v1/leaderboard?phase=decode&context=8K&concurrency=1&metric=ttft";
    let ranking = world.get(address).await.json();
    let values: Vec<f64> = ranking["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["value"].as_f64().unwrap())
        .collect();
    assert_eq!(values.len(), 2);
    assert!(values[0] <= values[1], "{values:?}");
    assert_eq!(ranking["items"][0]["rank"], 1);
}

#[tokio::test]
async fn every_list_is_csv_too() {
    let (world, _) = World::with_examples().await;
    for address in LISTS {
        let by_parameter = world.get(&format!("{address}?format=csv")).await;
        let by_header = world.get_with(address, &[("accept", "text/csv")]).await;
        assert_eq!(
            by_parameter.header("content-type"),
            "text/csv; charset=utf-8; header=present"
        );
        assert_eq!(by_parameter.body, by_header.body, "{address}");
        let mut reader = csv::Reader::from_reader(by_parameter.body.as_slice());
        let width = reader.headers().unwrap().len();
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let json = world.get(address).await.json();
        assert_eq!(
            rows.len(),
            json["items"].as_array().unwrap().len(),
            "{address}"
        );
        assert!(rows.iter().all(|row| row.len() == width));
        let json_wins = world
            .get_with(&format!("{address}?format=json"), &[("accept", "text/csv")])
            .await;
        assert_eq!(json_wins.header("content-type"), "application/json");
    }
}

#[tokio::test]
async fn no_text_of_a_csv_is_a_formula() {
    let (world, token) = World::with_examples().await;
    for (number, name) in ["=cmd|' /C calc'!A0", "+1+1", "-2", "@SUM(A1)", "a,\"b\"\nc"]
        .into_iter()
        .enumerate()
    {
        let text = changed(|run| {
            run["id"] = json!(format!("00000000-0000-4000-8000-{number:012}"));
            run["model"]["id"] = json!(name);
            run["engine"]["name"] = json!(name);
            run["hardware"]["gpu"] = json!(name);
        });
        let answer = world.publish(&token, &text).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    }
    for list in ["runs", "models", "hardware", "leaderboard"] {
        let answer = world.get(&format!("/api/v1/{list}?format=csv")).await;
        let mut reader = csv::Reader::from_reader(answer.body.as_slice());
        for row in reader.records().map(Result::unwrap) {
            for field in &row {
                let is_number = field.parse::<f64>().is_ok();
                assert!(
                    is_number || !field.starts_with(['=', '+', '-', '@']),
                    "{field}"
                );
                assert_ne!(field, "-2");
            }
        }
    }
    let models = world.get("/api/v1/models?format=csv").await.text();
    assert!(
        models.contains("'=cmd|' /C calc'!A0") && models.contains("\"a,\"\"b\"\"\nc\""),
        "{models}"
    );
}

#[tokio::test]
async fn unknown_and_impossible_parameters_are_refused_by_name() {
    let (world, _) = World::with_examples().await;
    for (address, field) in [
        ("/api/v1/runs?modle=x", "modle"),
        ("/api/v1/runs?limit=0", "limit"),
        ("/api/v1/runs?limit=201", "limit"),
        ("/api/v1/runs?limit=-1", "limit"),
        ("/api/v1/runs?limit=99999999999999999999", "limit"),
        ("/api/v1/runs?kind=good", "kind"),
        ("/api/v1/runs?format=xml", "format"),
        ("/api/v1/runs?limit=1&limit=2", "limit"),
        ("/api/v1/runs?after=nonsense", "after"),
        ("/api/v1/runs?gpus=1e3", "gpus"),
        ("/api/v1/cells?context=8q", "context"),
        ("/api/v1/cells?concurrency=0", "concurrency"),
        ("/api/v1/leaderboard?metric=best", "metric"),
        (
            "/api/v1/leaderboard?metric=per_request&phase=prefill",
            "metric",
        ),
        ("/api/v1/models?phase=decode", "phase"),
        ("/api/v1/models/x?limit=1", "limit"),
    ] {
        let problem = world.get(address).await.problem(400);
        assert_eq!(problem["errors"][0]["field"], field, "{address}: {problem}");
    }
    let long = format!("/api/v1/runs?q={}", "x".repeat(300));
    assert_eq!(
        world.get(&long).await.problem(400)["errors"][0]["field"],
        "q"
    );
    for odd in ["%00", "a%00b", "%1b", "%c2%85"] {
        for list in LISTS {
            world.get(&format!("{list}?after={odd}")).await.problem(400);
        }
    }
}

#[tokio::test]
async fn sql_in_any_parameter_is_only_text() {
    let (world, _) = World::with_examples().await;
    let attacks = [
        "' OR '1'='1",
        "'; DROP TABLE runs; --",
        "\" OR 1=1 --",
        "1) UNION SELECT 1,2,3 --",
        "%' OR ''='",
        "\\'; DELETE FROM accounts; --",
        "%",
        "_",
        "'||(SELECT sha256 FROM tokens)||'",
    ];
    let document = world.get("/api/openapi.json").await.json();
    for attack in attacks {
        let encoded: String = form_urlencoded::byte_serialize(attack.as_bytes()).collect();
        for (path, methods) in document["paths"].as_object().unwrap() {
            let Some(operation) = methods.get("get") else {
                continue;
            };
            for parameter in operation["parameters"].as_array().unwrap() {
                let name = parameter["name"].as_str().unwrap();
                if parameter["in"] == "path" {
                    let path = path.replace(&format!("{{{name}}}"), &encoded.replace('+', "%20"));
                    world.get(&path).await.problem(404);
                } else {
                    let address = format!("{path}?{name}={encoded}");
                    let answer = world.get(&address).await;
                    if answer.status == StatusCode::OK {
                        assert_eq!(answer.json()["items"], json!([]), "{address}");
                    } else {
                        answer.problem(400);
                    }
                }
            }
        }
    }
    assert_eq!(world.get("/api/v1/runs").await.json()["total"], 2);
}

#[tokio::test]
async fn paths_lead_nowhere_but_to_what_is_stored() {
    let (world, _) = World::with_examples().await;
    for path in [
        "/api/v1/runs/..%2f..%2fetc%2fpasswd",
        "/api/v1/runs/%2e%2e",
        "/api/v1/models/..%5c..%5cwindows",
        "/api/v1/runs/%00",
        "/api/v1/runs/%ff%fe",
        "/api/v1/hardware/a%2Fb",
        "/api/v1/nothing",
        "/api/v2/runs",
        "/api/nothing",
    ] {
        world.get(path).await.problem(404);
    }
    let long = format!("/api/v1/runs/{}", "x".repeat(5000));
    world.get(&long).await.problem(404);
}

#[tokio::test]
async fn a_wrong_method_is_told_the_right_ones() {
    let (world, _) = World::with_examples().await;
    for (address, allowed) in [
        ("/api/v1/runs", vec!["GET", "POST"]),
        ("/api/v1/cells", vec!["GET"]),
        ("/api/v1/runs/validate", vec!["POST"]),
        ("/api/openapi.json", vec!["GET"]),
    ] {
        let answer = world.ask(Method::PATCH, address, &[], Vec::new()).await;
        answer.problem(405);
        for method in allowed {
            assert!(
                answer.header("allow").contains(method),
                "{address}: {}",
                answer.header("allow")
            );
        }
    }
}

#[tokio::test]
async fn anybody_may_read_from_anywhere_without_credentials() {
    let (world, _) = World::with_examples().await;
    let answer = world
        .get_with("/api/v1/runs", &[("origin", "https://elsewhere.test")])
        .await;
    assert_eq!(answer.header("access-control-allow-origin"), "*");
    assert_eq!(answer.header("access-control-allow-credentials"), "");
    let exposed = answer
        .header("access-control-expose-headers")
        .to_ascii_lowercase();
    assert!(
        exposed.contains("etag") && exposed.contains("ratelimit-remaining"),
        "{exposed}"
    );
    let preflight = [
        ("origin", "https://elsewhere.test"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization"),
    ];
    let answer = world
        .ask(Method::OPTIONS, "/api/v1/runs", &preflight, Vec::new())
        .await;
    assert!(
        !answer
            .header("access-control-allow-methods")
            .contains("POST")
    );
    assert!(
        !answer
            .header("access-control-allow-headers")
            .contains("authorization")
    );
    let page = world
        .get_with("/api", &[("origin", "https://elsewhere.test")])
        .await;
    assert_eq!(page.header("access-control-allow-origin"), "");
}

#[tokio::test]
async fn limits_are_told_and_reaching_one_is_a_problem_with_a_time_to_wait() {
    let world = World::limited(Limits {
        requests_per_minute: NonZeroU32::new(2).unwrap(),
        ..Limits::default()
    })
    .await;
    assert_eq!(
        world
            .get("/api/v1/runs")
            .await
            .header("ratelimit-remaining"),
        "1"
    );
    world.get("/api/v1/runs").await;
    let answer = world.get("/api/v1/runs").await;
    answer.problem(429);
    assert!(answer.header("retry-after").parse::<u32>().unwrap() > 0);
}

#[tokio::test]
async fn a_hidden_run_is_nowhere_but_for_its_author_and_administrators() {
    let (world, administrator) = World::with_examples().await;
    let author = world.token("ben", true).await;
    let reader = world.token("eve", true).await;
    let text = numbered(9);
    assert_eq!(
        world.publish(&author, &text).await.status,
        StatusCode::CREATED
    );
    let id = id_of(&text);
    assert!(world.store.hide_run(&id, 1, "doubtful", 0).await.unwrap());
    let address = format!("/api/v1/runs/{id}");
    for (token, status) in [
        (Some(&author), 200),
        (Some(&administrator), 200),
        (Some(&reader), 404),
        (None, 404),
    ] {
        let bearer = token
            .map(|token| format!("Bearer {token}"))
            .unwrap_or_default();
        let headers: &[_] = if token.is_some() {
            &[("authorization", bearer.as_str())]
        } else {
            &[]
        };
        let answer = world.get_with(&address, headers).await;
        assert_eq!(answer.status.as_u16(), status);
        if status == 200 {
            assert_eq!(answer.header("cache-control"), "private, no-store");
        }
    }
    let listed = world.get("/api/v1/runs").await.json();
    assert!(!listed.to_string().contains(&id));
    let cells = world.get(&format!("/api/v1/cells?run={id}")).await.json();
    assert_eq!(cells["items"], json!([]));
}

#[tokio::test]
async fn the_page_shows_every_operation_in_both_languages_with_forms() {
    let (world, _) = World::with_examples().await;
    let document = world.get("/api/openapi.json").await.json();
    let english = world.get("/api").await;
    let chinese = world.get("/api?lang=zh-CN").await;
    assert_eq!(english.status, StatusCode::OK);
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let title = format!("{} {path}", method.to_uppercase());
            assert!(
                english.text().contains(&title) && chinese.text().contains(&title),
                "{title}"
            );
            let summary = operation["summary"].as_str().unwrap();
            assert!(
                english.text().contains(&summary.replace('\'', "&#39;")),
                "{summary}"
            );
            assert!(!chinese.text().contains(summary), "{summary}");
        }
    }
    assert!(!english.text().contains("<script") && !english.text().contains("style="));
    let opened = world.get("/api/open/models?name=a%2Fb").await;
    assert_eq!(opened.status, StatusCode::SEE_OTHER);
    assert_eq!(opened.header("location"), "/api/v1/models/a%2Fb");
    let elsewhere = world.get("/api/open/%2f%2fevil.test?name=x").await;
    assert_eq!(elsewhere.status, StatusCode::NOT_FOUND);
}
