use document::{CellSamples, Micros, Outcome, RequestRole, RequestSample, Window};

use crate::decode::readings_inside;
use crate::flags;
use crate::statistics::median;
use crate::timeline::Timeline;

/// A stream silent for longer than this share of the window, up to its end …
const SILENT_SHARE: f64 = 0.5;
/// … and for this many times its own usual gap between events, has stalled.
const SILENT_GAPS: f64 = 20.0;
/// A queue is believed when TTFT shows at least this share of the wait it would cause.
const EXPLAINED_SHARE: f64 = 0.5;

/// Whether requests had to wait, and how that is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Queue {
    /// Requests waited.
    pub is_queued: bool,
    /// From the client's view alone.
    pub is_inferred: bool,
}

/// Why the cell failed, if it did: the cell's own failure, else the first
/// request that was refused or broke, with the number of others.
pub(crate) fn failure(samples: &CellSamples) -> Option<String> {
    if let Some(failure) = &samples.failure {
        return Some(failure.clone());
    }
    let mut failures: Vec<_> = samples
        .requests
        .iter()
        .filter_map(|r| Some((r.closed_us.or(r.sent_us), r.outcome.failure()?)))
        .collect();
    failures.sort();
    let others = failures.len().saturating_sub(1);
    if let Some((_, first)) = failures.into_iter().next() {
        return Some(if others == 0 {
            first
        } else {
            format!("{first} (and {others} more)")
        });
    }
    samples
        .requests
        .iter()
        .find_map(empty_answer)
        .or_else(|| stalled(samples))
}

/// A stream that ended as if all was well without a single token.
fn empty_answer(request: &RequestSample) -> Option<String> {
    (matches!(request.outcome, Outcome::Completed { .. }) && request.events.is_empty())
        .then(|| "a stream ended without a single token".to_owned())
}

/// The stream that fell silent first, of those that were writing and then sent
/// nothing until the window closed. Not where the engine preempts: a preempted
/// request is silent until it is taken up again, and that is no failure.
fn stalled(samples: &CellSamples) -> Option<String> {
    let window = samples.window?;
    if flags::preempted(samples, window).is_some() {
        return None;
    }
    let usual_gap_s = usual_gap_s(samples.requests.iter());
    let since = samples
        .requests
        .iter()
        .filter(|r| r.outcome == Outcome::CutAtWindowEnd && r.role == RequestRole::Stream)
        .filter(|r| {
            let Some(last) = r.last_token_us() else {
                return false;
            };
            let gap_s = own_gap_s(r).or(usual_gap_s).unwrap_or(0.0);
            let limit_s = (SILENT_SHARE * window.length_s()).max(SILENT_GAPS * gap_s);
            window.close_us.seconds_since(last) > limit_s
        })
        .filter_map(RequestSample::last_token_us)
        .min()?;
    Some(format!(
        "a stream went silent: no token in the last {:.1} s of the window",
        window.close_us.seconds_since(since)
    ))
}

/// Mean time between the events of a request, s; `None` of a single event.
fn own_gap_s(request: &RequestSample) -> Option<f64> {
    let (first, last) = (request.first_token_us()?, request.last_token_us()?);
    let gaps = request
        .events
        .len()
        .checked_sub(1)
        .filter(|gaps| *gaps > 0)?;
    Some(last.seconds_since(first) / gaps as f64)
}

/// The median over the requests of the time between their events, s.
fn usual_gap_s<'a>(requests: impl Iterator<Item = &'a RequestSample>) -> Option<f64> {
    median(requests.filter_map(own_gap_s).collect())
}

