use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Microseconds since the start of the run, on the monotonic clock.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(transparent)]
pub struct Micros(pub u64);

impl Micros {
    /// Milliseconds from `earlier` to `self`; negative when `self` comes first.
    #[must_use]
    pub fn ms_since(self, earlier: Micros) -> f64 {
        (self.0 as f64 - earlier.0 as f64) / 1e3
    }

    /// Seconds from `earlier` to `self`; negative when `self` comes first.
    #[must_use]
    pub fn seconds_since(self, earlier: Micros) -> f64 {
        (self.0 as f64 - earlier.0 as f64) / 1e6
    }

    /// This offset moved later by `seconds`; a negative or non-finite shift counts as 0.
    #[must_use]
    pub fn plus_seconds(self, seconds: f64) -> Micros {
        Micros(self.0 + (seconds.max(0.0) * 1e6).round() as u64)
    }
}
