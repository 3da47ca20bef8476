//! The engine: a state machine without a clock or a socket.
//!
//! Requests go in with the time at which they arrived, tokens come out with the
//! time at which they were made; [`Machine::run_until`] is told how far time has
//! come. A driver ties it to the real clock, tests to none.

mod acceptance;
mod counters;
mod flat;
mod front_end;
mod kv;
mod machine;
mod request;
mod scheduler;
mod time;

use std::sync::Arc;

use front_end::FrontEnd;
use kv::BlockPool;
pub(crate) use scheduler::Limits;
use scheduler::Scheduler;

pub use acceptance::{Acceptance, Speculation};
pub use counters::{Counters, Histogram};
pub use flat::{FlatMachine, FlatSpeed};
pub use front_end::FrontEndCost;
pub use kv::BlockHash;
pub use machine::{Engine, Machine};
pub use time::SimTime;

/// Tokens a KV block holds.
pub const BLOCK_TOKENS: u64 = 16;

/// Names a request inside the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RequestId(pub u64);

/// A request as the engine sees it.
#[derive(Debug, Clone)]
pub struct Submission {
    /// Its name.
    pub id: RequestId,
    /// Length of the prompt, chat template included.
    pub prompt_tokens: u64,
    /// Chained hashes of the prompt's full blocks.
    pub block_hashes: Arc<[BlockHash]>,
    /// Longest answer, tokens; at least 1.
    pub max_tokens: u64,
    /// Where the model would end its answer, tokens.
    pub stops_after: Option<u64>,
    /// Seed of what is random about this request.
    pub seed: u64,
}

impl Submission {
    /// Where the answer ends, tokens, and why.
    #[must_use]
    pub fn end(&self) -> (u64, FinishReason) {
        let longest = self.max_tokens.max(1);
        match self.stops_after {
            Some(stop) if stop.max(1) < longest => (stop.max(1), FinishReason::Stop),
            Some(_) | None => (longest, FinishReason::Length),
        }
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FinishReason {
    /// The model ended it.
    Stop,
    /// The longest answer was reached.
    Length,
}

/// Tokens of one request out of one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Whose.
    pub id: RequestId,
    /// When the step ended.
    pub at: SimTime,
    /// Tokens made, at least 1.
    pub tokens: u32,
    /// Set on the last output of a request.
    pub finish: Option<FinishReason>,
    /// When the request was first admitted to the running batch.
    pub admitted: SimTime,
    /// Prompt tokens that came from the prefix cache at first admission.
    pub cached_tokens: u64,
    /// Times the request was put back into the queue.
    pub preemptions: u32,
}
