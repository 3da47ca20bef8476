//! Against a server of fixed times with a log of what it really sent: TTFT and
//! time between tokens within 1 %, totals within 0.5 % of the log.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

mod common;

use common::{CONTEXT, Measured, measure};
use document::{CellKey, CellSamples, Phase};
use simulator::Config;
use simulator::engine::FlatSpeed;

/// Figures that are read from a whole run, not from one event.
const LATENCY_SHARE: f64 = 0.01;
const TOTAL_SHARE: f64 = 0.005;

struct Case {
    ttft_ms: f64,
    tbt_ms: f64,
    tokens_per_event: u32,
    streams: u32,
    /// Tokens in an answer: longer or shorter than the window.
    answer_tokens: u64,
}

async fn run(case: &Case) -> Measured {
    let speed = FlatSpeed {
        ttft_ms: case.ttft_ms,
        tbt_ms: case.tbt_ms,
        tokens_per_event: case.tokens_per_event,
    };
    let config = Config {
        max_num_seqs: 512,
        kv_tokens: 1 << 24,
        ..Config::flat(speed)
    };
    measure(config, |options| {
        options.plan.concurrency = vec![case.streams];
        options.plan.max_output_tokens = case.answer_tokens;
        options.plan.window_s = 3.0;
    })
    .await
}

async fn assert_exact(case: Case) {
    let measured = run(&case).await;
    let key = CellKey {
        phase: Phase::Decode,
        context_tokens: CONTEXT,
        concurrency: case.streams,
    };
    let cell = measured.cell(key.phase, key.concurrency);
    let what = format!(
        "{} streams, {} tokens an event, answers of {}",
        case.streams, case.tokens_per_event, case.answer_tokens
    );
    assert_eq!(cell.flags, [], "{what}: {:?}", cell.reason);
    let off = |here: f64, there: f64| here / there - 1.0;
    let samples = measured.samples_of(key);
    let true_tokens = true_tokens(&measured, samples);
    let counted = cell
        .token_ledger
        .and_then(|ledger| ledger.client_tokens)
        .expect("counted");
    let total = off(counted, true_tokens);
    let tbt = off(
        cell.tbt_ms_p50().expect("measured"),
        true_tbt_ms_p50(&measured),
    );
    let true_ttft_ms = true_ttft_ms_p50(&measured, samples);
    let ttft = off(cell.ttft_ms_p50().expect("measured"), true_ttft_ms);
    let nominal_ttft = off(cell.ttft_ms_p50().expect("measured"), case.ttft_ms);
    println!(
        "{what}: total {:+.3} %, TBT {:+.3} %, TTFT {:+.3} % (of the nominal {:+.2} %)",
        total * 100.0,
        tbt * 100.0,
        ttft * 100.0,
        nominal_ttft * 100.0
    );
    assert!(total.abs() <= TOTAL_SHARE, "{what}: total off by {total}");
    assert!(tbt.abs() <= LATENCY_SHARE, "{what}: TBT off by {tbt}");
    assert!(ttft.abs() <= LATENCY_SHARE, "{what}: TTFT off by {ttft}");
}

/// Tokens by the server's log, those of an event astride an edge shared out over
/// the time since the event before it: with streams in step, a whole burst would
/// otherwise lie on one side or the other.
fn true_tokens(measured: &Measured, samples: &CellSamples) -> f64 {
    let window = samples.window.expect("a window");
    let by = |events: &[(u64, u32)], at: f64| -> f64 {
        let mut tokens = 0.0;
        let mut before = None;
        for (event_us, of_event) in events {
            let (event_us, of_event) = (*event_us as f64, f64::from(*of_event));
            if event_us <= at {
                tokens += of_event;
            } else if let Some(before) = before {
                return tokens + of_event * (at - before) / (event_us - before);
            } else {
                return 0.0;
            }
            before = Some(event_us);
        }
        tokens
    };
    let on_server = |at_us: u64| measured.truth.on_server_us(samples, at_us) as f64;
    let (open, close) = (on_server(window.open_us.0), on_server(window.close_us.0));
    measured
        .truth
        .requests
        .iter()
        .map(|r| by(&r.events, close) - by(&r.events, open))
        .sum()
}

/// (last − first) / (tokens after the first event), as METHOD defines it. An answer
/// whose last event is not full takes a little longer for each of its tokens.
fn true_tbt_ms_p50(measured: &Measured) -> f64 {
    let tbt_ms = measured.truth.requests.iter().filter_map(|request| {
        let (first, last) = (request.events.first()?, request.events.last()?);
        let tokens = request
            .output_tokens
            .checked_sub(u64::from(first.1))
            .filter(|t| *t > 0)?;
        Some((last.0 - first.0) as f64 / 1e3 / tokens as f64)
    });
    judge::median(tbt_ms.collect()).expect("streams")
}

/// From the client's last written byte to the server's log of its first event: a
/// server that is asked by many at once is late to read, and that is its TTFT too.
/// Requests are paired in the order of time; a scout's answer is one token.
fn true_ttft_ms_p50(measured: &Measured, samples: &CellSamples) -> f64 {
    let sorted = |mut times: Vec<i64>| {
        times.sort_unstable();
        times
    };
    let streams = measured
        .truth
        .requests
        .iter()
        .filter(|request| request.output_tokens > 1);
    let first = sorted(
        streams
            .filter_map(|r| r.first_token_us)
            .map(|at| at as i64)
            .collect(),
    );
    let with_token = samples
        .requests
        .iter()
        .filter(|request| !request.events.is_empty());
    let sent = with_token.filter_map(|request| request.sent_us);
    let sent = sorted(
        sent.map(|at| measured.truth.on_server_us(samples, at.0))
            .collect(),
    );
    let ttft_ms = first
        .iter()
        .zip(&sent)
        .map(|(first, sent)| (first - sent) as f64 / 1e3);
    judge::median(ttft_ms.collect()).expect("streams")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_token_an_event_answers_longer_than_the_window() {
    let case = Case {
        ttft_ms: 200.0,
        tbt_ms: 20.0,
        tokens_per_event: 1,
        streams: 8,
        answer_tokens: 4096,
    };
    assert_exact(case).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn eight_tokens_an_event_answers_shorter_than_the_window() {
    let case = Case {
        ttft_ms: 200.0,
        tbt_ms: 10.0,
        tokens_per_event: 8,
        streams: 16,
        answer_tokens: 80,
    };
    assert_exact(case).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_tokens_an_event_with_a_ragged_end() {
    let case = Case {
        ttft_ms: 100.0,
        tbt_ms: 15.0,
        tokens_per_event: 3,
        streams: 4,
        answer_tokens: 100,
    };
    assert_exact(case).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a minute, and a machine with little else to do: every number of tokens, up to 256 streams"]
async fn every_shape_up_to_256_streams() {
    for streams in [1, 16, 64, 256] {
        for tokens_per_event in [1, 2, 4, 8] {
            for answer_tokens in [4096, 96] {
                let case = Case {
                    ttft_ms: 200.0,
                    tbt_ms: 20.0,
                    tokens_per_event,
                    streams,
                    answer_tokens,
                };
                assert_exact(case).await;
            }
        }
    }
}
