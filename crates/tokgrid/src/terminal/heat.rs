//! The heat map's steps: one hue from pale to deep, each with the text colour
//! that stays legible on it. Colours of the 256-colour palette, text included,
//! so a person's own terminal theme cannot make them illegible.

/// Text and background of one step, as indices of the 256-colour palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Step {
    /// Colour of the text.
    pub(super) text: u8,
    /// Colour behind it.
    pub(super) background: u8,
}

/// The palette's black and white in its colour cube, which themes leave alone.
const BLACK: u8 = 16;
const WHITE: u8 = 231;

/// Pale to deep; lightness (CIE L*) 97, 84, 72, 57, 40, 20.
const STEPS: [Step; 6] = [
    on(195, BLACK),
    on(153, BLACK),
    on(111, BLACK),
    on(68, BLACK),
    on(25, WHITE),
    on(19, WHITE),
];

const fn on(background: u8, text: u8) -> Step {
    Step { text, background }
}

/// Smallest and largest figure of a map.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Scale(Option<(f64, f64)>);

impl Scale {
    /// The scale of these figures; those that are not finite are left out.
    pub(super) fn of(figures: impl IntoIterator<Item = f64>) -> Scale {
        let finite = figures.into_iter().filter(|figure| figure.is_finite());
        Scale(finite.fold(None, |range, figure| match range {
            None => Some((figure, figure)),
            Some((low, high)) => Some((figure.min(low), figure.max(high))),
        }))
    }

    /// The step of a figure, evenly between smallest and largest.
    pub(super) fn step(self, figure: f64) -> Option<Step> {
        let (low, high) = self.0?;
        if !figure.is_finite() {
            return None;
        }
        let share = if high > low {
            (figure - low) / (high - low)
        } else {
            0.0
        };
        // A negative or too large share saturates: `as` clamps below, `min` above.
        let at = (share * STEPS.len() as f64) as usize;
        Some(STEPS[at.min(STEPS.len() - 1)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// WCAG's relative luminance of a colour of the 6 × 6 × 6 cube.
    fn luminance(index: u8) -> f64 {
        let level = |digit: u8| {
            if digit == 0 {
                0.0
            } else {
                55.0 + 40.0 * f64::from(digit)
            }
        };
        let linear = |level: f64| {
            let share = level / 255.0;
            if share <= 0.03928 {
                share / 12.92
            } else {
                ((share + 0.055) / 1.055).powf(2.4)
            }
        };
        let at = index - 16;
        0.2126 * linear(level(at / 36))
            + 0.7152 * linear(level(at / 6 % 6))
            + 0.0722 * linear(level(at % 6))
    }

    #[test]
    fn text_is_legible_on_every_step() {
        for step in STEPS {
            let (a, b) = (luminance(step.text), luminance(step.background));
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(contrast >= 4.5, "{step:?} has contrast {contrast:.1}");
        }
    }

    #[test]
    fn steps_only_get_deeper() {
        for pair in STEPS.windows(2) {
            assert!(luminance(pair[0].background) > luminance(pair[1].background));
        }
    }

    #[test]
    fn the_smallest_is_palest_and_the_largest_deepest() {
        let scale = Scale::of([150.0, f64::NAN, 1198.5]);
        assert_eq!(scale.step(150.0), Some(STEPS[0]));
        assert_eq!(scale.step(1198.5), Some(STEPS[5]));
        assert_eq!(scale.step(f64::NAN), None);
        assert_eq!(Scale::of([7.0]).step(7.0), Some(STEPS[0]));
        assert_eq!(Scale::default().step(7.0), None);
    }
}
