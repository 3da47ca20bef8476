//! The front end's cost, from the warm times to first token.
//!
//! The median of a wave of C requests waits (C + 1) / 2 turns of the serial part,
//! then for the step in progress and its own step.

use nalgebra::{DMatrix, DVector};

use super::targets::Restart;
use super::{DecodePoint, DecodeSurface, Measured};
use crate::engine::FrontEndCost;

/// Steps a request waits for when others are decoding: half of the one in
/// progress, and its own.
const STEPS_WAITED: f64 = 1.5;

/// Share of a measured TTFT the steps may explain at most.
const MOST_EXPLAINED: f64 = 0.9;

/// Where no time to first token was measured.
const ASSUMED: FrontEndCost = FrontEndCost {
    latency_ms: 10.0,
    per_request_ms: 5.0,
    per_token_ms: 0.001,
};

/// Keeps the normal equations solvable when the cells do not tell parts apart.
const RIDGE: f64 = 1e-9;

/// How restarts go in a cell: they come apart as the wave began, so none waits for
/// another.
pub(super) fn restart(
    point: &DecodePoint,
    cost: FrontEndCost,
    decode: &DecodeSurface,
    tokens_per_step: f64,
) -> Restart {
    let prompt_tokens = point.context_tokens.round() as u64;
    Restart {
        silent_ms: cost.alone_ms(prompt_tokens) + steps_ms(point, decode, tokens_per_step),
        apart_ms: cost.serial_ms(prompt_tokens),
    }
}

/// Requests of a cell that arrive together and run.
fn wave(point: &DecodePoint) -> f64 {
    f64::from(point.concurrency).min(point.running.round())
}

/// Turns of the serial part the median request of a wave waits.
fn turns(point: &DecodePoint) -> f64 {
    (wave(point) + 1.0) / 2.0
}

/// What the median request of a wave waits for steps, ms; half of the wave is
/// decoding by then.
fn steps_ms(point: &DecodePoint, decode: &DecodeSurface, tokens_per_step: f64) -> f64 {
    if wave(point) <= 1.0 {
        return 0.0;
    }
    let tbt_ms = decode.time_between_tokens_ms(point.context_tokens, wave(point) / 2.0);
    STEPS_WAITED * tokens_per_step * tbt_ms
}

/// Costs that are not negative and predict the measured times with the least
/// squared relative error.
pub(super) fn fit(
    measured: &Measured,
    decode: &DecodeSurface,
    tokens_per_step: f64,
) -> FrontEndCost {
    let rows: Vec<([f64; 3], f64)> = measured
        .decode
        .iter()
        .filter_map(|point| {
            let ttft_ms = point.ttft_ms.filter(|ms| *ms > 0.0)?;
            let turns = turns(point);
            let steps_ms = steps_ms(point, decode, tokens_per_step);
            let front_ms = ttft_ms - steps_ms.min(MOST_EXPLAINED * ttft_ms);
            let row = [1.0, turns, turns * point.context_tokens];
            Some((row.map(|x| x / ttft_ms), front_ms / ttft_ms))
        })
        .collect();
    if rows.is_empty() {
        return ASSUMED;
    }
    // Three parts: every choice of which are zero can be tried.
    let mut best: Option<(f64, [f64; 3])> = None;
    for chosen in 1..8u8 {
        let Some(costs) = solve(&rows, chosen) else {
            continue;
        };
        let error: f64 = rows
            .iter()
            .map(|(row, y)| (row[0] * costs[0] + row[1] * costs[1] + row[2] * costs[2] - y).powi(2))
            .sum();
        if costs.iter().all(|cost| *cost >= 0.0) && best.is_none_or(|(least, _)| error < least) {
            best = Some((error, costs));
        }
    }
    best.map_or(ASSUMED, |(_, costs)| FrontEndCost {
        latency_ms: costs[0],
        per_request_ms: costs[1],
        per_token_ms: costs[2],
    })
}

/// Least squares with only the `chosen` parts (a bit each) allowed.
fn solve(rows: &[([f64; 3], f64)], chosen: u8) -> Option<[f64; 3]> {
    let parts: Vec<usize> = (0..3).filter(|part| chosen & (1 << part) != 0).collect();
    let matrix = DMatrix::from_fn(rows.len(), parts.len(), |row, at| rows[row].0[parts[at]]);
    let right = DVector::from_iterator(rows.len(), rows.iter().map(|(_, y)| *y));
    let mut normal = matrix.transpose() * &matrix;
    for at in 0..parts.len() {
        normal[(at, at)] *= 1.0 + RIDGE;
    }
    let solution = normal.lu().solve(&(matrix.transpose() * right))?;
    let mut costs = [0.0; 3];
    for (at, part) in parts.iter().enumerate() {
        costs[*part] = solution[at];
    }
    Some(costs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_serial_front_end_is_recognised_by_its_waves() {
        let decode = [
            (1u32, 8192.0),
            (2, 8192.0),
            (4, 8192.0),
            (1, 65536.0),
            (4, 65536.0),
        ]
        .map(|(concurrency, context_tokens)| {
            let turns = (f64::from(concurrency) + 1.0) / 2.0;
            let steps = if concurrency > 1 { 1.5 * 10.0 } else { 0.0 };
            DecodePoint {
                context_tokens,
                concurrency,
                running: f64::from(concurrency),
                average_active: None,
                total_tok_s: 100.0,
                per_request_tok_s: None,
                tbt_ms: None,
                ttft_ms: Some(50.0 + steps + turns * (20.0 + 0.002 * context_tokens)),
            }
        })
        .to_vec();
        let measured = Measured {
            prefill: Vec::new(),
            decode,
            max_output_tokens: 4096.0,
            window_s: 30.0,
        };
        let cost = fit(&measured, &DecodeSurface::constant(10.0), 1.0);
        assert!((cost.latency_ms - 50.0).abs() < 0.1, "{cost:?}");
        assert!((cost.per_request_ms - 20.0).abs() < 0.1);
        assert!((cost.per_token_ms - 0.002).abs() < 1e-4);
    }
}
