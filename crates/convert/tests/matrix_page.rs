//! The example runs are what their pages say.

// A failed expectation is a failed test, in its helpers too.
#![allow(clippy::expect_used, clippy::panic)]

use convert::matrix_page::{MatrixPageError, run_document};
use document::{CellStatus, Phase, RunDocument, format, run_document_schema};

const NAMES: [&str; 2] = [
    "deepseek-v4.1-flash-4x-rtx-pro-6000",
    "glm-5.3-flash-4x-rtx-pro-6000",
];

fn read(path: &str) -> Vec<u8> {
    let path = format!("{}/../../examples/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn converted(name: &str) -> RunDocument {
    run_document(
        &read(&format!("seeds/{name}.facts.json")),
        &read(&format!("seeds/{name}.figures.json")),
    )
    .expect("converts")
}

#[test]
fn the_example_runs_are_the_ones_the_seeds_make() {
    for name in NAMES {
        let written: RunDocument =
            serde_json::from_slice(&read(&format!("runs/{name}.json"))).expect("a run document");
        assert_eq!(written, converted(name), "run `cargo xtask examples`");
    }
}

#[test]
fn the_example_runs_keep_the_published_schema() {
    let validator = jsonschema::validator_for(&run_document_schema()).expect("a valid schema");
    for name in NAMES {
        let run: serde_json::Value =
            serde_json::from_slice(&read(&format!("runs/{name}.json"))).expect("JSON");
        let faults: Vec<String> = validator
            .iter_errors(&run)
            .map(|fault| fault.to_string())
            .collect();
        assert!(faults.is_empty(), "{name}: {faults:?}");
    }
}

#[test]
fn every_row_becomes_a_cell_and_nothing_unknown_becomes_zero() {
    for (name, cells, prefill, over) in [(NAMES[0], 64, 8, 22), (NAMES[1], 73, 9, 21)] {
        let run = converted(name);
        assert_eq!(run.cells.len(), cells);
        let of = |phase| run.cells.iter().filter(|c| c.phase == phase).count();
        assert_eq!(of(Phase::Prefill), prefill);
        let not_run: Vec<_> = run
            .cells
            .iter()
            .filter(|c| c.status == CellStatus::OverCapacity)
            .collect();
        assert_eq!(not_run.len(), over, "{name}");
        for cell in not_run {
            assert_eq!(cell.total_tok_s, None);
            assert_eq!(cell.completed, None);
            assert_eq!(cell.ttft_ms, None);
        }
        assert!(run.engine.kv_cache_tokens.is_none());
    }
}

#[test]
fn prompt_speed_is_unrounded_only_where_it_is_written_the_same() {
    let run = converted(NAMES[1]);
    let at = |tokens: u64| {
        run.cells
            .iter()
            .find(|c| c.phase == Phase::Prefill && c.context_tokens == tokens)
            .and_then(|c| c.total_tok_s)
            .expect("a prefill cell")
    };
    assert_eq!(at(8192), 12_011.7);
    assert_eq!(format::tok_s(at(8192)), "12K");
    assert_eq!(at(16_384), 8_174.0);
}

#[test]
fn facts_of_another_model_are_refused() {
    let refused = run_document(
        &read(&format!("seeds/{}.facts.json", NAMES[0])),
        &read(&format!("seeds/{}.figures.json", NAMES[1])),
    );
    assert!(matches!(refused, Err(MatrixPageError::OtherModel { .. })));
}
