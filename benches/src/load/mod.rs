//! An open loop: requests go out when they are due, whether or not earlier ones have
//! been answered, and a latency begins when its request was due. A server that stops
//! for a second is so measured by all who wanted something in that second.

mod connection;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use hdrhistogram::Histogram;

pub use connection::{Answer, Connection};

/// Until the first request is due: the threads must be there.
const LEAD: Duration = Duration::from_millis(50);
/// What takes longer is recorded as this long, µs.
const LATENCY_MAX_US: u64 = 120_000_000;
/// Digits that the histogram keeps.
const SIGNIFICANT_DIGITS: u8 = 3;
/// A server that needs this many times the planned duration is not waited for.
const OVERTIME: u32 = 2;
/// A rate is sustained when the last answer comes this share of the duration late at most.
const SUSTAINED_SHARE: f64 = 1.02;
/// Wrong answers that are kept to be shown.
const SHOWN_WRONG_MAX: usize = 3;

/// A page to ask for, and how its answer is known to be right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Path and query.
    pub path: String,
    /// Which histogram its latency goes to.
    pub class: usize,
    /// Must occur in the answer.
    pub holds: Option<String>,
    /// Must not occur in the answer.
    pub lacks: Option<&'static str>,
}

/// How much is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Requests a second.
    pub rate_per_s: f64,
    /// For how long.
    pub duration: Duration,
    /// Connections, one thread each.
    pub connections: usize,
}

/// What was measured.
#[derive(Debug, Clone)]
pub struct Measured {
    /// Latencies by class, µs, from the moment a request was due.
    pub latencies_us: Vec<Histogram<u64>>,
    /// Bytes of all bodies.
    pub body_bytes: u64,
    /// The longest body.
    pub body_bytes_max: u64,
    /// From the first request's due time to the last answer.
    pub took: Duration,
    /// Requests that were never sent because the server was too far behind.
    pub unsent: u64,
    /// Answers that were not what they had to be.
    pub wrong: u64,
    /// Some of them, in words.
    pub wrong_shown: Vec<String>,
    pace: Pace,
}

impl Measured {
    fn new(classes: usize, pace: Pace) -> anyhow::Result<Measured> {
        let histogram = Histogram::new_with_max(LATENCY_MAX_US, SIGNIFICANT_DIGITS)
            .context("a histogram of latencies")?;
        Ok(Measured {
            latencies_us: vec![histogram; classes],
            body_bytes: 0,
            body_bytes_max: 0,
            took: Duration::ZERO,
            unsent: 0,
            wrong: 0,
            wrong_shown: Vec::new(),
            pace,
        })
    }

    /// Latencies of all classes, µs.
    ///
    /// # Errors
    /// Never: all histograms have one range.
    pub fn all_us(&self) -> anyhow::Result<Histogram<u64>> {
        let mut all = Measured::new(1, self.pace)?.latencies_us.remove(0);
        for histogram in &self.latencies_us {
            all.add(histogram)?;
        }
        Ok(all)
    }

    /// Requests that were answered rightly.
    #[must_use]
    pub fn answered(&self) -> u64 {
        self.latencies_us.iter().map(Histogram::len).sum()
    }

    /// Mean length of a body, bytes.
    #[must_use]
    pub fn body_bytes_mean(&self) -> u64 {
        self.body_bytes.checked_div(self.answered()).unwrap_or(0)
    }

    /// Whether the server kept up with the rate.
    #[must_use]
    pub fn is_sustained(&self) -> bool {
        let allowed = self.pace.duration.mul_f64(SUSTAINED_SHARE);
        self.unsent == 0 && self.took <= allowed
    }

    fn add(&mut self, other: Measured) -> anyhow::Result<()> {
        for (sum, part) in self.latencies_us.iter_mut().zip(&other.latencies_us) {
            sum.add(part)?;
        }
        self.body_bytes += other.body_bytes;
        self.body_bytes_max = self.body_bytes_max.max(other.body_bytes_max);
        self.took = self.took.max(other.took);
        self.unsent += other.unsent;
        self.wrong += other.wrong;
        self.wrong_shown.extend(other.wrong_shown);
        self.wrong_shown.truncate(SHOWN_WRONG_MAX);
        Ok(())
    }

