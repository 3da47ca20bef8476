use document::{CellSamples, EngineReading, Micros, Outcome, TokenLedger, Window};

use crate::timeline::Timeline;

/// Counts may differ by this share of the engine's …
const ALLOWED_SHARE: f64 = 0.01;
/// … or by the tokens of this many engine steps.
const ALLOWED_STEPS: f64 = 2.0;

/// The three counts, and whether they agree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Balance {
    /// What is written into the document.
    pub counts: TokenLedger,
    /// Why they disagree, in words.
    pub dispute: Option<String>,
}

/// Compares the client's count with final usage and with the engine's counter
/// (METHOD, "Token ledger").
pub(crate) fn balance(samples: &CellSamples, streams: &[Timeline<'_>], window: Window) -> Balance {
    let tokens_in = |from: Micros, to: Micros| -> f64 {
        streams.iter().map(|s| s.tokens_between(from, to)).sum()
    };
    let (usage_tokens, usage_client_tokens) = by_usage(streams);
    let stretches = comparable(samples, window);
    let engine_tokens =
        (!stretches.is_empty()).then(|| stretches.iter().map(|s| s.engine_tokens).sum::<f64>());
    let engine_client_tokens = engine_tokens.map(|_| {
        stretches
            .iter()
            .map(|s| tokens_in(s.from, s.to))
            .sum::<f64>()
    });
    let counts = TokenLedger {
        client_tokens: Some(tokens_in(window.open_us, window.close_us)),
        usage_tokens,
        usage_client_tokens,
        engine_tokens,
        engine_client_tokens,
    };
    let step_tokens = step_tokens(samples, streams, window, engine_tokens);
    let dispute = engine_dispute(&counts, step_tokens, stretches.len())
        .or_else(|| usage_dispute(&counts))
        .or_else(|| uncountable(streams, engine_tokens));
    Balance { counts, dispute }
}

/// Final usage of completed requests against the client's count of the same.
fn by_usage(streams: &[Timeline<'_>]) -> (Option<f64>, Option<f64>) {
    let both: Vec<(f64, f64)> = streams
        .iter()
        .filter(|s| matches!(s.request.outcome, Outcome::Completed { .. }))
        .filter_map(|s| {
            let usage = s.request.usage?;
            Some((usage.completion_tokens as f64, *s.tokens.last()?))
        })
        .collect();
    if both.is_empty() {
        return (None, None);
    }
    (
        Some(both.iter().map(|b| b.0).sum()),
        Some(both.iter().map(|b| b.1).sum()),
    )
}

/// A stretch of the window over which the engine's own count is known.
struct Stretch {
    from: Micros,
    to: Micros,
    engine_tokens: f64,
}

fn comparable(samples: &CellSamples, window: Window) -> Vec<Stretch> {
    let by_counter = whole_window_by_counter(&samples.readings, window);
    match by_counter {
        Some(stretch) => vec![stretch],
        None => by_slots(&samples.readings, window),
    }
}

/// The counter's growth over the window, its edges interpolated between the
/// readings around them; where none lies beyond an edge, over the part between.
fn whole_window_by_counter(readings: &[EngineReading], window: Window) -> Option<Stretch> {
    let points: Vec<(Micros, f64)> = readings
        .iter()
        .filter_map(|r| r.generated_tokens.map(|t| (r.at_us(), t)))
        .collect();
    let (first, last) = (points.first()?, points.last()?);
    let from = window.open_us.max(first.0);
    let to = window.close_us.min(last.0);
    if to <= from || to.seconds_since(from) < window.length_s() / 2.0 {
        return None;
    }
    let engine_tokens = interpolate(&points, to)? - interpolate(&points, from)?;
    Some(Stretch {
        from,
        to,
        engine_tokens,
    })
}

fn interpolate(points: &[(Micros, f64)], at: Micros) -> Option<f64> {
    let after = points.partition_point(|p| p.0 < at);
    let (before, next) = (points.get(after.saturating_sub(1))?, points.get(after)?);
    let length = next.0.seconds_since(before.0);
    if length <= 0.0 {
        return Some(next.1);
    }
    Some(before.1 + (next.1 - before.1) * at.seconds_since(before.0) / length)
}

/// Pairs of readings inside the window between which every slot kept its request:
/// `n_decoded` starts again with each request, so other pairs tell nothing.
fn by_slots(readings: &[EngineReading], window: Window) -> Vec<Stretch> {
    let inside: Vec<&EngineReading> = readings
        .iter()
        .filter(|r| !r.slots.is_empty() && (window.open_us..=window.close_us).contains(&r.at_us()))
        .collect();
    inside
        .windows(2)
        .filter_map(|pair| {
            let mut engine_tokens = 0.0;
            for before in &pair[0].slots {
                let after = pair[1].slots.iter().find(|s| s.slot == before.slot)?;
                if after.task != before.task || after.is_processing != before.is_processing {
                    return None;
                }
                if before.is_processing {
                    engine_tokens +=
                        after.decoded_tokens.checked_sub(before.decoded_tokens)? as f64;
                }
            }
            Some(Stretch {
                from: pair[0].at_us(),
                to: pair[1].at_us(),
                engine_tokens,
            })
        })
        .collect()
}

/// Tokens the engine writes in one step: by its step counter, else what an event
/// usually carries times the streams at work.
fn step_tokens(
    samples: &CellSamples,
    streams: &[Timeline<'_>],
    window: Window,
    engine_tokens: Option<f64>,
) -> f64 {
    let steps: Vec<f64> = crate::decode::readings_inside(samples, window)
        .filter_map(|r| r.steps)
        .collect();
    if let (Some(first), Some(last), Some(tokens)) = (steps.first(), steps.last(), engine_tokens)
        && last > first
    {
        return tokens / (last - first);
    }
    let (mut tokens, mut events) = (0.0, 0usize);
    for stream in streams {
        let inside = stream.events_between(window.open_us, window.close_us);
        events += inside.len();
        tokens += stream.tokens_between(window.open_us, window.close_us);
    }
    let at_work = f64::from(samples.key.concurrency);
    if events == 0 {
        at_work
    } else {
        at_work * tokens / events as f64
    }
}

fn engine_dispute(counts: &TokenLedger, step_tokens: f64, stretches: usize) -> Option<String> {
    let (engine, client) = (counts.engine_tokens?, counts.engine_client_tokens?);
    // Each comparison of two readings may be off by the steps around its ends.
    let steps = ALLOWED_STEPS * (stretches as f64).sqrt();
    let allowed = (ALLOWED_SHARE * engine).max(steps * step_tokens);
    ((engine - client).abs() > allowed).then(|| {
        format!(
            "the engine counted {engine:.0} tokens, the client {client:.0}; {allowed:.0} may differ"
        )
    })
}

fn usage_dispute(counts: &TokenLedger) -> Option<String> {
    let (usage, client) = (counts.usage_tokens?, counts.usage_client_tokens?);
    ((usage - client).abs() > ALLOWED_SHARE * usage).then(|| {
        format!("final usage says {usage:.0} tokens, the events of the same requests {client:.0}")
    })
}

/// Events were all there is to count, and no engine counter confirms them.
fn uncountable(streams: &[Timeline<'_>], engine_tokens: Option<f64>) -> Option<String> {
    let is_bare = |s: &Timeline<'_>| {
        s.request.events.tokens_so_far.is_empty()
            && s.request.usage.is_none()
            && !s.at_us.is_empty()
    };
    let is_events_only =
        streams.iter().any(is_bare) && !streams.iter().any(|s| s.request.usage.is_some());
    (is_events_only && engine_tokens.is_none()).then(|| {
        "the server reports no usage and no counter: events were counted, and an event may carry several tokens".to_owned()
    })
}
