//! Which file is what, and what is said of a file that is none or wrong.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use convert::{ImportError, import};
use proptest::prelude::*;
use serde_json::{Value, json};

const OLD: &[u8] = include_bytes!("fixtures/llm-inference-bench-0.4.18-vllm-0.32.0-cpu.json");
const EXCERPT: &[u8] = include_bytes!("fixtures/llm-inference-bench-0.6.2-excerpt.json");

fn told(bytes: &[u8]) -> String {
    import(bytes).expect_err("is refused").to_string()
}

#[test]
fn what_is_no_result_file_is_told_by_what_it_is_and_what_is_known() {
    let known = "known are llm-inference-bench result files (0.4 to 0.8), figures of a published matrix page";
    for (bytes, words) in [
        (&b""[..], "the file is empty"),
        (b" \n", "the file is empty"),
        (b"<!doctype html><p>hello", "a page (HTML or XML), not JSON"),
        (b"\x1f\x8b\x08\0", "compressed with gzip"),
        (b"\x28\xb5\x2f\xfd\0", "compressed with zstd"),
        (b"PK\x03\x04", "a zip archive"),
        (b"[]", "a JSON list"),
        (b"\"text\"", "a JSON text"),
        (b"17", "a bare JSON value"),
        (b"{}", "an empty JSON object"),
        (b"{\"a\":1,\"b\":2}", "a JSON object with `a`, `b`,"),
        (
            b"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6}",
            "`e` and 1 more",
        ),
        (
            b"{\"metadata\":{\"decode_mode\":\"duration\"}}",
            "a JSON object with `metadata`",
        ),
    ] {
        let told = told(bytes);
        assert!(told.contains(words) && told.contains(known), "{told}");
    }
}

#[test]
fn what_is_no_json_is_told_with_its_place() {
    assert!(told(b"\xff\xfe\0{").contains("not JSON"));
    let nan = told(b"{\"metadata\": {\"decode_mode\": NaN}}");
    assert!(nan.contains("line 1") && nan.contains("NaN"), "{nan}");
    let half = told(&EXCERPT[..EXCERPT.len() / 2]);
    assert!(half.contains("breaks off at line"), "{half}");
}

