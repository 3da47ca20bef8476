//! Continuous batching: which requests a step serves, how long it takes and what
//! it yields.
//!
//! As vLLM's V1 scheduler does it: every step serves all running requests, the
//! decoding ones first; what is left of the token budget goes to prefill, in
//! pieces; waiting requests are admitted in order while a place, budget and KV
//! blocks are left. When blocks run out, the newest running request is put back
//! to the head of the queue and computed again later.

use std::collections::VecDeque;
use std::sync::Arc;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::front_end::Arrival;
use super::request::{Request, Work};
use super::{
    Acceptance, BLOCK_TOKENS, BlockPool, Counters, FinishReason, Output, RequestId, SimTime,
};
use crate::speed::{EngineSpeed, OneOff};

/// No step is shorter than this, ms: a pass through the model costs something.
const SHORTEST_STEP_MS: f64 = 0.05;

/// What the engine was started with.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Limits {
    /// Requests run at once.
    pub max_num_seqs: usize,
    /// Tokens computed in one step.
    pub max_num_batched_tokens: u64,
    /// Tokens the KV cache holds.
    pub kv_tokens: u64,
    /// Random share of a step's length, 0.02 for ±2 %.
    pub jitter: f64,
    /// Seed of everything random.
    pub seed: u64,
}

/// The running batch, the queue and the cache.
#[derive(Debug)]
pub(super) struct Scheduler {
    limits: Limits,
    speed: Arc<EngineSpeed>,
    acceptance: Acceptance,
    pool: BlockPool,
    waiting: VecDeque<Request>,
    running: Vec<Request>,
    random: ChaCha8Rng,
    one_offs_left: Vec<OneOff>,
    counters: Counters,
    /// Engine seconds in one of ours, for the histograms.
    pace: f64,
}

impl Scheduler {
    /// An idle engine whose clock runs `pace` times as fast as ours.
    #[must_use]
    pub fn new(limits: Limits, speed: Arc<EngineSpeed>, pace: f64) -> Scheduler {
        let acceptance = Acceptance::new(speed.speculation);
        let counters = Counters {
            accepted_by_position: vec![0; acceptance.draft_tokens() as usize],
            ..Counters::default()
        };
        Scheduler {
            pool: BlockPool::new((limits.kv_tokens / BLOCK_TOKENS) as usize),
            acceptance,
            waiting: VecDeque::new(),
            running: Vec::new(),
            random: ChaCha8Rng::seed_from_u64(limits.seed),
            one_offs_left: speed.one_offs.clone(),
            limits,
            speed,
            counters,
            pace,
        }
    }

    /// A request joins the queue.
    pub(super) fn enqueue(&mut self, arrival: Arrival) {
        self.waiting.push_back(Request::new(
            arrival.submission,
            arrival.arrived,
            arrival.ready,
            &self.acceptance,
        ));
        self.refresh_gauges();
    }

    /// A request is dropped and its blocks are free at once.
    pub fn cancel(&mut self, id: RequestId) -> bool {
        let of = |request: &Request| request.submission.id == id;
        let removed = if let Some(at) = self.running.iter().position(of) {
            Some(self.running.remove(at))
        } else if let Some(at) = self.waiting.iter().position(of) {
            self.waiting.remove(at)
        } else {
            None
        };
        let Some(request) = removed else {
            return false;
        };
        self.pool.release(&request.blocks);
        self.counters.finished_abort += 1;
        self.refresh_gauges();
        true
    }

    /// What was counted so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Plans a step at `now` and says how long it takes, ms; `None` where there
    /// is nothing to do.
    pub fn begin_step(&mut self, now: SimTime) -> Option<f64> {
        let mut budget = self.limits.max_num_batched_tokens;
        self.plan_running(&mut budget, now);
        self.admit(&mut budget, now);
        self.refresh_gauges();
        if self.running.iter().all(|request| request.work.is_none()) {
            return None;
        }
        Some(self.step_ms())
    }

    fn plan_running(&mut self, budget: &mut u64, now: SimTime) {
        for decoding in [true, false] {
            let mut at = 0;
            // Preemption takes from the end, so what is left of `at` stays in place.
            while at < self.running.len() {
                let request = &mut self.running[at];
                if request.work.is_none() && request.is_decoding() == decoding && *budget > 0 {
                    let (work, cost) = if decoding {
                        let tokens = request.draw();
                        let verified = u64::from(self.acceptance.draft_tokens() + 1);
                        (Work::Decode { tokens }, verified)
                    } else {
                        let left = request.length() - request.computed;
                        let tokens = left.min(*budget);
                        let last = tokens == left;
                        (Work::Prefill { tokens, last }, tokens)
                    };
                    if self.reserve_or_preempt(at, work, now) {
                        self.running[at].work = Some(work);
                        *budget = budget.saturating_sub(cost);
                    }
                }
                at += 1;
            }
        }
    }

