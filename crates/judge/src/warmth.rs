use std::collections::{BTreeMap, BTreeSet};

use document::{CellSamples, EngineReading, Micros, RequestRole, RequestSample};

use crate::statistics::{median, median_count};

/// Blocks at the end of a warm prompt that need not be in the cache.
const WARM_BLOCKS: u64 = 2;
/// More than this share of the requests must be cold before TTFT is in doubt.
const AFFECTED_SHARE: f64 = 0.05;

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
/// (usage, else slots), else by the growth of the engine's counters.
pub(crate) fn warmth(samples: &CellSamples) -> Warmth {
    let limits = &samples.limits;
    let block_tokens = limits.block_tokens.unwrap_or(1).max(1);
    let spared = WARM_BLOCKS
        .saturating_mul(block_tokens)
        .saturating_add(limits.template_tokens);
    let by_usage = told_by_usage(&samples.requests);
    let by_slots = told_by_slots(samples);
    // Not both: that would count a request twice. The fuller account is taken.
    let known = if by_usage.len() >= by_slots.len() {
        by_usage
    } else {
        by_slots
    };
    if known.is_empty() {
        return by_counters(samples, spared);
    }
    let missed: Vec<&(u64, u64)> = known
        .iter()
        .filter(|(prompt, cached)| cached.saturating_add(spared) < *prompt)
        .collect();
    let is_warm = missed.len() as f64 <= AFFECTED_SHARE * known.len() as f64;
    let coldest = missed.iter().min_by_key(|(_, cached)| *cached);
    Warmth {
        cached_tokens: median_count(known.iter().map(|(_, cached)| *cached)),
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
        .filter_map(|r| Some((r.usage?.prompt_tokens, r.cached_tokens()?)))
        .collect()
}

/// When the first of the cell's streams was sent. What the engine did before
/// was warming up, and cold on purpose.
fn first_sent_us(samples: &CellSamples) -> Option<Micros> {
    samples
        .requests
        .iter()
        .filter(|r| r.role == RequestRole::Stream)
        .filter_map(|r| r.sent_us)
        .min()
}

/// Each request once, as the slots showed it at work, warm-up left out.
fn told_by_slots(samples: &CellSamples) -> Vec<(u64, u64)> {
    let Some(first_sent_us) = first_sent_us(samples) else {
        return Vec::new();
    };
    let (mut warmed, mut seen) = (BTreeSet::new(), BTreeMap::new());
    for reading in &samples.readings {
        for slot in reading.slots.iter().filter(|s| s.is_processing) {
            if reading.answered_us < first_sent_us {
                warmed.insert(slot.task);
            } else if let (Some(prompt), Some(cached)) = (slot.prompt_tokens, slot.cached_tokens)
                && !warmed.contains(&slot.task)
            {
                seen.insert(slot.task, (prompt, cached));
            }
        }
    }
    seen.into_values().collect()
}

/// Growth of the engine's cache counters since just before the first stream.
fn by_counters(samples: &CellSamples, spared: u64) -> Warmth {
    let unknown = Warmth {
        cached_tokens: None,
        is_warm: None,
        miss: None,
    };
    let Some((queried, hit)) = grown(samples) else {
        return unknown;
    };
    let prompts = samples
        .requests
        .iter()
        .filter_map(|r| r.usage)
        .map(|usage| usage.prompt_tokens as f64)
        .filter(|tokens| *tokens > 0.0)
        .collect();
    let prompt = median(prompts).unwrap_or(samples.key.context_tokens as f64);
    if queried <= 0.0 || prompt <= 0.0 {
        return unknown;
    }
    let requests = queried / prompt;
    let is_warm = hit + spared as f64 * requests >= queried * (1.0 - AFFECTED_SHARE);
    Warmth {
        cached_tokens: None,
        is_warm: Some(is_warm),
        miss: (!is_warm).then(|| {
            format!(
                "by the engine's counters {hit:.0} of {queried:.0} prompt tokens came from the cache (about {requests:.0} requests of {prompt:.0})"
            )
        }),
    }
}

/// Prompt tokens looked up and found; `None` where not told, or where a counter
/// fell because the engine started again.
fn grown(samples: &CellSamples) -> Option<(f64, f64)> {
    let first_sent_us = first_sent_us(samples)?;
    let both = |r: &EngineReading| Some((r.at_us(), r.cache_queried_tokens?, r.cache_hit_tokens?));
    let told: Vec<_> = samples.readings.iter().filter_map(both).collect();
    let before = told.iter().rfind(|(at, _, _)| *at <= first_sent_us);
    let (_, queried_before, hit_before) = before.or(told.first())?;
    let (_, queried, hit) = told.last()?;
    let growth = (queried - queried_before, hit - hit_before);
    (growth.0 >= 0.0 && growth.1 >= 0.0).then_some(growth)
}
