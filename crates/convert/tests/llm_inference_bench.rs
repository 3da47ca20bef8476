//! Figures of llm-inference-bench files, checked by hand against the files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use convert::import;
use document::{
    CacheProof, Cell, CellStatus, FlagName, Phase, RunDocument, Source, TokenSource,
    run_document_schema,
};

const OLD: &[u8] = include_bytes!("fixtures/llm-inference-bench-0.4.18-vllm-0.32.0-cpu.json");
const EXCERPT: &[u8] = include_bytes!("fixtures/llm-inference-bench-0.6.2-excerpt.json");

fn cell(run: &RunDocument, phase: Phase, context_tokens: u64, concurrency: u32) -> &Cell {
    let mut found = run.cells.iter().filter(|cell| {
        (cell.phase, cell.context_tokens, cell.concurrency) == (phase, context_tokens, concurrency)
    });
    found
        .next()
        .unwrap_or_else(|| panic!("{phase:?} {context_tokens} × {concurrency}"))
}

fn says(cell: &Cell, words: &str) {
    let is_said = cell.remarks.iter().any(|remark| remark.contains(words));
    assert!(is_said, "{words:?} is not in {:?}", cell.remarks);
}

fn close(is: Option<f64>, wanted: f64) {
    let is = is.expect("a figure");
    assert!((is - wanted).abs() < 5e-5 * wanted, "{is} is not {wanted}");
}

#[test]
fn both_files_make_documents_that_keep_the_schema() {
    let validator = jsonschema::validator_for(&run_document_schema()).unwrap();
    for file in [OLD, EXCERPT] {
        let written = serde_json::to_vec(&import(file).unwrap()).unwrap();
        let value = serde_json::from_slice(&written).unwrap();
        let faults: Vec<String> = validator
            .iter_errors(&value)
            .map(|f| f.to_string())
            .collect();
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!(
            RunDocument::from_json(&written).unwrap(),
            import(file).unwrap()
        );
    }
}

#[test]
fn the_same_file_is_the_same_run_and_another_file_is_another() {
    let (once, again) = (import(EXCERPT).unwrap(), import(EXCERPT).unwrap());
    assert_eq!(once, again);
    assert_ne!(once.id, import(OLD).unwrap().id);
    // A UUID: version 8, of the first half of the file's SHA-256.
    let sha256 = once.imported_from.unwrap().file_sha256.unwrap();
    assert_eq!(once.id[..8], sha256[..8]);
    assert_eq!(&once.id[14..15], "8");
}

#[test]
fn what_is_known_of_the_run_is_taken_over_and_what_is_not_is_named() {
    let run = import(EXCERPT).unwrap();
    assert_eq!(run.source, Source::Imported);
    let from = run.imported_from.as_ref().unwrap();
    assert_eq!(from.tool.as_deref(), Some("llm-inference-bench"));
    assert_eq!(from.version.as_deref(), Some("0.6.2"));
    assert_eq!(run.tool.version.as_deref(), Some("0.6.2"));
    assert_eq!(run.model.id.as_deref(), Some("mimo-v2.6-flash-rl"));
    assert_eq!(run.engine.name.as_deref(), Some("vllm"));
    assert_eq!(run.engine.kv_cache_tokens, Some(2_798_832));
    assert_eq!(run.engine.max_model_len, None);
    let gpu = "RTX PRO 6000 Blackwell Server Edition";
    assert_eq!(run.hardware.gpu.as_deref(), Some(gpu));
    assert_eq!(run.hardware.driver.as_deref(), Some("615.71.09"));
    assert_eq!(run.hardware.os.as_deref(), Some("linux"));
    // 783,096 MiB in 8 GPUs.
    assert_eq!(run.hardware.vram_gb_each, Some(96.0));
    assert_eq!(run.settings.decode_test.as_deref(), Some("Fixed duration"));
    let mode = "Measured during decode warm-up";
    assert_eq!(run.settings.prefill_mode.as_deref(), Some(mode));
    assert_eq!(run.settings.window_s, Some(30.0));
    assert_eq!(run.settings.max_output_tokens, Some(4096));
    assert_eq!(run.settings.concurrency, [1, 2, 4, 8, 16, 32, 64, 128]);
    assert_eq!(run.settings.prefill_contexts.len(), 9);
    assert_eq!(
        run.telemetry.as_ref().unwrap().extra["power_total_avg_w"],
        1662.87
    );
    let notes = run.notes.as_deref().unwrap();
    for words in [
        "version",
        "quantization",
        "GPUs",
        "launch command",
        "`exceeds_context` cannot be judged",
    ] {
        assert!(notes.contains(words), "{words}: {notes}");
    }
}

