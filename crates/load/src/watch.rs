//! Ends requests that stay silent too long.

use std::sync::atomic::Ordering::Relaxed;

use document::Micros;
use tokio_util::sync::CancellationToken;

use crate::bench::Bench;
use crate::live::Live;

/// Cuts the streams of which nothing has been heard for longer than allowed.
/// `cuts[i]` ends stream `i`.
pub(crate) fn watch(bench: &Bench, live: &Live, cuts: &[CancellationToken]) {
    let now = bench.clock.now();
    for (stream, cut) in live.streams.iter().zip(cuts) {
        if !stream.is_open.load(Relaxed) {
            continue;
        }
        let silent_s = now.seconds_since(Micros(stream.seen_us.load(Relaxed)));
        let has_token = stream.first_us.load(Relaxed) > 0;
        let allowed_s = if has_token {
            bench.patience.next_event_s
        } else {
            bench.patience.first_token_s
        };
        if silent_s > allowed_s {
            let allowed_ms = (allowed_s * 1e3).max(1.0) as u64;
            stream.overdue_after_ms.store(allowed_ms, Relaxed);
            cut.cancel();
        }
    }
}
