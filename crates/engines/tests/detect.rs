//! Which server is there, from replies of real engines and from what else may answer.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod replies;

use engines::{Answer, Answers, Capacity, DetectError, EngineKind, detect, probe_requests};
use replies::{generic, llama_cpp, vllm};

fn note(server: &engines::Server) -> &str {
    let [note] = server.notes.as_slice() else {
        panic!("one note: {:?}", server.notes)
    };
    note
}

fn only_models(answer: Answer) -> Result<engines::Server, DetectError> {
    detect(&Answers::from_iter([("/v1/models", answer)]), None)
}

#[test]
fn every_engine_is_asked_and_no_path_twice() {
    let probes = probe_requests();
    let paths: Vec<&str> = probes.iter().map(|probe| probe.path).collect();
    assert_eq!(
        paths,
        ["/v1/models", "/version", "/metrics", "/props", "/slots"]
    );
    let required: Vec<bool> = probes.iter().map(|probe| probe.is_required).collect();
    assert_eq!(required, [true, false, false, false, false]);
}

#[test]
fn vllm_tells_its_version_limits_and_kv_budget() {
    let server = detect(&vllm("metrics-idle.prom"), None).unwrap();
    assert_eq!(
        (server.engine, server.version.as_deref()),
        (EngineKind::Vllm, Some("0.32.0"))
    );
    assert_eq!(
        (server.model.id.as_str(), server.max_model_len()),
        ("tiny", Some(65536))
    );
    assert_eq!(
        server.capacity(),
        Capacity::Shared {
            kv_tokens: Some(524_288)
        }
    );
    assert_eq!((server.block_tokens, server.has_metrics), (Some(128), true));
    assert!(server.notes.is_empty(), "{:?}", server.notes);
}

#[test]
fn llama_cpp_tells_its_slots_and_quantization() {
    let server = detect(
        &llama_cpp("metrics-after-run.prom", "slots-idle.json"),
        None,
    )
    .unwrap();
    assert_eq!(server.engine, EngineKind::LlamaCpp);
    assert_eq!(
        server.capacity(),
        Capacity::Slots {
            count: 4,
            n_ctx: Some(4096)
        }
    );
    assert_eq!(server.max_model_len(), Some(4096));
    assert_eq!(server.model.quantization.as_deref(), Some("Q4_1"));
    assert_eq!(server.model.parameters, Some(134_515_008));
    assert!(
        server.has_metrics && server.has_slots && server.notes.is_empty(),
        "{server:?}"
    );
    let engine = server.to_document();
    assert_eq!(
        (engine.name.as_deref(), engine.max_num_seqs),
        (Some("llama.cpp"), Some(4))
    );
}

#[test]
fn llama_cpp_without_metrics_and_slots_works_and_says_how_to_get_them() {
    let mut answers = llama_cpp("metrics-after-run.prom", "slots-idle.json");
    answers.insert(
        "/metrics",
        Answer::new(
            501,
            replies::fixture("llama.cpp-b11434/error-metrics-not-enabled.json"),
        ),
    );
    let server = detect(&answers, None).unwrap();
    assert!(
        note(&server).contains("Start it with `--metrics`"),
        "{server:?}"
    );
    assert_eq!(server.state_paths(), ["/slots"]);

    answers.insert(
        "/slots",
        Answer::new(
            501,
            replies::fixture("llama.cpp-b11434/error-slots-not-enabled.json"),
        ),
    );
    let server = detect(&answers, None).unwrap();
    assert!(note(&server).contains("--metrics --slots"), "{server:?}");
    assert_eq!(
        server.capacity(),
        Capacity::Slots {
            count: 4,
            n_ctx: Some(4096)
        }
    );
    assert!(server.state_paths().is_empty() && server.read_state(&Answers::new()).is_none());
}

