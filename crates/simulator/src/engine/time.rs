/// A moment in the engine's own time, ns since it started. At `--speed 10` ten
/// of its seconds pass in one of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct SimTime(pub u64);

impl SimTime {
    /// This moment moved later by `ms` milliseconds; a negative or non-finite
    /// length counts as nothing.
    #[must_use]
    pub fn plus_ms(self, ms: f64) -> SimTime {
        SimTime(self.0 + (ms.max(0.0) * 1e6).round() as u64)
    }

    /// Seconds from `earlier` to `self`, 0 when `earlier` is later.
    #[must_use]
    pub fn seconds_since(self, earlier: SimTime) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / 1e9
    }
}
