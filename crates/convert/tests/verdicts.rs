//! What a cell of a foreign file is found to be, and a 0.8 file of the figures of
//! a published page.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use convert::import;
use document::{Cell, CellStatus, FlagName, Phase, RunDocument, TokenSource};
use serde_json::{Value, json};

const GLM: &str = include_str!("../../../examples/runs/glm-5.3-flash-4x-rtx-pro-6000.json");
const PAGES: [(&str, &str); 2] = [
    (
        include_str!("../../../examples/seeds/glm-5.3-flash-4x-rtx-pro-6000.figures.json"),
        GLM,
    ),
    (
        include_str!("../../../examples/seeds/deepseek-v4.1-flash-4x-rtx-pro-6000.figures.json"),
        include_str!("../../../examples/runs/deepseek-v4.1-flash-4x-rtx-pro-6000.json"),
    ),
];

fn run_of(metadata: Value, results: Vec<Value>) -> RunDocument {
    let mut all = json!({"version": "0.6.2", "decode_mode": "duration", "max_tokens": 4096});
    let more = metadata.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(more);
    let file = json!({"metadata": all, "results": results});
    import(file.to_string().as_bytes()).unwrap()
}

/// 300 tok/s at C = 4, nothing wrong, with `changes` over it.
fn cell_with(changes: Value) -> Cell {
    let mut cell = json!({
        "concurrency": 4, "context_tokens": 8192, "benchmark_mode": "duration", "num_errors": 0,
        "aggregate_tps": 300.0, "aggregate_source": "openai_continuous_usage",
        "client_output_tokens": 9000, "server_output_tokens": 9000, "measurement_seconds": 30.0,
        "output_tps_per_user_p50": 76.0, "ttft_p50": 0.2, "inter_token_latency_p50": 0.0131,
        "input_seq_len_avg": 8192.0, "output_seq_len_avg": 4096.0, "completed_request_count": 0,
        "avg_running_reqs": 4, "max_running_reqs": 4, "queue_fraction": 0.0,
        "capacity_limited": false, "warmup_timed_out": false, "warmup_duration": 6.0
    });
    let changes = changes.as_object().unwrap().clone();
    cell.as_object_mut().unwrap().extend(changes);
    run_of(json!({"max_model_len": 16_384}), vec![cell])
        .cells
        .remove(0)
}

fn says(cell: &Cell, words: &str) {
    let is_said = cell.remarks.iter().any(|remark| remark.contains(words));
    assert!(is_said, "{words:?} is not in {:?}", cell.remarks);
}

fn assert_flagged(changes: Value, name: FlagName, words: &str) {
    let cell = cell_with(changes);
    let [flag] = cell.flags.as_slice() else {
        panic!("one flag: {:?}", cell.flags);
    };
    assert_eq!(flag.name, name);
    assert!(flag.evidence.contains(words), "{}", flag.evidence);
}

#[test]
fn a_healthy_cell_has_no_flag_and_no_remark() {
    let cell = cell_with(json!({}));
    assert_eq!((cell.status, cell.flags.len()), (CellStatus::Valid, 0));
    assert_eq!(cell.remarks, Vec::<String>::new());
}

#[test]
fn more_running_than_ours_is_contamination() {
    let words = "the server ran 5 requests while 4 were ours";
    assert_flagged(
        json!({"max_running_reqs": 5}),
        FlagName::Contaminated,
        words,
    );
    // A file that has the average alone.
    let average = json!({"max_running_reqs": null, "avg_running_reqs": 5.2});
    assert_flagged(average, FlagName::Contaminated, "5.2 requests were active");
}

#[test]
fn a_cell_past_the_model_s_limit_exceeds_the_context() {
    let words = "12289 prompt and 4096 output tokens are more than the model's 16384";
    let long = json!({"context_tokens": 12_289, "input_seq_len_avg": 12_289.0});
    assert_flagged(long, FlagName::ExceedsContext, words);
}

#[test]
fn counts_that_disagree_are_disputed() {
    let words = "the engine counted 9500 tokens, the client 9000; 95 may differ";
    let changes = json!({"server_output_tokens": 9500});
    assert_flagged(changes, FlagName::TokenCountDisputed, words);
    let within = cell_with(json!({"server_output_tokens": 9080}));
    assert_eq!(within.flags, []);
    let words = "9000 output tokens in 30.0 s are 300.0 tok/s, and 330.0 are said";
    let changes = json!({"aggregate_tps": 330.0});
    assert_flagged(changes, FlagName::TokenCountDisputed, words);
}

#[test]
fn events_that_no_counter_confirms_are_disputed() {
    let source = "openai_stream_chunks_fallback";
    let changes = json!({"aggregate_source": source, "server_output_tokens": 0});
    assert_flagged(
        changes,
        FlagName::TokenCountDisputed,
        "no counter of the server",
    );
    let confirmed = cell_with(json!({"aggregate_source": source}));
    assert_eq!(confirmed.flags, []);
    assert_eq!(confirmed.token_source, Some(TokenSource::EventsOnly));
}