#[test]
fn gpus_of_the_machine_are_not_the_server_s() {
    let run = import(EXCERPT).unwrap();
    assert_eq!(run.hardware.gpu_count, None);
    assert_eq!(run.hardware.vram_gb, None);
    assert!(run.notes.unwrap().contains("The machine has 8 GPUs"));
}

#[test]
fn a_local_time_without_its_zone_is_no_moment_and_is_kept() {
    let run = import(EXCERPT).unwrap();
    assert_eq!((run.started_at, run.finished_at), (None, None));
    let kept = &run.imported_from.unwrap().extra["imported_fields"];
    assert_eq!(kept["timestamp"], "2026-09-25T16:14:21.933526");
    assert_eq!(kept["primary_decode_layer"], "sustained_decode");
}

#[test]
fn nothing_that_names_the_machine_is_taken_over() {
    for (file, names) in [
        (
            EXCERPT,
            ["bench-host", "localhost", "CUDA_HOME", "0000:05:00"],
        ),
        (OLD, ["localhost", "hostname", "modprobe", "uname"]),
    ] {
        let written = serde_json::to_string(&import(file).unwrap()).unwrap();
        for name in names {
            assert!(!written.contains(name), "{name}");
        }
    }
}

#[test]
fn events_count_from_the_first_line_of_the_log() {
    let run = import(EXCERPT).unwrap();
    let at: Vec<f64> = run.events.iter().map(|event| event.at_s).collect();
    assert_eq!(at, [0.0, 6.0, 36.0]);
    assert_eq!(run.events[0].text, "cell start C=64 ctx=32k");
}

#[test]
fn every_decode_cell_of_the_excerpt_has_its_figures() {
    let run = import(EXCERPT).unwrap();
    let rows = [
        (
            8192, 136.5809, 137.7597, 45.4835, 7.25943, 4097, 29.99687, 8197, 1,
        ),
        (
            16_384, 130.2233, 131.3791, 47.5503, 7.61195, 3906, 29.99464, 16_225, 1,
        ),
        (
            32_768, 119.0981, 119.2558, 99.6915, 8.38534, 3573, 30.00048, 32_308, 0,
        ),
    ];
    for (context, total, each, ttft, tbt, output, measured, prompt, completed) in rows {
        let cell = cell(&run, Phase::Decode, context, 1);
        assert_eq!(cell.status, CellStatus::Valid);
        close(cell.total_tok_s, total);
        close(cell.per_request_tok_s, each);
        close(cell.ttft_ms_p50(), ttft);
        close(cell.tbt_ms_p50(), tbt);
        close(cell.measured_s, measured);
        assert_eq!(cell.output_tokens, Some(output));
        assert_eq!(cell.prompt_tokens, Some(prompt));
        assert_eq!(cell.completed, Some(completed));
        assert_eq!(cell.average_active, Some(1.0));
        assert_eq!(cell.failed, Some(0));
        assert_eq!(cell.token_source, Some(TokenSource::ContinuousUsage));
        assert_eq!(cell.cache_proof, Some(CacheProof::Unproven));
        assert_eq!(cell.flags, [], "{context}");
        let ttft = cell.ttft_ms.unwrap();
        assert!(ttft.p90.is_some() && ttft.p99.is_some() && ttft.mean.is_some());
        assert_eq!(
            (ttft.p95, ttft.min, ttft.max, ttft.n),
            (None, None, None, None)
        );
        assert_eq!(cell.chunk_gap_ms, None);
    }
}

#[test]
fn minus_one_is_over_capacity_and_its_tokens_are_no_output() {
    let run = import(EXCERPT).unwrap();
    let cell = cell(&run, Phase::Decode, 65_536, 64);
    assert_eq!(cell.status, CellStatus::OverCapacity);
    let reason = "needs 1.66M more KV tokens (the cell needs 4,456,448 KV tokens)";
    assert_eq!(cell.reason.as_deref(), Some(reason));
    assert_eq!((cell.total_tok_s, cell.output_tokens), (None, None));
}

