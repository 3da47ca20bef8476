//! Replies recorded from real engines.

#![allow(dead_code, reason = "each test file uses some of them")]

use engines::{Answer, Answers};

pub fn fixture(path: &str) -> Vec<u8> {
    std::fs::read(format!(
        "{}/tests/fixtures/{path}",
        env!("CARGO_MANIFEST_DIR")
    ))
    .unwrap()
}

pub fn vllm(metrics: &str) -> Answers {
    let missing = || Answer::new(404, r#"{"detail":"Not Found"}"#);
    Answers::from_iter([
        (
            "/v1/models",
            Answer::ok(fixture("vllm-0.32.0/v1-models.json")),
        ),
        ("/version", Answer::ok(fixture("vllm-0.32.0/version.json"))),
        (
            "/metrics",
            Answer::ok(fixture(&format!("vllm-0.32.0/{metrics}"))),
        ),
        ("/props", missing()),
        ("/slots", missing()),
    ])
}

pub fn llama_cpp(metrics: &str, slots: &str) -> Answers {
    let missing = r#"{"error":{"message":"File Not Found","type":"not_found_error","code":404}}"#;
    Answers::from_iter([
        (
            "/v1/models",
            Answer::ok(fixture("llama.cpp-b11434/v1-models.json")),
        ),
        ("/version", Answer::new(404, missing)),
        (
            "/metrics",
            Answer::ok(fixture(&format!("llama.cpp-b11434/{metrics}"))),
        ),
        ("/props", Answer::ok(fixture("llama.cpp-b11434/props.json"))),
        (
            "/slots",
            Answer::ok(fixture(&format!("llama.cpp-b11434/{slots}"))),
        ),
    ])
}

pub fn generic() -> Answers {
    Answers::from_iter([
        (
            "/v1/models",
            Answer::ok(r#"{"object":"list","data":[{"id":"m","object":"model","owned_by":"me"}]}"#),
        ),
        ("/metrics", Answer::new(404, "")),
    ])
}
