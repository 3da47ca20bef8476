//! Servers that hardly speak the protocol: each ends in words, none in a hang.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{options, run};
use document::CellStatus;
use load::RunError;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const MODELS: &str = r#"{"object":"list","data":[{"id":"m","object":"model","owned_by":"x"}]}"#;
const TOKEN: &str =
    r#"data: {"choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}"#;
const FINISH: &str = r#"data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;

/// What the server sends for a generation request, head included, and whether it
/// goes on with the last line for ever.
#[derive(Clone)]
struct Answer {
    text: String,
    is_endless: bool,
}

fn stream(lines: &[&str]) -> Answer {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    Answer {
        text: format!("{head}{}\n\n", lines.join("\n\n")),
        is_endless: false,
    }
}

/// A server that tells nothing of itself; its address.
async fn serve(answer: Answer) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(reply(client, answer.clone()));
        }
    });
    format!("http://{address}")
}

async fn reply(mut client: TcpStream, answer: Answer) {
    let mut request = vec![0; 65536];
    let read = client.read(&mut request).await.unwrap_or(0);
    let request = String::from_utf8_lossy(&request[..read]).into_owned();
    let is_models = request.starts_with("GET /v1/models");
    let (status, body) = if is_models {
        ("200 OK", MODELS)
    } else {
        ("404 Not Found", "{}")
    };
    if request.starts_with("GET") {
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
        client
            .write_all(format!("{head}{body}").as_bytes())
            .await
            .ok();
        return;
    }
    if client.write_all(answer.text.as_bytes()).await.is_err() {
        return;
    }
    let again = format!("{TOKEN}\n\n");
    while answer.is_endless && client.write_all(again.as_bytes()).await.is_ok() {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
}

/// Why such a server cannot be measured.
async fn refusal(answer: Answer) -> String {
    let url = serve(answer).await;
    let folder = tempfile::tempdir().unwrap();
    let options = options(&url, folder.path());
    let out = options.out.clone();
    let (outcome, _) = run(options, Default::default()).await;
    let error = outcome.expect_err("refused");
    assert!(matches!(error, RunError::Refuses { .. }), "{error}");
    assert!(error.is_servers());
    assert!(!out.exists(), "nothing was measured");
    error.to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_never_ends_is_not_read_for_ever() {
    let answer = Answer {
        is_endless: true,
        ..stream(&[TOKEN])
    };
    let why = refusal(answer).await;
    assert!(why.contains("it ignores max_tokens"), "{why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_in_one_piece_is_no_stream() {
    let body = r#"{"choices":[{"message":{"content":"word"},"finish_reason":"stop"}]}"#;
    let text = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
    let is_endless = false;
    let why = refusal(Answer { text, is_endless }).await;
    assert!(
        why.contains("application/json instead of a stream"),
        "{why}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_that_are_none_are_quoted() {
    let why = refusal(stream(&[TOKEN, r#"data: {"choices": oops"#])).await;
    assert!(
        why.contains("not a completion frame") && why.contains("oops"),
        "{why}"
    );
    let why = refusal(stream(&["data: <html>"])).await;
    assert!(why.contains("not a completion frame"), "{why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_just_closes_is_no_answer() {
    for lines in [&[][..], &[": ping"], &[TOKEN, TOKEN]] {
        let why = refusal(stream(lines)).await;
        assert!(why.contains("without a finish reason"), "{why}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_without_end_is_not_kept_for_ever() {
    let line = format!("data: {}", "x".repeat(40 << 20));
    let why = refusal(stream(&[&line])).await;
    assert!(why.contains("broke off"), "{why}");
    assert!(why.len() < 2000, "{} bytes", why.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_without_a_token_fails_every_cell() {
    let url = serve(stream(&[FINISH, "data: [DONE]"])).await;
    let folder = tempfile::tempdir().unwrap();
    let (outcome, _) = run(options(&url, folder.path()), Default::default()).await;
    for cell in outcome.unwrap().document.cells {
        assert_eq!(cell.status, CellStatus::Failed, "{cell:#?}");
        assert!(
            cell.reason.unwrap().contains("without a"),
            "no figure, and why"
        );
        assert_eq!(cell.total_tok_s, None);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_usage_or_counters_the_count_is_disputed_and_prefill_has_no_length() {
    let lines: Vec<&str> = std::iter::repeat_n(TOKEN, 1).chain([FINISH]).collect();
    let url = serve(stream(&lines)).await;
    let folder = tempfile::tempdir().unwrap();
    let (outcome, _) = run(options(&url, folder.path()), Default::default()).await;
    let document = outcome.unwrap().document;
    let [prefill, decode] = &document.cells[..] else {
        panic!("{document:#?}");
    };
    assert_eq!(prefill.status, CellStatus::Failed);
    assert!(prefill.reason.as_deref().unwrap().contains("without usage"));
    let disputed = |f: &document::Flag| f.name == document::FlagName::TokenCountDisputed;
    assert!(decode.flags.iter().any(disputed), "{decode:#?}");
}
