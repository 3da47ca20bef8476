use document::{EngineReading, Micros, SlotReading};

use crate::scenario::Scenario;
use crate::serve::Served;

/// Time between two readings of the engine, ms.
const READING_EVERY_MS: u64 = 200;

/// A reading is asked this long before and answered this long after the moment it speaks of.
const HALF_TRIP_US: u64 = 1_000;

/// What the engine would say of itself from the first request to just past the close.
pub(crate) fn read(scenario: &Scenario, served: &[Served], with_slots: bool) -> Vec<EngineReading> {
    let every_us = READING_EVERY_MS * 1_000;
    let last = scenario.window.close_us.0 / every_us + 1;
    (0..=last)
        .map(|i| one(scenario, served, with_slots, i * every_us + HALF_TRIP_US))
        .collect()
}

fn one(scenario: &Scenario, served: &[Served], with_slots: bool, at_us: u64) -> EngineReading {
    let count = |is: fn(&Served, u64) -> bool| served.iter().filter(|s| is(s, at_us)).count();
    let admitted = count(|s, at| s.admitted_us <= at) as f64;
    let generated: u32 = served.iter().map(|s| tokens_by(s, at_us)).sum();
    EngineReading {
        asked_us: Micros(at_us - HALF_TRIP_US),
        answered_us: Micros(at_us + HALF_TRIP_US),
        running: Some(count(is_running) as f64),
        waiting: Some(count(|s, at| s.sent_us <= at && at < s.admitted_us) as f64),
        generated_tokens: (!with_slots).then_some(f64::from(generated)),
        preemptions: Some(0.0),
        cache_queried_tokens: scenario
            .cached_tokens
            .filter(|_| !with_slots)
            .map(|_| admitted * scenario.prompt_tokens as f64),
        cache_hit_tokens: scenario
            .cached_tokens
            .filter(|_| !with_slots)
            .map(|cached| admitted * cached as f64),
        slots: if with_slots {
            slots(scenario, served, at_us)
        } else {
            Vec::new()
        },
        ..EngineReading::default()
    }
}

fn is_running(served: &Served, at_us: u64) -> bool {
    served.admitted_us <= at_us && at_us < served.done_us
}

fn tokens_by(served: &Served, at_us: u64) -> u32 {
    let events = served.events.partition_point(|event| event.0 <= at_us);
    events
        .checked_sub(1)
        .map_or(0, |last| served.events[last].1)
}

/// Each place with the last request it took.
fn slots(scenario: &Scenario, served: &[Served], at_us: u64) -> Vec<SlotReading> {
    let places = scenario.slots.min(scenario.concurrency).max(1);
    (0..places)
        .filter_map(|place| {
            let newest = served
                .iter()
                .rfind(|s| s.slot == place as usize && s.admitted_us <= at_us)?;
            Some(SlotReading {
                slot: place,
                task: i64::from(newest.task),
                is_processing: is_running(newest, at_us),
                decoded_tokens: u64::from(tokens_by(newest, at_us)),
                prompt_tokens: scenario.cached_tokens.map(|_| scenario.prompt_tokens),
                cached_tokens: scenario.cached_tokens,
            })
        })
        .collect()
}
