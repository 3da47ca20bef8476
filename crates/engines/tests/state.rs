//! What the engines' own counters say, and counting tokens with them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod replies;

use engines::slots::{SlotCopy, read_reply, restore_request, save_request};
use engines::{Answer, Answers, EngineState, Server, SlotState, TokenizeError, TokenizeInput};
use engines::{PromptCache, Support, Tokenized, detect};
use proptest::prelude::*;
use replies::{fixture, generic, llama_cpp, vllm};
use serde_json::{Value, json};

fn read(answers: &Answers) -> (Server, EngineState) {
    let server = detect(answers, None).unwrap();
    let state = server.read_state(answers).unwrap();
    (server, state)
}

#[test]
fn vllm_tells_running_waiting_and_every_counter() {
    let (server, state) = read(&vllm("metrics-16-running-8-waiting.prom"));
    assert_eq!(server.state_paths(), ["/metrics"]);
    let expected = EngineState {
        running: Some(16.0),
        waiting: Some(8.0),
        kv_used_fraction: Some(0.019_536_019_536_019_578),
        generation_tokens: Some(375_694.0),
        engine_steps: Some(42_869.0),
        preemptions: Some(0.0),
        prefix_cache_queries: Some(7_484_497.0),
        prefix_cache_hits: Some(7_386_880.0),
        prefill_seconds: Some(48.216_161_356_985_594),
        ..EngineState::default()
    };
    assert_eq!(state, expected);
}

#[test]
fn data_parallel_engines_add_up_but_their_cache_use_is_averaged() {
    let text = concat!(
        "vllm:num_requests_running{engine=\"0\"} 3\nvllm:num_requests_running{engine=\"1\"} 4\n",
        "vllm:kv_cache_usage_perc{engine=\"0\"} 0.5\nvllm:kv_cache_usage_perc{engine=\"1\"} 1.0\n",
    );
    let mut answers = vllm("metrics-idle.prom");
    answers.insert("/metrics", Answer::ok(text));
    let (_, state) = read(&answers);
    assert_eq!(
        (state.running, state.kv_used_fraction),
        (Some(7.0), Some(0.75))
    );
    assert_eq!(state.waiting, None);
}

#[test]
fn vllm_metrics_without_its_queue_tell_nothing() {
    let server = detect(&vllm("metrics-idle.prom"), None).unwrap();
    let other = Answers::from_iter([("/metrics", Answer::ok("up 1\n"))]);
    assert_eq!(server.read_state(&other), None);
    assert_eq!(server.read_state(&Answers::new()), None);
}

#[test]
fn llama_cpp_tells_its_queue_but_no_live_count_of_tokens() {
    let (server, state) = read(&llama_cpp(
        "metrics-4-processing-3-deferred.prom",
        "slots-busy.json",
    ));
    assert_eq!(server.state_paths(), ["/metrics", "/slots"]);
    assert_eq!((state.running, state.waiting), (Some(4.0), Some(3.0)));
    // tokens_predicted_total moves only when a request ends.
    assert_eq!(state.generation_tokens, None);
    assert_eq!(
        (state.prefix_cache_queries, state.prefix_cache_hits),
        (Some(168.0), Some(48.0))
    );
}

#[test]
fn llama_cpp_slots_tell_how_far_each_request_is() {
    let (_, state) = read(&llama_cpp("metrics-after-run.prom", "slots-busy.json"));
    let first = SlotState {
        slot: 0,
        task: Some(300),
        is_processing: true,
        decoded_tokens: 57,
        prompt_tokens: Some(64),
        cached_prompt_tokens: Some(0),
    };
    assert_eq!((state.slots.len(), state.slots[0]), (8, first));
    assert_eq!(first.to_reading().unwrap().decoded_tokens, 57);
}

#[test]
fn a_slot_that_never_served_has_no_request() {
    let (_, state) = read(&llama_cpp("metrics-after-run.prom", "slots-idle.json"));
    assert_eq!(state.slots.len(), 4);
    assert_eq!(
        (state.slots[0].task, state.slots[0].to_reading()),
        (None, None)
    );
}

#[test]
fn without_metrics_busy_slots_are_the_running_requests() {
    let mut answers = llama_cpp("metrics-after-run.prom", "slots-busy.json");
    answers.insert("/metrics", Answer::new(501, "{}"));
    let (_, state) = read(&answers);
    assert_eq!((state.running, state.waiting), (Some(8.0), None));
}

#[test]
fn any_other_server_tells_no_state() {
    let server = detect(&generic(), None).unwrap();
    assert!(server.state_paths().is_empty());
    assert_eq!(server.read_state(&generic()), None);
}

#[test]
fn features_say_who_profits_from_a_warm_prompt_and_how_tokens_are_counted() {
    let vllm = detect(&vllm("metrics-idle.prom"), None).unwrap().features();
    assert_eq!(
        (vllm.prompt_cache, vllm.continuous_usage),
        (PromptCache::Shared, Support::Yes)
    );
    assert_eq!(vllm.stream_usage(), wire::request::StreamUsage::Continuous);
    let llama = llama_cpp("metrics-after-run.prom", "slots-idle.json");
    let llama = detect(&llama, None).unwrap().features();
    assert_eq!(
        (llama.prompt_cache, llama.continuous_usage),
        (PromptCache::PerSlot, Support::No)
    );
    assert_eq!(
        Value::Object(llama.count_fields),
        json!({"timings_per_token": true})
    );
    let generic = detect(&generic(), None).unwrap().features();
    assert_eq!(generic.ignore_eos, Support::Unknown);
}

