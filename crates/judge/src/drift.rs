use document::{CellSamples, Micros, Window};

use crate::statistics::trend;
use crate::timeline::Timeline;

/// The window is cut into this many batches to see drift.
const BATCHES: u64 = 10;
/// A drift must be this sure: |t| of the slope with 8 degrees of freedom, p < 0.002.
const SURE_T: f64 = 4.5;
/// And must matter: change over the window as a share of the mean.
const LEAST_SHARE: f64 = 0.10;
/// Streams at work for less than this share of a batch say nothing of its speed.
const LEAST_ACTIVE: f64 = 0.1;

/// One batch of the window.
struct Batch {
    tokens: f64,
    /// Time average of the streams at work.
    active: f64,
    /// Mean length of the sequences at work: prompt and answer so far, tokens.
    length: f64,
}

/// Evidence that throughput drifts beyond its confidence band. Two things are no
/// drift: a stream pausing between two answers (so the speed of the streams at
/// work must drift as well), and answers that grow together, of which each token
/// has more to attend to (attention costs in proportion to length, so the speed
/// may fall by as much as the sequences grew).
pub(crate) fn unsteady(
    samples: &CellSamples,
    streams: &[Timeline<'_>],
    window: Window,
) -> Option<String> {
    let batches = batches(samples.key.context_tokens, streams, window);
    let total = drift(&batches.iter().map(|b| b.tokens).collect::<Vec<_>>())?;
    let working: Vec<&Batch> = batches
        .iter()
        .filter(|b| b.active >= LEAST_ACTIVE)
        .collect();
    let speed = drift(
        &working
            .iter()
            .map(|b| b.tokens / b.active)
            .collect::<Vec<_>>(),
    )?;
    let is_drift = |of: &Drift| of.t.abs() > SURE_T && of.share.abs() > LEAST_SHARE;
    let grown = working.last()?.length / working.first()?.length - 1.0;
    let is_explained = total.share < 0.0 && -total.share <= grown;
    let is_same_way = (total.share < 0.0) == (speed.share < 0.0);
    (is_drift(&total) && is_drift(&speed) && is_same_way && !is_explained).then(|| {
        let (first, second) = halves_tok_s(&batches, window);
        format!(
            "throughput {} from {first:.1} to {second:.1} tok/s between the halves of the window (t = {:.1})",
            if total.share > 0.0 { "rose" } else { "fell" },
            total.t.abs()
        )
    })
}

/// tok/s in either half of the window.
fn halves_tok_s(batches: &[Batch], window: Window) -> (f64, f64) {
    let (first, second) = batches.split_at(batches.len() / 2);
    let tok_s = |half: &[Batch]| {
        let half_s = window.length_s() * half.len() as f64 / batches.len() as f64;
        half.iter().map(|batch| batch.tokens).sum::<f64>() / half_s
    };
    (tok_s(first), tok_s(second))
}

fn batches(context_tokens: u64, streams: &[Timeline<'_>], window: Window) -> Vec<Batch> {
    let length_us = window.close_us.0 - window.open_us.0;
    let edge = |i: u64| {
        let offset = u128::from(length_us) * u128::from(i) / u128::from(BATCHES);
        Micros(window.open_us.0 + u64::try_from(offset).unwrap_or(length_us))
    };
    (0..BATCHES)
        .map(|i| batch(context_tokens, streams, window, edge(i), edge(i + 1)))
        .collect()
}

fn batch(
    context_tokens: u64,
    streams: &[Timeline<'_>],
    window: Window,
    from: Micros,
    to: Micros,
) -> Batch {
    let (mut tokens, mut active_s, mut length_s) = (0.0, 0.0, 0.0);
    for stream in streams {
        tokens += stream.tokens_between(from, to);
        let Some((begin, end)) = stream.active(window.close_us) else {
            continue;
        };
        let at_work_s = end.min(to).seconds_since(begin.max(from)).max(0.0);
        active_s += at_work_s;
        length_s += at_work_s * (context_tokens as f64 + stream.tokens_by(to));
    }
    Batch {
        tokens,
        active: active_s / to.seconds_since(from).max(f64::MIN_POSITIVE),
        length: if active_s > 0.0 {
            length_s / active_s
        } else {
            context_tokens as f64
        },
    }
}

/// A trend as a share of the mean.
struct Drift {
    share: f64,
    t: f64,
}

fn drift(values: &[f64]) -> Option<Drift> {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let trend = trend(values)?;
    (mean > 0.0).then(|| Drift {
        share: trend.rise / mean,
        t: trend.t,
    })
}