#[test]
fn a_build_label_gives_version_and_commit() {
    let mut answers = llama_cpp("metrics-after-run.prom", "slots-idle.json");
    for (label, version, commit) in [
        ("b11434-0a1b2c3d", Some("b11434"), Some("0a1b2c3d")),
        ("b0-unknown", None, None),
        ("b11434", Some("b11434"), None),
    ] {
        let props = format!(r#"{{"total_slots":2,"build_info":"{label}"}}"#);
        answers.insert("/props", Answer::ok(props));
        let server = detect(&answers, None).unwrap();
        assert_eq!(
            (server.version.as_deref(), server.commit.as_deref()),
            (version, commit)
        );
        assert_eq!(server.build.as_deref(), Some(label));
    }
}

#[test]
fn a_vllm_version_label_gives_backend_and_commit() {
    let mut answers = vllm("metrics-idle.prom");
    for (label, backend, commit) in [
        ("0.32.0", None, None),
        ("0.32.0+cpu", Some("cpu"), None),
        (
            "0.11.1rc2.dev40+g2f8d2f9a1.cu129",
            Some("cuda"),
            Some("2f8d2f9a1"),
        ),
        ("0.11.0+rocm641", Some("rocm"), None),
    ] {
        answers.insert(
            "/version",
            Answer::ok(format!(r#"{{"version":"{label}"}}"#)),
        );
        let server = detect(&answers, None).unwrap();
        assert_eq!(
            (server.backend.as_deref(), server.commit.as_deref()),
            (backend, commit),
            "{label}"
        );
    }
}

#[test]
fn data_parallel_engines_add_up() {
    let config = |engine: u32, rest: &str| {
        format!("vllm:cache_config_info{{block_size=\"16\",engine=\"{engine}\",{rest}}} 1.0\n")
    };
    let told = config(0, "kv_cache_size_tokens=\"1000\",num_gpu_blocks=\"9\"")
        + &config(1, "kv_cache_size_tokens=\"1200\",num_gpu_blocks=\"9\"");
    let mut answers = vllm("metrics-idle.prom");
    answers.insert("/metrics", Answer::ok(told));
    assert_eq!(detect(&answers, None).unwrap().kv_cache_tokens, Some(2200));

    let blocks = config(0, "kv_cache_size_tokens=\"None\",num_gpu_blocks=\"10\"")
        + &config(1, "num_gpu_blocks=\"10\",cache_hit_alignment_tokens=\"64\"");
    answers.insert("/metrics", Answer::ok(blocks));
    let server = detect(&answers, None).unwrap();
    assert_eq!(
        (server.kv_cache_tokens, server.block_tokens),
        (Some(320), Some(64))
    );
    assert!(note(&server).contains("overstates"));

    answers.insert("/metrics", Answer::ok(config(0, "num_gpu_blocks=\"None\"")));
    let server = detect(&answers, None).unwrap();
    assert_eq!((server.kv_cache_tokens, server.notes.len()), (None, 0));
}

#[test]
fn a_proxy_that_hides_metrics_is_said_once() {
    let page = "<!doctype html><html><title>Portal</title></html>";
    for answer in [
        Answer::ok(page),
        Answer::new(404, "{}"),
        Answer::new(502, page),
        Answer::ok(""),
    ] {
        let mut answers = vllm("metrics-idle.prom");
        answers.insert("/metrics", answer);
        let server = detect(&answers, None).unwrap();
        assert_eq!(
            (server.engine, server.has_metrics),
            (EngineKind::Vllm, false)
        );
        assert!(note(&server).starts_with("GET /metrics"), "{server:?}");
        assert!(server.state_paths().is_empty());
    }
}

#[test]
fn vllm_is_recognised_by_its_metrics_behind_a_renaming_proxy() {
    let mut answers = generic();
    answers.insert(
        "/metrics",
        Answer::ok(replies::fixture("vllm-0.32.0/metrics-idle.prom")),
    );
    assert_eq!(detect(&answers, None).unwrap().engine, EngineKind::Vllm);
}

#[test]
fn any_other_server_is_openai_compatible_and_says_what_is_unknown() {
    let server = detect(&generic(), None).unwrap();
    assert_eq!(server.engine, EngineKind::OpenAiCompatible);
    assert!(note(&server).contains("inferred from the client"));
    assert_eq!(server.capacity(), Capacity::Shared { kv_tokens: None });
}

#[test]
fn a_model_is_chosen_by_id_or_alias_and_an_unknown_one_lists_what_there_is() {
    let list = r#"{"data":[{"id":"a"},{"id":"b","aliases":["bee"]}]}"#;
    let answers = Answers::from_iter([("/v1/models", Answer::ok(list))]);
    assert_eq!(detect(&answers, Some("bee")).unwrap().model.id, "b");
    let error = detect(&answers, Some("c")).unwrap_err().to_string();
    assert_eq!(error, "the server has no model \"c\"; it serves a, b");
    let first = detect(&answers, None).unwrap();
    assert_eq!(first.model.id, "a");
    assert!(first.notes[0].contains("2 models"), "{first:?}");
}

#[test]
fn what_cannot_be_measured_says_what_came_back_and_what_to_do() {
    let key = replies::fixture("llama.cpp-b11434/error-api-key.json");
    let loading = replies::fixture("llama.cpp-b11434/error-loading.json");
    for (answer, parts) in [
        (
            Answer::new(401, key),
            ["401 (Invalid API Key)", "--api-key"],
        ),
        (
            Answer::new(403, "<html><title>Forbidden</title>"),
            ["403", "Forbidden"],
        ),
        (Answer::new(503, loading), ["Loading model", "try again"]),
        (
            Answer::new(404, r#"{"detail":"Not Found"}"#),
            ["404 (Not Found)", "in front of /v1"],
        ),
        (
            Answer::ok(r#"{"status":"ok"}"#),
            ["200", "no OpenAI-compatible server"],
        ),
        (
            Answer::ok("<html><title>Sign in</title>"),
            ["Sign in", "web site"],
        ),
        (Answer::ok("hello"), ["no JSON", "hello"]),
        (Answer::ok(r#"{"data":[]}"#), ["lists no model", "load one"]),
        (Answer::new(500, "oops"), ["500", "oops"]),
    ] {
        let error = only_models(answer).unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{part:?} in {error:?}");
        }
    }
    assert_eq!(detect(&Answers::new(), None), Err(DetectError::NoReply));
}

#[test]
fn html_is_seen_by_its_content_type_too() {
    let mut page = Answer::ok("Please sign in");
    page.content_type = Some("text/html; charset=utf-8".to_owned());
    assert!(matches!(only_models(page), Err(DetectError::Html { .. })));
}
