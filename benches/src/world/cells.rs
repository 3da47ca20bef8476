//! The figures of a cell.

use document::{
    CacheProof, Cell, CellKey, CellStatus, Distribution, Flag, FlagName, Phase, TimestampSource,
    TokenLedger, TokenSource,
};
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;

use super::matrix::{Matrix, TEMPLATE_TOKENS};
use super::speed::Speed;

/// Length of every window, s.
pub(super) const WINDOW_S: f64 = 30.0;
/// Share by which cells of one run differ from the roofline.
const CELL_NOISE_SHARE: f64 = 0.012;
/// Share of measured cells that fail.
const FAILED_SHARE: f64 = 0.004;
/// Share of measured cells with a doubt.
const FLAGGED_SHARE: f64 = 0.03;
/// Tokens of a cache block.
const BLOCK_TOKENS: u64 = 16;

/// What the cells of a run have in common.
pub(super) struct Bench<'run> {
    pub(super) speed: &'run Speed,
    pub(super) matrix: &'run Matrix,
    /// Requests that the server runs at once, where it was told.
    pub(super) max_num_seqs: Option<u32>,
    /// Other tools write medians only and do not know whether a cache was warm.
    pub(super) medians_only: bool,
    pub(super) cache_proof: CacheProof,
}

impl Bench<'_> {
    /// Measures one cell.
    pub(super) fn cell(&self, rng: &mut ChaCha8Rng, key: CellKey) -> Cell {
        let needed =
            u64::from(key.concurrency) * (key.context_tokens + self.matrix.max_output_tokens);
        let budget = self.speed.kv_budget_tokens();
        if key.phase == Phase::Decode && needed > budget {
            return Cell {
                reason: (!self.medians_only)
                    .then(|| format!("{needed} tokens are needed and the KV cache holds {budget}")),
                ..Cell::empty(key, CellStatus::OverCapacity)
            };
        }
        if rng.random_bool(FAILED_SHARE) {
            return Cell {
                reason: Some("a stream closed without a finish reason after 412 events".to_owned()),
                failed: Some(1),
                ..Cell::empty(key, CellStatus::Failed)
            };
        }
        let mut cell = match key.phase {
            Phase::Prefill => self.prefill(rng, key),
            Phase::Decode => self.decode(rng, key),
        };
        if rng.random_bool(FLAGGED_SHARE) {
            cell.flags.push(doubt(rng, &cell));
        }
        cell
    }

    fn prefill(&self, rng: &mut ChaCha8Rng, key: CellKey) -> Cell {
        let most = self.matrix.max_model_len - TEMPLATE_TOKENS - 1;
        let prompt = key.context_tokens.min(most);
        let ttft_ms = (self.speed.prefill_ms(prompt) * noise(rng)).round();
        Cell {
            total_tok_s: Some(tenths(prompt as f64 / ttft_ms * 1e3)),
            ttft_ms: Some(self.spread(ttft_ms, 0.0, 1)),
            completed: Some(1),
            prompt_tokens: (!self.medians_only).then_some(prompt),
            cached_tokens: (!self.medians_only).then_some(0),
            engine_prefill_ms: (!self.medians_only).then(|| tenths(ttft_ms * 0.985)),
            cache_proof: Some(self.cache_proof),
            timestamp_source: self.timestamps(),
            ..Cell::empty(key, CellStatus::Valid)
        }
    }

    fn decode(&self, rng: &mut ChaCha8Rng, key: CellKey) -> Cell {
        let limit = self.max_num_seqs.unwrap_or(u32::MAX);
        let is_queued = key.concurrency > limit;
        let active = f64::from(key.concurrency.min(limit));
        let output_midway = self.matrix.max_output_tokens / 2;
        let tbt_ms = self
            .speed
            .step_ms(active, key.context_tokens + output_midway)
            * noise(rng);
        let output_tokens = (active * WINDOW_S * 1e3 / tbt_ms).round();
        let total = output_tokens / WINDOW_S;
        let answer_s = tbt_ms * self.matrix.max_output_tokens as f64 / 1e3;
        let warm_ms = self.speed.warm_ttft_ms(active, key.context_tokens) * noise(rng);
        let rounds_waited = f64::from(key.concurrency) / active - 1.0;
        let ttft_ms = warm_ms + (rounds_waited * answer_s * 1e3).min(WINDOW_S * 1e3);
        let waiting = key.concurrency.saturating_sub(limit);
        let completed = (active * WINDOW_S / answer_s).floor() as u64;
        let full = !self.medians_only;
        let cached = key.context_tokens / BLOCK_TOKENS * BLOCK_TOKENS;
        let n = u64::from(key.concurrency) + completed;
        let in_cache = active * (key.context_tokens + output_midway) as f64;
        Cell {
            total_tok_s: Some(tenths(total)),
            total_tok_s_ci95: full.then(|| [tenths(total * 0.991), tenths(total * 1.009)]),
            per_request_tok_s: Some(tenths(1e3 / tbt_ms)),
            ttft_ms: Some(self.spread(ttft_ms, 0.3, n)),
            ttft_censored: (full && is_queued).then_some(true),
            tbt_ms: Some(self.spread(tbt_ms, 0.06, n)),
            chunk_gap_ms: full.then(|| self.spread(tbt_ms, 0.2, output_tokens as u64)),
            average_active: Some(tenths(active)),
            completed: Some(completed),
            failed: full.then_some(0),
            prompt_tokens: full.then_some(key.context_tokens),
            cached_tokens: full.then_some(cached),
            output_tokens: Some(output_tokens as u64),
            measured_s: Some(WINDOW_S),
            waiting_at_end: full.then_some(u64::from(waiting)),
            cache_proof: Some(self.cache_proof),
            token_source: full.then_some(TokenSource::ContinuousUsage),
            timestamp_source: self.timestamps(),
            token_ledger: full.then(|| ledger(output_tokens)),
            kv_used_peak: full.then(|| {
                let share = in_cache / self.speed.kv_budget_tokens() as f64;
                (share.min(1.0) * 1e3).round() / 1e3
            }),
            ..Cell::empty(
                key,
                if is_queued {
                    CellStatus::Queued
                } else {
                    CellStatus::Valid
                },
            )
        }
    }

    fn timestamps(&self) -> Option<TimestampSource> {
        (!self.medians_only).then_some(TimestampSource::Kernel)
    }

    /// A distribution about a median, as wide as `share` of it.
    fn spread(&self, median: f64, share: f64, n: u64) -> Distribution {
        let p50 = Some(tenths(median));
        if self.medians_only {
            return Distribution {
                p50,
                ..Distribution::default()
            };
        }
        let at = |widths: f64| Some(tenths(median * (1.0 + widths * share)));
        Distribution {
            p50,
            p90: at(1.3),
            p95: at(1.7),
            p99: at(2.6),
            min: at(-0.8),
            max: at(3.4),
            mean: at(0.1),
            n: Some(n),
        }
    }
}

