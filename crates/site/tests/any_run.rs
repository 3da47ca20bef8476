//! A report of whatever was measured: partly, badly, or not at all.

// A failed expectation is a failed test, in its helpers too.
#![allow(clippy::expect_used, clippy::panic)]

// Each test file takes what it needs of it.
#[allow(dead_code)]
mod common;

use common::{
    NAMES, Page, decode_cell, empty_run, example_run, failed_cell, flagged, prefill_cell, raw,
    run_of, selector,
};
use document::{Cell, CellStatus, FlagName, Source};

/// What is struck through in a row of All measurements, by column.
fn struck(page: &Page, row: usize) -> Vec<usize> {
    let is_struck = selector("s");
    page.all("#measurements tbody tr")[row]
        .select(&selector("td"))
        .enumerate()
        .filter(|(_, cell)| cell.select(&is_struck).next().is_some())
        .map(|(column, _)| column)
        .collect()
}

#[test]
fn a_run_without_cells_is_a_page_that_says_so() {
    let page = Page::of(&empty_run());
    assert_eq!(page.words_of("h1"), "A model that was not named");
    assert_eq!(
        page.words_of(".warning"),
        "Incomplete. Nothing was measured."
    );
    assert!(
        page.words_of("#measurements")
            .contains("Nothing was measured.")
    );
    for absent in [
        "#decode",
        "#prefill",
        "#curve",
        "#per-request",
        "#doubts",
        "#evidence",
        "table",
    ] {
        assert!(page.all(absent).is_empty(), "{absent}");
    }
}

#[test]
fn one_cell_is_a_whole_page() {
    let page = Page::of(&run_of(vec![decode_cell(8192, 4, 100.0)]));
    assert_eq!(
        page.all_words(".meta")[0],
        "1 context (8K) × 1 concurrency level (4)"
    );
    assert_eq!(page.table("#decode table"), [["8K", "100.0 80 ms TTFT"]]);
    assert_eq!(
        page.all_words(".lead li"),
        [
            "25.0 tok/s for each of 4 requests at 8K",
            "100.0 tok/s most in all: 4 at once, 8K",
            "1 valid cell every cell of the matrix",
        ]
    );
    assert!(page.all(".warning").is_empty());
    assert!(page.all("#curve").is_empty(), "one point is no curve");
}

#[test]
fn what_an_interrupted_run_did_not_reach_is_said_to_be_not_measured() {
    let mut run = run_of(vec![prefill_cell(1024, 500.0), decode_cell(1024, 1, 20.0)]);
    run.finished_at = None;
    run.settings.contexts = vec![1024, 4096];
    run.settings.concurrency = vec![1, 2];
    run.settings.prefill_contexts = vec![1024, 4096];
    let page = Page::of(&run);
    assert_eq!(
        page.words_of(".warning"),
        "Incomplete. The run was interrupted: 4 cells were not measured."
    );
    assert_eq!(
        page.table("#decode table"),
        [
            ["1K", "20.0 80 ms TTFT", "not measured"],
            ["4K", "not measured", "not measured"]
        ]
    );
    assert_eq!(
        page.table("#prefill table")[1],
        ["4K context", "", "—", "— not measured"]
    );
    assert_eq!(page.table("#measurements table").len(), 2);
}

#[test]
fn an_import_without_an_end_is_not_called_interrupted() {
    let mut run = run_of(vec![decode_cell(1024, 1, 20.0)]);
    run.finished_at = None;
    run.source = Source::Imported;
    assert!(Page::of(&run).all(".warning").is_empty());
}

#[test]
fn a_failed_cell_shows_its_reason_and_no_figure() {
    let reason = "the server refused a request (HTTP 500): out of memory";
    let page = Page::of(&run_of(vec![
        decode_cell(1024, 1, 20.0),
        failed_cell(1024, 2, reason),
    ]));
    let row = &page.table("#measurements table")[1];
    assert_eq!(row[3], "Failed");
    assert!(row[4..].iter().all(|text| text == "—"), "{row:?}");
    assert_eq!(page.table("#decode table")[0][2], "Failed");
    assert_eq!(
        page.table("#doubts table"),
        [["Sustained decode, 1K × 2", "failed", "all figures", reason]]
    );
    let sentence = CellStatus::Failed.sentence().expect("a sentence");
    assert!(
        page.all_words("#decode .note")
            .contains(&sentence.to_owned())
    );
}