    fn note_wrong(&mut self, path: &str, why: &str) {
        self.wrong += 1;
        if self.wrong_shown.len() < SHOWN_WRONG_MAX {
            self.wrong_shown.push(format!("{path}: {why}"));
        }
    }
}

/// What all threads of a loop share.
struct Loop<'run> {
    address: SocketAddr,
    targets: &'run [Target],
    pace: Pace,
    classes: usize,
    start: Instant,
    requests: u64,
    /// The next request that nobody has taken.
    next: AtomicU64,
}

/// Asks for the targets in turn, at a pace.
///
/// # Errors
/// When the server cannot be reached, or there is nothing to ask for.
pub fn run(address: SocketAddr, targets: &[Target], pace: Pace) -> anyhow::Result<Measured> {
    anyhow::ensure!(!targets.is_empty(), "there is nothing to ask for");
    let classes = targets
        .iter()
        .map(|target| target.class + 1)
        .max()
        .unwrap_or(1);
    let shared = Loop {
        address,
        targets,
        pace,
        classes,
        start: Instant::now() + LEAD,
        requests: (pace.rate_per_s * pace.duration.as_secs_f64()).ceil() as u64,
        next: AtomicU64::new(0),
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..pace.connections.max(1))
            .map(|_| scope.spawn(|| shared.work()))
            .collect();
        let mut sum = Measured::new(classes, pace)?;
        for thread in threads {
            let part = thread
                .join()
                .map_err(|_| anyhow::anyhow!("a thread broke"))?;
            sum.add(part?)?;
        }
        Ok(sum)
    })
}

impl Loop<'_> {
    fn work(&self) -> anyhow::Result<Measured> {
        let mut measured = Measured::new(self.classes, self.pace)?;
        let mut connection = Connection::open(self.address)?;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.requests {
                return Ok(measured);
            }
            let due = self.start + Duration::from_secs_f64(number as f64 / self.pace.rate_per_s);
            let now = Instant::now();
            if now > self.start + self.pace.duration * OVERTIME {
                measured.unsent += 1;
                continue;
            }
            thread::sleep(due.saturating_duration_since(now));
            let at = usize::try_from(number).unwrap_or(0) % self.targets.len();
            let target = &self.targets[at];
            match connection.get(&target.path) {
                Ok(answer) => {
                    let answered = Instant::now();
                    self.note(&mut measured, target, &answer, due, answered)?;
                }
                Err(error) => {
                    measured.note_wrong(&target.path, &format!("{error:#}"));
                    connection = Connection::open(self.address)?;
                }
            }
        }
    }

    fn note(
        &self,
        measured: &mut Measured,
        target: &Target,
        answer: &Answer<'_>,
        due: Instant,
        answered: Instant,
    ) -> anyhow::Result<()> {
        if let Some(why) = target.objection(answer) {
            measured.note_wrong(&target.path, &why);
            return Ok(());
        }
        let latency_us = u64::try_from((answered - due).as_micros()).unwrap_or(LATENCY_MAX_US);
        measured.latencies_us[target.class].record(latency_us.min(LATENCY_MAX_US))?;
        let bytes = answer.body.len() as u64;
        measured.body_bytes += bytes;
        measured.body_bytes_max = measured.body_bytes_max.max(bytes);
        measured.took = answered.saturating_duration_since(self.start);
        Ok(())
    }
}

impl Target {
    /// Why an answer is not what it has to be.
    #[must_use]
    pub fn objection(&self, answer: &Answer<'_>) -> Option<String> {
        const OK: u16 = 200;
        let has = |text: &str| memchr::memmem::find(answer.body, text.as_bytes()).is_some();
        if answer.status != OK {
            let body = String::from_utf8_lossy(answer.body);
            let beginning: String = body.chars().take(200).collect();
            return Some(format!("answered {} {beginning}", answer.status));
        }
        if answer.body.is_empty() {
            return Some("answered nothing".to_owned());
        }
        if let Some(text) = self.holds.as_deref().filter(|text| !has(text)) {
            return Some(format!("the answer has no {text}"));
        }
        let text = self.lacks.filter(|text| has(text))?;
        Some(format!("the answer has {text}, and nothing matches"))
    }
}
