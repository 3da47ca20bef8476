//! Every flag of a decode cell, with a pathology and a healthy twin.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use document::{CellSamples, FlagName, Micros, Outcome, Repetition};
use testkit::{Counting, Scenario};
use tokgrid_judge::judge;

fn flagged(samples: &CellSamples, name: FlagName) -> Option<String> {
    let cell = judge(samples);
    assert!(
        cell.total_tok_s.is_some(),
        "a flag keeps the figures: {:?}",
        cell.reason
    );
    let mut flags = cell.flags.into_iter().filter(|flag| flag.name == name);
    flags.next().map(|flag| flag.evidence)
}

fn assert_flagged(samples: &CellSamples, name: FlagName, words: &str) {
    let evidence = flagged(samples, name).unwrap_or_else(|| panic!("{name:?} is missing"));
    assert!(evidence.contains(words), "{evidence}");
}

fn assert_healthy(samples: &CellSamples) {
    let cell = judge(samples);
    assert!(cell.flags.is_empty(), "{:?}", cell.flags);
}

#[test]
fn more_running_than_ours_inside_the_window_is_contamination() {
    let mut samples = Scenario::decode(4).readings().build();
    samples.readings[20].running = Some(5.0);
    assert_flagged(
        &samples,
        FlagName::Contaminated,
        "ran 5 requests while 4 were ours",
    );
}

#[test]
fn more_running_than_ours_outside_the_window_is_none() {
    let mut samples = Scenario::decode(4).window_s(2.0, 8.0).readings().build();
    samples.readings[2].running = Some(9.0);
    samples.readings.last_mut().unwrap().running = Some(9.0);
    assert_healthy(&samples);
}

#[test]
fn streams_that_replace_each_other_are_no_contamination() {
    assert_healthy(&Scenario::decode(4).answers(&[31, 64]).readings().build());
    assert_healthy(
        &Scenario::decode(8)
            .slots(3)
            .answers(&[31, 64])
            .readings()
            .build(),
    );
}

#[test]
fn prompt_and_output_past_the_models_limit_are_told() {
    let mut samples = Scenario::decode(1).build();
    samples.limits.max_model_len = Some(8192 + 4096 - 1);
    assert_flagged(&samples, FlagName::ExceedsContext, "12287");
    samples.limits.max_model_len = Some(8192 + 4096);
    assert_healthy(&samples);
    samples.limits.max_model_len = None;
    assert_healthy(&samples);
}

#[test]
fn looping_answers_are_told_and_a_single_one_is_not() {
    let looping = Some(Repetition {
        unit_chars: 12,
        times: 40,
    });
    let mut samples = Scenario::decode(20).build();
    samples.requests[3].repetition = looping;
    assert_healthy(&samples);
    samples.requests[4].repetition = looping;
    samples.requests[5].repetition = Some(Repetition {
        unit_chars: 90,
        times: 50,
    });
    assert_flagged(
        &samples,
        FlagName::Repetition,
        "3 of 20 answers loop, the longest repeats 90 characters 50 times",
    );
}

#[test]
fn a_looping_answer_of_any_size_does_not_overflow() {
    let mut samples = Scenario::decode(1).build();
    samples.requests[0].repetition = Some(Repetition {
        unit_chars: u32::MAX,
        times: u32::MAX,
    });
    assert!(flagged(&samples, FlagName::Repetition).is_some());
}

#[test]
fn throughput_that_drifts_is_unsteady() {
    for concurrency in [1, 16] {
        let falling = Scenario::decode(concurrency)
            .context(65_536)
            .slowing_to(1.5)
            .noise(0.2);
        assert_flagged(&falling.build(), FlagName::Unsteady, "fell");
        let rising = Scenario::decode(concurrency)
            .context(65_536)
            .slowing_to(0.7)
            .noise(0.2);
        assert_flagged(&rising.build(), FlagName::Unsteady, "rose");
    }
}

#[test]
fn a_drift_of_a_few_percent_is_steady() {
    assert_healthy(&Scenario::decode(8).slowing_to(1.08).build());
}

#[test]
fn noise_is_steady() {
    for concurrency in [1, 2, 16] {
        assert_healthy(&Scenario::decode(concurrency).noise(0.9).build());
    }
}

#[test]
fn few_tokens_in_the_window_are_steady() {
    assert_healthy(
        &Scenario::decode(1)
            .tbt_ms(1900.0)
            .tokens_per_event(1)
            .noise(0.3)
            .build(),
    );
}

#[test]
fn gaps_after_restarts_are_steady_wherever_they_fall() {
    // One stream, answers of 7 s, 4 s to the next first token: moving the window
    // over a whole cycle puts the gap everywhere, at half the window too.
    for step in 0..22 {
        let open = 12.0 + 0.5 * f64::from(step);
        let scenario = Scenario::decode(1).ttft_ms(4000.0).answers(&[350]);
        assert_healthy(&scenario.window_s(open, open + 8.0).build());
    }
}

