//! What is published, checked, deleted, and what is not.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[allow(dead_code)]
mod api_world;

use std::io::Write;
use std::num::NonZeroU32;
use std::sync::Arc;

use api_world::{EXAMPLES, World, changed, id_of, numbered};
use axum::http::{Method, StatusCode};
use serde_json::json;
use site::Limits;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn a_new_run_is_201_with_its_place_and_the_same_document_again_200() {
    let world = World::empty().await;
    let token = world.token("ada", true).await;
    let id = id_of(EXAMPLES[0]);
    let answer = world.publish(&token, EXAMPLES[0]).await;
    assert_eq!(answer.status, StatusCode::CREATED);
    assert_eq!(answer.header("location"), format!("/api/v1/runs/{id}"));
    let body = answer.json();
    assert_eq!(body["url"], format!("http://site.test/runs/{id}"));
    assert_eq!(body["created"], true);
    let again = world.publish(&token, EXAMPLES[0]).await;
    assert_eq!(again.status, StatusCode::OK);
    assert_eq!(again.json()["created"], false);
    let run = world.store.run(&id).await.unwrap().unwrap();
    assert_eq!(run.account.as_deref(), Some("ada"));
    assert_eq!(run.document, EXAMPLES[0].as_bytes());
}

#[tokio::test]
async fn another_document_with_the_same_id_is_a_conflict() {
    let (world, token) = World::with_examples().await;
    let other = changed(|run| run["notes"] = json!("another"));
    let problem = world.publish(&token, &other).await.problem(409);
    assert_eq!(problem["errors"][0]["field"], "id");
    let answer = world
        .get(&format!("/api/v1/runs/{}", id_of(EXAMPLES[0])))
        .await;
    assert_eq!(answer.body, EXAMPLES[0].as_bytes());
}

#[tokio::test]
async fn many_uploads_with_one_key_at_once_are_one_run() {
    let world = Arc::new(World::empty().await);
    let token = world.token("ada", true).await;
    let uploads: Vec<_> = (0..16)
        .map(|_| {
            let (world, token) = (world.clone(), token.clone());
            tokio::spawn(async move {
                let body = EXAMPLES[0].as_bytes().to_vec();
                world
                    .publish_with(&token, body, &[("idempotency-key", "k")])
                    .await
            })
        })
        .collect();
    let mut created = 0;
    for upload in uploads {
        let answer = upload.await.unwrap();
        match answer.status {
            StatusCode::CREATED => created += 1,
            StatusCode::OK => {}
            other => panic!("{other}: {}", answer.text()),
        }
        assert_eq!(answer.json()["id"], id_of(EXAMPLES[0]));
    }
    assert_eq!(created, 1);
    assert_eq!(world.get("/api/v1/runs").await.json()["total"], 1);
}

#[tokio::test]
async fn an_idempotency_key_is_for_one_document_of_one_account() {
    let world = World::empty().await;
    let (ada, ben) = (
        world.token("ada", true).await,
        world.token("ben", true).await,
    );
    let key = [("idempotency-key", "k")];
    let first = world.publish_with(&ada, EXAMPLES[0].into(), &key).await;
    assert_eq!(first.status, StatusCode::CREATED);
    let problem = world
        .publish_with(&ada, EXAMPLES[1].into(), &key)
        .await
        .problem(409);
    assert_eq!(problem["errors"][0]["field"], "Idempotency-Key");
    let other = world.publish_with(&ben, EXAMPLES[1].into(), &key).await;
    assert_eq!(other.status, StatusCode::CREATED);
    let long = "k".repeat(300);
    let problem = world
        .publish_with(&ada, numbered(1).into(), &[("idempotency-key", &long)])
        .await
        .problem(400);
    assert_eq!(problem["errors"][0]["field"], "Idempotency-Key");
}

#[tokio::test]
async fn only_a_token_that_may_publish_publishes() {
    let world = World::empty().await;
    let reader = world.token("ada", false).await;
    let body = || EXAMPLES[0].as_bytes().to_vec();
    let nobody = world.post("/api/v1/runs", None, body(), &[]).await;
    nobody.problem(401);
    assert!(nobody.header("www-authenticate").starts_with("Bearer"));
    world.publish(&reader, EXAMPLES[0]).await.problem(403);
    for wrong in ["tg_unknown", "other", ""] {
        world.publish(wrong, EXAMPLES[0]).await.problem(401);
    }
    let basic = [("authorization", "Digest x")];
    world
        .post("/api/v1/runs", None, body(), &basic)
        .await
        .problem(401);
    assert_eq!(world.get("/api/v1/runs").await.json()["total"], 0);
}