#[test]
fn a_figure_taken_away_is_struck_through_with_its_flag_named() {
    let page = Page::of(&run_of(vec![
        flagged(prefill_cell(1024, 500.0), FlagName::PrefixCacheHit),
        flagged(decode_cell(1024, 1, 20.0), FlagName::Contaminated),
        flagged(decode_cell(1024, 2, 30.0), FlagName::Unsteady),
        flagged(decode_cell(1024, 4, 40.0), FlagName::PrefixCacheMiss),
        flagged(decode_cell(1024, 8, 50.0), FlagName::Preempted),
    ]));
    assert_eq!(
        struck(&page, 0),
        [4, 6, 9],
        "prompt tok/s, TTFT and the count"
    );
    assert_eq!(struck(&page, 1), [4, 5, 6, 7, 8, 9, 10, 11], "everything");
    assert_eq!(struck(&page, 2), [4, 10], "total and tokens");
    assert_eq!(struck(&page, 3), [6], "TTFT");
    assert_eq!(struck(&page, 4), Vec::<usize>::new());
    let heat = &page.table("#decode table")[0];
    assert_eq!(heat[1], "20.0 contaminated 80 ms TTFT");
    assert_eq!(heat[2], "30.0 unsteady 80 ms TTFT");
    assert_eq!(heat[3], "40.0 prefix_cache_miss 80 ms TTFT");
    assert_eq!(heat[4], "50.0 80 ms TTFT");
    let doubts = page.table("#doubts table");
    let takes: Vec<&str> = doubts.iter().map(|row| row[2].as_str()).collect();
    assert_eq!(
        takes,
        [
            "all figures",
            "all figures",
            "total tok/s",
            "TTFT",
            "nothing"
        ]
    );
    assert_eq!(doubts[1][3], "evidence of contaminated");
}

#[test]
fn a_figure_taken_away_leads_nothing_and_colours_nothing() {
    let page = Page::of(&run_of(vec![
        decode_cell(1024, 1, 20.0),
        flagged(decode_cell(1024, 2, 9000.0), FlagName::TokenCountDisputed),
    ]));
    assert!(page.all_words(".lead li")[1].starts_with("20.0 tok/s"));
    let cells = page.all("#decode tbody td");
    assert_eq!(cells[0].attr("class"), Some("h4"));
    assert_eq!(cells[1].attr("class"), Some("plain"));
    let high = page.all_words("#decode .scale span");
    assert!(high.iter().all(|text| !text.contains("9,000")), "{high:?}");
}

#[test]
fn a_ttft_of_requests_still_waiting_is_marked_as_a_lower_bound() {
    let cell = Cell {
        status: CellStatus::Queued,
        ttft_censored: Some(true),
        waiting_at_end: Some(3),
        queue_inferred: Some(true),
        ..decode_cell(1024, 8, 50.0)
    };
    let page = Page::of(&run_of(vec![cell]));
    assert_eq!(
        page.table("#decode table")[0][1],
        "50.0 Requests queued ≥ 80 ms TTFT"
    );
    assert_eq!(page.table("#measurements table")[0][6], "≥ 80 ms");
    let notes = page.all_words("#decode .note");
    assert!(
        notes.iter().any(|note| note.starts_with("≥: ")),
        "{notes:?}"
    );
    assert_eq!(page.table("#doubts table")[0][1], "queue inferred");
    let counting = page.table("#counting table");
    assert_eq!(counting, [["Sustained decode", "1K", "8", "3"]]);
}

