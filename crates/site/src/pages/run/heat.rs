/// Colour steps of a heat map.
const STEPS: u32 = CLASSES.len() as u32;

/// Pale to deep.
pub(crate) const CLASSES: [&str; 9] = ["h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"];

/// Where a figure lies between the smallest and the largest of a map.
///
/// Throughput grows by factors, so steps are of equal ratio: on a linear scale
/// all of the left columns would look alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    /// Smallest figure.
    pub low: f64,
    /// Largest figure.
    pub high: f64,
}

impl Scale {
    /// Of positive figures; `None` when there are none.
    pub fn of(figures: impl Iterator<Item = f64>) -> Option<Scale> {
        figures
            .filter(|figure| figure.is_finite() && *figure > 0.0)
            .fold(None, |scale, figure| {
                Some(match scale {
                    None => Scale {
                        low: figure,
                        high: figure,
                    },
                    Some(Scale { low, high }) => Scale {
                        low: low.min(figure),
                        high: high.max(figure),
                    },
                })
            })
    }

    /// The step of a figure, 0 to 8. When all are the same, the middle one.
    pub fn step(&self, figure: f64) -> u32 {
        let spread = (self.high / self.low).ln();
        if spread <= f64::EPSILON {
            return STEPS / 2;
        }
        let share = ((figure / self.low).ln() / spread).clamp(0.0, 1.0);
        ((share * f64::from(STEPS)) as u32).min(STEPS - 1)
    }

    /// The class of a figure's step.
    pub fn class(&self, figure: f64) -> &'static str {
        let class = CLASSES.get(self.step(figure) as usize);
        class.copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_is_palest_and_the_largest_deepest() {
        let scale = Scale::of([10.0, 1000.0, 100.0].into_iter()).expect("a scale");
        assert_eq!(scale.step(10.0), 0);
        assert_eq!(scale.step(100.0), 4);
        assert_eq!(scale.step(1000.0), 8);
    }

    #[test]
    fn one_figure_alone_is_neither_pale_nor_deep() {
        let scale = Scale::of([7.0].into_iter()).expect("a scale");
        assert_eq!(scale.step(7.0), 4);
        assert!(Scale::of([0.0, f64::NAN].into_iter()).is_none());
    }
}