#[tokio::test]
async fn only_its_publisher_or_an_administrator_deletes_a_run() {
    let world = World::empty().await;
    let administrator = world.token("ada", true).await;
    let (owner, other) = (
        world.token("ben", true).await,
        world.token("eve", true).await,
    );
    for number in [1, 2] {
        world.publish(&owner, &numbered(number)).await;
    }
    let (first, second) = (id_of(&numbered(1)), id_of(&numbered(2)));
    world.delete(&other, &first).await.problem(403);
    world
        .ask(
            Method::DELETE,
            &format!("/api/v1/runs/{first}"),
            &[],
            Vec::new(),
        )
        .await
        .problem(401);
    assert_eq!(
        world.get(&format!("/api/v1/runs/{first}")).await.status,
        StatusCode::OK
    );
    assert_eq!(
        world.delete(&owner, &first).await.status,
        StatusCode::NO_CONTENT
    );
    assert_eq!(
        world.delete(&administrator, &second).await.status,
        StatusCode::NO_CONTENT
    );
    world.delete(&owner, &first).await.problem(404);
    assert_eq!(world.get("/api/v1/runs").await.json()["total"], 0);
    assert_eq!(
        world.publish(&owner, &numbered(1)).await.status,
        StatusCode::CREATED
    );
}

#[tokio::test]
async fn nobody_publishes_for_an_organization_that_is_not_theirs() {
    let (world, token) = World::with_examples().await;
    let body = numbered(1).into();
    let answer = world
        .post(
            "/api/v1/runs?organization=somebody",
            Some(&token),
            body,
            &[],
        )
        .await;
    answer.problem(403);
    assert_eq!(world.get("/api/v1/runs").await.json()["total"], 2);
}

#[tokio::test]
async fn checking_needs_nobody_stores_nothing_and_says_what_would_be_shown() {
    let (world, _) = World::with_examples().await;
    let text = changed(|run| {
        run["id"] = json!("00000000-0000-4000-8000-000000000001");
        let cells = run["cells"].as_array_mut().unwrap();
        let decode = cells
            .iter_mut()
            .find(|cell| cell["phase"] == "decode")
            .unwrap();
        decode["average_active"] = json!(900.0);
    });
    let answer = world
        .post("/api/v1/runs/validate", None, text.clone().into(), &[])
        .await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
    let checked = answer.json();
    assert_eq!(checked["standing"], "new");
    assert_eq!(checked["kind"], "imported");
    assert_eq!(checked["added_flags"][0]["name"], "contaminated");
    assert!(
        checked["added_flags"][0]["field"]
            .as_str()
            .unwrap()
            .starts_with("cells[")
    );
    assert_eq!(checked["cells"]["taken_away"], 1);
    assert!(checked["decode_tok_s_max"].as_f64().unwrap() > 100.0);
    assert_eq!(world.get("/api/v1/runs").await.json()["total"], 2);
    let known = world
        .post("/api/v1/runs/validate", None, EXAMPLES[0].into(), &[])
        .await;
    assert_eq!(known.json()["standing"], "published");
    let other = changed(|run| run["notes"] = json!("another"));
    let other = world
        .post("/api/v1/runs/validate", None, other.into(), &[])
        .await;
    assert_eq!(other.json()["standing"], "conflict");
}

