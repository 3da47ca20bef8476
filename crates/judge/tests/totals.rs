//! Totals, average active, completed and how tokens are counted.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use document::{CellSamples, CellStatus, Outcome, RequestSample, TokenSource};
use testkit::{Counting, Scenario, completed};
use tokgrid_judge::judge;

fn with(requests: Vec<RequestSample>) -> CellSamples {
    let concurrency = u32::try_from(requests.len()).unwrap();
    CellSamples {
        requests,
        ..Scenario::decode(concurrency).build()
    }
}

fn assert_within(is: f64, should: f64, share: f64) {
    assert!(
        (is - should).abs() <= share * should.abs(),
        "{is} should be {should}"
    );
}

#[test]
fn total_is_tokens_inside_the_window_over_its_length() {
    let cell = judge(&Scenario::decode(8).build());
    assert_within(cell.total_tok_s.unwrap(), 8.0 * 50.0, 1e-9);
    assert_eq!(cell.output_tokens, Some(4000));
    assert_eq!(cell.measured_s, Some(10.0));
}

#[test]
fn tokens_astride_an_edge_are_interpolated() {
    // 100 tokens each second; the window (1 s to 11 s) cuts two events in half.
    let at: Vec<f64> = (0..12).map(|i| 500.0 + 1000.0 * f64::from(i)).collect();
    let mut request = completed(0.0, &at);
    request.events.tokens_so_far = (1..=12).map(|i| 100 * i).collect();
    request.usage.as_mut().unwrap().completion_tokens = 1200;
    let cell = judge(&with(vec![request]));
    assert_eq!(cell.output_tokens, Some(1000));
    assert_eq!(cell.total_tok_s, Some(100.0));
}

#[test]
fn without_an_event_past_the_close_nothing_is_made_up() {
    // The last event came 0.5 s before the close and no other after it.
    let at: Vec<f64> = (0..11).map(|i| 500.0 + 1000.0 * f64::from(i)).collect();
    let mut request = completed(0.0, &at);
    request.outcome = Outcome::CutAtWindowEnd;
    request.events.tokens_so_far = (1..=11).map(|i| 100 * i).collect();
    assert_eq!(judge(&with(vec![request])).output_tokens, Some(950));
}

#[test]
fn the_first_event_s_tokens_come_at_once() {
    let mut request = completed(900.0, &[1100.0, 1200.0]);
    request.events.tokens_so_far = vec![8, 16];
    request.usage.as_mut().unwrap().completion_tokens = 16;
    assert_eq!(judge(&with(vec![request])).output_tokens, Some(16));
}

#[test]
fn several_tokens_an_event_make_the_same_total() {
    for tokens in 1..=8 {
        let scenario = Scenario::decode(16).tbt_ms(4.0).tokens_per_event(tokens);
        let cell = judge(&scenario.build());
        assert_within(cell.total_tok_s.unwrap(), 16.0 * 250.0, 1e-9);
    }
}

#[test]
fn average_active_falls_by_the_gaps_after_restarts_and_the_cell_stays_valid() {
    // GLM 1019K × 1: 3 s to the first token, 27 s of answer.
    let scenario = Scenario::decode(1)
        .context(1019 * 1024)
        .ttft_ms(3000.0)
        .tbt_ms(27_000.0 / 499.0)
        .answers(&[500])
        .window_s(10.0, 40.0)
        .readings();
    let cell = judge(&scenario.build());
    assert_within(cell.average_active.unwrap(), 0.9, 1e-3);
    assert_eq!(cell.status, CellStatus::Valid);
    assert!(cell.flags.is_empty(), "{:?}", cell.flags);
}

#[test]
fn average_active_of_a_full_server_is_what_it_runs_at_once() {
    let cell = judge(
        &Scenario::decode(64)
            .slots(32)
            .ttft_ms(0.0)
            .answers(&[300])
            .readings()
            .build(),
    );
    assert_within(cell.average_active.unwrap(), 32.0, 1e-9);
    assert_eq!(cell.status, CellStatus::Queued);
}

#[test]
fn completed_counts_answers_whose_last_token_lies_inside_the_window() {
    let cut = RequestSample {
        outcome: Outcome::CutAtWindowEnd,
        ..completed(3000.0, &[3100.0, 11_050.0])
    };
    let cell = judge(&with(vec![
        completed(0.0, &[500.0, 900.0]),
        completed(900.0, &[950.0, 1500.0]),
        completed(2000.0, &[2500.0, 10_900.0]),
        completed(3000.0, &[3500.0, 11_100.0]),
        cut,
    ]));
    assert_eq!(cell.completed, Some(2));
    assert_eq!(cell.failed, Some(0));
}

