use document::{CellSamples, Flag, FlagName, Micros, Outcome, RequestRole, RequestSample, Window};

use crate::decode::readings_inside;
use crate::ledger::Balance;
use crate::statistics::{median, trend};
use crate::timeline::Timeline;

/// Blocks at the end of a warm prompt that need not be in the cache.
const WARM_BLOCKS: u64 = 2;
/// More than this share of the requests must be affected before a flag is raised.
const AFFECTED_SHARE: f64 = 0.05;
/// Looping answers are rarer than cold prompts and matter as much.
const LOOPING_SHARE: f64 = 0.10;
/// The window is cut into this many batches to see drift.
const DRIFT_BATCHES: u64 = 10;
/// A drift must be this sure: |t| of the slope with 8 degrees of freedom, p < 0.002.
const DRIFT_T: f64 = 4.5;
/// And must matter: change over the window as a share of the mean.
const DRIFT_SHARE: f64 = 0.10;

/// All flags of a decode cell.
pub(crate) fn of_decode(
    samples: &CellSamples,
    streams: &[Timeline<'_>],
    window: Window,
    ledger: &Balance,
) -> Vec<Flag> {
    let flag = |name, evidence: Option<String>| evidence.map(|evidence| Flag { name, evidence });
    [
        flag(FlagName::Contaminated, contaminated(samples, window)),
        flag(FlagName::TokenCountDisputed, ledger.dispute.clone()),
        exceeds_context(samples, samples.limits.max_output_tokens),
        flag(FlagName::Repetition, repetition(streams)),
        flag(FlagName::Unsteady, unsteady(streams, window)),
        flag(FlagName::Preempted, preempted(samples, window)),
        flag(FlagName::ShortOutput, short_output(samples)),
        flag(FlagName::PrefixCacheMiss, warmth(samples).miss),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn contaminated(samples: &CellSamples, window: Window) -> Option<String> {
    let concurrency = samples.key.concurrency;
    let most = readings_inside(samples, window)
        .filter_map(|r| r.running)
        .reduce(f64::max)?;
    (most > f64::from(concurrency))
        .then(|| format!("the server ran {most:.0} requests while {concurrency} were ours"))
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
    (prompt + output_tokens > limit).then(|| Flag {
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
    let worst = looping.iter().max_by_key(|r| r.unit_chars * r.times)?;
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

fn unsteady(streams: &[Timeline<'_>], window: Window) -> Option<String> {
    let length_us = window.close_us.0 - window.open_us.0;
    let edge = |i: u64| Micros(window.open_us.0 + length_us * i / DRIFT_BATCHES);
    let batches: Vec<f64> = (0..DRIFT_BATCHES)
        .map(|i| {
            streams
                .iter()
                .map(|s| s.tokens_between(edge(i), edge(i + 1)))
                .sum()
        })
        .collect();
    let mean = batches.iter().sum::<f64>() / DRIFT_BATCHES as f64;
    let trend = trend(&batches)?;
    let share = trend.rise / mean;
    (mean > 0.0 && trend.t.abs() > DRIFT_T && share.abs() > DRIFT_SHARE).then(|| {
        format!(
            "throughput {} by {:.0} % over the window (t = {:.1})",
            if share > 0.0 { "rose" } else { "fell" },
            share.abs() * 100.0,
            trend.t.abs()
        )
    })
}

fn preempted(samples: &CellSamples, window: Window) -> Option<String> {
    let counts: Vec<f64> = readings_inside(samples, window)
        .filter_map(|r| r.preemptions)
        .collect();
    let grown = counts.last()? - counts.first()?;
    (grown > 0.0).then(|| format!("the engine preempted {grown:.0} requests inside the window"))
}

fn short_output(samples: &CellSamples) -> Option<String> {
    let stopped: Vec<f64> = samples
        .requests
        .iter()
        .filter(|r| r.role == RequestRole::Stream)
        .filter(|r| matches!(&r.outcome, Outcome::Completed { finish_reason } if finish_reason == "stop"))
        .filter_map(|r| r.usage)
        .map(|usage| usage.completion_tokens as f64)
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

/// What is known of the warmth of a decode cell's prompts.
pub(crate) struct Warmth {
    /// Median cached prompt tokens, where told for each request.
    pub cached_tokens: Option<u64>,
    /// Warm, cold, or not told.
    pub is_warm: Option<bool>,
    /// Evidence of cold prompts.
    pub miss: Option<String>,
}

/// Warm: cached ≥ prompt − two blocks − template. By each request's own count
/// (usage, slots), else by the growth of the engine's counters over the cell.
pub(crate) fn warmth(samples: &CellSamples) -> Warmth {
    let limits = &samples.limits;
    let spared = WARM_BLOCKS * limits.block_tokens.unwrap_or(1).max(1) + limits.template_tokens;
    let known: Vec<(u64, u64)> = told_by_usage(&samples.requests)
        .into_iter()
        .chain(told_by_slots(samples))
        .collect();
    if known.is_empty() {
        return by_counters(samples, spared);
    }
    let missed: Vec<&(u64, u64)> = known
        .iter()
        .filter(|(prompt, cached)| cached + spared < *prompt)
        .collect();
    let is_warm = missed.len() as f64 <= AFFECTED_SHARE * known.len() as f64;
    let coldest = missed.iter().min_by_key(|(_, cached)| *cached);
    Warmth {
        cached_tokens: median(known.iter().map(|k| k.1 as f64).collect()).map(|c| c.round() as u64),
        is_warm: Some(is_warm),
        miss: coldest.filter(|_| !is_warm).map(|(prompt, cached)| {
            format!(
                "{} of {} prompts were not in the cache: the coldest found {cached} of {prompt} tokens",
                missed.len(),
                known.len()
            )
        }),
    }
}

fn told_by_usage(requests: &[RequestSample]) -> Vec<(u64, u64)> {
    requests
        .iter()
        .filter(|r| r.role == RequestRole::Stream)
        .filter_map(|r| Some((r.usage?.prompt_tokens, r.usage?.cached_tokens?)))
        .collect()
}

/// Each request once, as the slots showed it at work.
fn told_by_slots(samples: &CellSamples) -> Vec<(u64, u64)> {
    let mut seen = std::collections::BTreeMap::new();
    for slot in samples
        .readings
        .iter()
        .flat_map(|r| &r.slots)
        .filter(|s| s.is_processing)
    {
        if let (Some(prompt), Some(cached)) = (slot.prompt_tokens, slot.cached_tokens) {
            seen.insert(slot.task, (prompt, cached));
        }
    }
    seen.into_values().collect()
}

fn by_counters(samples: &CellSamples, spared: u64) -> Warmth {
    let grown = |of: fn(&document::EngineReading) -> Option<f64>| {
        let values: Vec<f64> = samples.readings.iter().filter_map(of).collect();
        Some(values.last()? - values.first()?)
    };
    let unknown = Warmth {
        cached_tokens: None,
        is_warm: None,
        miss: None,
    };
    let (Some(queried), Some(hit)) = (
        grown(|r| r.cache_queried_tokens),
        grown(|r| r.cache_hit_tokens),
    ) else {
        return unknown;
    };
    let admitted = samples
        .requests
        .iter()
        .filter(|r| r.role == RequestRole::Stream && !r.events.is_empty())
        .count();
    if queried <= 0.0 || admitted == 0 {
        return unknown;
    }
    let prompt = queried / admitted as f64;
    let is_warm = hit + (spared as f64) * (admitted as f64) >= queried * (1.0 - AFFECTED_SHARE);
    Warmth {
        cached_tokens: None,
        is_warm: Some(is_warm),
        miss: (!is_warm).then(|| {
            format!(
                "by the engine's counters {hit:.0} of {queried:.0} prompt tokens came from the cache ({admitted} requests of about {prompt:.0})"
            )
        }),
    }
}
