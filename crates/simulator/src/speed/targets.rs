//! Which time between tokens a group of cells asks for.
//!
//! A cell says it twice, as total tok/s and as time between tokens, and the two
//! differ where answers end and restart inside the window (a restart waits for
//! its first token), and by measurement noise. Several cells can also share one
//! running batch: those with more requests than the server runs at once. The
//! chosen value has the smallest worst error, each error as a share of what it
//! may be.

use super::decode::TbtPoint;
use super::{DecodePoint, Measured};

/// Allowed error of a total at least, as a share; or TTFT / window if that is more.
pub(super) const TOTAL_TOLERANCE: f64 = 0.02;

/// Allowed error of a time between tokens, as a share.
const TBT_TOLERANCE: f64 = 0.03;

/// Allowed error of the average active requests, as a share, or in requests.
const ACTIVE_TOLERANCE: f64 = 0.02;
const ACTIVE_TOLERANCE_REQUESTS: f64 = 0.1;

/// A cell's time between tokens counts where it agrees this well with its total.
const AGREEMENT: f64 = 0.03;

/// How much an error within what is allowed still matters.
const TIE_BREAK: f64 = 0.05;

/// How far below what is allowed the error of a total is kept, and how much more
/// than anything else that matters.
const TOTAL_MARGIN: f64 = 0.85;
const CONTRADICTION: f64 = 1e3;

/// Tried values around the mean, and the step between them, in thousandths.
const SEARCH_THOUSANDTHS: i32 = 250;

/// First token of a wave to the start of the window, s: what a runner's warm-up
/// may take. Restarts are expected where they fall in such a window.
const LEADS_S: [f64; 4] = [3.0, 5.0, 7.0, 9.0];

/// Places in a wave, from the last (0) to the first (1), that stand for all.
const PLACES: [f64; 4] = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];

/// What happens when a request of a cell ends and another takes its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Restart {
    /// End of an answer to the first token of the next, ms.
    pub silent_ms: f64,
    /// First token of one request of a wave to that of the next, ms.
    pub apart_ms: f64,
}

/// How restarts go in each cell.
pub(super) type Restarts<'a> = &'a dyn Fn(&DecodePoint) -> Restart;

/// One point for each context and running batch.
pub(super) fn tbt_points(measured: &Measured, restarts: Restarts<'_>) -> Vec<TbtPoint> {
    let mut groups: Vec<(f64, f64, Vec<&DecodePoint>)> = Vec::new();
    for point in &measured.decode {
        let running = point.running.round().max(1.0);
        let known = groups
            .iter_mut()
            .find(|(context, batch, _)| *context == point.context_tokens && *batch == running);
        match known {
            Some((_, _, points)) => points.push(point),
            None => groups.push((point.context_tokens, running, vec![point])),
        }
    }
    groups
        .into_iter()
        .map(|(context_tokens, running, points)| TbtPoint {
            context_tokens,
            running,
            tbt_ms: 1e3 / best_rate(&points, running, measured, restarts),
        })
        .collect()
}

/// Tok/s of each of `running` requests that fits the cells of a group best.
fn best_rate(
    points: &[&DecodePoint],
    running: f64,
    measured: &Measured,
    restarts: Restarts<'_>,
) -> f64 {
    let mean = points.iter().map(|p| p.total_tok_s).sum::<f64>() / points.len() as f64 / running;
    let mut best = (f64::MAX, mean);
    for thousandths in -SEARCH_THOUSANDTHS..=SEARCH_THOUSANDTHS {
        let rate = mean * (1.0 + f64::from(thousandths) / 1e3);
        let mut worst = 0.0f64;
        let mut sum = 0.0;
        for point in points {
            let errors = errors(point, rate, running, measured, restarts(point));
            worst = errors.iter().copied().fold(worst, f64::max);
            sum += errors.iter().map(|error| error * error).sum::<f64>();
            // A cell that contradicts itself keeps its total.
            sum += CONTRADICTION * (errors[0] - TOTAL_MARGIN).max(0.0);
        }
        let score = worst + TIE_BREAK * sum / points.len() as f64;
        if score < best.0 {
            best = (score, rate);
        }
    }
    best.1
}

