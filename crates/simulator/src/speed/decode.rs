//! Time between tokens by context and batch.
//!
//! Two parts. A trend everywhere: `t = a + b log2(L / 8K) + c sqrt(B)`. A step
//! reads the weights once (`a`) and, in a mixture of experts, more of them the
//! more requests run, at a falling rate (`c sqrt(B)`); longer contexts add a
//! little (`b`). And around each measured point, a correction that meets it
//! exactly and fades out within one octave of either axis: what single cells
//! scatter says nothing about cells farther away.

use nalgebra::{DMatrix, DVector, Matrix3, Vector3};

/// Context at which the trend's `log2` term is zero, tokens.
const BASE_CONTEXT: f64 = 8192.0;

/// `a / c` of the trend where the data do not say: the mean of the two presets' fits.
const ASSUMED_A_OVER_C: f64 = 0.3;

/// Weight of that assumption, in measured points.
const ASSUMPTION_WEIGHT: f64 = 0.02;

/// Time between tokens where nothing was measured at all, ms, at a batch of one.
const ASSUMED_TBT_MS: f64 = 20.0;

/// Eases corrections of points that nearly coincide.
const RIDGE: f64 = 1e-3;

/// The trend never falls below this share of the fastest measured point.
const FLOOR_SHARE: f64 = 0.3;

/// A measured time between tokens.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TbtPoint {
    /// Prompt length of the running requests, tokens.
    pub context_tokens: f64,
    /// Requests running.
    pub running: f64,
    /// Time between tokens of each, ms.
    pub tbt_ms: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Correction {
    log2_context: f64,
    log2_running: f64,
    weight: f64,
}

/// Time between tokens of one request by context and batch, ms.
#[derive(Debug, Clone, PartialEq)]
pub struct DecodeSurface {
    base_ms: f64,
    per_octave_ms: f64,
    per_sqrt_running_ms: f64,
    floor_ms: f64,
    corrections: Vec<Correction>,
}

impl DecodeSurface {
    /// The surface through `points`. Few points, or none, lean on assumptions
    /// that many outweigh.
    #[must_use]
    pub fn fit(points: &[TbtPoint]) -> DecodeSurface {
        let usable: Vec<TbtPoint> = points
            .iter()
            .copied()
            .filter(|p| p.context_tokens > 0.0 && p.running > 0.0 && p.tbt_ms > 0.0)
            .collect();
        if usable.is_empty() {
            return DecodeSurface::constant(ASSUMED_TBT_MS);
        }
        let trend = fit_trend(&usable);
        let fastest = usable.iter().map(|p| p.tbt_ms).fold(f64::MAX, f64::min);
        let mut surface = DecodeSurface {
            base_ms: trend[0],
            per_octave_ms: trend[1],
            per_sqrt_running_ms: trend[2],
            floor_ms: fastest * FLOOR_SHARE,
            corrections: Vec::new(),
        };
        surface.corrections = corrections(&surface, &usable);
        surface
    }

    /// The same time everywhere.
    #[must_use]
    pub fn constant(tbt_ms: f64) -> DecodeSurface {
        DecodeSurface {
            base_ms: tbt_ms,
            per_octave_ms: 0.0,
            per_sqrt_running_ms: 0.0,
            floor_ms: tbt_ms,
            corrections: Vec::new(),
        }
    }

    /// Time between tokens of each of `running` requests with prompts of
    /// `context` tokens, ms; always positive.
    #[must_use]
    pub fn time_between_tokens_ms(&self, context: f64, running: f64) -> f64 {
        let (x, y) = (octaves(context), running.max(1.0).log2());
        let log_ratio: f64 = self
            .corrections
            .iter()
            .map(|c| c.weight * tent(x - c.log2_context) * tent(y - c.log2_running))
            .sum();
        self.trend_ms(x, running) * log_ratio.exp()
    }

    fn trend_ms(&self, octaves: f64, running: f64) -> f64 {
        let ms = self.base_ms
            + self.per_octave_ms * octaves
            + self.per_sqrt_running_ms * running.max(1.0).sqrt();
        ms.max(self.floor_ms)
    }
}

