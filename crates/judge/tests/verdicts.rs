//! Valid, queued, over capacity, failed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use document::{Cell, CellSamples, CellStatus, Micros, Outcome, RequestRole};
use testkit::{Counting, Scenario, completed};
use tokgrid_judge::judge;

fn failed_with(samples: &CellSamples, words: &str) -> Cell {
    let cell = judge(samples);
    assert_eq!(cell.status, CellStatus::Failed);
    let reason = cell.reason.clone().expect("a failed cell says why");
    assert!(reason.contains(words), "{reason}");
    assert_eq!(cell.total_tok_s, None, "no figure is shown");
    assert_eq!(cell.ttft_ms, None, "no figure is shown");
    assert_eq!(cell.average_active, None, "no figure is shown");
    cell
}

/// As an engine that says nothing of its queue.
fn inferred(scenario: &Scenario) -> Cell {
    let cell = judge(&scenario.build());
    assert_eq!(cell.queue_inferred, Some(true));
    cell
}

#[test]
fn a_server_that_runs_all_is_valid_by_its_own_word() {
    let cell = judge(&Scenario::decode(32).readings().build());
    assert_eq!(cell.status, CellStatus::Valid);
    assert_eq!(cell.queue_inferred, Some(false));
}

#[test]
fn a_server_that_reports_waiting_requests_is_queued_at_what_it_runs() {
    // GLM 8K at C = 64 on --max-num-seqs 32.
    let cell = judge(&Scenario::decode(64).slots(32).readings().build());
    assert_eq!(cell.status, CellStatus::Queued);
    assert_eq!(cell.queue_inferred, Some(false));
    assert_eq!(cell.waiting_at_end, Some(32));
    assert_eq!(cell.ttft_censored, Some(true));
}

#[test]
fn waiting_in_half_of_the_readings_is_no_queue_and_in_more_it_is() {
    let mut samples = Scenario::decode(2).readings().build();
    let inside: Vec<usize> = (0..samples.readings.len())
        .filter(|i| {
            let at = samples.readings[*i].at_us();
            at >= samples.window.unwrap().open_us && at <= samples.window.unwrap().close_us
        })
        .collect();
    assert_eq!(inside.len() % 2, 0);
    for i in &inside[..inside.len() / 2] {
        samples.readings[*i].waiting = Some(1.0);
    }
    assert_eq!(judge(&samples).status, CellStatus::Valid);
    samples.readings[inside[inside.len() / 2]].waiting = Some(1.0);
    assert_eq!(judge(&samples).status, CellStatus::Queued);
}

#[test]
fn waiting_before_the_window_opens_is_no_queue() {
    let mut samples = Scenario::decode(2).window_s(5.0, 8.0).readings().build();
    for reading in &mut samples.readings {
        if reading.at_us() < Micros(5_000_000) {
            reading.waiting = Some(3.0);
        }
    }
    assert_eq!(judge(&samples).status, CellStatus::Valid);
}

#[test]
fn a_silent_server_that_runs_all_is_valid_whatever_the_length_of_answers() {
    for answers in [&[4096][..], &[100], &[37, 81, 150]] {
        for concurrency in [1, 2, 8, 64] {
            let cell = inferred(&Scenario::decode(concurrency).answers(answers));
            assert_eq!(
                cell.status,
                CellStatus::Valid,
                "{concurrency} × {answers:?}"
            );
            assert!(cell.remarks.is_empty(), "{:?}", cell.remarks);
        }
    }
}

#[test]
fn a_silent_server_that_answers_in_waves_is_queued_and_that_is_said() {
    for (concurrency, slots) in [(2, 1), (8, 4), (8, 7), (32, 31), (64, 16)] {
        for answers in [&[4096][..], &[100], &[37, 81, 150]] {
            let cell = inferred(&Scenario::decode(concurrency).slots(slots).answers(answers));
            assert_eq!(
                cell.status,
                CellStatus::Queued,
                "{slots} of {concurrency}, {answers:?}"
            );
            assert!(
                cell.remarks.iter().any(|r| r.contains("inferred")),
                "{:?}",
                cell.remarks
            );
        }
    }
}

#[test]
fn a_batched_first_wave_does_not_hide_a_queue() {
    // The first wave's prompts are read together and take long, later ones do not.
    let mut ttfts = vec![60.0; 400];
    ttfts[..7].fill(800.0);
    for answers in [&[400][..], &[60]] {
        let cell = inferred(
            &Scenario::decode(8)
                .slots(7)
                .ttfts_ms(&ttfts)
                .answers(answers),
        );
        assert_eq!(cell.status, CellStatus::Queued, "{answers:?}");
    }
}