    /// Finds blocks for what a step adds to a running request, putting back the
    /// newest requests as needed; false where that was the request itself.
    fn reserve_or_preempt(&mut self, at: usize, work: Work, now: SimTime) -> bool {
        loop {
            let request = &mut self.running[at];
            let holds = match work {
                Work::Prefill { tokens, .. } => request.computed + tokens,
                Work::Decode { tokens } => request.length() + u64::from(tokens) - 1,
            };
            if let Some(blocks) = self.pool.allocate(request.missing_blocks(holds)) {
                request.blocks.extend(blocks);
                return true;
            }
            self.preempt_newest(now);
            if at == self.running.len() {
                return false;
            }
        }
    }

    fn preempt_newest(&mut self, now: SimTime) {
        let Some(mut request) = self.running.pop() else {
            return;
        };
        let blocks = request.forget();
        self.pool.release(&blocks);
        request.preemptions += 1;
        request.queued = now;
        self.counters.preemptions += 1;
        self.waiting.push_front(request);
    }

    fn admit(&mut self, budget: &mut u64, now: SimTime) {
        while self.running.len() < self.limits.max_num_seqs && *budget > 0 {
            let Some(request) = self.waiting.front() else {
                return;
            };
            // The last token is always computed, as its output is what is asked for.
            let cacheable = ((request.length() - 1) / BLOCK_TOKENS) as usize;
            let hashes = &request.submission.block_hashes;
            let hashes = &hashes[..hashes.len().min(cacheable)];
            let (shared, idle) = self.pool.cached_prefix(hashes);
            let cached = shared as u64 * BLOCK_TOKENS;
            let left = request.length() - cached;
            let tokens = left.min(*budget);
            let needed = ((cached + tokens).div_ceil(BLOCK_TOKENS) as usize) - shared;
            if needed + idle > self.pool.free_count() {
                return;
            }
            let blocks_shared = self.pool.share(&hashes[..shared]);
            let Some(blocks_new) = self.pool.allocate(needed) else {
                self.pool.release(&blocks_shared);
                return;
            };
            let Some(mut request) = self.waiting.pop_front() else {
                return;
            };
            self.counters.prefix_queries += request.length();
            self.counters.prefix_hits += cached;
            request.blocks = blocks_shared;
            request.blocks.extend(blocks_new);
            request.named_blocks = shared;
            request.computed = cached;
            if request.admitted.is_none() {
                request.admitted = Some(now);
                request.cached_tokens = cached;
                self.counters
                    .queue_s
                    .observe(now.seconds_since(request.queued) / self.pace);
            }
            *budget -= tokens;
            let last = tokens == left;
            request.work = Some(Work::Prefill { tokens, last });
            self.running.push(request);
        }
    }

    /// How long the planned step takes, ms.
    fn step_ms(&mut self) -> f64 {
        let mut decoding = 0.0;
        let mut context_sum = 0.0;
        let mut prefill_ms = 0.0;
        for request in &self.running {
            let prompt_tokens = request.submission.prompt_tokens;
            match request.work {
                None => {}
                Some(Work::Decode { .. }) => {
                    decoding += 1.0;
                    context_sum += prompt_tokens as f64;
                }
                Some(Work::Prefill { tokens, last }) => {
                    prefill_ms += self
                        .speed
                        .prefill
                        .ms(request.computed, request.computed + tokens);
                    if last && request.is_cold() {
                        prefill_ms += take_one_off(&mut self.one_offs_left, prompt_tokens);
                    }
                }
            }
        }
        let mut decode_ms = 0.0;
        if decoding > 0.0 {
            let context = context_sum / decoding;
            decode_ms = self.speed.decode.time_between_tokens_ms(context, decoding)
                * self.acceptance.mean_tokens_per_step();
        }
        let jitter = 1.0 + self.limits.jitter * self.random.random_range(-1.0..=1.0);
        (decode_ms * jitter + prefill_ms).max(SHORTEST_STEP_MS)
    }

