use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use document::Micros;

/// The run's clock: monotonic, in microseconds since the run started.
#[derive(Debug, Clone, Copy)]
pub struct RunClock {
    origin: Instant,
    origin_unix_us: u64,
}

impl RunClock {
    /// A clock that reads `already` now: 0 for a new run, later for a resumed one.
    #[must_use]
    pub fn starting_at(already: Micros) -> RunClock {
        let elapsed = Duration::from_micros(already.0);
        let now = Instant::now();
        // A machine that booted after the first part of the run began has no such
        // instant; offsets then begin at 0 again and only their differences count.
        let origin = now.checked_sub(elapsed).unwrap_or(now);
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let since_origin = now.duration_since(origin);
        let origin_unix_us = unix.saturating_sub(since_origin).as_micros() as u64;
        RunClock {
            origin,
            origin_unix_us,
        }
    }

    /// The offset of this moment.
    #[must_use]
    pub fn now(&self) -> Micros {
        Micros(self.origin.elapsed().as_micros() as u64)
    }

    /// Wall clock at offset 0, microseconds since 1970: for laying these offsets
    /// beside another log of the same machine.
    #[must_use]
    pub fn origin_unix_us(&self) -> u64 {
        self.origin_unix_us
    }
}
