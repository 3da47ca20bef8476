//! A small client over a real loopback socket.
#![allow(dead_code, reason = "every test file uses another part of it")]
#![allow(
    clippy::unwrap_used,
    reason = "a test's client that fails fails the test"
)]

use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use simulator::speed::EngineSpeed;
use simulator::{Config, Simulator};
use tokio::net::TcpStream;

/// No answer takes as long in these tests, unless it never comes.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// A fast engine: 1 ms a token, a hundred times faster than real time.
pub fn config() -> Config {
    let mut config = Config::batching(EngineSpeed::uniform(1.0, 100_000.0));
    config.model = "tiny".to_owned();
    config.speed = 10.0;
    config.max_model_len = 65536;
    config.kv_tokens = 262_144;
    config
}

pub fn config_with(fault: &str) -> Config {
    let mut config = config();
    config.faults.push(fault.parse().unwrap());
    config
}

/// One connection to a server.
pub struct Client {
    sender: SendRequest<Full<Bytes>>,
}

/// How the body of a response ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyEnd {
    Complete,
    Broken,
    Stalled,
}

impl Client {
    pub async fn connect(server: &Simulator) -> Client {
        let stream = TcpStream::connect(server.addr()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let (sender, connection) = handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        Client { sender }
    }

    pub async fn request(
        &mut self,
        method: Method,
        path: &str,
        body: String,
        key: Option<&str>,
    ) -> http::Response<Incoming> {
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "localhost")
            .header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let request = request.body(Full::new(Bytes::from(body))).unwrap();
        self.sender.ready().await.unwrap();
        self.sender.send_request(request).await.unwrap()
    }

    pub async fn get(&mut self, path: &str) -> (StatusCode, String) {
        text(self.request(Method::GET, path, String::new(), None).await).await
    }

    pub async fn post(&mut self, path: &str, body: &Value) -> (StatusCode, String) {
        text(
            self.request(Method::POST, path, body.to_string(), None)
                .await,
        )
        .await
    }

    /// A streamed answer read to its end, or until nothing came for `patience`.
    pub async fn stream(&mut self, path: &str, body: &Value) -> (StatusCode, String, BodyEnd) {
        self.stream_until(path, body, PATIENCE).await
    }

    pub async fn stream_until(
        &mut self,
        path: &str,
        body: &Value,
        patience: Duration,
    ) -> (StatusCode, String, BodyEnd) {
        let response = self
            .request(Method::POST, path, body.to_string(), None)
            .await;
        let status = response.status();
        let mut body = response.into_body();
        let mut bytes = Vec::new();
        let end = loop {
            match tokio::time::timeout(patience, body.frame()).await {
                Err(_) => break BodyEnd::Stalled,
                Ok(None) => break BodyEnd::Complete,
                Ok(Some(Err(_))) => break BodyEnd::Broken,
                Ok(Some(Ok(frame))) => bytes.extend_from_slice(frame.data_ref().unwrap()),
            }
        };
        (status, String::from_utf8_lossy(&bytes).into_owned(), end)
    }
}

async fn text(response: http::Response<Incoming>) -> (StatusCode, String) {
    let status = response.status();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

/// The JSON of every `data:` line except `[DONE]`.
pub fn events(stream: &str) -> Vec<Value> {
    stream
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// All the text of a streamed conversation.
pub fn content(events: &[Value]) -> String {
    events
        .iter()
        .filter_map(|event| event["choices"][0]["delta"]["content"].as_str())
        .collect()
}

pub fn chat(max_tokens: u64) -> Value {
    json!({
        "model": "tiny",
        "messages": [{"role": "user", "content": "What is the capital of France?"}],
        "max_tokens": max_tokens,
        "ignore_eos": true,
        "stream": true,
        "stream_options": {"include_usage": true, "continuous_usage_stats": true},
    })
}
