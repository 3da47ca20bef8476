//! Every fault, as a client meets it.

#![allow(clippy::unwrap_used, reason = "what is missing fails the test")]

mod http_support;

use std::time::{Duration, Instant};

use http::{Method, StatusCode};
use http_support::{BodyEnd, Client, PATIENCE, chat, config, config_with, content, events};
use serde_json::Value;
use simulator::{FAULT_NAMES, Simulator, TrueOutcome};

const CHAT: &str = "/v1/chat/completions";

/// Long enough to tell a stall from a slow machine.
const STALL: Duration = Duration::from_millis(600);

async fn started(fault: &str) -> (Simulator, Client) {
    let server = Simulator::start(config_with(fault)).await.unwrap();
    let client = Client::connect(&server).await;
    (server, client)
}

async fn streamed(fault: &str, tokens: u64) -> (StatusCode, String, BodyEnd) {
    let (server, mut client) = started(fault).await;
    let seen = client.stream_until(CHAT, &chat(tokens), PATIENCE).await;
    server.stop().await;
    seen
}

fn token_events(events: &[Value]) -> usize {
    let is_token = |event: &&Value| {
        let delta = &event["choices"][0]["delta"];
        ["content", "reasoning", "reasoning_content"]
            .iter()
            .any(|field| delta[*field].as_str().is_some_and(|text| !text.is_empty()))
    };
    events.iter().filter(is_token).count()
}

fn finish_reasons(events: &[Value]) -> usize {
    let has_reason = |event: &&Value| event["choices"][0]["finish_reason"].is_string();
    events.iter().filter(has_reason).count()
}

#[tokio::test]
async fn die_mid_stream_drops_the_connection_after_so_many_events() {
    let (server, mut client) = started("die-mid-stream:after=7").await;
    let (status, stream, end) = client.stream(CHAT, &chat(100)).await;
    assert_eq!((status, end), (StatusCode::OK, BodyEnd::Broken));
    let events = events(&stream);
    assert_eq!(token_events(&events), 7);
    assert_eq!(finish_reasons(&events), 0);
    assert_eq!(server.truth()[0].outcome, TrueOutcome::Failed);
    server.stop().await;
}

#[tokio::test]
async fn stall_mid_stream_keeps_the_connection_and_sends_nothing() {
    let (server, mut client) = started("stall-mid-stream:after=3").await;
    let (_, stream, end) = client.stream_until(CHAT, &chat(100), STALL).await;
    assert_eq!(end, BodyEnd::Stalled);
    assert_eq!(token_events(&events(&stream)), 3);
    server.stop().await;
}

#[tokio::test]
async fn never_answer_sends_not_even_a_status() {
    let (server, mut client) = started("never-answer").await;
    let asked = chat(5).to_string();
    let response = client.request(Method::POST, CHAT, asked, None);
    assert!(tokio::time::timeout(STALL, response).await.is_err());
    server.stop().await;
}

#[tokio::test]
async fn status_500_can_strike_every_second_request() {
    let (server, mut client) = started("status-500:every=2").await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        let (status, body, _) = client.stream(CHAT, &chat(2)).await;
        assert_eq!(
            status == StatusCode::OK,
            !body.contains("InternalServerError")
        );
        statuses.push(status.as_u16());
    }
    assert_eq!(statuses, [200, 500, 200, 500]);
    server.stop().await;
}

#[tokio::test]
async fn error_in_stream_comes_inside_a_200() {
    let (status, stream, end) = streamed("error-in-stream:after=2", 50).await;
    assert_eq!((status, end), (StatusCode::OK, BodyEnd::Complete));
    let events = events(&stream);
    assert_eq!(events[events.len() - 1]["error"]["code"], 500);
    assert_eq!(token_events(&events), 2);
}

#[tokio::test]
async fn split_utf8_cuts_events_inside_characters_and_loses_nothing() {
    let (server, mut client) = started("split-utf8").await;
    let asked = chat(30).to_string();
    let response = client.request(Method::POST, CHAT, asked, None).await;
    let mut body = response.into_body();
    let (mut bytes, mut cut) = (Vec::new(), false);
    while let Some(frame) = http_body_util::BodyExt::frame(&mut body).await {
        let data = frame.unwrap().into_data().unwrap();
        cut |= std::str::from_utf8(&data).is_err();
        bytes.extend_from_slice(&data);
    }
    assert!(cut);
    let stream = String::from_utf8(bytes).unwrap();
    assert!(!content(&events(&stream)).is_ascii());
    server.stop().await;
}

#[tokio::test]
async fn no_usage_says_nothing_although_asked() {
    let (_, stream, _) = streamed("no-usage", 5).await;
    assert!(!stream.contains("usage") && stream.contains("[DONE]"));
}