fn request(server: &Server, input: TokenizeInput<'_>) -> (String, Value) {
    let request = server.tokenize_request(&input).unwrap();
    (request.path, serde_json::from_slice(&request.body).unwrap())
}

#[test]
fn vllm_counts_texts_and_chats() {
    let server = detect(&vllm("metrics-idle.prom"), None).unwrap();
    let text = json!({"model": "tiny", "prompt": "hi", "add_special_tokens": false});
    assert_eq!(
        request(&server, TokenizeInput::Text("hi")),
        ("/tokenize".into(), text)
    );
    let (_, chat) = request(&server, TokenizeInput::UserMessage("hi"));
    assert_eq!(chat["messages"], json!([{"role": "user", "content": "hi"}]));
    let reply = Answer::ok(fixture("vllm-0.32.0/tokenize.json"));
    let expected = Tokenized {
        count: 5,
        ids: Some(vec![277, 78, 358, 1346, 7721]),
    };
    assert_eq!(server.read_tokenize(&reply), Ok(expected));
}

#[test]
fn llama_cpp_counts_texts_and_chats() {
    let server = detect(
        &llama_cpp("metrics-after-run.prom", "slots-idle.json"),
        None,
    )
    .unwrap();
    let text = json!({"content": "hi", "add_special": false});
    assert_eq!(
        request(&server, TokenizeInput::Text("hi")),
        ("/tokenize".into(), text)
    );
    let reply = Answer::ok(fixture("llama.cpp-b11434/tokenize.json"));
    let expected = Tokenized {
        count: 2,
        ids: Some(vec![19556, 905]),
    };
    assert_eq!(server.read_tokenize(&reply), Ok(expected));
    let (path, _) = request(&server, TokenizeInput::UserMessage("hi"));
    assert_eq!(path, "/v1/chat/completions/input_tokens");
    let reply = Answer::ok(fixture("llama.cpp-b11434/input-tokens.json"));
    assert_eq!(
        server.read_tokenize(&reply),
        Ok(Tokenized {
            count: 32,
            ids: None
        })
    );
}

#[test]
fn a_refused_count_says_why() {
    let server = detect(&vllm("metrics-idle.prom"), None).unwrap();
    let unknown = Answer::new(404, fixture("vllm-0.32.0/error-unknown-model.json"));
    let error = server.read_tokenize(&unknown).unwrap_err().to_string();
    assert!(
        error.contains("404: The model `nope` does not exist"),
        "{error}"
    );
    assert!(matches!(
        server.read_tokenize(&Answer::ok("{}")),
        Err(TokenizeError::Shape(_))
    ));
    let generic = detect(&generic(), None).unwrap();
    assert_eq!(generic.tokenize_request(&TokenizeInput::Text("hi")), None);
    assert_eq!(
        generic.read_tokenize(&Answer::ok("{}")),
        Err(TokenizeError::NoRoute)
    );
}

#[test]
fn a_slot_is_copied_through_a_file_where_the_server_allows_it() {
    assert_eq!(save_request(0, "a.bin").path, "/slots/0?action=save");
    let restore = restore_request(7, "a.bin");
    assert_eq!(restore.path, "/slots/7?action=restore");
    assert_eq!(restore.body, br#"{"filename":"a.bin"}"#);
    assert_eq!(read_reply(&Answer::ok("{}")), SlotCopy::Done);
    let refused = Answer::new(
        501,
        fixture("llama.cpp-b11434/error-slot-save-not-enabled.json"),
    );
    let SlotCopy::NotSupported { said } = read_reply(&refused) else {
        panic!("501 is not supported")
    };
    assert!(said.contains("--slot-save-path"), "{said}");
    assert!(matches!(
        read_reply(&Answer::new(400, "{}")),
        SlotCopy::Failed { status: 400, .. }
    ));
}

proptest! {
    #[test]
    fn any_reply_is_read_without_a_panic(
        status in prop_oneof![Just(200u16), Just(404u16), any::<u16>()],
        bodies in proptest::collection::vec("(?s).{0,60}", 5),
    ) {
        let paths = ["/v1/models", "/version", "/metrics", "/props", "/slots"];
        let replies = paths.iter().zip(&bodies);
        let answers: Answers = replies
            .map(|(path, body)| (*path, Answer::new(status, body.as_bytes())))
            .collect();
        let _ = detect(&answers, None);
        for mut known in [vllm("metrics-idle.prom"), llama_cpp("metrics-after-run.prom", "slots-idle.json")] {
            for (path, body) in paths.iter().zip(&bodies).skip(1) {
                known.insert(*path, Answer::new(status, body.as_bytes()));
            }
            let server = detect(&known, None).unwrap();
            let _ = server.read_state(&known);
        }
    }
}