/// The counts of a window, which agree.
fn ledger(output_tokens: f64) -> TokenLedger {
    TokenLedger {
        client_tokens: Some(output_tokens),
        usage_tokens: None,
        usage_client_tokens: None,
        engine_tokens: Some((output_tokens * 1.001).round()),
        engine_client_tokens: Some(output_tokens),
    }
}

/// Something that makes one doubt the cell, with its evidence.
fn doubt(rng: &mut ChaCha8Rng, cell: &Cell) -> Flag {
    let (name, evidence) = match (cell.phase, rng.random_range(0..6)) {
        (Phase::Prefill, 0..3) => (
            FlagName::ColdOutlier,
            "the first sample took 2.4 times as long as the others".to_owned(),
        ),
        (Phase::Prefill, _) => (
            FlagName::PrefixCacheHit,
            format!(
                "{} prompt tokens came from the cache",
                cell.context_tokens / 2
            ),
        ),
        (Phase::Decode, 0) => (
            FlagName::Unsteady,
            "throughput fell by 7.2 % within the window".to_owned(),
        ),
        (Phase::Decode, 1) => (
            FlagName::Contaminated,
            format!(
                "the server ran {} requests while {} were ours",
                cell.concurrency + 3,
                cell.concurrency
            ),
        ),
        (Phase::Decode, 2) => (
            FlagName::Preempted,
            "the engine preempted 4 requests inside the window".to_owned(),
        ),
        (Phase::Decode, 3) => (
            FlagName::ShortOutput,
            "3 answers stopped before the longest answer asked for".to_owned(),
        ),
        (Phase::Decode, 4) => (FlagName::Repetition, "12 % of the answers loop".to_owned()),
        (Phase::Decode, _) => (
            FlagName::TokenCountDisputed,
            "the engine counted 14,012 tokens, the client counted 13,644 of the same".to_owned(),
        ),
    };
    Flag { name, evidence }
}

/// About 1, as cells of one run differ.
fn noise(rng: &mut ChaCha8Rng) -> f64 {
    1.0 + rng.random_range(-CELL_NOISE_SHARE..CELL_NOISE_SHARE)
}

fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
