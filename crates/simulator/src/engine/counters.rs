//! What the engine counts, as vLLM's `/metrics` names it.

/// Bounds of the latency histograms, s (vLLM 0.32).
pub const LATENCY_BOUNDS_S: &[f64] = &[
    0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 120.0, 240.0,
    480.0, 960.0, 1920.0, 7680.0,
];

/// Bounds of the TTFT histogram, s (vLLM 0.32).
pub const TTFT_BOUNDS_S: &[f64] = &[
    0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0,
    20.0, 40.0, 80.0, 160.0, 640.0, 2560.0,
];

/// Bounds of the inter-token histogram, s (vLLM 0.32).
pub const INTER_TOKEN_BOUNDS_S: &[f64] = &[
    0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0,
    40.0, 80.0,
];

/// Bounds of the tokens-per-step histogram (vLLM 0.32).
pub const STEP_TOKENS_BOUNDS: &[f64] = &[
    1.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0,
];

/// A Prometheus histogram.
#[derive(Debug, Clone)]
pub struct Histogram {
    /// Upper bounds of the buckets, ascending, without the infinite one.
    pub bounds: &'static [f64],
    /// Observations of each bucket alone, the infinite one last.
    pub counts: Vec<u64>,
    /// Sum of what was observed.
    pub sum: f64,
}

impl Histogram {
    /// A histogram that has observed nothing.
    #[must_use]
    pub fn new(bounds: &'static [f64]) -> Histogram {
        Histogram {
            bounds,
            counts: vec![0; bounds.len() + 1],
            sum: 0.0,
        }
    }

    /// Counts one value.
    pub fn observe(&mut self, value: f64) {
        let bucket = self.bounds.partition_point(|bound| *bound < value);
        self.counts[bucket] += 1;
        self.sum += value;
    }

    /// Observations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// Gauges, counters and histograms at one moment.
#[derive(Debug, Clone)]
pub struct Counters {
    /// Requests that hold a place in the running batch.
    pub running: u64,
    /// Requests that wait for one.
    pub waiting: u64,
    /// Share of KV blocks held, 0 to 1.
    pub kv_usage: f64,
    /// Prompt tokens looked up in the prefix cache.
    pub prefix_queries: u64,
    /// Prompt tokens found there.
    pub prefix_hits: u64,
    /// Requests put back into the queue for want of KV blocks.
    pub preemptions: u64,
    /// Prompt tokens whose prefill is done.
    pub prompt_tokens: u64,
    /// Of these, tokens that came from the cache.
    pub prompt_tokens_cached: u64,
    /// Tokens written.
    pub generation_tokens: u64,
    /// Requests that ended by a stop token.
    pub finished_stop: u64,
    /// Requests that reached their longest answer.
    pub finished_length: u64,
    /// Requests that were cancelled.
    pub finished_abort: u64,
    /// Tokens of each engine step; its count is the number of steps.
    pub step_tokens: Histogram,
    /// Arrival at the API server to the first token, s.
    pub ttft_s: Histogram,
    /// Time between tokens, s.
    pub inter_token_s: Histogram,
    /// Arrival to the end, s.
    pub e2e_s: Histogram,
    /// Time in the waiting queue, s.
    pub queue_s: Histogram,
    /// Admission to the first token, s.
    pub prefill_s: Histogram,
    /// First to last token, s.
    pub decode_s: Histogram,
    /// Steps in which a draft was proposed to some request.
    pub drafts: u64,
    /// Tokens proposed.
    pub draft_tokens: u64,
    /// Of these, tokens accepted.
    pub accepted_tokens: u64,
    /// Accepted tokens by their place in the draft.
    pub accepted_by_position: Vec<u64>,
}

impl Default for Counters {
    fn default() -> Counters {
        Counters {
            running: 0,
            waiting: 0,
            kv_usage: 0.0,
            prefix_queries: 0,
            prefix_hits: 0,
            preemptions: 0,
            prompt_tokens: 0,
            prompt_tokens_cached: 0,
            generation_tokens: 0,
            finished_stop: 0,
            finished_length: 0,
            finished_abort: 0,
            step_tokens: Histogram::new(STEP_TOKENS_BOUNDS),
            ttft_s: Histogram::new(TTFT_BOUNDS_S),
            inter_token_s: Histogram::new(INTER_TOKEN_BOUNDS_S),
            e2e_s: Histogram::new(LATENCY_BOUNDS_S),
            queue_s: Histogram::new(LATENCY_BOUNDS_S),
            prefill_s: Histogram::new(LATENCY_BOUNDS_S),
            decode_s: Histogram::new(LATENCY_BOUNDS_S),
            drafts: 0,
            draft_tokens: 0,
            accepted_tokens: 0,
            accepted_by_position: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_on_a_bound_counts_below_it() {
        let mut histogram = Histogram::new(STEP_TOKENS_BOUNDS);
        histogram.observe(1.0);
        histogram.observe(9.0);
        histogram.observe(1e9);
        assert_eq!(histogram.counts[0], 1);
        assert_eq!(histogram.counts[2], 1);
        assert_eq!(histogram.counts[STEP_TOKENS_BOUNDS.len()], 1);
        assert_eq!(histogram.count(), 3);
    }
}
