use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::scenario::Scenario;

/// Step of a low-discrepancy sequence (the golden ratio's fraction): noise that
/// is even over any stretch and the same in each run.
const NOISE_STEP: f64 = 0.618_033_988_749_895;

/// One request as the server saw it. Times in µs.
pub(crate) struct Served {
    pub stream: u32,
    /// Place in the order of sending.
    pub task: u32,
    /// Which of the server's places it took.
    pub slot: usize,
    pub sent_us: u64,
    /// When a place was free for it.
    pub admitted_us: u64,
    /// Arrival of each event and the tokens written by then.
    pub events: Vec<(u64, u32)>,
    /// Tokens in these events.
    pub tokens: u32,
    /// Tokens of the whole answer.
    pub answer_tokens: u32,
    /// When its place was free again, had nobody cut it.
    pub done_us: u64,
}

/// Serves the streams in the order they ask, each replaced when it ends, until
/// the window closes. A stream that is writing then receives one event more.
pub(crate) fn serve(scenario: &Scenario) -> Vec<Served> {
    let close_us = scenario.window.close_us.0;
    let places = scenario.slots.min(scenario.concurrency).max(1) as usize;
    let mut free_us = vec![0u64; places];
    let mut asking: BinaryHeap<Reverse<(u64, u32)>> =
        (0..scenario.concurrency).map(|s| Reverse((0, s))).collect();
    let mut all = Vec::new();
    while let Some(Reverse((sent_us, stream))) = asking.pop() {
        if sent_us >= close_us {
            continue;
        }
        let slot = (0..places).min_by_key(|p| free_us[*p]).unwrap_or(0);
        let task = u32::try_from(all.len()).unwrap_or(u32::MAX);
        let served = answer(scenario, stream, task, slot, sent_us, free_us[slot]);
        free_us[slot] = served.done_us;
        asking.push(Reverse((served.done_us, stream)));
        all.push(served);
    }
    all
}

fn answer(
    scenario: &Scenario,
    stream: u32,
    task: u32,
    slot: usize,
    sent_us: u64,
    free_us: u64,
) -> Served {
    let in_turn = |of: usize| task as usize % of.max(1);
    let admitted_us = sent_us.max(free_us);
    let ttft_ms = scenario.ttft_ms[in_turn(scenario.ttft_ms.len())];
    let answer_tokens = scenario.answer_tokens[in_turn(scenario.answer_tokens.len())];
    let close_us = scenario.window.close_us.0;
    let mut at_us = admitted_us + (ttft_ms * 1e3).round() as u64;
    let mut events: Vec<(u64, u32)> = Vec::new();
    let mut tokens = 0;
    let mut done_us = at_us;
    while tokens < answer_tokens {
        let carried = scenario.tokens_per_event.max(1).min(answer_tokens - tokens);
        if tokens > 0 {
            at_us += gap_us(scenario, at_us, carried, task, tokens);
        }
        tokens += carried;
        done_us = at_us;
        // One event past the close reaches a stream that is already writing.
        let is_first_late = events.last().is_some_and(|last| last.0 <= close_us);
        if at_us <= close_us || is_first_late {
            events.push((at_us, tokens));
        }
    }
    Served {
        stream,
        task,
        slot,
        sent_us,
        admitted_us,
        tokens: events.last().map_or(0, |event| event.1),
        answer_tokens,
        events,
        done_us,
    }
}

fn gap_us(scenario: &Scenario, at_us: u64, tokens: u32, task: u32, so_far: u32) -> u64 {
    let window = scenario.window;
    let passed = (at_us as f64 - window.open_us.0 as f64) / (window.length_s() * 1e6);
    let slowness = 1.0 + (scenario.final_slowness - 1.0) * passed.clamp(0.0, 1.0);
    let turn = f64::from(so_far) + f64::from(task) * 7.0;
    let noise = 1.0 + scenario.noise_share * (2.0 * (turn * NOISE_STEP).fract() - 1.0);
    (scenario.tbt_ms * f64::from(tokens) * slowness * noise * 1e3).round() as u64
}
