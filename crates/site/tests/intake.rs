//! What is taken, what is refused, and in which words.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::Write;
use std::time::{Duration, Instant};

use document::{CellStatus, FlagName, RunDocument, Source};
use serde_json::{Value, json};
use site::SiteOptions;
use site::intake::{self, Encoding, MAX_DOCUMENT_BYTES, MAX_TOLD_PROBLEMS, Problem, Refusal};

const EXAMPLES: [&str; 2] = [
    include_str!("../../../examples/runs/deepseek-v4.1-flash-4x-rtx-pro-6000.json"),
    include_str!("../../../examples/runs/glm-5.3-flash-4x-rtx-pro-6000.json"),
];

/// Knows one format: `{"foreign": "tool"}`.
fn importer(bytes: &[u8]) -> Result<RunDocument, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    let tool = value["foreign"]
        .as_str()
        .ok_or("no file of a tool that is known")?;
    let mut run = RunDocument::from_json(EXAMPLES[0].as_bytes()).unwrap();
    run.source = Source::Imported;
    run.imported_from.get_or_insert_default().tool = Some(tool.to_owned());
    if value["is_bad"] == true {
        run.id = "no uuid".to_owned();
    }
    Ok(run)
}

fn options() -> SiteOptions {
    SiteOptions::new("http://localhost", importer)
}

fn read(text: impl AsRef<[u8]>) -> Result<intake::Received, Refusal> {
    intake::read(text.as_ref(), &options())
}

/// An example run with something changed.
fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut document: Value = serde_json::from_str(EXAMPLES[0]).unwrap();
    change(&mut document);
    document.to_string()
}

fn problems(text: impl AsRef<[u8]>) -> Vec<Problem> {
    read(text).expect_err("is refused").problems()
}

/// The only problem: its field and what is said.
fn problem(text: impl AsRef<[u8]>) -> (String, String) {
    let problems = problems(text);
    assert_eq!(problems.len(), 1, "{problems:#?}");
    (
        problems[0].field.clone().unwrap_or_default(),
        problems[0].detail.clone(),
    )
}

/// Asserts the only problem's field and words of what is said.
#[track_caller]
fn refused(text: impl AsRef<[u8]>, field: &str, words: &str) {
    let (at, detail) = problem(text);
    assert_eq!(at, field, "{detail}");
    assert!(detail.contains(words), "{detail}");
}

#[test]
fn the_example_runs_are_taken_unchanged() {
    for text in EXAMPLES {
        let received = read(text).unwrap();
        assert_eq!(received.content, text.as_bytes());
        assert_eq!(received.document, {
            let mut run = RunDocument::from_json(text.as_bytes()).unwrap();
            judge::add_derived_flags(&mut run);
            run
        });
        assert_eq!(received.imported, None);
    }
}

#[test]
fn what_the_figures_prove_is_added_to_what_ranks_and_not_to_what_is_stored() {
    let text = changed(|run| {
        let cell = run["cells"]
            .as_array()
            .unwrap()
            .iter()
            .position(|cell| cell["phase"] == "decode");
        run["cells"][cell.unwrap()]["average_active"] = json!(900.0);
    });
    let received = read(&text).unwrap();
    assert_eq!(received.content, text.as_bytes());
    let added = &received.added_flags[0];
    assert_eq!(added.flag.name, FlagName::Contaminated);
    assert!(
        received.document.cells[added.cell_index]
            .flags
            .contains(&added.flag)
    );
}

#[test]
fn fields_of_a_newer_writer_are_taken() {
    let text = changed(|run| run["cells"][0]["energy"] = json!({ "joules": 12.5 }));
    assert_eq!(read(&text).unwrap().content, text.as_bytes());
}