#[test]
fn minus_three_is_a_failed_cell_with_its_repetition() {
    let run = import(EXCERPT).unwrap();
    let cell = cell(&run, Phase::Decode, 65_536, 2);
    assert_eq!(cell.status, CellStatus::Failed);
    assert_eq!(cell.total_tok_s, None);
    assert_eq!(
        cell.reason.as_deref(),
        Some("the tool gave the cell up: answers looped: loop")
    );
    assert_eq!(cell.flags.len(), 1);
    assert_eq!(cell.flags[0].name, FlagName::Repetition);
    let evidence = &cell.flags[0].evidence;
    assert!(
        evidence.contains("repeats 1,180 characters 4 times"),
        "{evidence}"
    );
}

#[test]
fn minus_two_is_a_failed_cell_with_its_reason() {
    let text = String::from_utf8(EXCERPT.to_vec()).unwrap();
    let text = text.replace("\"aggregate_tps\": -3.0", "\"aggregate_tps\": -2");
    let text = text.replace(
        "\"failure_reason\": \"loop\"",
        "\"failure_reason\": \"HTTP 503\"",
    );
    let run = import(
        text.replace("\"loop_detected\": true", "\"loop_detected\": false")
            .as_bytes(),
    );
    let run = run.unwrap();
    let cell = cell(&run, Phase::Decode, 65_536, 2);
    assert_eq!(cell.status, CellStatus::Failed);
    assert!(cell.reason.as_deref().unwrap().ends_with("HTTP 503"));
    assert_eq!(cell.flags, []);
}

#[test]
fn every_prefill_cell_of_the_excerpt_has_its_figures() {
    let run = import(EXCERPT).unwrap();
    let rows = [
        (8192, 8079.0, 1015.0, 8197, Some(540.0)),
        (16_384, 10_667.0, 1521.0, 16_225, Some(1096.0)),
        (32_768, 12_764.0, 2531.0, 32_308, Some(2450.0)),
        (65_536, 9787.0, 6588.0, 64_475, Some(5972.0)),
        (131_072, 7716.0, 16_690.0, 128_777, Some(16_293.0)),
        (262_144, 5038.0, 51_097.0, 257_410, Some(50_322.0)),
        (524_288, 2981.0, 172_639.0, 514_685, Some(171_395.0)),
        (1_043_456, 1644.0, 623_177.0, 1_024_198, Some(620_068.0)),
        (1_048_576, 1638.0, 628_314.0, 1_029_227, None),
    ];
    let prefill = run.cells.iter().filter(|cell| cell.phase == Phase::Prefill);
    assert_eq!(prefill.count(), rows.len());
    for (context, tok_s, ttft_ms, prompt, engine_ms) in rows {
        let cell = cell(&run, Phase::Prefill, context, 1);
        assert_eq!(cell.status, CellStatus::Valid);
        assert_eq!(cell.total_tok_s, Some(tok_s));
        close(cell.ttft_ms_p50(), ttft_ms);
        assert_eq!(cell.prompt_tokens, Some(prompt));
        assert_eq!(cell.completed, Some(1));
        assert_eq!(cell.engine_prefill_ms.map(f64::round), engine_ms);
        // 0 beside an empty `token_source` is a field nobody filled.
        assert_eq!(cell.cached_tokens, None);
        assert_eq!(cell.cache_proof, Some(CacheProof::Unproven));
        assert_eq!(cell.flags, [], "{context}");
    }
    says(
        cell(&run, Phase::Prefill, 8192, 1),
        "engine clocks its prefill at 540 ms, TTFT is 1015 ms",
    );
}

/// C, context, total, per request, TTFT, TBT, output, window, average active.
type Row = (u32, u64, f64, f64, f64, f64, u64, f64, f64);

