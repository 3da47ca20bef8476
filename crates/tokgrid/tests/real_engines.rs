//! Real engines, which nobody here wrote. `scripts/test llama` and
//! `scripts/test vllm` install and start them and say where they are.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

use document::{Cell, CellStatus, Launch, Phase, Plan, RunDocument};
use load::prompt::Prose;
use load::{Patience, RunOptions, TargetOptions};

/// What a server is asked to do.
struct Expected {
    contexts: Vec<u64>,
    concurrency: Vec<u32>,
    max_output_tokens: u64,
    window_s: f64,
    /// Requests it runs at once.
    runs_at_once: u32,
    /// Time the run may take, as a share of its windows; `None` where prefill on a
    /// processor takes longer than all windows together.
    wall_share: Option<f64>,
}

fn url_of(variable: &str) -> String {
    std::env::var(variable).unwrap_or_else(|_| {
        panic!(
            "{variable} says where the engine is: run `scripts/test llama` or `scripts/test vllm`"
        )
    })
}

fn measure(url: String, expected: &Expected) -> RunDocument {
    let folder = tempfile::tempdir().expect("a folder");
    let options = RunOptions {
        target: TargetOptions {
            url,
            ..TargetOptions::default()
        },
        model: None,
        api: wire::Api::Chat,
        plan: Plan {
            contexts: Some(expected.contexts.clone()),
            concurrency: expected.concurrency.clone(),
            max_output_tokens: expected.max_output_tokens,
            window_s: expected.window_s,
            ..Plan::default()
        },
        prose: Prose::built_in(),
        prompt_source: "test".to_owned(),
        launch: Launch::default(),
        author: None,
        organization: None,
        notes: None,
        patience: Patience::default(),
        out: folder.path().join("run.json"),
        resume: false,
        overwrite: false,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let (progress, _) = tokio::sync::mpsc::unbounded_channel();
    let begun = std::time::Instant::now();
    let outcome = runtime
        .block_on(load::run(options, progress, Default::default()))
        .expect("measured");
    let took_s = begun.elapsed().as_secs_f64();
    assert_eq!(outcome.interruption, None);
    let cells = outcome.document.cells.len() as f64;
    println!(
        "{cells} cells in {took_s:.0} s, {:.2} × their windows",
        took_s / cells / expected.window_s
    );
    if let Some(share) = expected.wall_share {
        assert!(
            took_s <= share * cells * expected.window_s,
            "{took_s} s for {cells} cells"
        );
    }
    outcome.document
}

fn check(document: &RunDocument, expected: &Expected) {
    let contexts = expected.contexts.len();
    assert_eq!(
        document.cells.len(),
        contexts * (1 + expected.concurrency.len())
    );
    for cell in &document.cells {
        println!(
            "{:?} {} × {}: {} {:?} tok/s, active {:?}, prompt {:?}, {:?}, {:?}",
            cell.phase,
            cell.context_tokens,
            cell.concurrency,
            cell.status.title(),
            cell.total_tok_s,
            cell.average_active,
            cell.prompt_tokens,
            cell.cache_proof,
            cell.flags
        );
        assert_ne!(cell.status, CellStatus::Failed, "{:?}", cell.reason);
        let prompt_tokens = cell.prompt_tokens.expect("the engine counts prompts");
        let allowed = (cell.context_tokens as f64 * 0.002).max(8.0) as u64;
        assert!(
            prompt_tokens.abs_diff(cell.context_tokens) <= allowed,
            "{prompt_tokens} prompt tokens"
        );
        if cell.phase == Phase::Decode {
            check_decode(cell, expected);
        }
    }
}

fn check_decode(cell: &Cell, expected: &Expected) {
    let runs = cell.concurrency.min(expected.runs_at_once);
    let is_queued = cell.concurrency > expected.runs_at_once;
    let status = if is_queued {
        CellStatus::Queued
    } else {
        CellStatus::Valid
    };
    assert_eq!(cell.status, status, "{} requests at once", cell.concurrency);
    let active = cell.average_active.expect("measured");
    if is_queued {
        assert!(
            (active / f64::from(runs) - 1.0).abs() <= 0.02,
            "{active} active, the server runs {runs}"
        );
    }
    let ledger = cell.token_ledger.expect("a ledger");
    let engine = ledger.engine_tokens.expect("the engine counts tokens");
    let client = ledger.engine_client_tokens.expect("so do we");
    // METHOD's tolerance: 1 % or two steps' tokens, a token for each request at work.
    let allowed = (0.01 * engine).max(2.0 * f64::from(runs));
    assert!(
        (engine - client).abs() <= allowed,
        "{client} tokens here, {engine} there"
    );
    let disputed = cell
        .flags
        .iter()
        .any(|flag| flag.name == document::FlagName::TokenCountDisputed);
    assert!(!disputed, "{:?}", cell.flags);
}

#[test]
#[ignore = "needs a real llama.cpp: scripts/test llama"]
fn llama_cpp_is_measured_with_its_slots_and_its_queue() {
    let expected = Expected {
        contexts: vec![512, 1024],
        concurrency: vec![1, 8, 16],
        max_output_tokens: 1024,
        window_s: 5.0,
        runs_at_once: 8,
        wall_share: None,
    };
    check(&measure(url_of("TOKGRID_LLAMA_URL"), &expected), &expected);
}

#[test]
#[ignore = "needs a real vLLM: scripts/test vllm"]
fn vllm_is_measured_with_its_queue_in_one_and_a_half_times_its_windows() {
    let expected = Expected {
        contexts: vec![1024, 4096],
        concurrency: vec![1, 2, 4, 8, 16, 32],
        max_output_tokens: 1024,
        window_s: 5.0,
        runs_at_once: 16,
        wall_share: Some(1.5),
    };
    check(&measure(url_of("TOKGRID_VLLM_URL"), &expected), &expected);
}
