use document::{CellSamples, Flag, FlagName, Outcome, Window};

use crate::decode::{average_active, readings_inside};
use crate::ledger::Balance;
use crate::statistics::median;
use crate::timeline::Timeline;

/// More than this share of the answers must loop.
const LOOPING_SHARE: f64 = 0.10;

/// Answers overlap this much at most: one takes over as the other ends.
pub(crate) const MAX_OVERLAP: f64 = 1.05;

/// All flags of a decode cell.
pub(crate) fn of_decode(
    samples: &CellSamples,
    streams: &[Timeline<'_>],
    window: Window,
    is_queued: bool,
    ledger: &Balance,
) -> Vec<Flag> {
    let flag = |name, evidence: Option<String>| evidence.map(|evidence| Flag { name, evidence });
    [
        flag(
            FlagName::Contaminated,
            contaminated(samples, streams, window),
        ),
        flag(FlagName::TokenCountDisputed, ledger.dispute.clone()),
        exceeds_context(samples, samples.limits.max_output_tokens),
        flag(FlagName::Repetition, repetition(streams)),
        flag(
            FlagName::Unsteady,
            crate::drift::unsteady(samples, streams, window)
                .or_else(|| late_start(streams, window).filter(|_| !is_queued)),
        ),
        flag(FlagName::Preempted, preempted(samples, window)),
        flag(FlagName::ShortOutput, short_output(samples, streams)),
        flag(
            FlagName::PrefixCacheMiss,
            crate::warmth::warmth(samples).miss,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn contaminated(samples: &CellSamples, streams: &[Timeline<'_>], window: Window) -> Option<String> {
    let concurrency = samples.key.concurrency;
    let most = readings_inside(samples, window)
        .filter_map(|r| r.running)
        .reduce(f64::max);
    let foreign = most
        .filter(|most| *most > f64::from(concurrency))
        .map(|most| format!("the server ran {most:.0} requests while {concurrency} were ours"));
    let active = average_active(streams, window);
    let is_crowded = active > MAX_OVERLAP * f64::from(concurrency);
    foreign.or_else(|| {
        is_crowded.then(|| {
            format!("{active:.1} answers came at once where {concurrency} were asked for: answers went on after their end was said")
        })
    })
}

/// Prompt and output together past the model's limit, though the server took it.
pub(crate) fn exceeds_context(samples: &CellSamples, output_tokens: u64) -> Option<Flag> {
    let limit = samples.limits.max_model_len?;
    let prompt = samples
        .requests
        .iter()
        .filter_map(|r| r.usage)
        .map(|usage| usage.prompt_tokens)
        .max()?;
    (prompt.saturating_add(output_tokens) > limit).then(|| Flag {
        name: FlagName::ExceedsContext,
        evidence: format!(
            "{prompt} prompt and {output_tokens} output tokens are more than the model's {limit}"
        ),
    })
}

fn repetition(streams: &[Timeline<'_>]) -> Option<String> {
    let looping: Vec<_> = streams
        .iter()
        .filter_map(|s| s.request.repetition)
        .collect();
    let worst = looping
        .iter()
        .max_by_key(|r| u64::from(r.unit_chars) * u64::from(r.times))?;
    (looping.len() as f64 > LOOPING_SHARE * streams.len() as f64).then(|| {
        format!(
            "{} of {} answers loop, the longest repeats {} characters {} times",
            looping.len(),
            streams.len(),
            worst.unit_chars,
            worst.times
        )
    })
}

/// Streams that had not written anything yet when the window opened, in a cell
/// without a queue: the window holds a start, not a steady state.
fn late_start(streams: &[Timeline<'_>], window: Window) -> Option<String> {
    let mut first_us = std::collections::BTreeMap::new();
    for stream in streams {
        if let Some(at) = stream.at_us.first() {
            let first = first_us.entry(stream.request.stream).or_insert(*at);
            *first = (*first).min(*at);
        }
    }
    let late = first_us.values().filter(|at| **at > window.open_us).count();
    (late > 0).then(|| {
        format!(
            "{late} of {} streams wrote their first token after the window had opened",
            first_us.len()
        )
    })
}

/// Whether the engine took requests back inside the window, in words.
pub(crate) fn preempted(samples: &CellSamples, window: Window) -> Option<String> {
    let counts: Vec<f64> = readings_inside(samples, window)
        .filter_map(|r| r.preemptions)
        .collect();
    let grown = counts.last()? - counts.first()?;
    (grown > 0.0).then(|| format!("the engine preempted {grown:.0} requests inside the window"))
}

fn short_output(samples: &CellSamples, streams: &[Timeline<'_>]) -> Option<String> {
    let stopped: Vec<f64> = streams
        .iter()
        .filter(|s| matches!(&s.request.outcome, Outcome::Completed { finish_reason } if finish_reason == "stop"))
        .filter_map(|s| s.tokens.last().copied())
        .filter(|tokens| *tokens < samples.limits.max_output_tokens as f64)
        .collect();
    let count = stopped.len();
    median(stopped).map(|tokens| {
        format!(
            "{count} answers stopped by themselves, the median after {tokens:.0} of {} tokens",
            samples.limits.max_output_tokens
        )
    })
}
