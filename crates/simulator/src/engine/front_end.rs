//! The API server in front of the engine.
//!
//! vLLM tokenizes and hashes prompts one after another before the engine sees
//! them, so a wave of C equal prompts arrives spread out: the median of a wave
//! waits (C + 1) / 2 turns. What waits here is neither running nor waiting in
//! the engine's own books.

use std::collections::VecDeque;

use super::{RequestId, SimTime, Submission};

/// What a request costs before the engine sees it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FrontEndCost {
    /// Delay of every request that holds up nobody else, ms.
    pub latency_ms: f64,
    /// Serial work for each request, ms.
    pub per_request_ms: f64,
    /// Serial work for each prompt token, ms.
    pub per_token_ms: f64,
}

impl FrontEndCost {
    /// Serial work for one prompt, ms.
    #[must_use]
    pub fn serial_ms(&self, prompt_tokens: u64) -> f64 {
        self.per_request_ms + self.per_token_ms * prompt_tokens as f64
    }

    /// Time from arrival to the engine's queue for a request that comes alone, ms.
    #[must_use]
    pub fn alone_ms(&self, prompt_tokens: u64) -> f64 {
        self.latency_ms + self.serial_ms(prompt_tokens)
    }
}

/// A request on its way to the engine.
#[derive(Debug)]
pub(super) struct Arrival {
    /// When it came to the server.
    pub arrived: SimTime,
    /// When the engine may take it.
    pub ready: SimTime,
    /// The request.
    pub submission: Submission,
}

/// Requests on their way, in order.
#[derive(Debug)]
pub(super) struct FrontEnd {
    cost: FrontEndCost,
    busy_until: SimTime,
    on_the_way: VecDeque<Arrival>,
}

impl FrontEnd {
    /// An idle front end.
    #[must_use]
    pub fn new(cost: FrontEndCost) -> FrontEnd {
        FrontEnd {
            cost,
            busy_until: SimTime::default(),
            on_the_way: VecDeque::new(),
        }
    }

    /// A request arrives.
    pub fn submit(&mut self, arrived: SimTime, submission: Submission) {
        let done = self
            .busy_until
            .max(arrived)
            .plus_ms(self.cost.serial_ms(submission.prompt_tokens));
        self.busy_until = done;
        self.on_the_way.push_back(Arrival {
            arrived,
            ready: done.plus_ms(self.cost.latency_ms),
            submission,
        });
    }

    /// When the next request is through.
    #[must_use]
    pub fn next_ready(&self) -> Option<SimTime> {
        self.on_the_way.front().map(|arrival| arrival.ready)
    }

    /// The next request that is through at `now`.
    pub fn take_ready(&mut self, now: SimTime) -> Option<Arrival> {
        if self.next_ready()? <= now {
            return self.on_the_way.pop_front();
        }
        None
    }

    /// Forgets a request; work already reserved for it is still done.
    pub fn cancel(&mut self, id: RequestId) -> bool {
        let before = self.on_the_way.len();
        self.on_the_way
            .retain(|arrival| arrival.submission.id != id);
        self.on_the_way.len() < before
    }
}