/// Errors of a cell at `rate`, as shares of what is allowed: of its total, its
/// time between tokens, its average active requests.
fn errors(
    point: &DecodePoint,
    rate: f64,
    running: f64,
    measured: &Measured,
    restart: Restart,
) -> [f64; 3] {
    let ttft_s = point.ttft_ms.unwrap_or(0.0) / 1e3;
    let silent = silent_shares(point, rate, running, measured, restart);
    let mean_silent = silent.iter().sum::<f64>() / silent.len() as f64;
    let total = rate * running * (1.0 - mean_silent);
    let allowed = TOTAL_TOLERANCE.max(ttft_s / measured.window_s);
    let total_error = (total / point.total_tok_s - 1.0).abs() / allowed;
    // Medians of rates have more digits on a page than the times they belong to.
    let per_request = point.per_request_tok_s.or(point.tbt_ms.map(|ms| 1e3 / ms));
    let tbt_error = match per_request {
        Some(each) if (running * each / point.total_tok_s - 1.0).abs() <= AGREEMENT => {
            (each / rate - 1.0).abs() / TBT_TOLERANCE
        }
        Some(_) | None => 0.0,
    };
    let active_error = point.average_active.map_or(0.0, |active| {
        let most_silent = silent.iter().copied().fold(0.0, f64::max);
        let allowed = (ACTIVE_TOLERANCE * active).max(ACTIVE_TOLERANCE_REQUESTS);
        (running * (1.0 - most_silent) - active).abs() / allowed
    });
    [total_error, tbt_error, active_error]
}

/// Total tok/s of a cell whose requests run at `rate`, restarts included.
#[cfg(test)]
pub(super) fn predicted_total(
    point: &DecodePoint,
    rate: f64,
    running: f64,
    measured: &Measured,
    restart: Restart,
) -> f64 {
    let silent = silent_shares(point, rate, running, measured, restart);
    rate * running * (1.0 - silent.iter().sum::<f64>() / silent.len() as f64)
}

/// Share of the window that a cell's requests spend between answers, for each lead.
fn silent_shares(
    point: &DecodePoint,
    rate: f64,
    running: f64,
    measured: &Measured,
    restart: Restart,
) -> [f64; LEADS_S.len()] {
    // With more requests than run at once, another takes a free place at once.
    if f64::from(point.concurrency) > running + 0.5 {
        return [0.0; LEADS_S.len()];
    }
    let answer_s = measured.max_output_tokens / rate;
    let (silent_s, apart_s) = (restart.silent_ms / 1e3, restart.apart_ms / 1e3);
    LEADS_S.map(|lead_s| {
        let of_places = PLACES.map(|place| {
            // The earlier its first token, the longer it has run when the window begins.
            let from = lead_s + place * (running - 1.0) * apart_s;
            gap_s(answer_s, silent_s, from, from + measured.window_s)
        });
        of_places.iter().sum::<f64>() / PLACES.len() as f64 / measured.window_s
    })
}

/// Time between `from` and `to` that a request spends between answers, s. The
/// first answer's first token comes at 0.
fn gap_s(answer_s: f64, silent_s: f64, from: f64, to: f64) -> f64 {
    let cycle = answer_s + silent_s;
    let mut sum = 0.0;
    let mut end = cycle;
    while end - silent_s < to {
        sum += (end.min(to) - (end - silent_s).max(from)).max(0.0);
        end += cycle;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(concurrency: u32, running: f64, total_tok_s: f64) -> DecodePoint {
        DecodePoint {
            context_tokens: 8192.0,
            concurrency,
            running,
            average_active: None,
            total_tok_s,
            per_request_tok_s: None,
            tbt_ms: None,
            ttft_ms: Some(3000.0),
        }
    }

    fn slow_restart(_point: &DecodePoint) -> Restart {
        Restart {
            silent_ms: 3000.0,
            apart_ms: 0.0,
        }
    }

    fn measured(decode: Vec<DecodePoint>) -> Measured {
        Measured {
            prefill: Vec::new(),
            decode,
            max_output_tokens: 4096.0,
            window_s: 30.0,
        }
    }

    #[test]
    fn a_restart_inside_the_window_means_the_request_ran_faster_than_its_total() {
        let points = tbt_points(&measured(vec![cell(1, 1.0, 160.0)]), &slow_restart);
        assert!(1e3 / points[0].tbt_ms > 165.0);
        // Slow answers do not end inside the window.
        let points = tbt_points(&measured(vec![cell(1, 1.0, 60.0)]), &slow_restart);
        assert!((1e3 / points[0].tbt_ms - 60.0).abs() < 0.1);
    }

    #[test]
    fn cells_that_share_a_batch_share_a_point() {
        let cells = vec![cell(32, 32.0, 1300.0), cell(64, 32.0, 1200.0)];
        let points = tbt_points(&measured(cells), &slow_restart);
        assert_eq!(points.len(), 1);
        let total = 32e3 / points[0].tbt_ms;
        assert!((1200.0..1300.0).contains(&total));
    }

    #[test]
    fn gaps_count_only_inside_the_window() {
        assert_eq!(gap_s(10.0, 1.0, 0.0, 30.0), 2.0);
        assert_eq!(gap_s(10.0, 1.0, 10.5, 21.5), 1.0);
        assert_eq!(gap_s(100.0, 1.0, 0.0, 30.0), 0.0);
    }
}