/// Queued: waiting > 0 in over half the window's readings; where the engine is
/// silent, when never as many streams as asked for flowed at once.
pub(crate) fn queue(samples: &CellSamples, streams: &[Timeline<'_>], window: Window) -> Queue {
    if samples.limits.queue_is_reported {
        let waiting: Vec<bool> = readings_inside(samples, window)
            .filter_map(|r| r.waiting)
            .map(|w| w > 0.0)
            .collect();
        if !waiting.is_empty() {
            let with_queue = waiting.iter().filter(|w| **w).count();
            return Queue {
                is_queued: with_queue * 2 > waiting.len(),
                is_inferred: false,
            };
        }
    }
    let overlap = largest_overlap(streams, window);
    let concurrency = samples.key.concurrency as usize;
    Queue {
        // One request alone has nobody to wait for.
        is_queued: concurrency > 1
            && overlap < concurrency
            && !is_overlap_unlikely(streams, window, overlap, concurrency),
        is_inferred: true,
    }
}

/// The largest number of streams that flowed at once, held for at least the time
/// that usually lies between two events, from the cell's first token to the
/// window's close: two streams that merely touch as one takes over from the
/// other are not at work together.
pub(crate) fn largest_overlap(streams: &[Timeline<'_>], window: Window) -> usize {
    let mut edges: Vec<(Micros, bool)> = streams
        .iter()
        .filter_map(|s| s.active(window.close_us))
        .filter(|(from, to)| to > from)
        .flat_map(|(from, to)| [(from, true), (to, false)])
        .collect();
    // An end sorts before a start at the same moment.
    edges.sort_unstable();
    let hold_s = usual_gap_s(streams.iter().map(|s| s.request)).unwrap_or(0.0);
    let mut risen_at: Vec<Micros> = Vec::new();
    let mut largest = 0;
    for (at, is_start) in edges {
        if is_start {
            risen_at.push(at);
        } else {
            let level = risen_at.len();
            let held_s = risen_at.pop().map_or(0.0, |risen| at.seconds_since(risen));
            if held_s >= hold_s {
                largest = largest.max(level);
            }
        }
    }
    largest
}

/// Whether all could be admitted and still never flow at once: answers shorter
/// than the time to a first token leave most streams waiting for theirs. Then the
/// times to first token decide. With k of C running, a request spends the share
/// 1 − k/C of its life in the queue (Little's law), so TTFT must lie that much
/// above its smallest.
fn is_overlap_unlikely(
    streams: &[Timeline<'_>],
    window: Window,
    overlap: usize,
    concurrency: usize,
) -> bool {
    // Of a request without a token, the wait so far is the least its TTFT can be.
    let (with_token, without): (Vec<_>, Vec<_>) = streams
        .iter()
        .filter(|s| s.request.sent_us.is_some_and(|sent| sent < window.close_us))
        .partition(|s| s.at_us.first().is_some_and(|at| *at <= window.close_us));
    let wait_s = |s: &&Timeline<'_>| {
        let until = s.at_us.first().copied().unwrap_or(window.close_us);
        let wait_s = until.min(window.close_us).seconds_since(s.request.sent_us?);
        (wait_s >= 0.0).then_some(wait_s)
    };
    let answer_s = streams
        .iter()
        .filter(|s| matches!(s.request.outcome, Outcome::Completed { .. }))
        .filter_map(|s| s.active(window.close_us))
        .map(|(from, to)| to.seconds_since(from))
        .collect();
    let mut waits_s: Vec<f64> = with_token.iter().filter_map(wait_s).collect();
    let (Some(unqueued_s), Some(answer_s)) =
        (waits_s.iter().copied().reduce(f64::min), median(answer_s))
    else {
        return false;
    };
    waits_s.extend(
        without
            .iter()
            .filter_map(wait_s)
            .filter(|s| *s > unqueued_s),
    );
    let mean_s = waits_s.iter().sum::<f64>() / waits_s.len() as f64;
    let queued_share = 1.0 - overlap as f64 / concurrency as f64;
    let expected_s = queued_share * (mean_s + answer_s);
    answer_s < unqueued_s && mean_s - unqueued_s < EXPLAINED_SHARE * expected_s
}
