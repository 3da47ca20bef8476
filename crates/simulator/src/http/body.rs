//! The body of a streamed response: pulls outputs, sends actions, stamps what the
//! connection took.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use http_body::{Body, Frame};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Sleep;

use super::Shared;
use super::answer::{Action, Answer};
use crate::engine::{Output, RequestId};
use crate::ledger::{RequestTruth, TrueOutcome};

/// Why a body ends before its time; the connection is dropped with it.
#[derive(Debug, thiserror::Error)]
#[error("the stream is broken off on purpose")]
pub(super) struct BrokenOff;

/// The engine requests behind one response, dropped with it, and its true record.
#[derive(Debug)]
pub(super) struct Flight {
    pub app: Shared,
    /// Names of its engine requests are consecutive, from this one.
    pub first: RequestId,
    pub count: u64,
    pub outputs: UnboundedReceiver<Output>,
    pub truth: RequestTruth,
    /// Answers that have not ended.
    pub open: u64,
}

impl Flight {
    /// Which answer an output belongs to; notes what the engine says of it.
    pub fn note(&mut self, output: &Output) -> usize {
        let truth = &mut self.truth;
        if truth.admitted_us.is_none() {
            let real_ns = output.admitted.0 as f64 / self.app.config.speed;
            truth.admitted_us = Some((real_ns / 1e3) as u64);
            truth.cached_tokens = output.cached_tokens;
        }
        truth.preemptions = truth.preemptions.max(output.preemptions);
        self.open -= u64::from(output.finish.is_some());
        (output.id.0 - self.first.0) as usize
    }

    /// Notes tokens the connection took now.
    pub fn stamp(&mut self, tokens: u32) {
        if tokens == 0 {
            return;
        }
        let now_us = self.app.clock.us(Instant::now());
        let truth = &mut self.truth;
        truth.first_token_us.get_or_insert(now_us);
        truth.last_token_us = Some(now_us);
        truth.output_tokens += u64::from(tokens);
        truth.events.push((now_us, tokens));
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if self.open > 0 {
            for id in self.first.0..self.first.0 + self.count {
                self.app.driver.cancel(RequestId(id));
            }
        }
        self.truth.ended_us = self.app.clock.now_us();
        let empty = RequestTruth {
            id: String::new(),
            events: Vec::new(),
            ..self.truth
        };
        self.app
            .ledger
            .record(std::mem::replace(&mut self.truth, empty));
    }
}

/// What a poll of the body returns.
type FramePoll = Poll<Option<Result<Frame<Bytes>, BrokenOff>>>;

/// A streamed response.
pub(super) struct EventBody {
    flight: Flight,
    answer: Answer,
    actions: VecDeque<Action>,
    pause: Option<Pin<Box<Sleep>>>,
    ended: bool,
}

impl EventBody {
    /// The stream of `answer`, fed by the outputs of `flight`.
    pub fn new(flight: Flight, answer: Answer) -> EventBody {
        EventBody {
            flight,
            answer,
            actions: VecDeque::new(),
            pause: None,
            ended: false,
        }
    }

    /// Does one thing; `None` where the poll is not answered by it.
    fn act(&mut self, action: Action) -> Option<FramePoll> {
        match action {
            Action::Send { bytes, tokens } => {
                self.flight.stamp(tokens);
                Some(Poll::Ready(Some(Ok(Frame::data(bytes)))))
            }
            Action::Pause(length) => {
                self.pause = Some(Box::pin(tokio::time::sleep(length)));
                None
            }
            Action::Hang => {
                self.flight.truth.outcome = TrueOutcome::Failed;
                self.actions.push_front(Action::Hang);
                // Nobody wakes this: only the client's going away ends it.
                Some(Poll::Pending)
            }
            Action::Break => {
                self.flight.truth.outcome = TrueOutcome::Failed;
                self.ended = true;
                Some(Poll::Ready(Some(Err(BrokenOff))))
            }
            Action::End { failed } => {
                self.flight.truth.outcome = match failed {
                    true => TrueOutcome::Failed,
                    false => TrueOutcome::Completed,
                };
                self.ended = true;
                Some(Poll::Ready(None))
            }
        }
    }
}

impl Body for EventBody {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> FramePoll {
        let this = self.get_mut();
        loop {
            if this.ended {
                return Poll::Ready(None);
            }
            if let Some(pause) = &mut this.pause {
                match pause.as_mut().poll(context) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(()) => this.pause = None,
                }
            }
            if let Some(action) = this.actions.pop_front() {
                match this.act(action) {
                    Some(poll) => return poll,
                    None => continue,
                }
            }
            match this.flight.outputs.poll_recv(context) {
                Poll::Pending => return Poll::Pending,
                // The engine has stopped.
                Poll::Ready(None) => this.actions.push_back(Action::Break),
                Poll::Ready(Some(output)) => {
                    let index = this.flight.note(&output);
                    this.answer.write(index, &output, &mut this.actions);
                }
            }
        }
    }
}