/// `log2(context / 8K)`; prompts under a block's length count as one block.
fn octaves(context: f64) -> f64 {
    (context.max(16.0) / BASE_CONTEXT).log2()
}

/// 1 at 0, falling to 0 one octave away.
fn tent(distance: f64) -> f64 {
    (1.0 - distance.abs()).max(0.0)
}

/// Least squares of relative errors, with weak assumptions: context does not
/// matter, and `a = 0.3 c`.
fn fit_trend(points: &[TbtPoint]) -> Vector3<f64> {
    let mut normal = Matrix3::zeros();
    let mut right = Vector3::zeros();
    for point in points {
        let row = Vector3::new(
            1.0,
            octaves(point.context_tokens),
            point.running.max(1.0).sqrt(),
        ) / point.tbt_ms;
        normal += row * row.transpose();
        right += row;
    }
    let mean_ms = points.iter().map(|p| p.tbt_ms).sum::<f64>() / points.len() as f64;
    for row in [
        Vector3::new(0.0, 1.0, 0.0),
        Vector3::new(1.0, 0.0, -ASSUMED_A_OVER_C),
    ] {
        let row = row / mean_ms;
        normal += row * row.transpose() * ASSUMPTION_WEIGHT;
    }
    match normal.lu().solve(&right) {
        Some(trend) => trend,
        None => Vector3::new(mean_ms, 0.0, 0.0),
    }
}

fn corrections(surface: &DecodeSurface, points: &[TbtPoint]) -> Vec<Correction> {
    let places: Vec<(f64, f64)> = points
        .iter()
        .map(|p| (octaves(p.context_tokens), p.running.max(1.0).log2()))
        .collect();
    let overlap = DMatrix::from_fn(points.len(), points.len(), |i, j| {
        let (a, b) = (places[i], places[j]);
        let ridge = if i == j { RIDGE } else { 0.0 };
        tent(a.0 - b.0) * tent(a.1 - b.1) + ridge
    });
    let residuals = DVector::from_iterator(
        points.len(),
        points
            .iter()
            .zip(&places)
            .map(|(point, place)| (point.tbt_ms / surface.trend_ms(place.0, point.running)).ln()),
    );
    let Some(weights) = overlap.lu().solve(&residuals) else {
        return Vec::new();
    };
    places
        .iter()
        .zip(weights.iter())
        .map(|(place, weight)| Correction {
            log2_context: place.0,
            log2_running: place.1,
            weight: *weight,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(context_tokens: f64, running: f64, tbt_ms: f64) -> TbtPoint {
        TbtPoint {
            context_tokens,
            running,
            tbt_ms,
        }
    }

    #[test]
    fn measured_points_are_met() {
        let points = [
            point(8192.0, 1.0, 6.0),
            point(8192.0, 4.0, 11.0),
            point(16384.0, 1.0, 5.0),
            point(519_168.0, 2.0, 8.5),
            point(524_288.0, 2.0, 8.6),
        ];
        let surface = DecodeSurface::fit(&points);
        for p in points {
            let ms = surface.time_between_tokens_ms(p.context_tokens, p.running);
            assert!((ms / p.tbt_ms - 1.0).abs() < 0.01, "{p:?}: {ms}");
        }
    }

    #[test]
    fn one_point_is_enough_and_more_requests_are_slower() {
        let surface = DecodeSurface::fit(&[point(8192.0, 4.0, 10.0)]);
        let at = |running| surface.time_between_tokens_ms(8192.0, running);
        assert!((at(4.0) - 10.0).abs() < 0.01);
        assert!(at(1.0) < at(4.0) && at(4.0) < at(64.0));
        assert!(at(1.0) > 0.0);
    }

    #[test]
    fn no_place_has_a_time_that_is_not_positive() {
        // Falls steeply with context, so the trend alone would cross zero.
        let surface = DecodeSurface::fit(&[point(8192.0, 1.0, 10.0), point(16384.0, 1.0, 2.0)]);
        for octave in 0..12 {
            let ms = surface.time_between_tokens_ms(8192.0 * f64::from(1 << octave), 1.0);
            assert!(ms > 0.0);
        }
        assert!(DecodeSurface::fit(&[]).time_between_tokens_ms(0.0, 0.0) > 0.0);
    }
}
