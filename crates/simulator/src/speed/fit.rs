//! From measured cells to an engine's speed.

use super::decode::DecodeSurface;
use super::targets::Restart;
use super::{
    DecodePoint, EngineSpeed, Measured, OneOff, PrefillCurve, PrefillPoint, front_end, targets,
};
use crate::engine::{Acceptance, FrontEndCost, Speculation};

/// A length whose rate is below this share of both neighbours' paid a one-off cost.
const OUTLIER_SHARE: f64 = 0.8;

/// The front end explains at most this share of a cold time to first token.
const FRONT_END_SHARE: f64 = 0.7;

impl EngineSpeed {
    /// The speed that reproduces the measured cells. Too few cells are filled up
    /// with assumptions.
    #[must_use]
    pub fn fit(measured: &Measured, speculation: Option<Speculation>) -> EngineSpeed {
        let tokens_per_step = Acceptance::new(speculation).mean_tokens_per_step();
        let mut prefill = measured.prefill.clone();
        prefill.retain(|point| point.prompt_tokens > 0.0 && point.ttft_ms > 0.0);
        prefill.sort_by(|a, b| a.prompt_tokens.total_cmp(&b.prompt_tokens));
        let (outliers, smooth) = split_outliers(&prefill);
        // Restarts cost what the model's own waves will, so the two are fitted in turn.
        let as_measured = |point: &DecodePoint| Restart {
            silent_ms: point.ttft_ms.unwrap_or(0.0),
            apart_ms: 0.0,
        };
        let decode = DecodeSurface::fit(&targets::tbt_points(measured, &as_measured));
        let front_end = front_end::fit(measured, &decode, tokens_per_step);
        let front_end = within(front_end, &smooth);
        let as_modelled =
            |point: &DecodePoint| front_end::restart(point, front_end, &decode, tokens_per_step);
        let points = targets::tbt_points(measured, &as_modelled);
        let decode = DecodeSurface::fit(&points);
        let compute_ms = |point: &PrefillPoint| {
            point.ttft_ms - front_end.alone_ms(point.prompt_tokens.round() as u64)
        };
        let points: Vec<(f64, f64)> = smooth
            .iter()
            .map(|point| (point.prompt_tokens, compute_ms(point)))
            .collect();
        let curve = PrefillCurve::through(&points);
        let one_offs = outliers
            .iter()
            .map(|point| {
                let prompt_tokens = point.prompt_tokens.round() as u64;
                OneOff {
                    prompt_tokens,
                    extra_ms: compute_ms(point) - curve.ms(0, prompt_tokens),
                }
            })
            .filter(|one_off| one_off.extra_ms > 0.0)
            .collect();
        EngineSpeed {
            decode,
            prefill: curve,
            front_end,
            one_offs,
            speculation,
        }
    }

    /// An engine with the same time between tokens and the same prefill rate
    /// everywhere, and no front end: simple figures for tests and tools.
    #[must_use]
    pub fn uniform(tbt_ms: f64, prefill_tok_s: f64) -> EngineSpeed {
        EngineSpeed {
            decode: DecodeSurface::constant(tbt_ms),
            prefill: PrefillCurve::constant(prefill_tok_s),
            front_end: FrontEndCost::default(),
            one_offs: Vec::new(),
            speculation: None,
        }
    }
}

/// Points far slower than both neighbours, and the rest.
fn split_outliers(sorted: &[PrefillPoint]) -> (Vec<PrefillPoint>, Vec<PrefillPoint>) {
    let rate = |point: &PrefillPoint| point.prompt_tokens / point.ttft_ms;
    let is_outlier = |at: usize| {
        at > 0
            && at + 1 < sorted.len()
            && rate(&sorted[at]) < OUTLIER_SHARE * rate(&sorted[at - 1]).min(rate(&sorted[at + 1]))
    };
    let of = |wanted: bool| {
        (0..sorted.len())
            .filter(|at| is_outlier(*at) == wanted)
            .map(|at| sorted[at])
            .collect()
    };
    (of(true), of(false))
}

/// Scales a front end down where it would explain too much of a cold prefill.
fn within(cost: FrontEndCost, prefill: &[PrefillPoint]) -> FrontEndCost {
    let scale = prefill
        .iter()
        .map(|point| {
            let alone = cost.alone_ms(point.prompt_tokens.round() as u64);
            FRONT_END_SHARE * point.ttft_ms / alone.max(f64::MIN_POSITIVE)
        })
        .fold(1.0, f64::min);
    FrontEndCost {
        latency_ms: cost.latency_ms * scale,
        per_request_ms: cost.per_request_ms * scale,
        per_token_ms: cost.per_token_ms * scale,
    }
}