#[tokio::test]
async fn late_usage_comes_after_the_last_token() {
    let (server, mut client) = started("late-usage:ms=300").await;
    let from = Instant::now();
    let (_, stream, _) = client.stream(CHAT, &chat(5)).await;
    assert!(from.elapsed() >= Duration::from_millis(300));
    let events = events(&stream);
    let last = &events[events.len() - 1];
    assert_eq!(last["usage"]["completion_tokens"], 5);
    let with_usage = events.iter().filter(|event| event["usage"].is_object());
    assert_eq!(with_usage.count(), 1);
    server.stop().await;
}

#[tokio::test]
async fn role_only_events_come_before_the_first_token() {
    let (_, stream, _) = streamed("role-only-first:count=3", 5).await;
    let events = events(&stream);
    assert!(
        events[..4]
            .iter()
            .all(|event| event["choices"][0]["delta"]["role"] == "assistant")
    );
    assert_eq!(token_events(&events), 5);
}

#[tokio::test]
async fn reasoning_comes_in_either_field_before_the_answer() {
    for (fault, field) in [
        ("reasoning", "reasoning"),
        ("reasoning-content", "reasoning_content"),
    ] {
        let (_, stream, _) = streamed(&format!("{fault}:tokens=4"), 10).await;
        let events = events(&stream);
        let reasoning = events
            .iter()
            .filter(|event| event["choices"][0]["delta"][field].is_string())
            .count();
        assert_eq!(reasoning, 4);
        assert_eq!(token_events(&events), 10);
    }
}

#[tokio::test]
async fn tokens_may_come_with_the_finish_or_the_finish_alone_or_all_at_once() {
    let tokens_of = |event: &Value| event["usage"]["completion_tokens"].as_u64().unwrap();
    let (_, together, _) = streamed("tokens-with-finish:tokens=4", 10).await;
    let together = events(&together);
    assert_eq!(tokens_of(&together[6]), 6);
    assert_eq!(tokens_of(&together[7]), 10);
    assert!(together[7]["choices"][0]["finish_reason"].is_string());

    let (_, apart, _) = streamed("finish-apart", 10).await;
    let apart = events(&apart);
    assert_eq!(token_events(&apart), 10);
    assert_eq!(apart[11]["choices"][0]["delta"]["content"], "");
    assert_eq!(finish_reasons(&apart), 1);

    let (_, at_once, _) = streamed("all-at-once", 10).await;
    let at_once = events(&at_once);
    assert_eq!(token_events(&at_once), 1);
    assert_eq!(tokens_of(&at_once[1]), 10);
}

#[tokio::test]
async fn leftover_requests_run_without_anybody_asking() {
    let (server, mut client) = started("leftover:count=3").await;
    let running = r#"vllm:num_requests_running{engine="0",model_name="tiny"} 3.0"#;
    let appears = async {
        while !client.get("/metrics").await.1.contains(running) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, appears).await.unwrap();
    server.stop().await;
}

#[tokio::test]
async fn a_proxy_page_comes_instead_of_json_or_of_metrics() {
    let (server, mut client) = started("html").await;
    for path in ["/v1/models", "/metrics", "/version"] {
        assert!(client.get(path).await.1.starts_with("<!DOCTYPE html>"));
    }
    server.stop().await;
    let (server, mut client) = started("html-metrics").await;
    let (status, page) = client.get("/metrics").await;
    assert_eq!(status, StatusCode::BAD_GATEWAY);
    assert!(page.starts_with("<!DOCTYPE html>"));
    assert!(client.get("/v1/models").await.1.starts_with('{'));
    server.stop().await;
}

#[tokio::test]
async fn looping_text_repeats_itself() {
    let (_, stream, _) = streamed("looping-text", 60).await;
    let text = content(&events(&stream));
    assert_eq!(text, text[..text.len() / 10].repeat(10));
}

#[tokio::test]
async fn early_stop_ends_the_answer_before_its_length() {
    let (_, stream, _) = streamed("early-stop:after=12", 100).await;
    let events = events(&stream);
    assert_eq!(events[events.len() - 1]["usage"]["completion_tokens"], 12);
    assert_eq!(
        events[events.len() - 2]["choices"][0]["finish_reason"],
        "stop"
    );
}

#[tokio::test]
async fn no_done_ends_the_stream_without_the_mark() {
    let (_, stream, end) = streamed("no-done", 5).await;
    assert_eq!(end, BodyEnd::Complete);
    assert!(!stream.contains("[DONE]"));
}

#[tokio::test]
async fn keep_alive_comments_come_between_events() {
    let (_, stream, _) = streamed("keep-alive:events=2", 6).await;
    assert_eq!(stream.matches(": ping\n\n").count(), 3);
    assert_eq!(token_events(&events(&stream)), 6);
}

#[tokio::test]
async fn several_faults_work_together_and_every_name_starts_a_server() {
    let mut config = config();
    for (name, _) in FAULT_NAMES {
        config
            .faults
            .push(format!("{name}:skip=1000000").parse().unwrap());
    }
    let server = Simulator::start(config).await.unwrap();
    let mut client = Client::connect(&server).await;
    let (status, stream, _) = client.stream(CHAT, &chat(5)).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(token_events(&events(&stream)), 5);
    server.stop().await;
}