#[test]
fn a_file_of_another_tool_is_stored_as_the_run_document_made_of_it() {
    let received = read(r#"{"foreign":"other-bench"}"#).unwrap();
    assert_eq!(
        received.imported.unwrap().tool.as_deref(),
        Some("other-bench")
    );
    let stored = RunDocument::from_json(&received.content).unwrap();
    assert_eq!(stored.source, Source::Imported);
    assert_eq!(read(&received.content).unwrap().content, received.content);
}

#[test]
fn a_converted_document_is_held_to_the_same_rules() {
    refused(r#"{"foreign":"x","is_bad":true}"#, "id", "must be a UUID");
    refused(
        r#"{"schema":"other/1"}"#,
        "",
        "no file of a tool that is known",
    );
}

#[test]
fn what_is_no_json_is_refused_by_what_it_is_with_what_to_do() {
    for (bytes, words) in [
        (&b" \n"[..], "is empty"),
        (b"<!doctype html><html>", "publish run.json"),
        (b"\x1f\x8b\x08\x00", "unpack it first"),
        (b"\x28\xb5\x2f\xfd\x00", "samples file"),
        (b"PK\x03\x04", "zip archive"),
        (b"[{}]", "one in each upload"),
        (b"hello", "not JSON"),
        (b"{\"a\":\"\xff\"}", "not UTF-8 at byte 6"),
        (b"{\"a\":NaN}", "not JSON"),
        (b"{\"a\":1e999}", "not JSON"),
        (b"{\"a\":1} {}", "not JSON"),
    ] {
        refused(bytes, "", words);
    }
}

#[test]
fn a_document_cut_off_anywhere_is_refused_and_never_taken_or_fatal() {
    let text = EXAMPLES[1].trim_end();
    for end in (1..text.len()).step_by(997).chain([text.len() - 1]) {
        refused(&text[..end], "", "breaks off");
    }
}

#[test]
fn documents_of_another_version_say_what_to_use() {
    refused(
        changed(|run| run["schema"] = json!("tokgrid.run/2")),
        "schema",
        "must be \"tokgrid.run/1\"",
    );
}

#[test]
fn wrong_types_are_told_with_their_place() {
    let text = changed(|run| {
        run["cells"][12]["ttft_ms"]["p50"] = json!("fast");
        run["cells"][13]["status"] = json!("good");
        run["cells"][14]["completed"] = json!(-1);
        run["cells"][15].as_object_mut().unwrap().remove("phase");
        run["hardware"] = json!(4);
    });
    let mut told: Vec<(String, String)> = problems(text)
        .into_iter()
        .map(|problem| (problem.field.unwrap_or_default(), problem.detail))
        .collect();
    told.sort();
    let fields: Vec<&str> = told.iter().map(|(field, _)| field.as_str()).collect();
    assert_eq!(
        fields,
        [
            "cells[12].ttft_ms.p50",
            "cells[13].status",
            "cells[14].completed",
            "cells[15]",
            "hardware"
        ],
        "{told:#?}"
    );
    assert_eq!(told[0].1, "must be null or number");
    assert_eq!(told[2].1, "must be at least 0");
    assert_eq!(told[3].1, "lacks \"phase\"");
}

#[test]
fn every_figure_is_finite_not_negative_and_possible() {
    for (field, value) in [
        ("total_tok_s", json!(-0.5)),
        ("total_tok_s", json!(1e300)),
        ("per_request_tok_s", json!(-1)),
        ("measured_s", json!(2e12)),
        ("output_tokens", json!(u64::MAX)),
        ("prompt_tokens", json!(1.5)),
        ("context_tokens", json!(0)),
        ("context_tokens", json!(1u64 << 40)),
        ("concurrency", json!(0)),
        ("concurrency", json!(70_000)),
        ("kv_used_peak", json!(1.5)),
    ] {
        let text = changed(|run| run["cells"][3][field] = value.clone());
        let (at, detail) = problem(text);
        assert_eq!(at, format!("cells[3].{field}"), "{value}: {detail}");
    }
    let text = changed(|run| run["cells"][3]["total_tok_s_ci95"] = json!([1.0]));
    refused(text, "cells[3].total_tok_s_ci95", "fewer than 2");
}

#[test]
fn names_texts_and_lists_are_bounded() {
    let cells = |run: &Value, count: usize| {
        let cell = run["cells"][0].clone();
        (0..count).map(|_| cell.clone()).collect::<Vec<_>>()
    };
    for (text, field) in [
        (
            changed(|run| run["model"]["id"] = json!("m".repeat(257))),
            "model.id",
        ),
        (
            changed(|run| run["author"] = json!("m".repeat(257))),
            "author",
        ),
        (
            changed(|run| run["cells"][0]["reason"] = json!("m".repeat(4097))),
            "cells[0].reason",
        ),
        (
            changed(|run| run["notes"] = json!("m".repeat(65_537))),
            "notes",
        ),
        (
            changed(|run| run["launch"]["command"] = json!("m".repeat(65_537))),
            "launch.command",
        ),
        (
            changed(|run| run["later"] = json!("m".repeat(300_000))),
            "later",
        ),
        (
            changed(|run| run["cells"] = json!(cells(run, 4097))),
            "cells",
        ),
        (changed(|run| run["cells"] = json!([])), "cells"),
        (
            changed(|run| run["cells"][0]["remarks"] = json!(vec!["r"; 65])),
            "cells[0].remarks",
        ),
        (
            changed(|run| run["settings"]["contexts"] = json!(vec![8192; 1025])),
            "settings.contexts",
        ),
        (
            changed(|run| run["later"] = json!({ "list": vec![0; 70_000] })),
            "later.list",
        ),
    ] {
        let (at, detail) = problem(text);
        assert_eq!(at, field, "{detail}");
        assert!(detail.len() < 200, "{detail}");
    }
    assert!(read(changed(|run| run["notes"] = json!("語".repeat(65_536)))).is_ok());
}

#[test]
fn ids_hashes_and_times_have_their_shape() {
    for (field, value, words) in [
        ("id", "../../etc/passwd", "must be a UUID"),
        ("id", "8C57FB0F-A0B2-5908-A7E2-C77D5A1E18A3", "lower case"),
        ("samples_sha256", "abc", "SHA-256"),
        ("started_at", "yesterday", "RFC 3339"),
        ("started_at", "2026-12-01", "RFC 3339"),
        ("started_at", "2026-02-30T10:00:00Z", "no such day"),
    ] {
        refused(changed(|run| run[field] = json!(value)), field, words);
    }
    let text = changed(|run| {
        run["started_at"] = json!("2026-12-01T10:00:00Z");
        run["finished_at"] = json!("2026-12-01T09:59:59.9Z");
    });
    refused(text, "finished_at", "is before started_at");
}

#[test]
fn control_characters_are_refused_by_name_and_line_breaks_are_not() {
    refused(
        changed(|run| run["author"] = json!("a\u{0}b")),
        "author",
        "U+0000",
    );
    refused(
        changed(|run| run["model"]["id"] = json!("a\u{1b}[31m")),
        "model.id",
        "U+001B",
    );
    refused(
        changed(|run| run["cells"][2]["extra"] = json!({ "x": ["\u{85}"] })),
        "cells[2].extra.x[0]",
        "U+0085",
    );
    assert!(read(changed(|run| run["notes"] = json!("one\n\ttwo"))).is_ok());
}

#[test]
fn a_field_that_stands_twice_is_refused() {
    let text = EXAMPLES[0].replacen("\"id\":", "\"id\": \"x\", \"id\":", 1);
    refused(text, "id", "twice");
    let text = EXAMPLES[0].replacen("{\n", "{\"x\":{\"y\":1,\"y\":2},", 1);
    refused(text, "x.y", "twice");
}

#[test]
fn a_cell_that_stands_twice_is_refused() {
    let text = changed(|run| {
        let cell = run["cells"][4].clone();
        run["cells"].as_array_mut().unwrap().insert(7, cell);
    });
    refused(text, "cells[7]", "as cells[4]");
}

#[test]
fn figures_that_cannot_be_true_together_are_refused() {
    let measured = json!({ "p50": 10.0, "p90": 9.0 });
    refused(
        changed(|run| run["cells"][3]["ttft_ms"] = measured),
        "cells[3].ttft_ms.p90",
        "is less than",
    );
    let mean = json!({ "min": 1.0, "p50": 2.0, "max": 3.0, "mean": 4.0 });
    refused(
        changed(|run| run["cells"][3]["tbt_ms"] = mean),
        "cells[3].tbt_ms.mean",
        "not between",
    );
    let none = json!({ "p50": 2.0, "n": 0 });
    refused(
        changed(|run| run["cells"][3]["tbt_ms"] = none),
        "cells[3].tbt_ms.n",
        "is 0",
    );
    for (interval, words) in [([5.0, 4.0], "above"), ([1.0, 2.0], "not inside")] {
        let text = changed(|run| run["cells"][3]["total_tok_s_ci95"] = json!(interval));
        refused(text, "cells[3].total_tok_s_ci95", words);
    }
    refused(
        changed(|run| run["cells"][3]["failed"] = json!(2)),
        "cells[3].failed",
        "not `valid`",
    );
    refused(
        changed(|run| run["source"] = json!("measured")),
        "imported_from",
        "not imported",
    );
    for status in [CellStatus::OverCapacity, CellStatus::Failed] {
        let text = changed(|run| {
            run["cells"][3] = json!({ "phase": "decode", "context_tokens": 77, "concurrency": 3,
                "status": status, "total_tok_s": 5.0 });
        });
        refused(text, "cells[3].total_tok_s", "must be null");
    }
}

#[test]
fn all_problems_are_told_up_to_twenty_and_the_rest_is_counted() {
    let text = changed(|run| {
        for cell in run["cells"].as_array_mut().unwrap() {
            cell["total_tok_s"] = json!(-1);
        }
    });
    let cell_count = serde_json::from_str::<Value>(&text).unwrap()["cells"]
        .as_array()
        .unwrap()
        .len();
    let refusal = read(text).expect_err("is refused");
    assert_eq!(refusal.problems().len(), MAX_TOLD_PROBLEMS);
    let said = refusal.to_string();
    assert!(
        said.starts_with("cells[0].total_tok_s: must be at least 0; "),
        "{said}"
    );
    assert!(
        said.ends_with(&format!("and {} more", cell_count - MAX_TOLD_PROBLEMS)),
        "{said}"
    );
}

#[test]
fn hostile_documents_cost_no_more_than_their_length() {
    let deep = format!("{{\"a\":{}", "[".repeat(4 << 20));
    let deep_object = "{\"a\":".repeat(1 << 20);
    let wide = format!("{{\"a\":[{}{{}}]}}", "{},".repeat(2 << 20));
    let names =
        (0..200_000).fold("{".to_owned(), |text, i| text + &format!("\"n{i}\":0,")) + "\"z\":0}";
    let digits = format!("{{\"a\":{}}}", "9".repeat(4 << 20));
    let spaces = format!("{{{}}}", " ".repeat(8_000_000));
    let text = format!("{{\"a\":\"{}\"}}", "\\u0000".repeat(1 << 20));
    let began = Instant::now();
    for hostile in [deep, deep_object, wide, names, digits, spaces, text] {
        let problems = problems(&hostile);
        let said: usize = problems.iter().map(|problem| problem.detail.len()).sum();
        assert!(said < 10_000, "{:?}", &problems[0]);
    }
    // Quadratic work on 8 MiB would take hours.
    assert!(
        began.elapsed() < Duration::from_secs(60),
        "{:?}",
        began.elapsed()
    );
}

#[test]
fn depth_is_told_with_its_place() {
    let text = changed(|run| {
        run["later"] = (0..40).fold(json!(1), |inside, _| json!([inside]));
    });
    let (at, detail) = problem(text);
    assert!(at.starts_with("later[0][0]"), "{at}");
    assert!(
        detail.contains("more than 32 objects and lists"),
        "{detail}"
    );
}

#[test]
fn ten_megabytes_are_too_much_packed_or_not() {
    let large = changed(|run| run["notes"] = json!(" ".repeat(10 << 20)));
    assert_eq!(read(&large).unwrap_err(), Refusal::TooLarge);
    for encoding in [Encoding::Gzip, Encoding::Zstd] {
        let packed = pack(encoding, large.as_bytes());
        assert!(packed.len() < 200_000);
        assert_eq!(
            intake::unpack(encoding, packed).unwrap_err(),
            Refusal::TooLarge
        );
    }
}

fn pack(encoding: Encoding, bytes: &[u8]) -> Vec<u8> {
    match encoding {
        Encoding::Plain => bytes.to_vec(),
        Encoding::Gzip => {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        }
        Encoding::Zstd => zstd::encode_all(bytes, 19).unwrap(),
    }
}

#[test]
fn a_bomb_is_unpacked_no_further_than_a_document_may_be() {
    for encoding in [Encoding::Gzip, Encoding::Zstd] {
        let bomb = pack(encoding, &vec![b' '; 256 << 20]);
        assert!(bomb.len() < MAX_DOCUMENT_BYTES);
        assert_eq!(
            intake::unpack(encoding, bomb).unwrap_err(),
            Refusal::TooLarge
        );
    }
}

#[test]
fn compressed_documents_are_unpacked_and_broken_ones_named() {
    for encoding in [Encoding::Plain, Encoding::Gzip, Encoding::Zstd] {
        let packed = pack(encoding, EXAMPLES[0].as_bytes());
        assert_eq!(
            intake::unpack(encoding, packed).unwrap(),
            EXAMPLES[0].as_bytes()
        );
    }
    for encoding in [Encoding::Gzip, Encoding::Zstd] {
        let mut packed = pack(encoding, EXAMPLES[0].as_bytes());
        packed.truncate(packed.len() / 2);
        for broken in [packed, EXAMPLES[0].as_bytes().to_vec()] {
            let refusal = intake::unpack(encoding, broken).unwrap_err();
            assert!(refusal.to_string().contains("breaks off"), "{refusal}");
        }
    }
    assert_eq!(
        Encoding::from_header(Some("br")).unwrap_err(),
        Refusal::Encoding("br".to_owned())
    );
}
