//! A run's page is light: on the registry with its frame, and as a file of its own.

// A failed expectation is a failed test, in its helpers too.
#![allow(clippy::expect_used, clippy::panic)]
// The weights are worth reading: `cargo test --test weight -- --nocapture`.
#![allow(clippy::print_stdout)]

// Each test file takes what it needs of it.
#[allow(dead_code)]
mod common;

use common::{NAMES, Page, every_known_cell, example_run, full_run};
use document::{CellKey, Phase, RunDocument};
use site::words::Language;

/// Heaviest page, bytes.
const MAX_PAGE_BYTES: usize = 150_000;
/// What the frame of the registry may take of it, bytes.
const FRAME_BYTES: usize = 15_000;

/// 14 contexts, 8 levels and prefill at every context, with everything known.
fn large_run() -> RunDocument {
    let contexts: Vec<u64> = (0..14).map(|at| 1024 << at).collect();
    let concurrency: Vec<u32> = (0..8).map(|at| 1 << at).collect();
    let key = |phase, context_tokens, concurrency| CellKey {
        phase,
        context_tokens,
        concurrency,
    };
    let prefill = contexts.iter().map(|c| key(Phase::Prefill, *c, 1));
    let decode = contexts.iter().flat_map(|context| {
        concurrency
            .iter()
            .map(|concurrency| key(Phase::Decode, *context, *concurrency))
    });
    let cells = prefill.chain(decode).map(every_known_cell).collect();
    let mut run = full_run();
    run.settings.contexts = contexts.clone();
    run.settings.prefill_contexts = contexts;
    run.settings.concurrency = concurrency;
    RunDocument { cells, ..run }
}

#[test]
fn the_page_of_every_run_stays_under_its_weight() {
    let runs = [
        (NAMES[0], example_run(NAMES[0]), 64),
        (NAMES[1], example_run(NAMES[1]), 73),
        ("everything known", full_run(), 73),
        ("14 contexts × 8 levels, everything known", large_run(), 126),
    ];
    for (name, run, cells) in runs {
        for language in Language::ALL {
            let page = Page::of_registry(&run, language, None);
            assert_eq!(page.all("#measurements tbody tr").len(), cells);
            let bytes = page.text.len();
            println!("{name}, {language}: {bytes} bytes and the frame");
            assert!(
                bytes < MAX_PAGE_BYTES - FRAME_BYTES,
                "{name}, {language}: {bytes} bytes"
            );
        }
    }
}

#[test]
fn the_report_of_a_full_matrix_stays_under_the_weight() {
    for run in [example_run(NAMES[0]), example_run(NAMES[1]), full_run()] {
        let bytes = Page::of(&run).text.len();
        println!("report of {} cells: {bytes} bytes", run.cells.len());
        assert!(bytes < MAX_PAGE_BYTES, "{bytes} bytes");
    }
}