#[test]
fn a_short_wait_among_long_answers_is_a_queue() {
    // 31 of 32 run: a request waits a thirtieth of an answer, less than the first
    // wave took for its prompts. Only the streams that flow at once tell.
    let mut ttfts = vec![20.0; 4000];
    ttfts[..31].fill(900.0);
    let scenario = Scenario::decode(32).slots(31).ttfts_ms(&ttfts);
    let answers: Vec<u32> = (0..31).map(|i| 100 + i * 17 % 31).collect();
    let cell = inferred(&scenario.answers(&answers).window_s(5.0, 35.0));
    assert_eq!(cell.status, CellStatus::Queued);
}

#[test]
fn where_answers_outlast_the_first_token_the_overlap_alone_decides() {
    let mut samples = Scenario::decode(2).build();
    let at = |from: f64| -> Vec<f64> { (0..200).map(|i| from + 20.0 * f64::from(i)).collect() };
    samples.requests = vec![completed(0.0, &at(200.0)), completed(4300.0, &at(4500.0))];
    assert_eq!(judge(&samples).status, CellStatus::Queued);
}

#[test]
fn short_answers_after_long_waits_for_the_first_token_are_no_queue() {
    // 2 s to the first token, 0.1 s of answer: hardly ever do two flow at once.
    let ttfts: Vec<f64> = (0..53)
        .map(|i| 1800.0 + 400.0 * f64::from(i * 17 % 53) / 53.0)
        .collect();
    let scenario = Scenario::decode(8)
        .ttfts_ms(&ttfts)
        .answers(&[6])
        .window_s(4.0, 34.0);
    assert_eq!(inferred(&scenario).status, CellStatus::Valid);
}

#[test]
fn short_answers_in_a_queue_are_a_queue() {
    let ttfts: Vec<f64> = (0..53)
        .map(|i| 900.0 + 200.0 * f64::from(i * 17 % 53) / 53.0)
        .collect();
    let scenario = Scenario::decode(8).slots(3).ttfts_ms(&ttfts).answers(&[6]);
    assert_eq!(
        inferred(&scenario.window_s(4.0, 34.0)).status,
        CellStatus::Queued
    );
}

#[test]
fn two_streams_that_touch_as_one_takes_over_are_not_at_work_together() {
    // The new stream's first event is stamped 3 ms before the old one's last.
    let mut samples = Scenario::decode(2).build();
    let at = |from: f64| -> Vec<f64> { (0..500).map(|i| from + 10.0 * f64::from(i)).collect() };
    let old = completed(0.0, &at(200.0));
    let new = completed(0.0, &at(5187.0));
    samples.requests = vec![old, new];
    assert_eq!(judge(&samples).status, CellStatus::Queued);
}

#[test]
fn one_event_answers_are_no_queue() {
    let cell = inferred(&Scenario::decode(1).answers(&[1]));
    assert_eq!(cell.status, CellStatus::Valid);
}

#[test]
fn over_capacity_says_why_and_has_no_figures() {
    let mut samples = Scenario::decode(64).build();
    samples.over_capacity = Some("64 × (8192 + 4096) tokens exceed 500000".to_owned());
    let cell = judge(&samples);
    assert_eq!(cell.status, CellStatus::OverCapacity);
    assert_eq!(cell.reason, samples.over_capacity);
    assert_eq!(cell.total_tok_s, None);
    assert_eq!(cell.failed, None);
}

#[test]
fn each_way_to_fail_is_said_in_its_own_words() {
    let ways = [
        (
            Outcome::Refused {
                status: 500,
                message: "out of memory".to_owned(),
            },
            "HTTP 500",
        ),
        (
            Outcome::Broke {
                reason: "closed without a finish reason".to_owned(),
            },
            "broke off",
        ),
        (
            Outcome::TimedOut {
                reason: "no token in 60 s".to_owned(),
            },
            "silent",
        ),
    ];
    for (outcome, words) in ways {
        let mut samples = Scenario::decode(4).build();
        samples.requests[2].outcome = outcome;
        let cell = failed_with(&samples, words);
        assert_eq!(cell.failed, Some(1));
    }
}

#[test]
fn several_failures_are_counted_and_the_earliest_is_told() {
    let mut samples = Scenario::decode(4).build();
    for (i, at) in [(0, 3_000_000), (1, 2_000_000), (3, 4_000_000)] {
        samples.requests[i].closed_us = Some(Micros(at));
        samples.requests[i].outcome = Outcome::Broke {
            reason: format!("number {i}"),
        };
    }
    let cell = failed_with(&samples, "number 1 (and 2 more)");
    assert_eq!(cell.failed, Some(3));
}

