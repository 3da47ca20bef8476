//! The three counts of tokens, and when they disagree.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use document::{Cell, CellSamples, FlagName, Micros, TokenLedger};
use testkit::{Counting, Scenario};
use tokgrid_judge::judge;

fn ledger(cell: &Cell) -> TokenLedger {
    cell.token_ledger.expect("a measured cell has a ledger")
}

fn dispute(samples: &CellSamples) -> Option<String> {
    let flags = judge(samples).flags;
    let mut disputes = flags
        .into_iter()
        .filter(|f| f.name == FlagName::TokenCountDisputed);
    disputes.next().map(|flag| flag.evidence)
}

/// The engine's counter grows `factor` times as fast as it should.
fn counter_times(mut samples: CellSamples, factor: f64) -> CellSamples {
    for reading in &mut samples.readings {
        reading.generated_tokens = reading.generated_tokens.map(|tokens| tokens * factor);
    }
    samples
}

fn assert_within(is: Option<f64>, should: f64, share: f64) {
    let is = is.expect("counted");
    assert!(
        (is - should).abs() <= share * should,
        "{is} should be {should}"
    );
}

#[test]
fn all_three_counts_are_kept() {
    let counts = ledger(&judge(
        &Scenario::decode(8).answers(&[200]).readings().build(),
    ));
    // Per stream 200 tokens each 4.18 s, the gap of 200 ms included.
    assert_within(counts.client_tokens, 8.0 * 480.0, 0.02);
    assert_within(counts.engine_tokens, counts.client_tokens.unwrap(), 0.01);
    assert_eq!(counts.engine_client_tokens, counts.client_tokens);
    assert_eq!(counts.usage_tokens, counts.usage_client_tokens);
    assert!(
        counts
            .usage_tokens
            .is_some_and(|tokens| tokens >= 8.0 * 400.0)
    );
}

#[test]
fn an_engine_counter_one_percent_off_is_accepted_and_two_percent_is_not() {
    let samples = Scenario::decode(8).tbt_ms(2.0).readings().build();
    for factor in [0.991, 1.0, 1.009] {
        assert_eq!(dispute(&counter_times(samples.clone(), factor)), None);
    }
    for factor in [0.98, 1.02, 2.0] {
        let evidence = dispute(&counter_times(samples.clone(), factor)).expect("disputed");
        assert!(evidence.contains("the engine counted"), "{evidence}");
    }
}

#[test]
fn two_engine_steps_are_allowed_where_they_are_more_than_one_percent() {
    // 25 steps of 16 tokens in the window: two of them are 8 %.
    let samples = Scenario::decode(4)
        .tbt_ms(100.0)
        .tokens_per_event(4)
        .readings()
        .build();
    assert_eq!(dispute(&counter_times(samples.clone(), 1.07)), None);
    assert!(dispute(&counter_times(samples, 1.12)).is_some());
}

#[test]
fn a_queue_does_not_widen_what_may_differ() {
    // 4 of 64 run: two steps are 8 tokens of 2,000, not 128.
    let samples = Scenario::decode(64).slots(4).readings().build();
    assert_eq!(dispute(&samples), None);
    assert!(dispute(&counter_times(samples, 1.03)).is_some());
}

#[test]
fn the_engines_step_counter_tells_what_a_step_is() {
    let mut samples = Scenario::decode(4).tbt_ms(100.0).readings().build();
    for (i, reading) in samples.readings.iter_mut().enumerate() {
        reading.steps = Some(2.0 * i as f64);
    }
    assert_eq!(dispute(&counter_times(samples.clone(), 1.015)), None);
    assert!(dispute(&counter_times(samples, 1.04)).is_some());
}

#[test]
fn tokens_of_others_before_and_after_the_window_are_not_compared() {
    let mut samples = Scenario::decode(4).window_s(2.0, 8.0).readings().build();
    for reading in &mut samples.readings {
        if reading.at_us() < Micros(1_500_000) {
            reading.generated_tokens = Some(0.0);
        }
    }
    assert_eq!(dispute(&samples), None);
}

#[test]
fn a_counter_that_falls_is_not_compared() {
    let mut samples = Scenario::decode(4).readings().build();
    for reading in samples
        .readings
        .iter_mut()
        .filter(|r| r.at_us() > Micros(6_000_000))
    {
        reading.generated_tokens = reading.generated_tokens.map(|tokens| tokens - 800.0);
    }
    let cell = judge(&samples);
    assert_eq!(ledger(&cell).engine_tokens, None);
    assert!(cell.flags.is_empty(), "{:?}", cell.flags);
}

