use document::{CellSamples, EngineReading, Micros, Outcome, TokenLedger, TokenSource, Window};

use crate::decode::average_active;
use crate::timeline::{Timeline, tokens_between};

/// Counts may differ by this share of the engine's …
pub(crate) const ALLOWED_SHARE: f64 = 0.01;
/// … or by the tokens of this many engine steps.
const ALLOWED_STEPS: f64 = 2.0;
/// Drafted tokens may be counted past the limit before an answer ends.
const OVERSHOOT_TOKENS: u64 = 16;

/// The three counts, and whether they agree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Balance {
    /// What is written into the document.
    pub counts: TokenLedger,
    /// Why they disagree, in words.
    pub dispute: Option<String>,
}

/// Compares the client's count with final usage and with the engine's counter
/// (METHOD, "The ledger").
pub(crate) fn balance(
    samples: &CellSamples,
    streams: &[Timeline<'_>],
    source: Option<TokenSource>,
    window: Window,
) -> Balance {
    let (usage_tokens, usage_client_tokens) = by_usage(streams);
    let stretches = comparable(samples, streams, window);
    let sum = |of: fn(&Stretch) -> f64| {
        (!stretches.is_empty()).then(|| stretches.iter().map(of).sum::<f64>())
    };
    let engine_tokens = sum(|s| s.engine_tokens);
    let engine_client_tokens = sum(|s| s.client_tokens);
    let counts = TokenLedger {
        client_tokens: Some(tokens_between(streams, window.open_us, window.close_us)),
        usage_tokens,
        usage_client_tokens,
        engine_tokens,
        engine_client_tokens,
    };
    let step_tokens = step_tokens(samples, streams, window, &stretches);
    let dispute = engine_dispute(&counts, step_tokens, &stretches)
        .or_else(|| usage_dispute(&counts, step_tokens))
        .or_else(|| oversized(streams, samples.limits.max_output_tokens))
        .or_else(|| uncountable(source, engine_tokens));
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
    client_tokens: f64,
    /// How far the moments the readings speak of may lie from where they are put, s.
    uncertain_s: f64,
}

fn comparable(samples: &CellSamples, streams: &[Timeline<'_>], window: Window) -> Vec<Stretch> {
    match whole_window_by_counter(&samples.readings, streams, window) {
        Some(stretch) => vec![stretch],
        None => by_slots(&samples.readings, streams, window),
    }
}

/// What the engine's counter said, and when.
struct Point {
    at: Micros,
    tokens: f64,
    uncertain_s: f64,
}

/// The counter's growth over the window, its edges interpolated between the
/// readings around them; where none lies beyond an edge, over the part between.
/// Nothing where it fell: the engine started again.
fn whole_window_by_counter(
    readings: &[EngineReading],
    streams: &[Timeline<'_>],
    window: Window,
) -> Option<Stretch> {
    let points: Vec<Point> = readings
        .iter()
        .filter_map(|r| {
            Some(Point {
                at: r.at_us(),
                tokens: r.generated_tokens?,
                uncertain_s: uncertain_s(r),
            })
        })
        .collect();
    let (first, last) = (points.first()?, points.last()?);
    let from = window.open_us.max(first.at);
    let to = window.close_us.min(last.at);
    let is_short = to <= from || to.seconds_since(from) < window.length_s() / 2.0;
    let is_falling = points
        .windows(2)
        .any(|pair| pair[1].tokens < pair[0].tokens);
    if is_short || is_falling {
        return None;
    }
    let (begin, end) = (interpolate(&points, from)?, interpolate(&points, to)?);
    Some(Stretch {
        from,
        to,
        engine_tokens: end.tokens - begin.tokens,
        client_tokens: tokens_between(streams, from, to),
        uncertain_s: begin.uncertain_s + end.uncertain_s,
    })
}

/// A reading speaks of some moment between question and answer; it is put midway.
fn uncertain_s(reading: &EngineReading) -> f64 {
    let trip_s = reading.answered_us.seconds_since(reading.asked_us);
    trip_s.max(0.0) / 2.0
}

fn interpolate(points: &[Point], at: Micros) -> Option<Point> {
    let after = points.partition_point(|p| p.at < at);
    let (before, next) = (points.get(after.saturating_sub(1))?, points.get(after)?);
    let length_s = next.at.seconds_since(before.at);
    let share = if length_s > 0.0 {
        at.seconds_since(before.at) / length_s
    } else {
        1.0
    };
    Some(Point {
        at,
        tokens: before.tokens + (next.tokens - before.tokens) * share,
        uncertain_s: before.uncertain_s * (1.0 - share) + next.uncertain_s * share,
    })
}

/// Pairs of readings inside the window between which every slot kept its request:
/// `n_decoded` starts again with each request, so other pairs tell nothing. The client's count
/// is of whole events here: such stretches hold the starts of answers and never
/// their ends, so a part of the event to come would add up to a bias.
fn by_slots(readings: &[EngineReading], streams: &[Timeline<'_>], window: Window) -> Vec<Stretch> {
    let inside: Vec<&EngineReading> = readings
        .iter()
        .filter(|r| !r.slots.is_empty() && window.contains(r.at_us()))
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
                client_tokens: streams
                    .iter()
                    .map(|s| s.arrived_by(pair[1].at_us()) - s.arrived_by(pair[0].at_us()))
                    .sum(),
                uncertain_s: uncertain_s(pair[0]) + uncertain_s(pair[1]),
            })
        })
        .collect()
}

