//! What a document proves of its own cells, with a healthy twin of each.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use document::{CacheProof, Cell, CellKey, CellStatus, Distribution, FlagName, Phase, RunDocument};
use serde_json::json;
use testkit::Scenario;
use tokgrid_judge::{add_derived_flags, derived_flags, judge};

fn run(cells: Vec<Cell>) -> RunDocument {
    let mut run = RunDocument::from_json(
        json!({"schema": "tokgrid.run/1", "id": "r", "source": "measured",
            "engine": {"max_model_len": 16_384}, "settings": {"max_output_tokens": 4096}})
        .to_string()
        .as_bytes(),
    )
    .unwrap();
    run.cells = cells;
    run
}

fn p50(value: f64) -> Option<Distribution> {
    Some(Distribution {
        p50: Some(value),
        ..Distribution::default()
    })
}

/// 600 tok/s of 4 requests, all figures in agreement.
fn decode() -> Cell {
    let key = CellKey {
        phase: Phase::Decode,
        context_tokens: 8192,
        concurrency: 4,
    };
    Cell {
        total_tok_s: Some(600.0),
        output_tokens: Some(18_000),
        measured_s: Some(30.0),
        average_active: Some(4.0),
        prompt_tokens: Some(8192),
        tbt_ms: p50(6.7),
        ..Cell::empty(key, CellStatus::Valid)
    }
}

/// 8,192 tokens in half a second.
fn prefill() -> Cell {
    let key = CellKey {
        phase: Phase::Prefill,
        context_tokens: 8192,
        concurrency: 1,
    };
    Cell {
        total_tok_s: Some(16_384.0),
        ttft_ms: p50(500.0),
        prompt_tokens: Some(8192),
        ..Cell::empty(key, CellStatus::Valid)
    }
}

fn assert_derived(cell: Cell, name: FlagName, words: &str) {
    let derived = derived_flags(&run(vec![cell]));
    let [only] = derived.as_slice() else {
        panic!("one flag: {derived:?}");
    };
    assert_eq!((only.cell_index, only.flag.name), (0, name));
    assert!(only.flag.evidence.contains(words), "{}", only.flag.evidence);
}

fn assert_nothing(cell: Cell) {
    assert_eq!(derived_flags(&run(vec![cell])), []);
}

#[test]
fn a_cell_whose_figures_agree_gets_no_flag() {
    assert_nothing(decode());
    assert_nothing(prefill());
}

#[test]
fn more_active_than_asked_for_is_contamination() {
    let crowded = Cell {
        average_active: Some(6.0),
        ..decode()
    };
    assert_derived(
        crowded,
        FlagName::Contaminated,
        "6.0 requests were active on average where 4",
    );
    // One answer takes over from another.
    assert_nothing(Cell {
        average_active: Some(4.1),
        ..decode()
    });
}

#[test]
fn prompt_and_answer_past_the_limit_exceed_the_context() {
    let evidence = "12289 prompt and 4096 output tokens are more than the model's 16384";
    let over = Cell {
        prompt_tokens: Some(12_289),
        ..decode()
    };
    assert_derived(over, FlagName::ExceedsContext, evidence);
    assert_nothing(Cell {
        prompt_tokens: Some(12_288),
        ..decode()
    });
}

#[test]
fn a_prompt_that_is_not_told_is_as_long_as_its_context() {
    let at = |context_tokens| Cell {
        context_tokens,
        prompt_tokens: None,
        ..decode()
    };
    assert_derived(at(12_289), FlagName::ExceedsContext, "12289 prompt");
    assert_nothing(at(12_288));
}

#[test]
fn a_prefill_context_may_be_the_whole_limit_and_no_more() {
    let at = |context_tokens, prompt_tokens| Cell {
        context_tokens,
        prompt_tokens,
        total_tok_s: Some(16_000.0),
        ..prefill()
    };
    assert_nothing(at(16_384, None));
    assert_nothing(at(16_384, Some(16_383)));
    assert_derived(at(16_384, Some(16_384)), FlagName::ExceedsContext, "16384");
    assert_derived(at(16_385, None), FlagName::ExceedsContext, "16385");
}

#[test]
fn a_total_that_is_not_tokens_over_time_is_disputed() {
    let boasting = Cell {
        total_tok_s: Some(620.0),
        ..decode()
    };
    let evidence = "18000 output tokens in 30.0 s are 600.0 tok/s, and 620.0 are said";
    assert_derived(boasting, FlagName::TokenCountDisputed, evidence);
    let modest = Cell {
        total_tok_s: Some(580.0),
        ..decode()
    };
    assert_derived(modest, FlagName::TokenCountDisputed, "580.0 are said");
    // What rounding the window to 29.9 s does.
    assert_nothing(Cell {
        measured_s: Some(29.9),
        ..decode()
    });
}

