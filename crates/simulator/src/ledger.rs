//! What the server truly did: the yardstick a client's figures are held to.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use serde::Serialize;

/// Events kept in memory for [`Ledger::finished`]; beyond, the oldest requests are
/// forgotten. A whole matrix has about a million. The file keeps everything.
const MOST_EVENTS_KEPT: usize = 4_000_000;

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TrueOutcome {
    /// Every token was handed over.
    Completed,
    /// The client went away first, or the server was stopped.
    Cancelled,
    /// The server broke it off, on purpose.
    Failed,
}

/// The true times and tokens of one request. Times are µs on the monotonic clock
/// since the server started.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequestTruth {
    /// The id in the response.
    pub id: String,
    /// When its head had been read.
    pub arrival_us: u64,
    /// When the engine admitted it to the running batch.
    pub admitted_us: Option<u64>,
    /// When the first event with tokens was handed to the connection.
    pub first_token_us: Option<u64>,
    /// When the last one was.
    pub last_token_us: Option<u64>,
    /// When the response was over.
    pub ended_us: u64,
    /// How it ended.
    pub outcome: TrueOutcome,
    /// Times it was put back into the queue.
    pub preemptions: u32,
    /// Prompt tokens, chat template included.
    pub prompt_tokens: u64,
    /// Of these, tokens that came from the prefix cache.
    pub cached_tokens: u64,
    /// Tokens handed over.
    pub output_tokens: u64,
    /// For every event with tokens: when it was handed to the connection, and how
    /// many tokens it carried.
    pub events: Vec<(u64, u32)>,
}

/// The monotonic clock of a server.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock that starts now.
    #[must_use]
    pub fn start() -> Clock {
        Clock {
            origin: Instant::now(),
        }
    }

    /// µs since the start.
    #[must_use]
    pub fn now_us(&self) -> u64 {
        self.us(Instant::now())
    }

    /// µs from the start to `at`.
    #[must_use]
    pub fn us(&self, at: Instant) -> u64 {
        at.saturating_duration_since(self.origin).as_micros() as u64
    }

    /// The moment the clock started.
    #[must_use]
    pub fn origin(&self) -> Instant {
        self.origin
    }
}

/// First line of a truth file.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TruthHeader {
    /// Wall-clock time of the monotonic clock's start, µs since 1970.
    pub origin_unix_us: u64,
    /// How many times faster than the real server.
    pub speed: f64,
    /// The model's name.
    pub model: String,
}

/// Finished requests, the oldest first.
#[derive(Debug, Default)]
struct Kept {
    requests: VecDeque<RequestTruth>,
    events: usize,
}

impl Kept {
    fn add(&mut self, truth: RequestTruth, most_events: usize) {
        self.events += truth.events.len();
        self.requests.push_back(truth);
        while self.events > most_events
            && self.requests.len() > 1
            && let Some(oldest) = self.requests.pop_front()
        {
            self.events -= oldest.events.len();
        }
    }
}

/// Keeps finished requests, and writes them to a file off the request's path.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    kept: Arc<Mutex<Kept>>,
    to_writer: Option<Sender<Option<String>>>,
}

impl Ledger {
    /// A ledger; with a path, one that also writes a file. The handle ends once
    /// [`Ledger::close`] was called.
    ///
    /// # Errors
    /// When the file cannot be created or its header not written.
    pub fn open(
        path: Option<&Path>,
        header: &TruthHeader,
    ) -> std::io::Result<(Ledger, Option<JoinHandle<()>>)> {
        let kept = Arc::default();
        let Some(path) = path else {
            let ledger = Ledger {
                kept,
                to_writer: None,
            };
            return Ok((ledger, None));
        };
        let mut file = BufWriter::new(File::create(path)?);
        serde_json::to_writer(&mut file, header)?;
        file.write_all(b"\n")?;
        file.flush()?;
        let (to_writer, lines) = channel();
        let writer = std::thread::Builder::new()
            .name("truth".to_owned())
            .spawn(move || write_lines(file, &lines))?;
        let ledger = Ledger {
            kept,
            to_writer: Some(to_writer),
        };
        Ok((ledger, Some(writer)))
    }

    /// A request is over.
    pub fn record(&self, truth: RequestTruth) {
        if let Some(to_writer) = &self.to_writer
            && let Ok(line) = serde_json::to_string(&truth)
        {
            // A writer that is gone has been told to close.
            let _closed = to_writer.send(Some(line));
        }
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.add(truth, MOST_EVENTS_KEPT);
    }

    /// The requests that are over, in the order they ended; of very many, the last.
    #[must_use]
    pub fn finished(&self) -> Vec<RequestTruth> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.requests.iter().cloned().collect()
    }

    /// Lets the writer finish.
    pub fn close(&self) {
        if let Some(to_writer) = &self.to_writer {
            let _closed = to_writer.send(None);
        }
    }
}

/// Writes and flushes each line until told to close; a full disk ends the file,
/// not the server.
fn write_lines(mut file: BufWriter<File>, lines: &Receiver<Option<String>>) {
    while let Ok(Some(line)) = lines.recv() {
        let written = writeln!(file, "{line}").and_then(|()| file.flush());
        if written.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_holds_the_last_requests_and_not_all_of_them() {
        let truth = |number: u64| RequestTruth {
            id: number.to_string(),
            arrival_us: 0,
            admitted_us: None,
            first_token_us: None,
            last_token_us: None,
            ended_us: number,
            outcome: TrueOutcome::Completed,
            preemptions: 0,
            prompt_tokens: 1,
            cached_tokens: 0,
            output_tokens: 10,
            events: vec![(0, 1); 10],
        };
        let mut kept = Kept::default();
        (0..100).for_each(|number| kept.add(truth(number), 35));
        let left: Vec<u64> = kept.requests.iter().map(|truth| truth.ended_us).collect();
        assert_eq!(left, [97, 98, 99]);
    }
}
