//! Faults that a client must see through: the figures are those of the server's
//! own account, or a flag says what is wrong with them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Measured, faulty, measure};
use document::{CellStatus, FlagName, Phase, TokenSource};
use load::{Progress, Stage};
use simulator::engine::FlatSpeed;
use simulator::{Config, Simulator};

/// Measures under each of the faults at the same time; what came of each, in order.
async fn with_each(faults: &[&str]) -> Vec<(String, Measured)> {
    let each = faults.iter().map(|fault| {
        let fault = (*fault).to_owned();
        tokio::spawn(async move {
            let named: Vec<&str> = fault.split_whitespace().collect();
            let run = measure(faulty(&named), |_| {}).await;
            (fault, run)
        })
    });
    let mut runs = Vec::new();
    for run in each.collect::<Vec<_>>() {
        runs.push(run.await.unwrap());
    }
    runs
}

fn assert_true(fault: &str, run: &Measured) {
    let cell = run.decode();
    assert_eq!(cell.status, CellStatus::Valid, "{fault}: {cell:#?}");
    run.truth.check(fault, cell, run.samples_of(cell.key()));
    // Times are the server's own: 20 ms and 4 ms, and a busy machine adds to them.
    let ttft_ms = cell.ttft_ms_p50().unwrap();
    assert!((19.0..60.0).contains(&ttft_ms), "{fault}: TTFT {ttft_ms}");
    if let Some(tbt_ms) = cell.tbt_ms_p50() {
        assert!((3.6..6.0).contains(&tbt_ms), "{fault}: TBT {tbt_ms}");
    }
    let disputed = |f: &document::Flag| f.name == FlagName::TokenCountDisputed;
    assert!(
        !cell.flags.iter().any(disputed),
        "{fault}: {:?}",
        cell.flags
    );
    let prefill = run.prefill();
    assert_eq!(prefill.status, CellStatus::Valid, "{fault}: {prefill:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn oddities_of_a_stream_change_no_figure() {
    let runs = with_each(&[
        "keep-alive:events=3",
        "no-done",
        "finish-apart",
        "role-only-first:count=5",
        "split-utf8",
        "split-utf8 keep-alive:events=1 finish-apart no-done",
    ])
    .await;
    for (fault, run) in &runs {
        assert_true(fault, run);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn usage_that_comes_seconds_later_changes_no_figure() {
    let runs = with_each(&["keep-alive:events=1000", "late-usage:ms=2000"]).await;
    for (fault, run) in &runs {
        assert_true(fault, run);
    }
    let [usual, late] = [&runs[0].1, &runs[1].1].map(|run| run.decode());
    let ratio = late.total_tok_s.unwrap() / usual.total_tok_s.unwrap();
    assert!((0.94..1.06).contains(&ratio), "{ratio}");
    let active = late.average_active.unwrap() - usual.average_active.unwrap();
    assert!(active.abs() < 0.1, "{late:#?} {usual:#?}");
    assert!(late.completed >= Some(2), "{late:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_usage_tokens_are_events_that_the_engines_counter_confirms() {
    let run = measure(faulty(&["no-usage"]), |_| {}).await;
    let cell = run.decode();
    assert_eq!(cell.status, CellStatus::Valid, "{cell:#?}");
    assert_eq!(cell.token_source, Some(TokenSource::EventsOnly));
    run.truth
        .check("no usage", cell, run.samples_of(cell.key()));
    assert!(
        !cell
            .flags
            .iter()
            .any(|f| f.name == FlagName::TokenCountDisputed),
        "{cell:#?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_usage_events_of_several_tokens_are_disputed() {
    let config = Config {
        faults: faulty(&["no-usage"]).faults,
        ..Config::flat(FlatSpeed {
            ttft_ms: 20.0,
            tbt_ms: 2.0,
            tokens_per_event: 4,
        })
    };
    let run = measure(config, |_| {}).await;
    let cell = run.decode();
    let disputed = |f: &document::Flag| f.name == FlagName::TokenCountDisputed;
    assert!(cell.flags.iter().any(disputed), "{cell:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reasoning_counts_as_tokens_in_either_field_and_the_answer_has_its_own_time() {
    let faults = [
        "reasoning:tokens=30",
        "reasoning-content:tokens=30",
        "reasoning:tokens=0",
    ];
    for (fault, run) in &with_each(&faults).await {
        assert_true(fault, run);
        let first_answer = run.decode().first_answer_ms.and_then(|ms| ms.p50);
        if fault.ends_with("=0") {
            assert_eq!(first_answer, None, "{fault}: the whole answer is reasoning");
        } else {
            // 20 ms to the first token, and 30 tokens of 4 ms.
            let ms = first_answer.unwrap();
            assert!((135.0..240.0).contains(&ms), "{fault}: {ms}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_that_come_with_the_finish_are_counted() {
    for (fault, run) in &with_each(&["tokens-with-finish:tokens=8"]).await {
        assert_true(fault, run);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_in_one_event_has_no_time_between_tokens() {
    let run = measure(faulty(&["all-at-once"]), |options| {
        options.plan.max_output_tokens = 20;
    })
    .await;
    let cell = run.decode();
    assert_eq!(cell.status, CellStatus::Valid, "{cell:#?}");
    assert_eq!(cell.tbt_ms, None);
    assert_eq!(cell.per_request_tok_s, None);
    run.truth
        .check("all at once", cell, run.samples_of(cell.key()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn looping_text_is_flagged() {
    let run = measure(faulty(&["looping-text"]), |options| {
        options.plan.max_output_tokens = 200;
        options.plan.window_s = 1.5;
    })
    .await;
    let cell = run.decode();
    let looping = cell.flags.iter().find(|f| f.name == FlagName::Repetition);
    let evidence = &looping.unwrap_or_else(|| panic!("{cell:#?}")).evidence;
    assert!(evidence.contains("loop"), "{evidence}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_stop_early_are_told_and_their_figures_stand() {
    let run = measure(faulty(&["early-stop:after=30"]), |_| {}).await;
    let cell = run.decode();
    assert_eq!(cell.status, CellStatus::Valid, "{cell:#?}");
    let short = cell.flags.iter().find(|f| f.name == FlagName::ShortOutput);
    let evidence = &short.unwrap_or_else(|| panic!("{cell:#?}")).evidence;
    assert!(evidence.contains("after 30 of 100"), "{evidence}");
    run.truth
        .check("early stop", cell, run.samples_of(cell.key()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_proxys_page_in_place_of_metrics_is_no_metrics() {
    let run = measure(faulty(&["html-metrics"]), |_| {}).await;
    let cell = run.decode();
    assert_eq!(cell.status, CellStatus::Valid, "{cell:#?}");
    assert_eq!(cell.queue_inferred, Some(true));
    run.truth
        .check("html metrics", cell, run.samples_of(cell.key()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_is_inferred_where_metrics_are_missing() {
    let config = Config {
        max_num_seqs: 2,
        ..faulty(&["html-metrics"])
    };
    let run = measure(config, |options| {
        options.plan.concurrency = vec![4];
        options.plan.window_s = 2.0;
    })
    .await;
    let cell = run.cell(Phase::Decode, 4);
    assert_eq!(cell.status, CellStatus::Queued, "{cell:#?}");
    assert_eq!(cell.queue_inferred, Some(true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_join_inside_the_window_contaminate_it() {
    let server = Simulator::start(common::server()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut options = common::options(&server.url(), folder.path());
    options.plan.window_s = 2.0;
    let (run, mut events) = common::begin(options, Default::default());
    let mut others = Vec::new();
    while let Some(event) = events.recv().await {
        let is_window = matches!(
            event,
            Progress::StageEntered {
                stage: Stage::Measuring,
                ..
            }
        );
        if is_window {
            others.push(common::truth::somebody_else(server.addr()).await);
        }
    }
    let document = run.await.unwrap().unwrap().document;
    drop(others);
    let cell = document
        .cells
        .iter()
        .find(|c| c.phase == Phase::Decode)
        .unwrap();
    let flag = cell.flags.iter().find(|f| f.name == FlagName::Contaminated);
    let evidence = &flag.unwrap_or_else(|| panic!("{cell:#?}")).evidence;
    assert!(
        evidence.contains("3 requests while 2 were ours"),
        "{evidence}"
    );
    server.stop().await;
}