#[test]
fn a_run_document_needs_no_import() {
    let error = import(br#"{"schema":"tokgrid.run/1","id":"r","source":"measured"}"#);
    assert!(
        matches!(&error, Err(ImportError::AlreadyARun { schema }) if schema == "tokgrid.run/1")
    );
    let told = error.expect_err("is refused").to_string();
    assert!(told.contains("publish it as it is"), "{told}");
}

#[test]
fn hostile_depth_and_length_are_refused() {
    let deep = [b"[".repeat(100_000), b"]".repeat(100_000)].concat();
    assert!(told(&deep).contains("recursion limit"), "{}", told(&deep));
    let long = vec![b' '; convert::MAX_FILE_BYTES + 1];
    assert!(told(&long).contains("at most 67108864 are read"));
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_file() {
    let marked = [b"\xef\xbb\xbf", EXCERPT].concat();
    assert_eq!(
        import(&marked).unwrap().cells,
        import(EXCERPT).unwrap().cells
    );
}

fn excerpt_with(pointer: &str, value: Value) -> Vec<u8> {
    let mut file: Value = serde_json::from_slice(EXCERPT).unwrap();
    *file
        .pointer_mut(pointer)
        .unwrap_or_else(|| panic!("{pointer}")) = value;
    serde_json::to_vec(&file).unwrap()
}

#[test]
fn a_wrong_field_is_told_by_its_path() {
    let cases = [
        (
            "/results/0/aggregate_tps",
            json!("NaN"),
            "results[0].aggregate_tps: \"NaN\" is not a number",
        ),
        (
            "/results/0/aggregate_tps",
            json!(-4),
            "results[0].aggregate_tps: -4 is no speed, and no mark",
        ),
        (
            "/results/0/aggregate_tps",
            json!(1e300),
            "results[0].aggregate_tps: 1e300 is more than can be true",
        ),
        (
            "/results/1/ttft_p50",
            json!(-0.1),
            "results[1].ttft_p50: -0.1 is negative",
        ),
        (
            "/results/1/ttft_p50",
            json!([0.1]),
            "results[1].ttft_p50: [0.1] is not a number",
        ),
        (
            "/results/1/client_output_tokens",
            json!(1.5),
            "results[1].client_output_tokens: 1.5 is not a count",
        ),
        (
            "/results/1/client_output_tokens",
            json!(1e18),
            "is not a count",
        ),
        (
            "/results/1/concurrency",
            json!(0),
            "results[1].concurrency: is missing or 0",
        ),
        (
            "/results/1/concurrency",
            json!(5e9),
            "results[1].concurrency: 5000000000 is more than can be true",
        ),
        (
            "/results/1/context_tokens",
            Value::Null,
            "results[1].context_tokens: is missing",
        ),
        (
            "/results/1/capacity_limited",
            json!("no"),
            "results[1].capacity_limited: \"no\" is not true or false",
        ),
        ("/results/1", json!(7), "results[1]: 7 is not an object"),
        ("/results", json!({}), "results: {} is not a list"),
        (
            "/metadata/model",
            json!("m".repeat(5000)),
            "metadata.model: 5000 characters; at most 4096",
        ),
        (
            "/metadata/model",
            json!(1),
            "metadata.model: 1 is not a text",
        ),
        (
            "/metadata/concurrency_levels/2",
            json!(-1),
            "metadata.concurrency_levels[2]: -1 is not a count",
        ),
        (
            "/prefill/8192/prompt_tokens",
            json!("8k"),
            "prefill.8192.prompt_tokens: \"8k\" is not a count",
        ),
        ("/event_log/0", json!(1), "event_log[0]: 1 is not a text"),
    ];
    for (pointer, value, words) in cases {
        let told = told(&excerpt_with(pointer, value));
        assert!(told.contains(words), "{pointer}: {told}");
    }
}

#[test]
fn a_cell_that_stands_twice_is_refused() {
    let told = told(&excerpt_with("/results/1/context_tokens", json!(8192)));
    assert!(
        told.starts_with("results[1].context_tokens") && told.contains("twice"),
        "{told}"
    );
}

#[test]
fn too_many_cells_are_refused() {
    let told = told(&excerpt_with("/results", json!(vec![json!({}); 10_001])));
    assert!(
        told.contains("results: 10001 entries; at most 10000 are read"),
        "{told}"
    );
}

#[test]
fn a_file_without_a_single_cell_is_refused() {
    let told = told(br#"{"metadata":{"decode_mode":"duration"},"results":[]}"#);
    assert!(
        told.contains("results: no cell stands in the file"),
        "{told}"
    );
}

/// Every place of a JSON value.
fn places(at: &str, value: &Value, all: &mut Vec<String>) {
    all.push(at.to_owned());
    match value {
        Value::Object(map) => map
            .iter()
            .for_each(|(name, value)| places(&format!("{at}/{name}"), value, all)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(i, value)| places(&format!("{at}/{i}"), value, all)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn strange() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-5i64..70).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just(json!([{"a": [1]}])),
        Just(json!("NaN")),
        Just(json!("1".repeat(9000))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn any_change_of_a_file_makes_a_run_or_an_error_and_never_a_panic(
        is_old in any::<bool>(),
        changes in proptest::collection::vec((any::<prop::sample::Index>(), strange()), 1..6),
    ) {
        let mut file: Value = serde_json::from_slice(if is_old { OLD } else { EXCERPT }).unwrap();
        for (which, value) in changes {
            let mut all = Vec::new();
            places("", &file, &mut all);
            let at = which.get(&all);
            if let Some(place) = file.pointer_mut(at) {
                *place = value;
            }
        }
        if let Ok(run) = import(&serde_json::to_vec(&file).unwrap()) {
            let written = serde_json::to_vec(&run).unwrap();
            prop_assert_eq!(document::RunDocument::from_json(&written).unwrap(), run);
        }
    }

    #[test]
    fn any_bytes_make_an_error_and_never_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(import(&bytes).is_err());
    }

    #[test]
    fn a_file_cut_anywhere_is_an_error(end in 0..EXCERPT.len() - 2) {
        prop_assert!(import(&EXCERPT[..end]).is_err());
    }
}
