//! Faults that spoil a cell: it fails, and says why in words.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Measured, faulty, measure, try_measure};
use document::{Cell, CellStatus};

/// A failed cell gives a reason with these words, and no figure at all.
fn assert_failed(cell: &Cell, words: &[&str]) {
    assert_eq!(cell.status, CellStatus::Failed, "{cell:#?}");
    let reason = cell.reason.as_deref().unwrap();
    for word in words {
        assert!(reason.contains(word), "{word:?} is not in: {reason}");
    }
    let figures = [
        cell.total_tok_s,
        cell.per_request_tok_s,
        cell.average_active,
    ];
    assert_eq!(figures, [None; 3], "{cell:#?}");
    let latencies = [
        cell.ttft_ms,
        cell.tbt_ms,
        cell.first_answer_ms,
        cell.chunk_gap_ms,
    ];
    assert_eq!(latencies, [None; 4], "{cell:#?}");
}

async fn with(fault: &str) -> Measured {
    measure(faulty(&[fault]), |_| {}).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_breaks_off_fails_the_cell_and_not_the_run() {
    let run = with("die-mid-stream:after=20").await;
    assert_eq!(run.prefill().status, CellStatus::Valid);
    assert_failed(run.decode(), &["broke off", "after 20 events"]);
    assert!(run.decode().failed >= Some(1));
    assert_eq!(run.interruption, None);
    assert!(run.document.finished_at.is_some());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_bad_stream_among_good_ones_is_enough() {
    let run = with("die-mid-stream:after=20,every=4").await;
    assert_failed(run.decode(), &["broke off"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_breaks_off_before_its_first_token_fails_prefill_too() {
    let run = with("die-mid-stream:after=0").await;
    assert_failed(run.prefill(), &["broke off"]);
    assert_failed(run.decode(), &["broke off"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_stalls_fails_the_cell_by_its_limit() {
    let run = measure(faulty(&["stall-mid-stream:after=20"]), |options| {
        options.plan.window_s = 5.0;
    })
    .await;
    let words = ["silent", "for 1 s after 20 events", "--stall-timeout"];
    assert_failed(run.decode(), &words);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stall_that_is_shorter_than_the_limit_is_no_figure_either() {
    let run = measure(faulty(&["stall-mid-stream:after=20"]), |options| {
        options.patience.next_event_s = 60.0;
    })
    .await;
    assert_failed(run.decode(), &["went silent", "no token in the last"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_at_all_fails_by_its_limit_and_is_not_waited_for_twice() {
    let begun = std::time::Instant::now();
    let run = measure(faulty(&["never-answer"]), |options| {
        options.patience.first_token_s = 1.0;
        options.plan.concurrency = vec![1, 2, 3, 4, 5, 6, 7, 8];
    })
    .await;
    let words = ["no token came within 1 s", "--first-token-timeout"];
    assert_failed(run.prefill(), &words);
    assert_failed(run.decode(), &words);
    assert_eq!(run.document.cells.len(), 9);
    // Nine cells of one second each, had each waited for itself.
    assert!(begun.elapsed().as_secs() < 8, "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn comments_keep_a_connection_alive_and_not_an_answer() {
    let faults = ["stall-mid-stream:after=0", "keep-alive:events=1"];
    let run = measure(faulty(&faults), |options| {
        options.patience.first_token_s = 1.0
    })
    .await;
    assert_failed(run.prefill(), &["no token came within 1 s"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_stream_without_an_answer_fails_the_cell_though_the_others_flow() {
    // The scout is answered, then every second request is not.
    let run = with("never-answer:skip=1,every=2").await;
    assert_eq!(run.prefill().status, CellStatus::Valid);
    assert_failed(run.decode(), &["no token came within 2 s"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_fails_the_cell_with_status_and_words() {
    let run = with("status-500:skip=1").await;
    assert_failed(
        run.decode(),
        &["HTTP 500", "EngineCore encountered an issue"],
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_refuses_everything_fails_every_cell_at_once() {
    let run = with("status-500").await;
    assert_failed(run.prefill(), &["HTTP 500"]);
    assert_failed(run.decode(), &["HTTP 500"]);
    assert_eq!(run.interruption, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_inside_a_stream_fails_the_cell_with_its_words() {
    let run = with("error-in-stream:after=20").await;
    let words = ["an error inside the stream", "EngineCore"];
    assert_failed(run.decode(), &words);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_in_place_of_a_stream_fails_the_cell() {
    let run = with("html:skip=1").await;
    assert_failed(run.decode(), &["text/html", "502 Bad Gateway"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_everywhere_are_no_server_to_measure() {
    let error = try_measure(faulty(&["html"]), |_| {}).await.err().unwrap();
    assert!(error.is_servers());
    assert!(error.to_string().contains("web site"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_are_not_ours_fail_cells_that_wait_for_rest() {
    let run = with("leftover:count=3").await;
    let words = ["other traffic", "3 requests"];
    assert_failed(run.prefill(), &words);
    assert_failed(run.decode(), &words);
}