#[test]
fn prompt_speed_that_no_sample_reached_is_disputed() {
    let boasting = Cell {
        total_tok_s: Some(17_000.0),
        ..prefill()
    };
    assert_derived(boasting, FlagName::TokenCountDisputed, "17000.0 are said");
    // Cached tokens are not divided: slower than prompt over TTFT is no contradiction.
    assert_nothing(Cell {
        total_tok_s: Some(9000.0),
        ..prefill()
    });
}

#[test]
fn a_ledger_far_apart_is_disputed() {
    let ledger = |engine_tokens| {
        Some(document::TokenLedger {
            engine_tokens: Some(engine_tokens),
            engine_client_tokens: Some(18_000.0),
            ..document::TokenLedger::default()
        })
    };
    let apart = Cell {
        token_ledger: ledger(9000.0),
        ..decode()
    };
    let evidence = "the engine counted 9000 tokens, the client counted 18000";
    assert_derived(apart, FlagName::TokenCountDisputed, evidence);
    assert_nothing(Cell {
        token_ledger: ledger(17_800.0),
        ..decode()
    });
}

#[test]
fn a_failed_cache_proof_is_a_hit_of_a_prefill_and_a_miss_of_a_decode() {
    let failed = |cell| Cell {
        cache_proof: Some(CacheProof::Failed),
        ..cell
    };
    assert_derived(
        failed(prefill()),
        FlagName::PrefixCacheHit,
        "cache proof failed",
    );
    assert_derived(
        failed(decode()),
        FlagName::PrefixCacheMiss,
        "cache proof failed",
    );
}

#[test]
fn cached_tokens_tell_of_a_prefill_that_was_not_cold_and_a_decode_that_was_not_warm() {
    let cached = |cached_tokens, cell| Cell {
        cached_tokens: Some(cached_tokens),
        ..cell
    };
    assert_derived(
        cached(8000, prefill()),
        FlagName::PrefixCacheHit,
        "8000 of 8192",
    );
    assert_nothing(cached(64, prefill()));
    let mut long = run(vec![cached(16, decode())]);
    long.engine.max_model_len = None;
    long.cells[0].prompt_tokens = Some(65_536);
    assert_eq!(derived_flags(&long)[0].flag.name, FlagName::PrefixCacheMiss);
    long.cells[0].cached_tokens = Some(65_000);
    assert_eq!(derived_flags(&long), []);
}

#[test]
fn what_was_not_measured_proves_nothing() {
    for status in [CellStatus::OverCapacity, CellStatus::Failed] {
        let mut cell = decode();
        cell.status = status;
        cell.average_active = Some(900.0);
        assert_nothing(cell);
    }
    let bare = Cell::empty(decode().key(), CellStatus::Valid);
    assert_nothing(bare);
}

#[test]
fn adding_derived_flags_twice_adds_them_once() {
    let mut run = run(vec![
        decode(),
        Cell {
            average_active: Some(9.0),
            ..decode()
        },
    ]);
    add_derived_flags(&mut run);
    assert_eq!(run.cells[0].flags, []);
    assert_eq!(run.cells[1].flags.len(), 1);
    let once = run.clone();
    add_derived_flags(&mut run);
    assert_eq!(run, once);
}

#[test]
fn numbers_that_are_none_prove_nothing_and_break_nothing() {
    for strange in [0.0, -1.0, 1e308, f64::NAN, f64::INFINITY] {
        for cell in [decode(), prefill()] {
            let strange = Cell {
                total_tok_s: Some(strange),
                average_active: Some(strange),
                measured_s: Some(strange),
                ttft_ms: p50(strange),
                tbt_ms: p50(strange),
                chunk_gap_ms: p50(strange),
                output_tokens: Some(u64::MAX),
                prompt_tokens: Some(u64::MAX),
                cached_tokens: Some(u64::MAX),
                ..cell
            };
            let mut run = run(vec![strange]);
            add_derived_flags(&mut run);
        }
    }
}

#[test]
fn the_example_runs_get_nothing_added() {
    for text in [
        include_str!("../../../examples/runs/deepseek-v4.1-flash-4x-rtx-pro-6000.json"),
        include_str!("../../../examples/runs/glm-5.3-flash-4x-rtx-pro-6000.json"),
    ] {
        let run = RunDocument::from_json(text.as_bytes()).unwrap();
        assert!(!run.cells.is_empty());
        assert_eq!(derived_flags(&run), []);
    }
}

#[test]
fn cells_that_the_judge_judged_get_nothing_added() {
    let scenarios = [
        Scenario::decode(1).readings().build(),
        Scenario::decode(4).answers(&[31, 64]).readings().build(),
        Scenario::decode(8)
            .slots(3)
            .answers(&[31, 64])
            .readings()
            .build(),
    ];
    for samples in scenarios {
        let mut run = run(vec![judge(&samples)]);
        run.engine.max_model_len = samples.limits.max_model_len;
        run.settings.max_output_tokens = Some(samples.limits.max_output_tokens);
        assert_eq!(derived_flags(&run), []);
    }
}