#[test]
fn each_sign_of_a_queue_is_a_queue() {
    for (changes, words) in [
        (json!({"capacity_limited": true}), "limited by capacity"),
        (json!({"warmup_timed_out": true}), "the warm-up timed out"),
        (
            json!({"queue_fraction": 0.6}),
            "requests waited in 60 % of the readings",
        ),
        (
            json!({"max_running_reqs": 3}),
            "3 of 4 requests ran at once",
        ),
        (
            json!({"max_running_reqs": null, "capacity_limited": null, "avg_running_reqs": 3.0}),
            "3 of 4 requests ran at once",
        ),
    ] {
        let cell = cell_with(changes);
        assert_eq!(cell.status, CellStatus::Queued, "{words}");
        says(&cell, words);
        assert_eq!(cell.total_tok_s, Some(300.0));
    }
}

#[test]
fn gaps_between_answers_are_no_queue() {
    for changes in [
        json!({"avg_running_reqs": 3.7}),
        json!({"queue_fraction": 0.4}),
        json!({"max_running_reqs": null, "capacity_limited": null, "avg_running_reqs": 3.8}),
        json!({"concurrency": 1, "avg_running_reqs": 0.9, "max_running_reqs": 1}),
    ] {
        assert_eq!(cell_with(changes).status, CellStatus::Valid);
    }
}

#[test]
fn without_the_server_s_readings_a_queue_is_not_known() {
    let silent = json!({"avg_running_reqs": 0, "max_running_reqs": 0});
    let cell = cell_with(silent);
    assert_eq!(cell.status, CellStatus::Valid);
    assert_eq!(
        (cell.queue_inferred, cell.average_active),
        (Some(true), None)
    );
    says(&cell, "no readings of the server's queue");
}

#[test]
fn requests_that_failed_fail_the_cell() {
    let cell = cell_with(json!({"num_errors": 2, "failure_reason": "HTTP 500"}));
    assert_eq!(cell.status, CellStatus::Failed);
    assert_eq!((cell.failed, cell.total_tok_s), (Some(2), None));
    let reason = "2 of the cell's requests failed: HTTP 500";
    assert_eq!(cell.reason.as_deref(), Some(reason));
    // The figures that are not believed are kept.
    assert_eq!(
        cell.extra["imported_fields"]["output_tps_per_user_p50"],
        76.0
    );
}

#[test]
fn a_cell_of_zeros_failed() {
    let cell = cell_with(json!({"aggregate_tps": 0.0, "inter_token_latency_p50": 0.0}));
    assert_eq!(cell.status, CellStatus::Failed);
    let reason = "the file has no figure of this cell";
    assert_eq!(cell.reason.as_deref(), Some(reason));
}

#[test]
fn a_latency_of_zero_is_none_and_is_named() {
    let cell = cell_with(json!({"ttft_p50": 0.0, "inter_token_latency_p50": null}));
    assert_eq!((cell.ttft_ms, cell.tbt_ms), (None, None));
    says(&cell, "TTFT (`ttft_p50` is 0 or says nothing)");
    says(&cell, "time between tokens (no `inter_token_latency_p50`)");
}

#[test]
fn a_total_of_the_server_s_counter_alone_is_null() {
    let changes = json!({"aggregate_source": "prometheus_fallback", "client_output_tokens": 0});
    let cell = cell_with(changes);
    assert_eq!((cell.total_tok_s, cell.output_tokens), (None, None));
    says(&cell, "counts others' tokens too");
}

#[test]
fn a_fixed_number_of_requests_is_no_sustained_decode() {
    let cell = cell_with(json!({"benchmark_mode": "request-count"}));
    assert_eq!((cell.total_tok_s, cell.output_tokens), (None, None));
    assert_eq!(cell.per_request_tok_s, Some(76.0));
    says(&cell, "no sustained decode");
}

#[test]
fn tokens_of_the_whole_cell_are_not_the_window_s() {
    let of = |tokens: u64| {
        cell_with(json!({"client_output_tokens": null, "total_tokens": tokens})).output_tokens
    };
    assert_eq!(of(9000), Some(9000));
    assert_eq!(of(20_000), None);
}

#[test]
fn the_total_over_c_is_not_per_request() {
    let changes = json!({"output_tps_per_user_p50": null, "per_request_avg_tps": 75.0});
    assert_eq!(cell_with(changes).per_request_tok_s, None);
}

#[test]
fn a_version_that_is_not_known_is_read_and_said() {
    let cell = json!({"concurrency": 1, "context_tokens": 0, "aggregate_tps": 5.0});
    let noted = |version: Value| {
        let run = run_of(json!({"version": version}), vec![cell.clone()]);
        run.notes.unwrap()
    };
    assert!(noted(json!("2.1")).contains("2.1, a version that is not known here"));
    assert!(noted(Value::Null).contains("does not say which version"));
    assert!(noted(json!("0.8.0")).contains("Imported from llm-inference-bench 0.8.0. "));
}