    /// The planned step is over: its tokens come out.
    pub fn end_step(&mut self, now: SimTime, outputs: &mut Vec<Output>) {
        let mut step_tokens = 0;
        let mut at = 0;
        while at < self.running.len() {
            let request = &mut self.running[at];
            let Some(work) = request.work.take() else {
                at += 1;
                continue;
            };
            let (computed, made) = match work {
                Work::Prefill { tokens, last } => (tokens, u32::from(last)),
                Work::Decode { tokens } => (u64::from(tokens), tokens),
            };
            step_tokens += computed;
            request.computed += computed;
            self.name_blocks(at);
            if let Work::Decode { tokens } = work {
                self.count_draft(tokens);
            }
            if made == 0 {
                at += 1;
                continue;
            }
            let output = self.give_tokens(at, made, now);
            // A finished request has left the batch, and the next has its place.
            at += usize::from(output.finish.is_none());
            outputs.push(output);
        }
        if step_tokens > 0 {
            self.counters.step_tokens.observe(step_tokens as f64);
        }
        self.refresh_gauges();
    }

    fn give_tokens(&mut self, at: usize, made: u32, now: SimTime) -> Output {
        let pace = self.pace;
        let request = &mut self.running[at];
        let counters = &mut self.counters;
        request.output += u64::from(made);
        counters.generation_tokens += u64::from(made);
        if request.first_token.is_none() {
            let admitted = request.admitted.unwrap_or(now);
            request.first_token = Some(now);
            counters.prompt_tokens += request.submission.prompt_tokens;
            counters.prompt_tokens_cached += request.cached_tokens;
            counters
                .ttft_s
                .observe(now.seconds_since(request.arrived) / pace);
            counters
                .prefill_s
                .observe(now.seconds_since(admitted) / pace);
        } else {
            counters
                .inter_token_s
                .observe(now.seconds_since(request.last_token) / pace);
        }
        request.last_token = now;
        let (end, reason) = request.submission.end();
        let finish = (request.output >= end).then_some(reason);
        let output = Output {
            id: request.submission.id,
            at: now,
            tokens: made,
            finish,
            admitted: request.admitted.unwrap_or(now),
            cached_tokens: request.cached_tokens,
            preemptions: request.preemptions,
        };
        if let Some(reason) = finish {
            self.finish(at, reason, now);
        }
        output
    }

    fn finish(&mut self, at: usize, reason: FinishReason, now: SimTime) {
        let request = self.running.remove(at);
        self.pool.release(&request.blocks);
        let counters = &mut self.counters;
        counters
            .e2e_s
            .observe(now.seconds_since(request.arrived) / self.pace);
        if let Some(first) = request.first_token {
            counters
                .decode_s
                .observe(now.seconds_since(first) / self.pace);
        }
        match reason {
            FinishReason::Stop => counters.finished_stop += 1,
            FinishReason::Length => counters.finished_length += 1,
        }
    }

    /// Tells the cache what the prompt blocks that are now full hold.
    fn name_blocks(&mut self, at: usize) {
        let request = &mut self.running[at];
        let full = (request.computed / BLOCK_TOKENS) as usize;
        let named = full
            .min(request.submission.block_hashes.len())
            .min(request.blocks.len());
        for index in request.named_blocks..named {
            self.pool.name(
                request.blocks[index],
                request.submission.block_hashes[index],
            );
        }
        request.named_blocks = request.named_blocks.max(named);
    }

    fn count_draft(&mut self, tokens: u32) {
        let proposed = self.acceptance.draft_tokens();
        if proposed == 0 {
            return;
        }
        self.counters.drafts += 1;
        self.counters.draft_tokens += u64::from(proposed);
        self.counters.accepted_tokens += u64::from(tokens - 1);
        for position in 0..(tokens - 1) as usize {
            self.counters.accepted_by_position[position] += 1;
        }
    }

    fn refresh_gauges(&mut self) {
        self.counters.running = self.running.len() as u64;
        self.counters.waiting = self.waiting.len() as u64;
        self.counters.kv_usage = self.pool.used_share();
    }
}

/// The extra time of a length prefilled for the first time, ms; each is charged once.
fn take_one_off(left: &mut Vec<OneOff>, prompt_tokens: u64) -> f64 {
    let Some(at) = left
        .iter()
        .position(|one_off| one_off.is_for(prompt_tokens))
    else {
        return 0.0;
    };
    left.remove(at).extra_ms
}
