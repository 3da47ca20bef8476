//! What holds for every run document.

use proptest::prelude::*;
use tokgrid_document::{
    Cell, CellKey, CellStatus, Micros, Phase, RunDocument, TokenEvents, run_document_schema,
};

const SMALLEST: &str = r#"{"schema":"tokgrid.run/1","id":"r","source":"measured",
  "cells":[{"phase":"decode","context_tokens":8192,"concurrency":1,"status":"valid","from_the_future":1}],
  "engine":{"name":"vllm","rotor_count":4},"later":{"a":[1,2]}}"#;

#[test]
fn unknown_fields_are_kept_when_a_document_is_read_and_written() {
    let read: RunDocument = serde_json::from_str(SMALLEST).expect("smallest document");
    let written = serde_json::to_value(&read).expect("serializes");
    assert_eq!(written["later"]["a"][1], 2);
    assert_eq!(written["engine"]["rotor_count"], 4);
    assert_eq!(written["cells"][0]["from_the_future"], 1);
}

#[test]
fn what_was_not_measured_is_null_and_never_zero() {
    let key = CellKey {
        phase: Phase::Decode,
        context_tokens: 8192,
        concurrency: 2,
    };
    let written = serde_json::to_value(Cell::empty(key, CellStatus::Failed)).expect("serializes");
    for name in [
        "total_tok_s",
        "total_tok_s_ci95",
        "per_request_tok_s",
        "ttft_ms",
        "tbt_ms",
        "average_active",
        "completed",
        "output_tokens",
        "measured_s",
    ] {
        assert!(written[name].is_null(), "{name} is {}", written[name]);
        assert!(written.get(name).is_some(), "{name} is left out");
    }
}

#[test]
fn the_schema_takes_our_documents_and_refuses_wrong_ones() {
    let validator = jsonschema::validator_for(&run_document_schema()).expect("a valid schema");
    let read: RunDocument = serde_json::from_str(SMALLEST).expect("smallest document");
    let mut written = serde_json::to_value(&read).expect("serializes");
    assert!(validator.is_valid(&written));
    written["cells"][0]["status"] = "Splendid".into();
    assert!(!validator.is_valid(&written));
    written["cells"][0]["status"] = "valid".into();
    written["schema"] = "tokgrid.run/2".into();
    assert!(!validator.is_valid(&written));
}

#[test]
fn the_published_schema_is_the_one_the_code_writes() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/schema/tokgrid.run-1.json"
    );
    let published: serde_json::Value =
        serde_json::from_str(&std::fs::read_to_string(path).expect("published schema"))
            .expect("JSON");
    assert_eq!(published, run_document_schema(), "run `cargo xtask schema`");
}

proptest! {
    #[test]
    fn token_events_come_back_as_they_were(gaps in prop::collection::vec((0u64..5_000_000, 0u32..9), 0..60), counted in any::<bool>()) {
        let (mut at, mut total) = (0, 0);
        let mut events = TokenEvents::default();
        for (gap, tokens) in gaps {
            at += gap;
            total += tokens;
            events.at_us.push(Micros(at));
            if counted { events.tokens_so_far.push(total); }
        }
        let text = serde_json::to_string(&events).expect("serializes");
        let back: TokenEvents = serde_json::from_str(&text).expect("reads back");
        prop_assert_eq!(back, events);
    }
}