/// A file as 0.8 would have written it, of the figures a page shows.
fn file_of_page(figures: &Value) -> Value {
    let (mut results, mut prefill) = (Vec::new(), serde_json::Map::new());
    for row in figures["rows"].as_array().unwrap() {
        let seconds = |field: &str| row[field].as_f64().map(|ms| ms / 1e3);
        if row["phase"] == "prefill" {
            let fields = json!({"ttft_seconds": seconds("ttft_ms"),
                "client_tok_per_sec": row["total_tok_s"], "samples": row["completed"]});
            prefill.insert(row["context_tokens"].to_string(), fields);
        } else if row["status"] == "Over capacity" {
            results.push(
                json!({"concurrency": row["concurrency"], "aggregate_tps": -1,
                "context_tokens": row["context_tokens"]}),
            );
        } else {
            results.push(json!({
                "concurrency": row["concurrency"], "context_tokens": row["context_tokens"],
                "aggregate_tps": row["total_tok_s"], "ttft_p50": seconds("ttft_ms"),
                "output_tps_per_user_p50": row["per_request_tok_s"],
                "inter_token_latency_p50": seconds("tbt_ms"), "avg_running_reqs": row["avg_active"],
                "completed_request_count": row["completed"], "total_tokens": row["output_tokens"],
                "measurement_seconds": row["measured_s"]
            }));
        }
    }
    json!({
        "metadata": {"version": "0.8.0", "decode_mode": "duration", "model": figures["model"],
            "engine": figures["engine"], "engine_version": figures["engine_version"],
            "quantization": figures["quantization"], "max_model_len": figures["max_model_len"],
            "max_num_seqs": figures["max_num_seqs"], "max_tokens": figures["max_output_tokens"],
            "gpu": figures["gpu"], "gpu_count": figures["gpu_count"],
            "vram_gb_each": figures["vram_gb_each"]},
        "prefill": prefill, "results": results
    })
}

/// Cell by cell, what the page says; `close` where a figure went through seconds.
fn assert_is_page(run: &RunDocument, page: &RunDocument) {
    assert_eq!(run.cells.len(), page.cells.len());
    let close = |is: Option<f64>, wanted: Option<f64>, share: f64| match (is, wanted) {
        (Some(is), Some(wanted)) => (is - wanted).abs() <= share * wanted,
        (is, wanted) => is == wanted,
    };
    for cell in &page.cells {
        let key = cell.key();
        let is = run.cells.iter().find(|is| is.key() == key).unwrap();
        assert_eq!(is.status, cell.status, "{key:?}");
        assert_eq!(is.flags, [], "{key:?}");
        // Prefill is rounded on the page to three digits.
        let share = if cell.phase == Phase::Prefill {
            5e-3
        } else {
            1e-9
        };
        assert!(close(is.total_tok_s, cell.total_tok_s, share), "{key:?}");
        assert!(close(is.per_request_tok_s, cell.per_request_tok_s, 1e-9));
        assert!(close(is.ttft_ms_p50(), cell.ttft_ms_p50(), 1e-9), "{key:?}");
        assert!(close(is.tbt_ms_p50(), cell.tbt_ms_p50(), 1e-9), "{key:?}");
        assert_eq!(is.average_active, cell.average_active, "{key:?}");
        assert_eq!(is.completed, cell.completed, "{key:?}");
        assert_eq!(is.output_tokens, cell.output_tokens, "{key:?}");
        assert_eq!(is.measured_s, cell.measured_s, "{key:?}");
    }
    assert_eq!(run.engine.max_model_len, page.engine.max_model_len);
    assert_eq!(run.engine.quantization, page.engine.quantization);
    assert_eq!(run.hardware.gpu, page.hardware.gpu);
    assert_eq!(run.hardware.vram_gb, page.hardware.vram_gb);
    assert_eq!(run.model.id, page.model.id);
}

#[test]
fn a_file_of_0_8_has_every_figure_and_verdict_of_its_page() {
    for (figures, page) in PAGES {
        let figures: Value = serde_json::from_str(figures).unwrap();
        let run = import(file_of_page(&figures).to_string().as_bytes()).unwrap();
        assert_eq!(run.tool.version.as_deref(), Some("0.8.0"));
        assert_is_page(&run, &RunDocument::from_json(page.as_bytes()).unwrap());
    }
}

#[test]
fn the_figures_of_a_page_are_a_file_too() {
    for (figures, page) in PAGES {
        let run = import(figures.as_bytes()).unwrap();
        let page = RunDocument::from_json(page.as_bytes()).unwrap();
        assert_is_page(&run, &page);
        assert_eq!(run.settings.contexts, page.settings.contexts);
        assert_eq!(run.settings.concurrency, page.settings.concurrency);
    }
}

#[test]
fn a_row_of_a_page_that_is_wrong_is_told_by_its_path() {
    let mut figures: Value = serde_json::from_str(PAGES[0].0).unwrap();
    figures["rows"][3]["status"] = json!("Splendid");
    let told = import(figures.to_string().as_bytes())
        .unwrap_err()
        .to_string();
    assert!(
        told.starts_with("rows[3].status: is none of `Valid`"),
        "{told}"
    );
}