#[test]
fn a_server_that_did_not_drain_fails_the_cell() {
    let mut samples = Scenario::decode(1).build();
    samples.failure = Some("other traffic: 2 requests still running after 30 s".to_owned());
    failed_with(&samples, "other traffic");
}

#[test]
fn a_failed_warm_up_fails_the_cell() {
    let mut samples = Scenario::decode(1).build();
    let mut warmup = completed(0.0, &[100.0]);
    warmup.role = RequestRole::Warmup;
    warmup.outcome = Outcome::Refused {
        status: 400,
        message: "too long".to_owned(),
    };
    samples.requests.insert(0, warmup);
    failed_with(&samples, "too long");
}

#[test]
fn streams_that_were_cut_are_no_failures() {
    let cell = judge(&Scenario::decode(4).build());
    assert_eq!((cell.status, cell.failed), (CellStatus::Valid, Some(0)));
}

#[test]
fn a_warm_up_wave_cut_before_the_window_is_no_stall() {
    let mut samples = Scenario::decode(2).window_s(8.0, 18.0).build();
    let mut warmup = completed(0.0, &[100.0, 120.0]);
    warmup.role = RequestRole::Warmup;
    warmup.outcome = Outcome::CutAtWindowEnd;
    samples.requests.insert(0, warmup);
    assert_eq!(judge(&samples).status, CellStatus::Valid);
}

#[test]
fn an_answer_without_a_single_token_fails_the_cell() {
    let mut samples = Scenario::decode(2).build();
    samples.requests.push(completed(5000.0, &[]));
    failed_with(&samples, "without a single token");
}

#[test]
fn a_stream_that_falls_silent_fails_the_cell() {
    for events in [1, 20, 150] {
        let mut samples = Scenario::decode(4).build();
        let stalled = &mut samples.requests[1].events;
        stalled.at_us.truncate(events);
        stalled.tokens_so_far.truncate(events);
        failed_with(&samples, "went silent");
    }
}

#[test]
fn a_short_pause_at_the_close_is_no_stall() {
    let mut samples = Scenario::decode(4).build();
    let paused = &mut samples.requests[1].events;
    paused.at_us.truncate(400);
    paused.tokens_so_far.truncate(400);
    assert_eq!(judge(&samples).status, CellStatus::Valid);
}

#[test]
fn slow_events_are_no_stall() {
    // One event every 4 s in a window of 10 s.
    let scenario = Scenario::decode(2).tbt_ms(1000.0).tokens_per_event(4);
    let mut samples = scenario.window_s(20.0, 30.0).build();
    for request in &mut samples.requests {
        // The event past the close never came.
        request.events.at_us.pop();
        request.events.at_us.pop();
        request.events.tokens_so_far.pop();
        request.events.tokens_so_far.pop();
    }
    assert_eq!(judge(&samples).status, CellStatus::Valid);
}

#[test]
fn a_preempted_request_is_silent_and_no_failure() {
    let mut samples = Scenario::decode(4).readings().build();
    let silent = &mut samples.requests[1].events;
    silent.at_us.truncate(100);
    silent.tokens_so_far.truncate(100);
    for reading in samples
        .readings
        .iter_mut()
        .filter(|r| r.at_us() > Micros(2_200_000))
    {
        reading.preemptions = Some(1.0);
    }
    assert_ne!(judge(&samples).status, CellStatus::Failed);
}

#[test]
fn a_cell_that_never_got_ready_fails() {
    let mut samples = Scenario::decode(2).build();
    samples.window = None;
    failed_with(&samples, "never got ready");
    let window = Scenario::decode(2).window_s(3.0, 3.0).build().window;
    samples.window = window;
    failed_with(&samples, "never got ready");
}

#[test]
fn a_queue_does_not_depend_on_how_tokens_are_counted() {
    for counting in [Counting::Continuous, Counting::FinalUsage] {
        let scenario = Scenario::decode(8)
            .slots(4)
            .answers(&[100])
            .counting(counting);
        assert_eq!(inferred(&scenario).status, CellStatus::Queued);
    }
}

#[test]
fn one_request_alone_is_never_queued() {
    // Answers of one event do not overlap with anything, not even themselves.
    let samples = Scenario::decode(1)
        .answers(&[1])
        .ttfts_ms(&[16.0, 160.0, 40.0])
        .build();
    assert_ne!(judge(&samples).status, CellStatus::Queued);
}