#[test]
fn streams_that_restart_together_are_steady() {
    for step in 0..10 {
        let open = 3.0 + 0.3 * f64::from(step);
        let scenario = Scenario::decode(16).ttft_ms(900.0).answers(&[120]);
        assert_healthy(&scenario.window_s(open, open + 6.0).build());
    }
}

#[test]
fn answers_that_grow_together_may_slow_by_as_much_as_they_grew() {
    // 1K prompts and 480 tokens more: attention explains a fall by a fifth …
    let grown = Scenario::decode(4).context(1024).slowing_to(1.2);
    assert_healthy(&grown.build());
    // … which 64K prompts do not.
    let same = Scenario::decode(4).context(65_536).slowing_to(1.2);
    assert_flagged(&same.build(), FlagName::Unsteady, "fell");
    // And no growth explains a fall to a third.
    let throttled = Scenario::decode(4).context(1024).slowing_to(3.0);
    assert_flagged(&throttled.build(), FlagName::Unsteady, "fell");
}

#[test]
fn a_window_that_opened_before_its_streams_had_started_is_unsteady() {
    let scenario = |ttfts_ms: &[f64]| Scenario::decode(4).ttfts_ms(ttfts_ms).build();
    assert_healthy(&scenario(&[100.0, 200.0, 300.0, 400.0]));
    let window_ms = scenario(&[100.0]).window.unwrap().open_us.0 as f64 / 1e3;
    let late = scenario(&[100.0, 200.0, 300.0, window_ms + 500.0]);
    assert_flagged(
        &late,
        FlagName::Unsteady,
        "1 of 4 streams wrote their first token after",
    );
}

#[test]
fn preemption_is_told_when_its_counter_moves_inside_the_window() {
    let mut samples = Scenario::decode(4).readings().build();
    for reading in &mut samples.readings {
        reading.preemptions = Some(7.0);
    }
    assert_healthy(&samples);
    for reading in samples
        .readings
        .iter_mut()
        .filter(|r| r.at_us() > Micros(5_000_000))
    {
        reading.preemptions = Some(9.0);
    }
    assert_flagged(&samples, FlagName::Preempted, "preempted 2 requests");
}

#[test]
fn answers_that_stop_by_themselves_are_told() {
    let stopping = Scenario::decode(2).answers(&[100]).finish_reason("stop");
    assert_flagged(
        &stopping.build(),
        FlagName::ShortOutput,
        "the median after 100 of 4096",
    );
    let silent = stopping.counting(Counting::Nothing).readings();
    assert!(flagged(&silent.build(), FlagName::ShortOutput).is_some());
}

#[test]
fn answers_that_reach_their_length_are_not_short() {
    assert_healthy(&Scenario::decode(2).answers(&[100]).build());
    let mut samples = Scenario::decode(2)
        .answers(&[100])
        .finish_reason("stop")
        .build();
    samples.limits.max_output_tokens = 100;
    assert_healthy(&samples);
}

#[test]
fn a_healthy_server_of_any_shape_has_no_flags() {
    for tokens in [1, 3, 8] {
        for answers in [&[4096][..], &[9], &[100, 300]] {
            for slots in [4, u32::MAX] {
                let scenario = Scenario::decode(8)
                    .slots(slots)
                    .answers(answers)
                    .tokens_per_event(tokens)
                    .noise(0.3)
                    .cached(8192 - 16);
                for counting in [Counting::Continuous, Counting::FinalUsage] {
                    if counting == Counting::FinalUsage && answers == [4096] && tokens > 1 {
                        continue; // No answer ends in the window, so nothing tells of the three or eight.
                    }
                    let scenario = scenario.clone().counting(counting);
                    assert_healthy(&scenario.clone().readings().build());
                    assert_healthy(&scenario.slot_readings().build());
                }
            }
        }
    }
}

#[test]
fn a_failed_cell_has_no_flags() {
    let mut samples = Scenario::decode(4).readings().build();
    samples.readings[20].running = Some(50.0);
    samples.requests[0].outcome = Outcome::Broke {
        reason: "gone".to_owned(),
    };
    assert!(judge(&samples).flags.is_empty());
}

#[test]
fn more_answers_at_once_than_asked_for_is_contamination_without_any_gauge() {
    let mut samples = Scenario::decode(4).build();
    assert_healthy(&samples);
    samples.key.concurrency = 2;
    assert_flagged(
        &samples,
        FlagName::Contaminated,
        "4.0 answers came at once where 2",
    );
}
