//! Cumulative prefill time by prompt length.

/// What a prompt token costs where nothing was measured, ms (5,000 tok/s).
const ASSUMED_MS_PER_TOKEN: f64 = 0.2;

/// The slope at the end is taken from lengths up to this share of the longest.
const END_SLOPE_REACH: f64 = 0.8;

/// Time to compute the first `n` tokens of a prompt, ms, as a monotone cubic
/// through measured lengths (Fritsch and Carlson, 1980); beyond the longest one
/// it goes on at the slope reached there. A piece from `a` to `b` costs the
/// difference, so the pieces of chunked prefill add up to the whole.
#[derive(Debug, Clone, PartialEq)]
pub struct PrefillCurve {
    tokens: Vec<f64>,
    ms: Vec<f64>,
    slopes: Vec<f64>,
}

impl PrefillCurve {
    /// The curve through (0, 0) and `points` (tokens, ms). Points that do not rise
    /// in both are left out.
    #[must_use]
    pub fn through(points: &[(f64, f64)]) -> PrefillCurve {
        let mut sorted: Vec<(f64, f64)> = points
            .iter()
            .copied()
            .filter(|(tokens, ms)| *tokens > 0.0 && *ms > 0.0)
            .collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (mut tokens, mut ms) = (vec![0.0], vec![0.0]);
        for (n, t) in sorted {
            let last = tokens.len() - 1;
            if n > tokens[last] && t > ms[last] {
                tokens.push(n);
                ms.push(t);
            }
        }
        if tokens.len() == 1 {
            tokens.push(1.0);
            ms.push(ASSUMED_MS_PER_TOKEN);
        }
        let slopes = monotone_slopes(&tokens, &ms);
        PrefillCurve { tokens, ms, slopes }
    }

    /// The curve of a constant rate, tok/s.
    #[must_use]
    pub fn constant(tok_s: f64) -> PrefillCurve {
        PrefillCurve::through(&[(1.0, 1e3 / tok_s)])
    }

    /// Time to compute tokens `from` to `to` of a prompt, ms.
    #[must_use]
    pub fn ms(&self, from: u64, to: u64) -> f64 {
        (self.cumulative_ms(to as f64) - self.cumulative_ms(from as f64)).max(0.0)
    }

    fn cumulative_ms(&self, n: f64) -> f64 {
        let last = self.tokens.len() - 1;
        if n >= self.tokens[last] {
            return self.ms[last] + (n - self.tokens[last]) * self.slopes[last];
        }
        let right = self.tokens.partition_point(|tokens| *tokens <= n).max(1);
        let left = right - 1;
        let width = self.tokens[right] - self.tokens[left];
        let x = (n - self.tokens[left]) / width;
        let (x2, x3) = (x * x, x * x * x);
        self.ms[left] * (2.0 * x3 - 3.0 * x2 + 1.0)
            + self.slopes[left] * width * (x3 - 2.0 * x2 + x)
            + self.ms[right] * (3.0 * x2 - 2.0 * x3)
            + self.slopes[right] * width * (x3 - x2)
    }
}

/// Slopes that keep the cubic from overshooting: the weighted harmonic mean of
/// the neighbouring secants, and secants themselves at both ends.
fn monotone_slopes(x: &[f64], y: &[f64]) -> Vec<f64> {
    let secants: Vec<f64> = x
        .windows(2)
        .zip(y.windows(2))
        .map(|(x, y)| (y[1] - y[0]) / (x[1] - x[0]))
        .collect();
    let mut slopes = vec![secants[0]];
    for at in 1..secants.len() {
        let (before, after) = (x[at] - x[at - 1], x[at + 1] - x[at]);
        let (weight_before, weight_after) = (before + 2.0 * after, 2.0 * before + after);
        slopes.push(
            (weight_before + weight_after)
                / (weight_before / secants[at - 1] + weight_after / secants[at]),
        );
    }
    // The last two lengths may lie so close that their noise is most of their
    // difference, so the end's slope looks farther back.
    let last = x.len() - 1;
    let back = (0..last)
        .rev()
        .find(|at| x[*at] <= END_SLOPE_REACH * x[last])
        .unwrap_or(0);
    slopes.push((y[last] - y[back]) / (x[last] - x[back]));
    slopes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_lengths_are_met_and_pieces_add_up() {
        let curve = PrefillCurve::through(&[(8000.0, 400.0), (16000.0, 900.0), (64000.0, 5000.0)]);
        assert!((curve.ms(0, 8000) - 400.0).abs() < 1e-9);
        assert!((curve.ms(0, 64000) - 5000.0).abs() < 1e-9);
        let pieces: f64 = (0..8).map(|k| curve.ms(k * 8000, (k + 1) * 8000)).sum();
        assert!((pieces - 5000.0).abs() < 1e-6);
    }

    #[test]
    fn every_token_takes_time_also_beyond_what_was_measured() {
        let curve = PrefillCurve::through(&[(8000.0, 400.0), (16000.0, 410.0), (64000.0, 5000.0)]);
        for n in 0..900 {
            assert!(curve.ms(n * 100, (n + 1) * 100) > 0.0, "at {n}");
        }
    }

    #[test]
    fn nothing_measured_still_gives_a_positive_time() {
        assert!(PrefillCurve::through(&[]).ms(0, 1000) > 0.0);
    }
}
