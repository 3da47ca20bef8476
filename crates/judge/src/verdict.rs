use document::{CellSamples, Outcome, RequestSample, Window};

use crate::decode::readings_inside;
use crate::timeline::Timeline;

/// A stream silent for longer than this share of the window, up to its end …
const SILENT_SHARE: f64 = 0.5;
/// … and for this many times its own usual gap between events, has stalled.
const SILENT_GAPS: f64 = 20.0;

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
    let mut failures = samples.requests.iter().filter_map(|r| r.outcome.failure());
    if let Some(first) = failures.next() {
        let others = failures.count();
        return Some(if others == 0 {
            first
        } else {
            format!("{first} (and {others} more)")
        });
    }
    samples
        .requests
        .iter()
        .find_map(|r| empty_answer(r).or_else(|| stalled(r, samples.window?)))
}

/// A stream that ended as if all was well without a single token.
fn empty_answer(request: &RequestSample) -> Option<String> {
    (matches!(request.outcome, Outcome::Completed { .. }) && request.events.is_empty())
        .then(|| "a stream ended without a single token".to_owned())
}

/// A stream that was writing and then fell silent until the window closed.
fn stalled(request: &RequestSample, window: Window) -> Option<String> {
    let (first, last) = (request.first_token_us()?, request.last_token_us()?);
    if request.outcome != Outcome::CutAtWindowEnd || request.events.len() < 2 {
        return None;
    }
    let usual_gap_s = last.seconds_since(first) / (request.events.len() - 1) as f64;
    let silent_s = window.close_us.seconds_since(last);
    let limit_s = (SILENT_SHARE * window.length_s()).max(SILENT_GAPS * usual_gap_s);
    (silent_s > limit_s).then(|| {
        format!(
            "a stream went silent: no token in the last {silent_s:.1} s of the window, {:.0} ms between its events before",
            usual_gap_s * 1e3
        )
    })
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
    Queue {
        is_queued: overlap < samples.key.concurrency as usize,
        is_inferred: true,
    }
}

/// The largest number of streams that flowed at one moment, from the first token
/// of the cell to the window's close.
pub(crate) fn largest_overlap(streams: &[Timeline<'_>], window: Window) -> usize {
    let mut edges: Vec<(u64, i32)> = streams
        .iter()
        .filter_map(|s| s.active(window.close_us))
        .flat_map(|(from, to)| [(from.0, 1), (to.0, -1)])
        .collect();
    // An end sorts before a start at the same moment: a stream that takes over is no overlap.
    edges.sort_unstable();
    let (mut now, mut largest) = (0i32, 0i32);
    for (_, step) in edges {
        now += step;
        largest = largest.max(now);
    }
    usize::try_from(largest).unwrap_or(0)
}
