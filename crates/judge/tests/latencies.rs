//! Time to first token, between tokens, between events.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use document::{CellSamples, Distribution, Micros, Outcome};
use testkit::{Counting, Scenario, completed};
use tokgrid_judge::judge;

/// `samples` with its requests replaced.
fn with(requests: Vec<document::RequestSample>) -> CellSamples {
    let concurrency = u32::try_from(requests.len()).unwrap();
    CellSamples {
        requests,
        ..Scenario::decode(concurrency).build()
    }
}

fn p50(of: Option<Distribution>) -> f64 {
    of.and_then(|d| d.p50).expect("measured")
}

fn assert_close(is: f64, should: f64) {
    assert!(
        (is - should).abs() < 1e-6 * should.abs().max(1.0),
        "{is} should be {should}"
    );
}

#[test]
fn ttft_starts_when_the_request_is_sent_not_at_connect() {
    let mut request = completed(900.0, &[1100.0, 1200.0]);
    request.connect_began_us = Some(Micros(100_000));
    request.connected_us = Some(Micros(800_000));
    assert_close(p50(judge(&with(vec![request])).ttft_ms), 200.0);
}

#[test]
fn ttft_includes_the_first_wave() {
    // First tokens at 0.2 s, before the window opens at 1 s; none restarts.
    let ttft = judge(&Scenario::decode(4).build()).ttft_ms.unwrap();
    assert_eq!(ttft.n, Some(4));
    assert_close(ttft.p50.unwrap(), 200.0);
}

#[test]
fn ttft_of_a_token_after_the_close_is_not_counted_and_the_request_is_waiting() {
    let late = completed(10_900.0, &[11_100.0, 11_200.0]);
    let cell = judge(&with(vec![completed(900.0, &[1100.0, 1200.0]), late]));
    assert_eq!(cell.ttft_ms.unwrap().n, Some(1));
    assert_eq!(cell.waiting_at_end, Some(1));
    assert_eq!(cell.ttft_censored, Some(true));
}

#[test]
fn a_ttft_without_waiting_requests_is_not_censored() {
    let cell = judge(&Scenario::decode(4).build());
    assert_eq!(cell.waiting_at_end, Some(0));
    assert_eq!(cell.ttft_censored, Some(false));
}

#[test]
fn first_answer_is_told_only_where_reasoning_came_first() {
    let mut request = completed(900.0, &[1100.0, 1200.0, 1300.0]);
    assert_eq!(judge(&with(vec![request.clone()])).first_answer_ms, None);
    request.first_answer_us = Some(Micros(1_300_000));
    let cell = judge(&with(vec![request]));
    assert_close(p50(cell.first_answer_ms), 400.0);
    assert_close(p50(cell.ttft_ms), 200.0);
}

#[test]
fn time_between_tokens_leaves_out_what_the_first_event_carried() {
    // Events of 5, 4, 4 tokens 80 ms apart: 160 ms for 8 tokens, not for 12 or 13.
    let mut request = completed(1900.0, &[2000.0, 2080.0, 2160.0]);
    request.events.tokens_so_far = vec![5, 9, 13];
    request.usage.as_mut().unwrap().completion_tokens = 13;
    let cell = judge(&with(vec![request]));
    assert_close(p50(cell.tbt_ms), 20.0);
    assert_close(cell.per_request_tok_s.unwrap(), 50.0);
    assert_close(p50(cell.chunk_gap_ms), 80.0);
}

#[test]
fn time_between_tokens_is_the_same_for_one_to_eight_tokens_an_event() {
    for tokens in 1..=8 {
        let scenario = Scenario::decode(3).tokens_per_event(tokens).tbt_ms(5.0);
        for counting in [Counting::Continuous, Counting::FinalUsage] {
            let samples = scenario.clone().counting(counting).answers(&[400]).build();
            let tbt = p50(judge(&samples).tbt_ms);
            assert!(
                (tbt - 5.0).abs() < 0.05,
                "{tokens} tokens, {counting:?}: {tbt}"
            );
        }
    }
}

#[test]
fn unfinished_requests_count_for_time_between_tokens() {
    let samples = Scenario::decode(2).build();
    assert!(
        samples
            .requests
            .iter()
            .all(|r| r.outcome == Outcome::CutAtWindowEnd)
    );
    let tbt = judge(&samples).tbt_ms.unwrap();
    assert_eq!(tbt.n, Some(2));
    assert_close(tbt.p50.unwrap(), 20.0);
}

#[test]
fn time_between_tokens_sees_the_window_only() {
    // Slow before the window opens at 1 s, 10 ms a token inside.
    let mut at: Vec<f64> = (0..5).map(|i| 100.0 + 200.0 * f64::from(i)).collect();
    at.extend((0..100).map(|i| 1000.0 + 10.0 * f64::from(i)));
    assert_close(p50(judge(&with(vec![completed(0.0, &at)])).tbt_ms), 10.0);
}

#[test]
fn a_stream_with_a_few_tokens_in_the_window_does_not_sway_the_median() {
    // One stream of 20 ms a token, one that got three tokens before the close.
    let long: Vec<f64> = (0..400).map(|i| 1000.0 + 20.0 * f64::from(i)).collect();
    let samples = with(vec![
        completed(900.0, &long),
        completed(10_000.0, &[10_900.0, 10_901.0, 10_990.0]),
    ]);
    assert_close(p50(judge(&samples).tbt_ms), 20.0);
}

#[test]
fn short_answers_alone_still_have_a_time_between_tokens() {
    let cell = judge(&Scenario::decode(2).answers(&[5]).build());
    assert_close(p50(cell.tbt_ms), 20.0);
}

#[test]
fn one_token_has_a_ttft_and_no_time_between_tokens() {
    let cell = judge(&with(vec![completed(1500.0, &[2000.0])]));
    assert_close(p50(cell.ttft_ms), 500.0);
    assert_eq!(cell.tbt_ms, None);
    assert_eq!(cell.per_request_tok_s, None);
    assert_eq!(cell.chunk_gap_ms, None);
}

#[test]
fn no_latency_is_negative_even_where_a_record_is_wrong() {
    let mut request = completed(1500.0, &[1200.0, 1300.0]);
    request.first_answer_us = Some(Micros(1_250_000));
    let cell = judge(&with(vec![request]));
    assert_eq!(cell.ttft_ms, None);
    assert_eq!(cell.first_answer_ms, None);
}

#[test]
fn a_token_without_text_at_the_end_is_counted_by_final_usage() {
    // Ten events, eleven tokens: the last is the end of sequence.
    let at: Vec<f64> = (0..10).map(|i| 2000.0 + 20.0 * f64::from(i)).collect();
    let mut request = completed(1900.0, &at);
    request.usage.as_mut().unwrap().completion_tokens = 11;
    // The stream has written before the window opened.
    let cell = judge(&with(vec![completed(100.0, &[200.0]), request]));
    assert_eq!(cell.output_tokens, Some(11));
    assert!(cell.flags.is_empty(), "{:?}", cell.flags);
}