#[test]
fn a_machine_without_a_gpu_is_named_by_its_processor() {
    let mut run = run_of(vec![decode_cell(1024, 1, 20.0)]);
    run.hardware.cpu = Some("AMD EPYC 7B13".to_owned());
    run.hardware.ram_gb = Some(15.6);
    assert!(
        Page::of(&run)
            .words_of("h1")
            .ends_with("on AMD EPYC 7B13, 15.6 GB")
    );
    run.hardware.cpu = None;
    run.hardware.ram_gb = None;
    run.hardware.kind = Some("CPU only".to_owned());
    assert!(Page::of(&run).words_of("h1").ends_with("on CPU only"));
}

#[test]
fn a_gpu_that_names_its_memory_does_not_name_it_twice() {
    let mut run = run_of(vec![decode_cell(1024, 1, 20.0)]);
    run.hardware.gpu = Some("NVIDIA H100 80GB HBM3".to_owned());
    run.hardware.gpu_count = Some(1);
    run.hardware.vram_gb_each = Some(80.0);
    let page = Page::of(&run);
    assert!(page.words_of("h1").ends_with("on NVIDIA H100 80GB HBM3"));
    let vram = ("VRAM".to_owned(), "80 GB".to_owned());
    assert!(page.facts("Hardware").contains(&vram));
}

#[test]
fn a_context_that_is_no_whole_k_is_written_in_tokens() {
    let page = Page::of(&run_of(vec![decode_cell(1000, 1, 20.0)]));
    assert_eq!(page.table("#decode table")[0][0], "1,000");
}

#[test]
fn cells_measured_in_any_order_stand_in_the_order_of_the_pages() {
    let page = Page::of(&run_of(vec![
        decode_cell(4096, 1, 10.0),
        prefill_cell(4096, 400.0),
        decode_cell(1024, 2, 30.0),
        prefill_cell(1024, 500.0),
        decode_cell(1024, 1, 20.0),
    ]));
    let rows = page.table("#measurements table");
    let places: Vec<String> = rows.iter().map(|row| row[..3].join(" ")).collect();
    assert_eq!(
        places,
        [
            "Prefill 1K 1",
            "Prefill 4K 1",
            "Sustained decode 1K 1",
            "Sustained decode 1K 2",
            "Sustained decode 4K 1"
        ]
    );
}

#[test]
fn scaling_is_against_one_request_of_the_same_context() {
    let page = Page::of(&run_of(vec![
        decode_cell(1024, 1, 20.0),
        decode_cell(1024, 4, 60.0),
        decode_cell(4096, 4, 60.0),
    ]));
    let rows = page.table("#per-request table");
    assert_eq!(rows[0], ["1K", "20.0 100 % scaling", "15.0 75 % scaling"]);
    assert_eq!(rows[1], ["4K", "not measured", "15.0"]);
}

#[test]
fn percentiles_are_shown_where_more_than_the_median_is_known() {
    let page = Page::of(&run_of(vec![decode_cell(1024, 1, 20.0)]));
    assert_eq!(
        page.table("#percentiles-ttft table"),
        [[
            "Sustained decode",
            "1K",
            "1",
            "80.0",
            "96.0",
            "104.0",
            "120.0",
            "40.0",
            "160.0",
            "88.0",
            "1,234"
        ]]
    );
    assert!(
        Page::of(&example_run(NAMES[0]))
            .all("#percentiles-ttft")
            .is_empty()
    );
}

#[test]
fn how_to_reproduce_is_a_command_that_a_shell_takes_as_one() {
    let mut run = run_of(vec![decode_cell(1024, 1, 20.0)]);
    run.model.served_name = Some("it's $(id)".to_owned());
    run.settings.contexts = vec![1024, 1000];
    run.settings.concurrency = vec![1, 2];
    run.settings.window_s = Some(2.5);
    run.settings.max_output_tokens = Some(1024);
    run.settings.seed = Some(7);
    let command = raw(Page::of(&run).one("#reproduce pre"));
    assert_eq!(
        command.replace(" \\\n  ", " "),
        r"tokgrid run --url http://localhost:8000 --model 'it'\''s $(id)' --contexts 1k,1000 --concurrency 1,2 --duration 2.5s --max-output 1024 --seed 7"
    );
}
