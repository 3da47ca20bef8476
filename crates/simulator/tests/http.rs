//! vLLM's dialect over a real socket, held against captures of vLLM 0.32.0.

#![allow(clippy::unwrap_used, reason = "what is missing fails the test")]

mod http_support;

use std::collections::BTreeSet;
use std::time::Duration;

use http::{Method, StatusCode};
use http_support::{BodyEnd, Client, chat, config, content, events};
use serde_json::{Value, json};
use simulator::engine::Speculation;
use simulator::tokenizer::tokenize;
use simulator::{Simulator, TrueOutcome};

const CHAT: &str = "/v1/chat/completions";
const COMPLETIONS: &str = "/v1/completions";

async fn started() -> (Simulator, Client) {
    let server = Simulator::start(config()).await.unwrap();
    let client = Client::connect(&server).await;
    (server, client)
}

/// Names of all fields, nested ones with their path.
fn fields(value: &Value, path: &str, into: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                into.insert(format!("{path}.{key}"));
                fields(value, &format!("{path}.{key}"), into);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| fields(item, path, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn fields_of(value: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    fields(value, "", &mut found);
    found
}

fn fixture(name: &str) -> String {
    let path = format!(
        "{}/tests/fixtures/vllm-0.32.0/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(path).unwrap()
}

#[tokio::test]
async fn plain_routes_answer_like_vllm() {
    let (server, mut client) = started().await;
    for (path, name) in [
        ("/v1/models", "v1-models.json"),
        ("/version", "version.json"),
    ] {
        let (status, body) = client.get(path).await;
        assert_eq!(status, StatusCode::OK);
        let real: Value = serde_json::from_str(&fixture(name)).unwrap();
        let mut ours: Value = serde_json::from_str(&body).unwrap();
        // The one thing it adds: that nobody takes it for the real one.
        let simulated_by = ours.as_object_mut().unwrap().remove("simulated_by");
        assert_eq!(simulated_by.is_some(), path == "/version");
        assert_eq!(fields_of(&ours), fields_of(&real), "{path}");
    }
    assert_eq!(client.get("/health").await, (StatusCode::OK, String::new()));
    assert_eq!(client.get("/nowhere").await.0, StatusCode::NOT_FOUND);
    server.stop().await;
}

#[tokio::test]
async fn tokenize_counts_what_a_completion_is_charged() {
    let (server, mut client) = started().await;
    let text = "It was the best of times, it was the worst of times.";
    let (_, body) = client.post("/tokenize", &json!({"prompt": text})).await;
    let ours: Value = serde_json::from_str(&body).unwrap();
    let real: Value = serde_json::from_str(&fixture("tokenize.json")).unwrap();
    assert_eq!(fields_of(&ours), fields_of(&real));
    let count = ours["count"].as_u64().unwrap();
    assert_eq!(ours["tokens"].as_array().unwrap().len() as u64, count);
    for prompt in [json!(text), ours["tokens"].clone(), json!([text])] {
        let asked = json!({"prompt": prompt, "max_tokens": 2, "ignore_eos": true});
        let (status, body) = client.post(COMPLETIONS, &asked).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        let answer: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(answer["usage"]["prompt_tokens"], count);
    }
    let messages = json!([{"role": "user", "content": text}]);
    let (_, body) = client
        .post("/tokenize", &json!({"messages": messages}))
        .await;
    let templated: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(templated["count"], count + 6);
    server.stop().await;
}

#[tokio::test]
async fn a_streamed_conversation_has_vllms_events() {
    let (server, mut client) = started().await;
    let (status, stream, end) = client.stream(CHAT, &chat(6)).await;
    assert_eq!((status, end), (StatusCode::OK, BodyEnd::Complete));
    let (ours, real) = (
        events(&stream),
        events(&fixture("chat-stream-continuous-usage.sse")),
    );
    assert_eq!(ours.len(), real.len());
    // The first event of the capture also carries two fields of its own.
    for (ours, real) in ours.iter().zip(&real).skip(1) {
        let mut expected = fields_of(real);
        if real["choices"].as_array().unwrap().is_empty() {
            expected.remove(".system_fingerprint");
            expected.insert(".usage.prompt_tokens_details".to_owned());
            expected.insert(".usage.prompt_tokens_details.cached_tokens".to_owned());
        }
        assert_eq!(fields_of(ours), expected);
    }
    assert_eq!(ours[0]["choices"][0]["delta"]["role"], "assistant");
    assert_eq!(ours[0]["usage"]["completion_tokens"], 0);
    assert_eq!(ours[6]["choices"][0]["finish_reason"], "length");
    assert_eq!(ours[7]["usage"]["completion_tokens"], 6);
    assert_eq!(tokenize(&content(&ours)).len(), 6);
    assert!(stream.ends_with("data: [DONE]\n\n"));
    server.stop().await;
}

#[tokio::test]
async fn a_streamed_completion_has_vllms_events() {
    let (server, mut client) = started().await;
    let mut asked =
        json!({"prompt": [5, 6, 7], "max_tokens": 4, "ignore_eos": true, "stream": true});
    asked["stream_options"] = json!({"include_usage": true});
    let (_, stream, _) = client.stream(COMPLETIONS, &asked).await;
    let (ours, real) = (
        events(&stream),
        events(&fixture("completions-stream-token-ids.sse")),
    );
    assert_eq!(ours.len(), real.len());
    for key in ["id", "object", "created", "model", "choices"] {
        assert!(ours.iter().all(|event| event.get(key).is_some()), "{key}");
    }
    assert!(ours[..4].iter().all(|event| event.get("usage").is_none()));
    assert_eq!(ours[4]["usage"]["completion_tokens"], 4);
    assert_eq!(ours[4]["usage"]["prompt_tokens"], 3);
    server.stop().await;
}

#[tokio::test]
async fn without_usage_asked_for_none_is_sent() {
    let (server, mut client) = started().await;
    let mut asked = chat(4);
    asked.as_object_mut().unwrap().remove("stream_options");
    let (_, stream, _) = client.stream(CHAT, &asked).await;
    assert!(!stream.contains("usage"));
    server.stop().await;
}

#[tokio::test]
async fn answers_that_are_not_streamed_come_whole() {
    let (server, mut client) = started().await;
    let mut asked = chat(9);
    asked["stream"] = json!(false);
    asked["n"] = json!(2);
    let (_, body) = client.post(CHAT, &asked).await;
    let answer: Value = serde_json::from_str(&body).unwrap();
    let choices = answer["choices"].as_array().unwrap();
    assert_eq!(choices.len(), 2);
    for choice in choices {
        let text = choice["message"]["content"].as_str().unwrap();
        assert_eq!(tokenize(text).len(), 9);
        assert_eq!(choice["finish_reason"], "length");
    }
    assert_eq!(answer["usage"]["completion_tokens"], 18);
    server.stop().await;
}

#[tokio::test]
async fn the_model_may_stop_unless_it_is_told_to_go_on() {
    let mut config = config();
    config.mean_answer_tokens = 20.0;
    let server = Simulator::start(config).await.unwrap();
    let mut client = Client::connect(&server).await;
    let mut asked = chat(2000);
    asked["ignore_eos"] = json!(false);
    asked["min_tokens"] = json!(5);
    let (_, stream, _) = client.stream(CHAT, &asked).await;
    let events = events(&stream);
    let tokens = events[events.len() - 1]["usage"]["completion_tokens"]
        .as_u64()
        .unwrap();
    assert!((5..2000).contains(&tokens), "{tokens}");
    assert_eq!(
        events[events.len() - 2]["choices"][0]["finish_reason"],
        "stop"
    );
    server.stop().await;
}

#[tokio::test]
async fn errors_have_vllms_shape_and_words() {
    let (server, mut client) = started().await;
    let mut unknown = chat(4);
    unknown["model"] = json!("nope");
    let (status, body) = client.post(CHAT, &unknown).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(body, fixture("error-unknown-model.json").trim());

    let ids: Vec<u32> = (0..70_000).collect();
    let (status, body) = client.post(COMPLETIONS, &json!({"prompt": ids})).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let real = fixture("error-context-too-long.txt");
    assert_eq!(body, real.lines().next().unwrap());

    let long = json!({"prompt": "hello", "max_tokens": 65536});
    let (status, body) = client.post(COMPLETIONS, &long).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(body.contains("you requested 65536 output tokens"), "{body}");

    for wrong in [
        json!({"messages": []}),
        json!({"prompt": ""}),
        json!({"prompt": 3}),
    ] {
        for path in [CHAT, COMPLETIONS] {
            let (status, body) = client.post(path, &wrong).await;
            assert_eq!(status, StatusCode::BAD_REQUEST);
            assert!(body.contains(r#""type":"BadRequestError""#), "{body}");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn a_key_guards_v1_and_nothing_else() {
    let mut config = config();
    config.api_key = Some("secret".to_owned());
    let server = Simulator::start(config).await.unwrap();
    let mut client = Client::connect(&server).await;
    let (status, body) = client.get("/v1/models").await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert_eq!(body, r#"{"error":"Unauthorized"}"#);
    assert_eq!(client.get("/metrics").await.0, StatusCode::OK);
    let response = client.request(Method::GET, "/v1/models", String::new(), Some("secret"));
    assert_eq!(response.await.status(), StatusCode::OK);
    server.stop().await;
}

#[tokio::test]
async fn metrics_have_vllms_names_and_labels() {
    let mut config = config();
    config.set_speculation(Some(Speculation {
        draft_tokens: 4,
        mean_tokens_per_step: 2.0,
    }));
    let server = Simulator::start(config).await.unwrap();
    let mut client = Client::connect(&server).await;
    client.stream(CHAT, &chat(40)).await;
    let (_, ours) = client.get("/metrics").await;
    let real = fixture("metrics-after-run.prom");
    let series = |text: &str| -> BTreeSet<String> {
        let lines = text.lines().filter(|line| line.starts_with("vllm:"));
        lines.map(sorted_labels).collect()
    };
    let real = series(&real);
    for line in series(&ours) {
        let of_speculation = line.starts_with("vllm:spec_decode");
        assert!(
            of_speculation || real.contains(&line),
            "{line} is none of vLLM's"
        );
    }
    let value = |name: &str| metric(&ours, name);
    assert_eq!(value("vllm:generation_tokens_total"), 40.0);
    assert_eq!(value("vllm:time_to_first_token_seconds_count"), 1.0);
    assert_eq!(value("vllm:num_requests_running"), 0.0);
    assert!(ours.contains(r#"kv_cache_size_tokens="262144""#));
    server.stop().await;
}

/// A series without its value, its labels by name, `cache_config_info` without
/// the labels the simulator leaves out.
fn sorted_labels(line: &str) -> String {
    let (series, _value) = line.rsplit_once(' ').unwrap();
    let (name, labels) = series.split_once('{').unwrap();
    if name == "vllm:cache_config_info" {
        return name.to_owned();
    }
    let mut labels: Vec<&str> = labels.trim_end_matches('}').split("\",").collect();
    labels
        .iter_mut()
        .for_each(|label| *label = label.trim_end_matches('"'));
    labels.sort_unstable();
    format!("{name}{labels:?}")
}

fn metric(text: &str, name: &str) -> f64 {
    let line = text
        .lines()
        .find(|line| {
            line.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('{'))
        })
        .unwrap();
    line.rsplit_once(' ').unwrap().1.parse().unwrap()
}

#[tokio::test]
async fn a_client_that_goes_away_frees_its_place() {
    let mut config = config();
    config.speed = 1.0;
    let server = Simulator::start(config).await.unwrap();
    let mut leaver = Client::connect(&server).await;
    let asked = chat(60_000).to_string();
    let response = leaver.request(Method::POST, CHAT, asked, None).await;
    assert_eq!(response.status(), StatusCode::OK);
    let mut watcher = Client::connect(&server).await;
    wait_for(&mut watcher, "vllm:num_requests_running", 1.0).await;
    drop(response);
    drop(leaver);
    wait_for(&mut watcher, "vllm:num_requests_running", 0.0).await;
    let (_, metrics) = watcher.get("/metrics").await;
    assert_eq!(metric(&metrics, "vllm:kv_cache_usage_perc"), 0.0);
    assert_eq!(server.truth()[0].outcome, TrueOutcome::Cancelled);
    server.stop().await;
}

async fn wait_for(client: &mut Client, name: &str, wanted: f64) {
    let waited = async {
        loop {
            let (_, text) = client.get("/metrics").await;
            if metric(&text, name) == wanted {
                return;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(http_support::PATIENCE, waited).await;
    assert!(waited.is_ok(), "{name} never became {wanted}");
}

#[tokio::test]
async fn the_truth_has_every_token_and_is_written_as_requests_end() {
    let folder = std::env::temp_dir().join(format!("simulator-truth-{}", std::process::id()));
    let mut config = config();
    config.truth = Some(folder.clone());
    let server = Simulator::start(config).await.unwrap();
    let mut client = Client::connect(&server).await;
    for _ in 0..2 {
        client.stream(CHAT, &chat(50)).await;
    }
    let truth = server.truth();
    server.stop().await;
    let file = std::fs::read_to_string(&folder).unwrap();
    std::fs::remove_file(&folder).unwrap();
    let lines: Vec<Value> = file
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert!(lines[0]["origin_unix_us"].as_u64().unwrap() > 1_700_000_000_000_000);
    assert_eq!(lines.len(), 3);
    for (line, request) in lines[1..].iter().zip(&truth) {
        assert_eq!(line["id"], request.id.as_str());
        assert_eq!(line["outcome"], "completed");
        assert_eq!(request.output_tokens, 50);
        let sum: u32 = request.events.iter().map(|(_, tokens)| tokens).sum();
        assert_eq!(sum, 50);
        let admitted = request.admitted_us.unwrap();
        assert!(request.arrival_us <= admitted && admitted <= request.first_token_us.unwrap());
        assert!(request.last_token_us.unwrap() <= request.ended_us);
    }
    assert_eq!(truth[0].cached_tokens, 0);
}

#[tokio::test]
async fn a_stopped_server_breaks_its_streams_and_refuses_new_ones() {
    let mut config = config();
    config.speed = 1.0;
    let server = Simulator::start(config).await.unwrap();
    let addr = server.addr();
    let mut client = Client::connect(&server).await;
    let streaming = tokio::spawn(async move { client.stream(CHAT, &chat(60_000)).await });
    let mut watcher = Client::connect(&server).await;
    wait_for(&mut watcher, "vllm:num_requests_running", 1.0).await;
    server.stop().await;
    let (_, _, end) = streaming.await.unwrap();
    assert_eq!(end, BodyEnd::Broken);
    assert!(tokio::net::TcpStream::connect(addr).await.is_err());
}
