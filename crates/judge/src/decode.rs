use document::{
    CacheProof, Cell, CellSamples, CellStatus, Outcome, TimestampSource, TokenSource, Window,
};

use crate::statistics::{distribution, median, median_count};
use crate::timeline::{Timeline, timelines, tokens_between};
use crate::{flags, ledger, verdict, warmth};

/// A stream with fewer tokens than this inside the window says little about the
/// time between them; it is left out where others have more.
const MIN_TBT_TOKENS: f64 = 16.0;

/// Figures of a decode cell (METHOD, "Sustained decode").
pub(crate) fn judge(samples: &CellSamples) -> Cell {
    let measured = samples.window.filter(|w| w.close_us > w.open_us);
    let Some(window) = measured else {
        return Cell {
            reason: Some("the streams never got ready, so no window was measured".to_owned()),
            ..Cell::empty(samples.key, CellStatus::Failed)
        };
    };
    let (streams, token_source) = timelines(samples);
    let queue = verdict::queue(samples, &streams, window);
    let status = if queue.is_queued {
        CellStatus::Queued
    } else {
        CellStatus::Valid
    };
    let mut cell = Cell::empty(samples.key, status);
    cell.queue_inferred = Some(queue.is_inferred);
    cell.token_source = token_source;
    cell.timestamp_source = Some(TimestampSource::Read);
    cell.measured_s = Some(window.length_s());
    totals(&mut cell, &streams, window);
    latencies(&mut cell, &streams, window);
    cache(&mut cell, samples);
    let ledger = ledger::balance(samples, &streams, token_source, window);
    cell.token_ledger = Some(ledger.counts);
    cell.kv_used_peak = readings_inside(samples, window)
        .filter_map(|r| r.kv_used)
        .filter(|used| used.is_finite() && *used >= 0.0)
        .reduce(f64::max);
    remarks(&mut cell, &streams, queue.is_inferred && queue.is_queued);
    cell.flags.extend(flags::of_decode(
        samples,
        &streams,
        window,
        queue.is_queued,
        &ledger,
    ));
    cell
}

/// Readings that speak of a moment inside the window.
pub(crate) fn readings_inside(
    samples: &CellSamples,
    window: Window,
) -> impl Iterator<Item = &document::EngineReading> {
    samples
        .readings
        .iter()
        .filter(move |r| window.contains(r.at_us()))
}

fn totals(cell: &mut Cell, streams: &[Timeline<'_>], window: Window) {
    let tokens = tokens_between(streams, window.open_us, window.close_us);
    let length_s = window.length_s();
    cell.output_tokens = Some(tokens.round() as u64);
    cell.total_tok_s = Some(tokens / length_s);
    // Answers that come in one event have no length to overlap by.
    cell.average_active = Some(average_active(streams, window)).filter(|active| *active > 0.0);
    let is_inside = |s: &&Timeline<'_>| {
        matches!(s.request.outcome, Outcome::Completed { .. })
            && s.at_us.last().is_some_and(|at| window.contains(*at))
    };
    cell.completed = Some(streams.iter().filter(is_inside).count() as u64);
    cell.failed = Some(0);
    let waiting = streams.iter().filter(|s| is_waiting_at(s, window)).count() as u64;
    cell.waiting_at_end = Some(waiting);
    cell.ttft_censored = Some(waiting > 0);
    let usages = streams.iter().filter_map(|s| s.request.usage);
    cell.prompt_tokens = median_count(usages.map(|usage| usage.prompt_tokens));
}

/// Time average of the streams at work between two moments of the cell.
pub(crate) fn average_active(streams: &[Timeline<'_>], window: Window) -> f64 {
    let active_s: f64 = streams
        .iter()
        .filter_map(|s| s.active(window.close_us))
        .map(|(from, to)| to.seconds_since(from.max(window.open_us)).max(0.0))
        .sum();
    active_s / window.length_s()
}

fn is_waiting_at(stream: &Timeline<'_>, window: Window) -> bool {
    stream
        .request
        .sent_us
        .is_some_and(|sent| sent < window.close_us)
        && stream
            .at_us
            .first()
            .is_none_or(|first| *first > window.close_us)
}

fn latencies(cell: &mut Cell, streams: &[Timeline<'_>], window: Window) {
    let since_sent = |s: &Timeline<'_>, at: Option<document::Micros>| {
        at.filter(|at| *at <= window.close_us)
            .zip(s.request.sent_us)
            .map(|(at, sent)| at.ms_since(sent))
            // A token before its request is a fault of the record, not a latency.
            .filter(|ms| *ms >= 0.0)
    };
    cell.ttft_ms = distribution(
        streams
            .iter()
            .filter_map(|s| since_sent(s, s.request.first_token_us()))
            .collect(),
    );
    cell.first_answer_ms = distribution(
        streams
            .iter()
            .filter_map(|s| since_sent(s, s.request.first_answer_us))
            .collect(),
    );
    let tbt_ms = times_between_tokens_ms(streams, window);
    cell.per_request_tok_s = median(tbt_ms.iter().map(|ms| 1000.0 / ms).collect());
    cell.tbt_ms = distribution(tbt_ms);
    cell.chunk_gap_ms = distribution(
        streams
            .iter()
            .flat_map(|s| {
                let inside = s.events_between(window.open_us, window.close_us);
                s.at_us[inside]
                    .windows(2)
                    .map(|pair| pair[1].ms_since(pair[0]))
            })
            .collect(),
    );
}

/// Per stream: (last event − first event) / tokens that came after the first
/// event, over the events inside the window.
fn times_between_tokens_ms(streams: &[Timeline<'_>], window: Window) -> Vec<f64> {
    let each: Vec<(f64, f64)> = streams
        .iter()
        .filter_map(|s| {
            let inside = s.events_between(window.open_us, window.close_us);
            let (first, last) = (inside.start, inside.end.checked_sub(1)?);
            let tokens = s.tokens.get(last)? - s.tokens.get(first)?;
            let ms = s.at_us[last].ms_since(s.at_us[first]);
            (tokens > 0.0 && ms > 0.0).then_some((ms / tokens, tokens))
        })
        .collect();
    let has_long = each.iter().any(|(_, tokens)| *tokens >= MIN_TBT_TOKENS);
    each.into_iter()
        .filter(|(_, tokens)| !has_long || *tokens >= MIN_TBT_TOKENS)
        .map(|(ms, _)| ms)
        .collect()
}

/// Whether the streams found their prompt in the cache: by usage or slots for each,
/// else by the growth of the engine's counters over the whole cell.
fn cache(cell: &mut Cell, samples: &CellSamples) {
    let warmth = warmth::warmth(samples);
    cell.cached_tokens = warmth.cached_tokens;
    cell.cache_proof = Some(match warmth.is_warm {
        Some(true) => CacheProof::Proved,
        Some(false) => CacheProof::Failed,
        None => CacheProof::Unproven,
    });
}

fn remarks(cell: &mut Cell, streams: &[Timeline<'_>], is_queue_inferred: bool) {
    if is_queue_inferred {
        cell.remarks.push(
            "the server does not report its queue: queueing is inferred from how many streams flowed at once".to_owned(),
        );
    }
    if matches!(
        cell.token_source,
        Some(TokenSource::SpreadUsage | TokenSource::EventsOnly)
    ) && !streams.is_empty()
    {
        cell.remarks.push(
            "the server does not say how many tokens an event carries: tokens are spread evenly over the events".to_owned(),
        );
    }
}