#[tokio::test]
async fn everything_wrong_with_a_document_is_told_with_its_field() {
    let world = World::empty().await;
    let token = world.token("ada", true).await;
    let text = changed(|run| {
        run["cells"][2]["ttft_ms"]["p50"] = json!(-1);
        run["cells"][5]["total_tok_s"] = json!("fast");
        run["id"] = json!("x");
    });
    for address in ["/api/v1/runs", "/api/v1/runs/validate"] {
        let problem = world
            .post(address, Some(&token), text.clone().into(), &[])
            .await
            .problem(422);
        let mut fields: Vec<&str> = problem["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| error["field"].as_str().unwrap())
            .collect();
        fields.sort_unstable();
        assert_eq!(
            fields,
            ["cells[2].ttft_ms.p50", "cells[5].total_tok_s", "id"]
        );
    }
}

#[tokio::test]
async fn hostile_uploads_are_refused_and_the_site_goes_on() {
    let world = World::empty().await;
    let token = world.token("ada", true).await;
    let spaces = vec![b' '; 10 << 20];
    for (body, more, status) in [
        (b"".to_vec(), &[][..], 422),
        (b"{".to_vec(), &[], 422),
        (b"{\"a\":\"\xff\"}".to_vec(), &[], 422),
        (
            format!("{{\"a\":{}", "[".repeat(1 << 20)).into_bytes(),
            &[],
            422,
        ),
        ("{\"a\":1e400}".into(), &[], 422),
        (
            "{\"schema\":\"tokgrid.run/1\",\"schema\":\"tokgrid.run/1\"}".into(),
            &[],
            422,
        ),
        (EXAMPLES[0][..EXAMPLES[0].len() / 2].into(), &[], 422),
        (spaces.clone(), &[], 413),
        (gzip(&spaces), &[("content-encoding", "gzip")], 413),
        (
            gzip(&vec![b' '; 200 << 20]),
            &[("content-encoding", "gzip")],
            413,
        ),
        (
            zstd::encode_all(&*vec![b' '; 200 << 20], 3).unwrap(),
            &[("content-encoding", "zstd")],
            413,
        ),
        (EXAMPLES[0].into(), &[("content-encoding", "gzip")], 422),
        (EXAMPLES[0].into(), &[("content-encoding", "br")], 415),
        (gzip(EXAMPLES[0].as_bytes()), &[], 422),
        (b"PK\x03\x04".to_vec(), &[], 422),
    ] {
        world.publish_with(&token, body, more).await.problem(status);
    }
    let bearer = format!("Bearer {token}");
    for kind in [
        "text/plain",
        "multipart/form-data; boundary=x",
        "application/x-www-form-urlencoded",
    ] {
        let headers = [("authorization", bearer.as_str()), ("content-type", kind)];
        let answer = world
            .ask(Method::POST, "/api/v1/runs", &headers, EXAMPLES[0].into())
            .await;
        answer.problem(415);
    }
    assert_eq!(world.get("/api/v1/runs").await.json()["total"], 0);
    for (encoding, body) in [
        ("gzip", gzip(EXAMPLES[0].as_bytes())),
        ("zstd", zstd::encode_all(EXAMPLES[1].as_bytes(), 3).unwrap()),
    ] {
        let answer = world
            .publish_with(&token, body, &[("content-encoding", encoding)])
            .await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
    }
}

#[tokio::test]
async fn uploads_have_a_limit_of_their_own() {
    let world = World::limited(Limits {
        uploads_per_hour: NonZeroU32::new(1).unwrap(),
        ..Limits::default()
    })
    .await;
    let token = world.token("ada", true).await;
    assert_eq!(
        world.publish(&token, EXAMPLES[0]).await.status,
        StatusCode::CREATED
    );
    let answer = world.publish(&token, EXAMPLES[1]).await;
    answer.problem(429);
    assert!(answer.header("retry-after").parse::<u32>().unwrap() > 0);
}

/// A form as a browser sends it.
fn form(document: &[u8], action: &str) -> Vec<u8> {
    let mut body =
        b"--x\r\nContent-Disposition: form-data; name=\"document\"; filename=\"run.json\"\r\n\
        Content-Type: application/json\r\n\r\n"
            .to_vec();
    body.extend_from_slice(document);
    body.extend_from_slice(
        format!("\r\n--x\r\nContent-Disposition: form-data; name=\"action\"\r\n\r\n{action}\r\n--x--\r\n").as_bytes(),
    );
    body
}

#[tokio::test]
async fn the_form_checks_without_an_account_and_publishes_with_one() {
    let world = World::empty().await;
    let token = world.token("ada", true).await;
    let page = world.get("/publish").await;
    assert!(page.text().contains("type=\"file\"") && page.text().contains("Check without storing"));
    let kind = ("content-type", "multipart/form-data; boundary=x");
    let send = async |document: &[u8], action: &str, token: Option<&str>| {
        let bearer = token
            .map(|token| format!("Bearer {token}"))
            .unwrap_or_default();
        let mut headers = vec![kind];
        if token.is_some() {
            headers.push(("authorization", &bearer));
        }
        world
            .ask(Method::POST, "/publish", &headers, form(document, action))
            .await
    };
    let checked = send(EXAMPLES[0].as_bytes(), "check", None).await;
    assert_eq!(checked.status, StatusCode::OK, "{}", checked.text());
    assert!(checked.text().contains("Checked, and not stored"));
    let refused = send(EXAMPLES[0].as_bytes(), "publish", None).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert_eq!(world.get("/api/v1/runs").await.json()["total"], 0);
    let bad = changed(|run| run["cells"][2]["total_tok_s"] = json!("<script>alert(1)</script>"));
    let bad = send(bad.as_bytes(), "check", None).await;
    assert_eq!(bad.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(bad.text().contains("cells[2].total_tok_s") && !bad.text().contains("<script"));
    let large = send(&vec![b' '; 10 << 20], "check", None).await;
    assert_eq!(large.status, StatusCode::PAYLOAD_TOO_LARGE);
    let published = send(EXAMPLES[0].as_bytes(), "publish", Some(&token)).await;
    assert_eq!(
        published.status,
        StatusCode::SEE_OTHER,
        "{}",
        published.text()
    );
    assert_eq!(
        published.header("location"),
        format!("/runs/{}", id_of(EXAMPLES[0]))
    );
    assert_eq!(world.get("/api/v1/runs").await.json()["total"], 1);
}