#[test]
fn readings_over_less_than_half_the_window_are_not_compared() {
    let mut samples = Scenario::decode(4).readings().build();
    samples.readings.retain(|r| r.at_us() < Micros(5_500_000));
    assert_eq!(ledger(&judge(&samples)).engine_tokens, None);
}

#[test]
fn a_slow_reading_is_no_dispute() {
    // Replies take up to 600 ms and speak of their beginning.
    let mut samples = Scenario::decode(8).window_s(1.0, 6.0).readings().build();
    let slow = samples
        .readings
        .iter_mut()
        .filter(|r| r.at_us() > Micros(5_000_000));
    for reading in slow {
        reading.answered_us = Micros(reading.asked_us.0 + 600_000);
    }
    assert_eq!(dispute(&samples), None);
}

#[test]
fn final_usage_that_differs_from_the_running_count_is_disputed() {
    let mut samples = Scenario::decode(4).answers(&[200]).build();
    let healthy = dispute(&samples);
    assert_eq!(healthy, None);
    for request in &mut samples.requests {
        request.usage = request.usage.map(|mut usage| {
            usage.completion_tokens = usage.completion_tokens * 11 / 10;
            usage
        });
    }
    let evidence = dispute(&samples).expect("disputed");
    assert!(evidence.contains("final usage says"), "{evidence}");
}

#[test]
fn events_alone_are_disputed_unless_a_counter_confirms_them() {
    let scenario = Scenario::decode(4).counting(Counting::Nothing);
    let evidence = dispute(&scenario.build()).expect("disputed");
    assert!(evidence.contains("no usage and no counter"), "{evidence}");
    assert_eq!(dispute(&scenario.clone().readings().build()), None);
    let several = scenario.tokens_per_event(3).readings();
    let evidence = dispute(&several.build()).expect("disputed");
    assert!(evidence.contains("the engine counted"), "{evidence}");
}

#[test]
fn an_engine_known_for_one_token_an_event_is_countable_without_usage() {
    let mut samples = Scenario::decode(4).counting(Counting::Nothing).build();
    samples.limits.one_token_per_event = true;
    assert_eq!(dispute(&samples), None);
}

#[test]
fn slots_are_compared_between_readings_that_saw_the_same_requests() {
    for answers in [&[4096][..], &[100], &[30, 47, 90]] {
        let cell = judge(&Scenario::decode(4).answers(answers).slot_readings().build());
        let counts = ledger(&cell);
        let (engine, client) = (
            counts.engine_tokens.unwrap(),
            counts.engine_client_tokens.unwrap(),
        );
        assert!(
            engine > 0.0 && engine <= counts.client_tokens.unwrap(),
            "{counts:?}"
        );
        assert!((engine - client).abs() <= 0.01 * engine, "{counts:?}");
        assert!(cell.flags.is_empty(), "{:?}", cell.flags);
    }
}

#[test]
fn slots_that_count_otherwise_are_disputed() {
    for answers in [&[4096][..], &[100]] {
        let mut samples = Scenario::decode(4).answers(answers).slot_readings().build();
        for slot in samples.readings.iter_mut().flat_map(|r| &mut r.slots) {
            slot.decoded_tokens *= 2;
        }
        assert!(dispute(&samples).is_some(), "{answers:?}");
    }
}

#[test]
fn a_running_count_that_does_not_run_is_not_believed() {
    let honest = Scenario::decode(2).answers(&[100]).build();
    let total = judge(&honest).total_tok_s.expect("a total");
    for count in [0, 1] {
        let mut samples = honest.clone();
        for request in &mut samples.requests {
            request.events.tokens_so_far.fill(count);
        }
        let cell = judge(&samples);
        assert_within(cell.total_tok_s, total, 0.01);
    }
}

#[test]
fn usage_beyond_what_was_asked_for_is_disputed() {
    let mut samples = Scenario::decode(2)
        .counting(Counting::FinalUsage)
        .answers(&[64])
        .build();
    samples.limits.max_output_tokens = 64;
    assert_eq!(dispute(&samples), None);
    for usage in samples.requests.iter_mut().filter_map(|r| r.usage.as_mut()) {
        usage.completion_tokens *= 10;
    }
    let evidence = dispute(&samples).expect("disputed");
    assert!(
        evidence.contains("640 tokens, where at most 64"),
        "{evidence}"
    );
}
