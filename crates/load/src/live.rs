//! What a cell's streams are doing right now: counters that the read loop bumps
//! and the cell's control loop reads. No lock on the way of a token.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use document::Micros;

/// One stream, as it is now. Offsets are 0 where nothing happened yet.
#[derive(Debug, Default)]
pub(crate) struct LiveStream {
    /// When its present request was sent.
    pub sent_us: AtomicU64,
    /// First token of the present request.
    pub first_us: AtomicU64,
    /// When its present request began, or the last token came: a server that only
    /// sends comments keeps a connection alive, not an answer.
    pub seen_us: AtomicU64,
    /// Events with text of the present request.
    pub events: AtomicU32,
    /// TTFT of its latest request, µs.
    pub ttft_us: AtomicU64,
    /// A request of it is open.
    pub is_open: AtomicBool,
    /// It has produced a token at some time in this cell.
    pub has_flowed: AtomicBool,
    /// It was ended for staying silent for this long, ms; 0 if it was not.
    pub overdue_after_ms: AtomicU64,
}

/// All streams of a cell.
#[derive(Debug)]
pub(crate) struct Live {
    pub streams: Vec<LiveStream>,
    pub tokens: AtomicU64,
    pub failures: AtomicU32,
    /// The latest first token of a stream that had not flowed before. Requests that
    /// take the place of finished ones do not count: where answers are short, there
    /// is always a new one.
    pub newest_first_us: AtomicU64,
}

impl Live {
    pub fn new(streams: u32) -> Live {
        Live {
            streams: (0..streams).map(|_| LiveStream::default()).collect(),
            tokens: AtomicU64::new(0),
            failures: AtomicU32::new(0),
            newest_first_us: AtomicU64::new(0),
        }
    }

    pub fn open(&self) -> u32 {
        self.count(|s| s.is_open.load(Relaxed))
    }

    /// Streams whose present request has produced a token.
    pub fn flowing(&self) -> u32 {
        self.count(|s| s.is_open.load(Relaxed) && s.first_us.load(Relaxed) > 0)
    }

    /// Streams that have produced a token at some time.
    pub fn have_flowed(&self) -> u32 {
        self.count(|s| s.has_flowed.load(Relaxed))
    }

    pub fn ttft_ms_p50(&self) -> Option<f64> {
        let known = self
            .streams
            .iter()
            .map(|s| s.ttft_us.load(Relaxed))
            .filter(|us| *us > 0);
        judge::median(known.map(|us| us as f64 / 1e3).collect())
    }

    /// The longest usual gap between two events of a stream that flows, s.
    pub fn longest_gap_s(&self) -> f64 {
        let flowing = self.streams.iter().filter(|s| s.is_open.load(Relaxed));
        let gaps_s = flowing.filter_map(|s| {
            let gaps = s
                .events
                .load(Relaxed)
                .checked_sub(1)
                .filter(|gaps| *gaps > 0)?;
            let first = Micros(s.first_us.load(Relaxed));
            Some(Micros(s.seen_us.load(Relaxed)).seconds_since(first) / f64::from(gaps))
        });
        gaps_s.fold(0.0, f64::max)
    }

    /// Whether every stream that flows has been heard of since `at`.
    pub fn all_heard_since(&self, at: Micros) -> bool {
        self.streams
            .iter()
            .filter(|s| s.is_open.load(Relaxed) && s.first_us.load(Relaxed) > 0)
            .all(|s| s.seen_us.load(Relaxed) > at.0)
    }

    fn count(&self, is: impl Fn(&LiveStream) -> bool) -> u32 {
        self.streams.iter().filter(|s| is(s)).count() as u32
    }
}

impl LiveStream {
    pub fn began(&self, now: Micros) {
        self.first_us.store(0, Relaxed);
        self.events.store(0, Relaxed);
        self.sent_us.store(now.0, Relaxed);
        self.seen_us.store(now.0, Relaxed);
        self.is_open.store(true, Relaxed);
    }

    /// Notes a request's first token; whether it is the stream's own first.
    pub fn first_token(&self, at: Micros) -> bool {
        self.first_us.store(at.0, Relaxed);
        self.ttft_us
            .store(at.0.saturating_sub(self.sent_us.load(Relaxed)), Relaxed);
        !self.has_flowed.swap(true, Relaxed)
    }

    pub fn ended(&self) {
        self.is_open.store(false, Relaxed);
        self.first_us.store(0, Relaxed);
    }
}