/// Tokens the engine writes in one step: by its step counter over the compared
/// stretch, else what an event usually carries times the streams at work.
fn step_tokens(
    samples: &CellSamples,
    streams: &[Timeline<'_>],
    window: Window,
    stretches: &[Stretch],
) -> f64 {
    let by_counter = match stretches {
        [stretch] => steps_in(samples, stretch).map(|steps| stretch.engine_tokens / steps),
        _ => None,
    };
    let tokens = tokens_between(streams, window.open_us, window.close_us);
    let events: usize = streams
        .iter()
        .map(|s| s.events_between(window.open_us, window.close_us).len())
        .sum();
    // At least one stream, of one token a step: a cell without work has no finer step.
    let at_work = average_active(streams, window).max(1.0);
    // An engine that steps each request by itself counts many small steps, and
    // streams that started together still bring their events together.
    by_counter
        .unwrap_or(0.0)
        .max(at_work * (tokens / events.max(1) as f64).max(1.0))
}

/// Growth of the step counter over a stretch, scaled from the readings inside it.
fn steps_in(samples: &CellSamples, stretch: &Stretch) -> Option<f64> {
    let steps: Vec<(Micros, f64)> = samples
        .readings
        .iter()
        .filter(|r| (stretch.from..=stretch.to).contains(&r.at_us()))
        .filter_map(|r| Some((r.at_us(), r.steps?)))
        .collect();
    let (first, last) = (steps.first()?, steps.last()?);
    let read_s = last.0.seconds_since(first.0);
    let grown = last.1 - first.1;
    (read_s > 0.0 && grown > 0.0).then(|| grown * stretch.to.seconds_since(stretch.from) / read_s)
}

fn engine_dispute(counts: &TokenLedger, step_tokens: f64, stretches: &[Stretch]) -> Option<String> {
    let (engine, client) = (counts.engine_tokens?, counts.engine_client_tokens?);
    // Each comparison of two readings may be off by the steps around its ends, and
    // by what is written while a reading is under way. Errors of several comparisons
    // add in squares.
    let compared_s: f64 = stretches.iter().map(|s| s.to.seconds_since(s.from)).sum();
    let tokens_per_s = engine.max(client) / compared_s.max(f64::MIN_POSITIVE);
    let allowed_squared: f64 = stretches
        .iter()
        .map(|s| (ALLOWED_STEPS * step_tokens + s.uncertain_s * tokens_per_s).powi(2))
        .sum();
    let allowed = (ALLOWED_SHARE * engine).max(allowed_squared.sqrt());
    ((engine - client).abs() > allowed).then(|| {
        format!(
            "the engine counted {engine:.0} tokens, the client {client:.0}; {allowed:.0} may differ"
        )
    })
}

fn usage_dispute(counts: &TokenLedger, step_tokens: f64) -> Option<String> {
    let (usage, client) = (counts.usage_tokens?, counts.usage_client_tokens?);
    let allowed = (ALLOWED_SHARE * usage).max(ALLOWED_STEPS * step_tokens);
    ((usage - client).abs() > allowed).then(|| {
        format!("final usage says {usage:.0} tokens, the events of the same requests {client:.0}")
    })
}

/// Usage that says more than was asked for cannot be true.
fn oversized(streams: &[Timeline<'_>], max_output_tokens: u64) -> Option<String> {
    let usage = streams.iter().filter_map(|s| s.request.usage);
    let most = usage.map(|usage| usage.completion_tokens).max()?;
    (most > max_output_tokens.saturating_add(OVERSHOOT_TOKENS)).then(|| {
        format!("usage says {most} tokens, where at most {max_output_tokens} were asked for")
    })
}

/// Events were all there is to count, and no engine counter confirms them.
fn uncountable(source: Option<TokenSource>, engine_tokens: Option<f64>) -> Option<String> {
    (source == Some(TokenSource::EventsOnly) && engine_tokens.is_none()).then(|| {
        "the server reports no usage and no counter: events were counted, and an event may carry several tokens".to_owned()
    })
}
