//! Whether a decode cell's prompts were warm, and how that is known.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use document::{CacheProof, CellSamples, Figure, FlagName, Micros, RequestRole, SlotReading};
use testkit::{Scenario, completed};
use tokgrid_judge::judge;

/// Two blocks of 16 and 16 template tokens may be missing of 8,192.
const WARM_ENOUGH: u64 = 8192 - 48;

fn assert_warm(samples: &CellSamples) {
    let cell = judge(samples);
    assert_eq!(cell.cache_proof, Some(CacheProof::Proved));
    assert!(cell.flags.is_empty(), "{:?}", cell.flags);
}

fn assert_cold(samples: &CellSamples, words: &str) {
    let cell = judge(samples);
    assert_eq!(cell.cache_proof, Some(CacheProof::Failed));
    let flag = cell
        .flags
        .iter()
        .find(|f| f.name == FlagName::PrefixCacheMiss);
    let evidence = &flag.expect("a miss is flagged").evidence;
    assert!(evidence.contains(words), "{evidence}");
    assert!(cell.is_taken_away(Figure::Ttft));
    assert!(!cell.is_taken_away(Figure::DecodeTotal));
}

#[test]
fn usage_proves_a_warm_prompt_up_to_two_blocks_and_the_template() {
    let warm = Scenario::decode(4).cached_in_usage(WARM_ENOUGH).build();
    assert_warm(&warm);
    assert_eq!(judge(&warm).cached_tokens, Some(WARM_ENOUGH));
    assert_cold(
        &Scenario::decode(4).cached_in_usage(WARM_ENOUGH - 1).build(),
        "4 of 4 prompts",
    );
}

#[test]
fn slots_prove_a_warm_prompt() {
    assert_warm(
        &Scenario::decode(4)
            .cached(WARM_ENOUGH)
            .slot_readings()
            .build(),
    );
    assert_cold(
        &Scenario::decode(4).cached(24).slot_readings().build(),
        "found 24 of 8192",
    );
}

#[test]
fn counters_prove_a_warm_prompt() {
    let long = Scenario::decode(4).answers(&[100]);
    assert_warm(&long.clone().cached(WARM_ENOUGH).readings().build());
    assert_cold(
        &long.cached(4096).readings().build(),
        "by the engine's counters",
    );
}

#[test]
fn a_server_that_does_not_say_is_unproven_and_not_flagged() {
    let cell = judge(&Scenario::decode(4).readings().build());
    assert_eq!(cell.cache_proof, Some(CacheProof::Unproven));
    assert_eq!(cell.cached_tokens, None);
    assert!(cell.flags.is_empty(), "{:?}", cell.flags);
}

#[test]
fn counters_that_stand_still_prove_nothing() {
    let mut samples = Scenario::decode(4).readings().build();
    for reading in &mut samples.readings {
        reading.cache_queried_tokens = Some(5000.0);
        reading.cache_hit_tokens = Some(5000.0);
    }
    assert_eq!(judge(&samples).cache_proof, Some(CacheProof::Unproven));
}

#[test]
fn counters_that_fall_prove_nothing() {
    let mut samples = Scenario::decode(4)
        .cached(8000)
        .answers(&[50])
        .readings()
        .build();
    let last = samples.readings.last_mut().unwrap();
    last.cache_queried_tokens = Some(1.0);
    last.cache_hit_tokens = Some(0.0);
    assert_eq!(judge(&samples).cache_proof, Some(CacheProof::Unproven));
}

/// The cell two seconds later, for things to happen before it.
fn later(mut samples: CellSamples) -> CellSamples {
    let shift = |at: &mut Micros| at.0 += 2_000_000;
    let window = samples.window.as_mut().unwrap();
    shift(&mut window.open_us);
    shift(&mut window.close_us);
    for request in &mut samples.requests {
        request.sent_us.iter_mut().for_each(shift);
        request.closed_us.iter_mut().for_each(shift);
        request.events.at_us.iter_mut().for_each(shift);
    }
    for reading in &mut samples.readings {
        shift(&mut reading.asked_us);
        shift(&mut reading.answered_us);
    }
    samples
}

#[test]
fn a_cold_warm_up_wave_is_no_miss_by_slots() {
    let mut samples = later(Scenario::decode(4).cached(8170).slot_readings().build());
    let mut before = samples.readings[0].clone();
    (before.asked_us, before.answered_us) = (Micros(1_000_000), Micros(1_000_100));
    before.slots = (0..4)
        .map(|slot| SlotReading {
            slot,
            task: 100 + i64::from(slot),
            is_processing: true,
            decoded_tokens: 0,
            prompt_tokens: Some(8192),
            cached_tokens: Some(0),
        })
        .collect();
    // One of them is seen once more as it is cancelled.
    let mut lingering = before.clone();
    lingering.slots.truncate(1);
    (lingering.asked_us, lingering.answered_us) = (Micros(2_000_500), Micros(2_000_600));
    samples.readings.splice(0..0, [before, lingering]);
    assert_warm(&samples);
}

#[test]
fn a_cold_warm_up_wave_is_no_miss_by_counters() {
    let mut samples = later(
        Scenario::decode(4)
            .cached(8170)
            .answers(&[100])
            .readings()
            .build(),
    );
    let mut warmup = completed(100.0, &[900.0]);
    warmup.role = RequestRole::Warmup;
    samples.requests.insert(0, warmup);
    for reading in &mut samples.readings {
        reading.cache_queried_tokens = reading.cache_queried_tokens.map(|t| t + 4.0 * 8192.0);
    }
    let mut before = samples.readings[0].clone();
    (before.asked_us, before.answered_us) = (Micros(0), Micros(100));
    (before.cache_queried_tokens, before.cache_hit_tokens) = (Some(0.0), Some(0.0));
    let mut warmed = before.clone();
    (warmed.asked_us, warmed.answered_us) = (Micros(1_900_000), Micros(1_900_100));
    warmed.cache_queried_tokens = Some(4.0 * 8192.0);
    samples.readings.splice(0..0, [before, warmed]);
    assert_warm(&samples);
}

#[test]
fn a_request_seen_by_usage_and_by_slots_counts_once() {
    let mut samples = Scenario::decode(2)
        .cached_in_usage(8170)
        .slot_readings()
        .build();
    samples.requests[1].usage.as_mut().unwrap().cached_tokens = None;
    assert_warm(&samples);
}

#[test]
fn one_cold_request_of_many_does_not_spoil_the_median() {
    let mut samples = Scenario::decode(32).cached_in_usage(8170).build();
    samples.requests[7].usage.as_mut().unwrap().cached_tokens = Some(0);
    assert_warm(&samples);
    samples.requests[8].usage.as_mut().unwrap().cached_tokens = Some(0);
    assert_cold(
        &samples,
        "2 of 32 prompts were not in the cache: the coldest found 0 of 8192",
    );
}
