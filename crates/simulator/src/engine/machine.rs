//! Front end and scheduler, moved along by telling them the time.

use std::sync::Arc;

use super::flat::FlatMachine;
use super::{Counters, FrontEnd, Limits, Output, RequestId, Scheduler, SimTime, Submission};
use crate::speed::EngineSpeed;

/// An engine with continuous batching behind its front end.
#[derive(Debug)]
pub struct Engine {
    front: FrontEnd,
    scheduler: Scheduler,
    /// End of the step in progress.
    step_end: Option<SimTime>,
    /// How far its time has come; a request read late does not turn it back.
    now: SimTime,
}

impl Engine {
    /// An idle engine whose clock runs `pace` times as fast as ours.
    #[must_use]
    pub(crate) fn new(limits: Limits, speed: Arc<EngineSpeed>, pace: f64) -> Engine {
        Engine {
            front: FrontEnd::new(speed.front_end),
            scheduler: Scheduler::new(limits, speed, pace),
            step_end: None,
            now: SimTime::default(),
        }
    }

    fn submit(&mut self, at: SimTime, submission: Submission) {
        self.front.submit(at, submission);
    }

    fn cancel(&mut self, id: RequestId) -> bool {
        self.front.cancel(id) || self.scheduler.cancel(id)
    }

    fn next_deadline(&self) -> Option<SimTime> {
        let ready = self.front.next_ready();
        match (self.step_end, ready) {
            (Some(end), Some(ready)) => Some(end.min(ready)),
            (end, ready) => end.or(ready),
        }
    }

    fn run_until(&mut self, until: SimTime, outputs: &mut Vec<Output>) {
        while let Some(next) = self.next_deadline().filter(|next| *next <= until) {
            let now = self.now.max(next);
            self.now = now;
            if self.step_end.is_some_and(|end| end <= now) {
                self.step_end = None;
                self.scheduler.end_step(now, outputs);
            }
            while let Some(arrival) = self.front.take_ready(now) {
                self.scheduler.enqueue(arrival);
            }
            if self.step_end.is_none() {
                self.step_end = self.scheduler.begin_step(now).map(|ms| now.plus_ms(ms));
            }
        }
    }
}

/// Either kind of engine.
#[derive(Debug)]
pub enum Machine {
    /// Continuous batching.
    Batching(Box<Engine>),
    /// Fixed times, for checking a client.
    Flat(Box<FlatMachine>),
}

impl Machine {
    /// A request arrives at the server. Times must not run backwards.
    pub fn submit(&mut self, at: SimTime, submission: Submission) {
        match self {
            Machine::Batching(engine) => engine.submit(at, submission),
            Machine::Flat(flat) => flat.submit(at, submission),
        }
    }

    /// A request is dropped; false where it is not known (any more).
    pub fn cancel(&mut self, at: SimTime, id: RequestId) -> bool {
        match self {
            Machine::Batching(engine) => engine.cancel(id),
            Machine::Flat(flat) => flat.cancel(at, id),
        }
    }

    /// When something happens next, unless more requests arrive.
    #[must_use]
    pub fn next_deadline(&self) -> Option<SimTime> {
        match self {
            Machine::Batching(engine) => engine.next_deadline(),
            Machine::Flat(flat) => flat.next_deadline(),
        }
    }

    /// Lets time pass up to and including `until`.
    pub fn run_until(&mut self, until: SimTime, outputs: &mut Vec<Output>) {
        match self {
            Machine::Batching(engine) => engine.run_until(until, outputs),
            Machine::Flat(flat) => flat.run_until(until, outputs),
        }
    }

    /// What was counted so far.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        match self {
            Machine::Batching(engine) => engine.scheduler.counters(),
            Machine::Flat(flat) => flat.counters(),
        }
    }
}
