//! Which cells a run has.

use document::{CellKey, Phase};
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;

const K_TOKENS: u64 = 1024;
/// Contexts double at most this often below the largest.
const DOUBLINGS_MAX: u32 = 7;
/// The smallest context anyone asks for, tokens.
const CONTEXT_TOKENS_MIN: u64 = 512;
/// The shortest sequence a server is started with, tokens.
const SERVED_TOKENS_MIN: u64 = 8192;
/// Sequences at least this long leave room for long answers, tokens.
const LONG_TOKENS: u64 = 65_536;
/// Longest answer on servers for long sequences, tokens …
const LONG_OUTPUT_TOKENS: u64 = 4096;
/// … and on others.
const SHORT_OUTPUT_TOKENS: u64 = 1024;
/// Left between answer and limit, tokens.
const SPARE_TOKENS: u64 = 1024;
/// What the chat template takes of a prefill prompt at the limit, tokens.
pub(super) const TEMPLATE_TOKENS: u64 = 40;

/// Requests at once that people ask for, and how often.
const LADDERS: [(&[u32], u32); 5] = [
    (&[1, 2, 4, 8, 16, 32, 64, 128], 68),
    (&[1, 2, 4, 8, 16, 32, 64, 128, 256, 512], 16),
    (&[1, 4, 16, 64], 6),
    (&[1, 2, 3, 4, 6, 8, 12, 16, 24, 32], 8),
    (&[1, 2, 5, 10, 20, 50, 100], 2),
];

/// What a run asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Matrix {
    /// Longest sequence that the server takes, tokens.
    pub(super) max_model_len: u64,
    /// Longest answer, tokens.
    pub(super) max_output_tokens: u64,
    /// Decode contexts, tokens.
    pub(super) contexts: Vec<u64>,
    /// Prefill contexts, tokens.
    pub(super) prefill_contexts: Vec<u64>,
    /// Requests at once.
    pub(super) concurrency: &'static [u32],
}

impl Matrix {
    /// A matrix that the server has room for, at least at its smallest.
    pub(super) fn draw(rng: &mut ChaCha8Rng, model_tokens: u64, kv_budget_tokens: u64) -> Matrix {
        let room = model_tokens
            .min(kv_budget_tokens / 2)
            .max(SERVED_TOKENS_MIN);
        // A power of two at most as large.
        let max_model_len = 1 << room.ilog2();
        let max_output_tokens = if max_model_len >= LONG_TOKENS {
            LONG_OUTPUT_TOKENS
        } else {
            SHORT_OUTPUT_TOKENS
        };
        let top = (max_model_len - max_output_tokens - SPARE_TOKENS) / K_TOKENS * K_TOKENS;
        let first = (max_model_len >> DOUBLINGS_MAX).max(CONTEXT_TOKENS_MIN);
        let mut contexts: Vec<u64> =
            std::iter::successors(Some(first), |context| Some(context * 2))
                .take_while(|context| *context < top)
                .collect();
        contexts.push(top);
        let mut prefill_contexts = contexts.clone();
        prefill_contexts.push(max_model_len);
        let all: u32 = LADDERS.iter().map(|(_, weight)| weight).sum();
        let mut drawn = rng.random_range(0..all);
        let ladder = LADDERS.iter().find(|(_, weight)| {
            let here = drawn < *weight;
            drawn = drawn.saturating_sub(*weight);
            here
        });
        Matrix {
            max_model_len,
            max_output_tokens,
            contexts,
            prefill_contexts,
            concurrency: ladder.map_or(LADDERS[0].0, |(concurrency, _)| concurrency),
        }
    }

    /// All cells, in the order they are measured.
    pub(super) fn keys(&self) -> impl Iterator<Item = CellKey> {
        let prefill = self.prefill_contexts.iter().map(|context| CellKey {
            phase: Phase::Prefill,
            context_tokens: *context,
            concurrency: 1,
        });
        let decode = self.contexts.iter().flat_map(|context| {
            self.concurrency.iter().map(|concurrency| CellKey {
                phase: Phase::Decode,
                context_tokens: *context,
                concurrency: *concurrency,
            })
        });
        prefill.chain(decode)
    }
}