#[test]
fn completed_is_zero_when_answers_outlast_the_window() {
    assert_eq!(judge(&Scenario::decode(2).build()).completed, Some(0));
}

#[test]
fn a_running_count_is_the_first_source() {
    let cell = judge(&Scenario::decode(2).tokens_per_event(3).build());
    assert_eq!(cell.token_source, Some(TokenSource::ContinuousUsage));
    assert!(cell.remarks.is_empty(), "{:?}", cell.remarks);
}

#[test]
fn an_engine_known_for_one_token_an_event_is_the_second() {
    let mut samples = Scenario::decode(2)
        .counting(Counting::FinalUsage)
        .answers(&[200])
        .build();
    samples.limits.one_token_per_event = true;
    // An end-of-sequence token without text does not shake it.
    for request in &mut samples.requests {
        if let Some(usage) = &mut request.usage {
            usage.completion_tokens += 1;
        }
    }
    let cell = judge(&samples);
    assert_eq!(cell.token_source, Some(TokenSource::EventIsToken));
    assert!(cell.flags.is_empty(), "{:?}", cell.flags);
}

#[test]
fn an_engine_known_for_one_token_an_event_needs_no_usage() {
    let mut samples = Scenario::decode(2).counting(Counting::Nothing).build();
    samples.limits.one_token_per_event = true;
    assert_eq!(
        judge(&samples).token_source,
        Some(TokenSource::EventIsToken)
    );
}

#[test]
fn final_usage_spread_over_the_events_is_the_third() {
    let scenario = Scenario::decode(4).tokens_per_event(4).answers(&[200]);
    let told = judge(&scenario.clone().build());
    let mut samples = scenario.counting(Counting::FinalUsage).build();
    for is_known_for_one in [false, true] {
        samples.limits.one_token_per_event = is_known_for_one;
        let spread = judge(&samples);
        assert_eq!(spread.token_source, Some(TokenSource::SpreadUsage));
        assert_within(
            spread.total_tok_s.unwrap(),
            told.total_tok_s.unwrap(),
            0.005,
        );
        assert_eq!(spread.remarks.len(), 1, "{:?}", spread.remarks);
    }
}

#[test]
fn without_any_usage_events_are_counted_and_said() {
    let cell = judge(
        &Scenario::decode(2)
            .counting(Counting::Nothing)
            .readings()
            .build(),
    );
    assert_eq!(cell.token_source, Some(TokenSource::EventsOnly));
    assert_eq!(cell.remarks.len(), 1, "{:?}", cell.remarks);
}

#[test]
fn the_weakest_source_among_the_streams_is_named() {
    let mut samples = Scenario::decode(2).answers(&[200]).build();
    samples.requests[1].events.tokens_so_far.clear();
    let cell = judge(&samples);
    assert_ne!(cell.token_source, Some(TokenSource::ContinuousUsage));
}

#[test]
fn a_running_count_that_falls_is_not_believed() {
    let mut request = completed(900.0, &[1100.0, 1200.0, 1300.0]);
    request.events.tokens_so_far = vec![1, 2, 0];
    request.usage.as_mut().unwrap().completion_tokens = 2;
    assert_eq!(judge(&with(vec![request])).output_tokens, Some(2));
}

#[test]
fn what_was_not_measured_is_none_and_never_zero() {
    let mut samples = Scenario::decode(2).build();
    samples.requests.clear();
    let cell = judge(&samples);
    assert_eq!(cell.ttft_ms, None);
    assert_eq!(cell.tbt_ms, None);
    assert_eq!(cell.per_request_tok_s, None);
    assert_eq!(cell.chunk_gap_ms, None);
    assert_eq!(cell.first_answer_ms, None);
    assert_eq!(cell.prompt_tokens, None);
    assert_eq!(cell.cached_tokens, None);
    assert_eq!(cell.kv_used_peak, None);
    assert_eq!(cell.token_source, None);
    assert_eq!(cell.total_tok_s_ci95, None);
    assert_eq!(cell.engine_prefill_ms, None);
}

#[test]
fn kv_use_is_the_peak_inside_the_window() {
    let mut samples = Scenario::decode(1).readings().build();
    for (i, reading) in samples.readings.iter_mut().enumerate() {
        reading.kv_used = Some(if i == 0 { 0.99 } else { 0.25 });
    }
    assert_eq!(judge(&samples).kv_used_peak, Some(0.25));
}
