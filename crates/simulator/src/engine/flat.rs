//! An engine of fixed times: every request has its own timeline, whatever else
//! runs. What a client measures against it is known beforehand.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    BLOCK_TOKENS, BlockHash, Counters, FinishReason, Output, RequestId, SimTime, Submission,
};

/// Blocks remembered before the prefix cache is emptied.
const MOST_BLOCKS_REMEMBERED: usize = 1 << 20;

/// The times of a flat engine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlatSpeed {
    /// Admission to the first event, ms.
    pub ttft_ms: f64,
    /// Time between tokens, ms.
    pub tbt_ms: f64,
    /// Tokens in each event.
    pub tokens_per_event: u32,
}

#[derive(Debug)]
struct Running {
    submission: Submission,
    arrived: SimTime,
    admitted: SimTime,
    /// Moment of the first event; all later ones are counted from it, so that
    /// rounding does not add up.
    first: SimTime,
    last: SimTime,
    cached_tokens: u64,
    output: u64,
    events: u64,
}

/// Runs up to `max_num_seqs` requests, each at the same fixed speed.
#[derive(Debug)]
pub struct FlatMachine {
    speed: FlatSpeed,
    max_num_seqs: usize,
    /// Engine seconds in one of ours, for the histograms.
    pace: f64,
    waiting: VecDeque<(SimTime, Submission)>,
    running: FxHashMap<RequestId, Running>,
    due: BinaryHeap<Reverse<(SimTime, RequestId)>>,
    /// Prompt blocks seen before: this engine's prefix cache.
    seen: FxHashSet<BlockHash>,
    counters: Counters,
}

impl FlatMachine {
    /// An idle engine.
    #[must_use]
    pub fn new(speed: FlatSpeed, max_num_seqs: usize, pace: f64) -> FlatMachine {
        FlatMachine {
            speed,
            max_num_seqs,
            pace,
            waiting: VecDeque::new(),
            running: FxHashMap::default(),
            due: BinaryHeap::new(),
            seen: FxHashSet::default(),
            counters: Counters::default(),
        }
    }

    pub(super) fn submit(&mut self, at: SimTime, submission: Submission) {
        self.waiting.push_back((at, submission));
        self.admit(at);
    }

    fn admit(&mut self, now: SimTime) {
        while self.running.len() < self.max_num_seqs {
            let Some((arrived, submission)) = self.waiting.pop_front() else {
                break;
            };
            let first = now.plus_ms(self.speed.ttft_ms);
            self.due.push(Reverse((first, submission.id)));
            let running = Running {
                arrived,
                admitted: now,
                first,
                last: first,
                cached_tokens: self.look_up(&submission),
                output: 0,
                events: 0,
                submission,
            };
            self.running.insert(running.submission.id, running);
        }
        self.refresh_gauges();
    }

    /// Prompt tokens seen before; from now on all of the prompt's full blocks are.
    fn look_up(&mut self, submission: &Submission) -> u64 {
        let cacheable = (submission.prompt_tokens.saturating_sub(1) / BLOCK_TOKENS) as usize;
        let hashes = &submission.block_hashes;
        let known = hashes
            .iter()
            .take(cacheable)
            .take_while(|hash| self.seen.contains(hash))
            .count();
        if self.seen.len() > MOST_BLOCKS_REMEMBERED {
            self.seen.clear();
        }
        self.seen.extend(hashes.iter());
        let cached_tokens = known as u64 * BLOCK_TOKENS;
        self.counters.prefix_queries += submission.prompt_tokens;
        self.counters.prefix_hits += cached_tokens;
        cached_tokens
    }

    pub(super) fn cancel(&mut self, at: SimTime, id: RequestId) -> bool {
        let queued = self.waiting.len();
        self.waiting.retain(|(_, submission)| submission.id != id);
        let removed = self.running.remove(&id).is_some() || self.waiting.len() < queued;
        self.counters.finished_abort += u64::from(removed);
        self.admit(at);
        removed
    }

    pub(super) fn next_deadline(&self) -> Option<SimTime> {
        self.due.peek().map(|Reverse((at, _))| *at)
    }

    pub(super) fn run_until(&mut self, until: SimTime, outputs: &mut Vec<Output>) {
        while let Some(&Reverse((now, id))) = self.due.peek() {
            if now > until {
                return;
            }
            self.due.pop();
            let Some(output) = self.give_tokens(id, now) else {
                continue; // Cancelled since.
            };
            if output.finish.is_some() {
                self.running.remove(&id);
                self.admit(now);
            }
            outputs.push(output);
        }
    }

    fn give_tokens(&mut self, id: RequestId, now: SimTime) -> Option<Output> {
        let running = self.running.get_mut(&id)?;
        let (end, reason) = running.submission.end();
        let left = end - running.output;
        let tokens = u64::from(self.speed.tokens_per_event.max(1)).min(left);
        running.output += tokens;
        running.events += 1;
        let counters = &mut self.counters;
        counters.generation_tokens += tokens;
        counters.step_tokens.observe(tokens as f64);
        if running.events == 1 {
            counters.prompt_tokens_cached += running.cached_tokens;
            counters.prompt_tokens += running.submission.prompt_tokens;
            counters
                .ttft_s
                .observe(now.seconds_since(running.arrived) / self.pace);
        } else {
            counters
                .inter_token_s
                .observe(now.seconds_since(running.last) / self.pace);
        }
        running.last = now;
        let finish = (running.output >= end).then_some(reason);
        match finish {
            Some(FinishReason::Stop) => counters.finished_stop += 1,
            Some(FinishReason::Length) => counters.finished_length += 1,
            None => {
                let per_event_ms =
                    self.speed.tbt_ms * f64::from(self.speed.tokens_per_event.max(1));
                let next = running.first.plus_ms(per_event_ms * running.events as f64);
                self.due.push(Reverse((next, id)));
            }
        }
        Some(Output {
            id,
            at: now,
            tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            finish,
            admitted: running.admitted,
            cached_tokens: running.cached_tokens,
            preemptions: 0,
        })
    }

    pub(super) fn counters(&self) -> &Counters {
        &self.counters
    }

    fn refresh_gauges(&mut self) {
        self.counters.running = self.running.len() as u64;
        self.counters.waiting = self.waiting.len() as u64;
    }
}