const OLD_ROWS: [Row; 12] = [
    (
        1, 1024, 458.0160, 501.9462, 13.5768, 1.99234, 2290, 4.99983, 1.0,
    ),
    (
        1, 4096, 248.8066, 265.5768, 19.1278, 3.76573, 1244, 4.99987, 1.0,
    ),
    (
        2, 1024, 632.9203, 286.3878, 22.3265, 3.49177, 3164, 4.99905, 2.0,
    ),
    (
        4, 1024, 890.1500, 241.4649, 33.5923, 4.14139, 4450, 4.99916, 4.0,
    ),
    (
        8, 1024, 1525.9768, 207.3108, 43.1980, 4.82373, 7628, 4.99877, 7.8,
    ),
    (
        16, 1024, 2135.5682, 149.6101, 62.1846, 6.68404, 10_683, 5.00242, 15.4,
    ),
    (
        32, 1024, 1705.1544, 156.8853, 852.7951, 6.37408, 8528, 5.00131, 14.8,
    ),
    (
        2, 4096, 497.9470, 260.4211, 28.3576, 3.83994, 2490, 5.00053, 2.0,
    ),
    (
        4, 4096, 857.2260, 235.1036, 28.4124, 4.25349, 4285, 4.99868, 4.0,
    ),
    (
        8, 4096, 1550.1851, 194.6209, 28.4411, 5.13820, 7748, 4.99811, 8.0,
    ),
    (
        16, 4096, 1665.5033, 118.6262, 45.6921, 8.42988, 8323, 4.99729, 16.0,
    ),
    (
        32, 4096, 2114.7978, 113.9775, 1150.8847, 8.77366, 10_576, 5.00095, 15.6,
    ),
];

#[test]
fn every_decode_cell_of_the_old_file_has_its_figures() {
    let run = import(OLD).unwrap();
    assert_eq!(run.cells.len(), 14);
    for (concurrency, context, total, each, ttft, tbt, output, measured, active) in OLD_ROWS {
        let cell = cell(&run, Phase::Decode, context, concurrency);
        close(cell.total_tok_s, total);
        close(cell.per_request_tok_s, each);
        close(cell.ttft_ms_p50(), ttft);
        close(cell.tbt_ms_p50(), tbt);
        close(cell.measured_s, measured);
        assert_eq!(cell.output_tokens, Some(output));
        assert_eq!(cell.average_active, Some(active));
        assert_eq!(cell.flags, [], "{context} × {concurrency}");
    }
}

#[test]
fn thirty_two_requests_of_which_sixteen_ran_are_queued_and_a_gap_is_no_queue() {
    let run = import(OLD).unwrap();
    for (concurrency, context, ..) in OLD_ROWS {
        let cell = cell(&run, Phase::Decode, context, concurrency);
        let queued = if concurrency == 32 {
            CellStatus::Queued
        } else {
            CellStatus::Valid
        };
        assert_eq!(cell.status, queued, "{context} × {concurrency}");
        // By the server's word.
        assert_eq!(cell.queue_inferred, Some(false));
    }
    says(
        cell(&run, Phase::Decode, 4096, 32),
        "16 of 32 requests ran at once",
    );
}

#[test]
fn answers_of_the_warm_up_are_not_the_window_s() {
    let run = import(OLD).unwrap();
    let cell = cell(&run, Phase::Decode, 1024, 1);
    // 35 answers of 128 tokens are 4,480, and the window has 2,290.
    assert_eq!(cell.completed, None);
    says(cell, "counts 35 over the whole cell");
}

#[test]
fn a_prompt_of_another_length_than_its_context_is_said() {
    let run = import(OLD).unwrap();
    let words = "1,199 tokens where 1,024 were meant: 17 % off";
    says(cell(&run, Phase::Decode, 1024, 1), words);
    says(cell(&run, Phase::Prefill, 1024, 1), words);
    let close = cell(&run, Phase::Decode, 4096, 1);
    assert!(
        close
            .remarks
            .iter()
            .all(|said| !said.contains("were meant"))
    );
}

#[test]
fn fields_that_are_not_read_are_kept_and_request_samples_are_not() {
    let run = import(OLD).unwrap();
    let kept = &cell(&run, Phase::Decode, 1024, 1).extra["imported_fields"];
    assert_eq!(kept["request_count"], 36);
    assert_eq!(
        kept["ready_reason"],
        "running_reqs=1/1, queue_reqs=0, active_streams=1/1, stable=3.0s"
    );
    assert!(kept.get("request_samples").is_none());
    assert!(kept.get("aggregate_tps").is_none());
}
