use document::Distribution;

/// The value below which the share `p` (0 to 1) of `sorted` lies, interpolated
/// linearly between neighbours (Hyndman and Fan, type 7), so that the median of
/// an even count is the mean of the middle two. `None` of nothing.
#[must_use]
pub(crate) fn percentile(sorted: &[f64], p: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let place = p.clamp(0.0, 1.0) * last as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(last);
    let share = place - below as f64;
    Some(sorted[below] + (sorted[above] - sorted[below]) * share)
}

/// The middle value; of an even count the mean of the middle two.
#[must_use]
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    percentile(&values, 0.5)
}

/// The middle of some counts, rounded.
pub(crate) fn median_count(counts: impl Iterator<Item = u64>) -> Option<u64> {
    median(counts.map(|count| count as f64).collect()).map(|middle| middle.round() as u64)
}

/// Percentiles, extremes and mean of `values`; `None` of nothing.
#[must_use]
pub(crate) fn distribution(mut values: Vec<f64>) -> Option<Distribution> {
    values.sort_by(f64::total_cmp);
    let (first, last) = (*values.first()?, *values.last()?);
    Some(Distribution {
        p50: percentile(&values, 0.5),
        p90: percentile(&values, 0.9),
        p95: percentile(&values, 0.95),
        p99: percentile(&values, 0.99),
        min: Some(first),
        max: Some(last),
        mean: Some(values.iter().sum::<f64>() / values.len() as f64),
        n: Some(values.len() as u64),
    })
}

/// A straight line through `(i, values[i])`: its rise over the whole length and
/// the t statistic of its slope (ordinary least squares), infinite when the values
/// lie on the line exactly. `None` below 3 values.
pub(crate) fn trend(values: &[f64]) -> Option<Trend> {
    let n = values.len() as f64;
    if values.len() < 3 {
        return None;
    }
    let mean_x = (n - 1.0) / 2.0;
    let mean_y = values.iter().sum::<f64>() / n;
    let (mut sxx, mut sxy) = (0.0, 0.0);
    for (i, y) in values.iter().enumerate() {
        let dx = i as f64 - mean_x;
        sxx += dx * dx;
        sxy += dx * (y - mean_y);
    }
    let slope = sxy / sxx;
    let residual: f64 = values
        .iter()
        .enumerate()
        .map(|(i, y)| (y - mean_y - slope * (i as f64 - mean_x)).powi(2))
        .sum();
    let error = (residual / (n - 2.0) / sxx).sqrt();
    Some(Trend {
        rise: slope * n,
        t: if error > 0.0 {
            slope / error
        } else {
            f64::INFINITY * slope.signum()
        },
    })
}

/// A straight line's rise and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trend {
    /// Change over all values.
    pub rise: f64,
    /// Slope over its standard error.
    pub t: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_count_is_the_mean_of_the_middle_two() {
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![]), None);
    }

    #[test]
    fn percentiles_interpolate_between_neighbours() {
        let sorted: Vec<f64> = (0..=100).map(f64::from).collect();
        assert_eq!(percentile(&sorted, 0.99), Some(99.0));
        assert_eq!(percentile(&sorted, 0.995), Some(99.5));
        assert_eq!(percentile(&[7.0], 0.9), Some(7.0));
    }

    #[test]
    fn a_flat_noise_has_no_trend_and_a_ramp_has() {
        let flat = trend(&[10.0, 10.2, 9.9, 10.1, 9.8, 10.0, 10.1, 9.9]).expect("enough values");
        assert!(flat.t.abs() < 2.0, "{flat:?}");
        let ramp = trend(&[10.0, 11.1, 12.0, 12.9, 14.0, 15.1, 16.0, 17.0]).expect("enough values");
        assert!(ramp.t > 20.0 && (ramp.rise - 8.0).abs() < 0.2, "{ramp:?}");
    }
}
