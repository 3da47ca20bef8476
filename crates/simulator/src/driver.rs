//! Ties the engine's own time to the real clock.
//!
//! A thread of its own with absolute deadlines: an event that comes late does not
//! push the next one, and tokio's timer, which counts whole milliseconds, is not
//! in the way.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use tokio::sync::mpsc::UnboundedSender;

use crate::engine::{Counters, Machine, Output, RequestId, SimTime, Submission};
use crate::ledger::Clock;

/// How long before their time tokens are handed on: about what waking this thread,
/// the connection's task and the client takes on an idle machine. Ten times faster
/// than the real server, it would otherwise count ten times.
const HANDING_ON: Duration = Duration::from_micros(100);

/// Where a request's tokens go; `None` for requests nobody listens to, which
/// start over when they end.
pub type Sink = Option<UnboundedSender<Output>>;

enum Command {
    Submit {
        arrived: Instant,
        submission: Submission,
        sink: Sink,
    },
    Cancel(RequestId),
    Stop,
}

/// A running engine.
#[derive(Debug, Clone)]
pub struct Driver {
    commands: Sender<Command>,
    counters: Arc<Mutex<Counters>>,
}

impl Driver {
    /// Starts the engine's thread; its clock runs `pace` times as fast as `clock`.
    ///
    /// # Errors
    /// When the thread cannot be started.
    pub fn start(
        machine: Machine,
        clock: Clock,
        pace: f64,
    ) -> std::io::Result<(Driver, JoinHandle<()>)> {
        let (commands, received) = channel();
        let counters = Arc::new(Mutex::new(machine.counters().clone()));
        let mut engine_loop = EngineLoop {
            machine,
            origin: clock.origin(),
            pace,
            sinks: FxHashMap::default(),
            outputs: Vec::new(),
            counters: Arc::clone(&counters),
        };
        let thread = std::thread::Builder::new()
            .name("engine".to_owned())
            .spawn(move || engine_loop.run(&received))?;
        Ok((Driver { commands, counters }, thread))
    }

    /// Hands a request to the engine as of the moment it arrived.
    pub fn submit(&self, arrived: Instant, submission: Submission, sink: Sink) {
        self.send(Command::Submit {
            arrived,
            submission,
            sink,
        });
    }

    /// Drops a request.
    pub fn cancel(&self, id: RequestId) {
        self.send(Command::Cancel(id));
    }

    /// Ends the thread; open requests get no more tokens.
    pub fn stop(&self) {
        self.send(Command::Stop);
    }

    /// What the engine counted until its last step.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let counters = self.counters.lock();
        counters.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn send(&self, command: Command) {
        // The engine is gone only when the server stops.
        let _stopped = self.commands.send(command);
    }
}

struct EngineLoop {
    machine: Machine,
    origin: Instant,
    pace: f64,
    sinks: FxHashMap<RequestId, (Submission, Sink)>,
    outputs: Vec<Output>,
    counters: Arc<Mutex<Counters>>,
}

impl EngineLoop {
    fn run(&mut self, commands: &Receiver<Command>) {
        loop {
            let received = match self.machine.next_deadline() {
                None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
                Some(deadline) => {
                    let handed_on = Instant::now() + HANDING_ON;
                    let wait = self.real(deadline).saturating_duration_since(handed_on);
                    commands.recv_timeout(wait)
                }
            };
            let mut next = match received {
                Ok(command) => Some(command),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            };
            while let Some(command) = next {
                if !self.obey(command) {
                    return;
                }
                next = commands.try_recv().ok();
            }
            let due = self.engine_time(Instant::now() + HANDING_ON);
            self.machine.run_until(due, &mut self.outputs);
            // Whoever has read a token finds it counted.
            self.publish();
            if self.deliver() {
                self.publish();
            }
        }
    }

    /// Carries out a command; false when it was to stop.
    fn obey(&mut self, command: Command) -> bool {
        match command {
            Command::Submit {
                arrived,
                submission,
                sink,
            } => {
                let at = self.engine_time(arrived);
                self.sinks.insert(submission.id, (submission.clone(), sink));
                self.machine.submit(at, submission);
                true
            }
            Command::Cancel(id) => {
                self.drop_request(id);
                true
            }
            Command::Stop => false,
        }
    }

    fn drop_request(&mut self, id: RequestId) {
        if self.sinks.remove(&id).is_some() {
            let now = self.engine_time(Instant::now());
            self.machine.cancel(now, id);
        }
    }

    fn publish(&self) {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        counters.clone_from(self.machine.counters());
    }

    /// Hands tokens to whom they belong; true when that changed what runs.
    fn deliver(&mut self) -> bool {
        let mut changed = false;
        let mut outputs = std::mem::take(&mut self.outputs);
        for output in outputs.drain(..) {
            let (id, at, finished) = (output.id, output.at, output.finish.is_some());
            let Some((submission, sink)) = self.sinks.get(&id) else {
                continue;
            };
            match sink {
                Some(sink) => {
                    let gone = sink.send(output).is_err();
                    if finished {
                        self.sinks.remove(&id);
                    } else if gone {
                        self.drop_request(id);
                        changed = true;
                    }
                }
                None if finished => {
                    self.machine.submit(at, submission.clone());
                    changed = true;
                }
                None => {}
            }
        }
        self.outputs = outputs;
        changed
    }

    fn engine_time(&self, at: Instant) -> SimTime {
        let real = at.saturating_duration_since(self.origin);
        SimTime((real.as_nanos() as f64 * self.pace) as u64)
    }

    fn real(&self, at: SimTime) -> Instant {
        self.origin + Duration::from_nanos((at.0 as f64 / self.pace) as u64)
    }
}
