//! From engine outputs to what goes over the wire, faults included.

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;

use super::error::ApiError;
use super::events::{Piece, Voice};
use super::request::{Api, StreamUsage};
use crate::engine::{FinishReason, Output};
use crate::fault::{Behaviour, UsageManner};
use crate::text::{Text, mix};

/// Marks the end of a stream.
const DONE: &str = "data: [DONE]\n\n";

/// A comment, as proxies send to keep a connection open.
const COMMENT: &str = ": ping\n\n";

/// Pause inside an event that is cut, so that the parts arrive apart.
const CUT_PAUSE: Duration = Duration::from_micros(200);

/// Time for what was sent to leave before the connection drops.
const FLUSH_PAUSE: Duration = Duration::from_millis(2);

/// The next thing a stream does.
#[derive(Debug, PartialEq)]
pub(super) enum Action {
    /// Sends bytes that carry this many tokens.
    Send { bytes: Bytes, tokens: u32 },
    /// Sends nothing for a while.
    Pause(Duration),
    /// Sends nothing ever again.
    Hang,
    /// Drops the connection.
    Break,
    /// Ends the response.
    End { failed: bool },
}

/// One of the answers of a response.
#[derive(Debug)]
struct Choice {
    text: Text,
    /// Longest answer and its end, to know which tokens are the last.
    end: u64,
    written: u64,
    held: u32,
    begun: bool,
    finished: bool,
}

/// Writes the stream of a response.
#[derive(Debug)]
pub(super) struct Answer {
    voice: Voice,
    behaviour: Behaviour,
    prompt_tokens_details: bool,
    choices: Vec<Choice>,
    token_events: u64,
    buffer: String,
}

impl Answer {
    /// A response of one answer for each of `ends`, the tokens they end after.
    pub fn new(
        voice: Voice,
        behaviour: Behaviour,
        prompt_tokens_details: bool,
        seed: u64,
        ends: &[u64],
    ) -> Answer {
        let choices = ends
            .iter()
            .enumerate()
            .map(|(index, end)| Choice {
                text: Text::new(mix(seed ^ index as u64), behaviour.text),
                end: *end,
                written: 0,
                held: 0,
                begun: false,
                finished: false,
            })
            .collect();
        Answer {
            voice,
            behaviour,
            prompt_tokens_details,
            choices,
            token_events: 0,
            buffer: String::new(),
        }
    }

    /// Turns an engine output of answer `index` into actions.
    pub fn write(&mut self, index: usize, output: &Output, actions: &mut VecDeque<Action>) {
        if self.prompt_tokens_details {
            self.voice.cached_tokens = Some(output.cached_tokens);
        }
        self.begin(index, actions);
        let choice = &mut self.choices[index];
        choice.held += output.tokens;
        let so_far = choice.written + u64::from(choice.held);
        let held_back = choice.end.saturating_sub(so_far) < self.behaviour.hold_back;
        if output.finish.is_none() && held_back {
            return;
        }
        if self.breaks_off(actions) {
            return;
        }
        self.write_tokens(index, output.finish, actions);
        if output.finish.is_some() {
            self.choices[index].finished = true;
            if self.choices.iter().all(|choice| choice.finished) {
                self.end(actions);
            }
        }
    }

    fn begin(&mut self, index: usize, actions: &mut VecDeque<Action>) {
        if std::mem::replace(&mut self.choices[index].begun, true) {
            return;
        }
        let count = match self.voice.api {
            Api::Chat => 1 + self.behaviour.role_only_events,
            Api::Completions => 0,
        };
        for _ in 0..count {
            self.voice.role(index, &mut self.buffer);
            self.flush(0, actions);
        }
    }

    /// Whether a fault ends the stream before the next event with tokens.
    fn breaks_off(&mut self, actions: &mut VecDeque<Action>) -> bool {
        let reached = |after: Option<u64>| after.is_some_and(|after| self.token_events >= after);
        if reached(self.behaviour.die_after) {
            // A connection dropped at once would take what was sent before with it.
            actions.push_back(Action::Pause(FLUSH_PAUSE));
            actions.push_back(Action::Break);
            return true;
        }
        if reached(self.behaviour.stall_after) {
            actions.push_back(Action::Hang);
            return true;
        }
        if reached(self.behaviour.error_after) {
            self.buffer.push_str("data: ");
            self.buffer.push_str(&ApiError::internal().json());
            self.buffer.push_str("\n\n");
            self.buffer.push_str(DONE);
            self.flush(0, actions);
            actions.push_back(Action::End { failed: true });
            return true;
        }
        false
    }

    fn write_tokens(
        &mut self,
        index: usize,
        finish: Option<FinishReason>,
        actions: &mut VecDeque<Action>,
    ) {
        let choice = &mut self.choices[index];
        let tokens = std::mem::take(&mut choice.held);
        let reasoning = match self.behaviour.reasoning {
            Some((field, 0)) => Some(field),
            Some((field, until)) if choice.written < until => Some(field),
            Some(_) | None => None,
        };
        let mut text = String::with_capacity(tokens as usize * 8);
        for position in choice.written..choice.written + u64::from(tokens) {
            choice.text.append_token(position, &mut text);
        }
        choice.written += u64::from(tokens);
        let piece = Piece {
            index,
            text: &text,
            reasoning,
            finish: finish.filter(|_| !self.behaviour.finish_apart),
            completion_tokens: choice.written,
        };
        self.voice.piece(piece, &mut self.buffer);
        self.token_events += 1;
        self.flush(tokens, actions);
        if finish.is_some() && self.behaviour.finish_apart {
            let last = Piece {
                text: "",
                finish,
                ..piece
            };
            self.voice.piece(last, &mut self.buffer);
            self.flush(0, actions);
        }
        let comment_due = |every: u64| self.token_events.is_multiple_of(every);
        if self.behaviour.keep_alive_events.is_some_and(comment_due) {
            self.buffer.push_str(COMMENT);
            self.flush(0, actions);
        }
    }

    fn end(&mut self, actions: &mut VecDeque<Action>) {
        if let UsageManner::Late(delay) = self.behaviour.usage {
            actions.push_back(Action::Pause(delay));
        }
        if self.voice.usage != StreamUsage::Never {
            let tokens = self.choices.iter().map(|choice| choice.written).sum();
            self.voice.final_usage(tokens, &mut self.buffer);
        }
        if !self.behaviour.no_done {
            self.buffer.push_str(DONE);
        }
        self.flush(0, actions);
        actions.push_back(Action::End { failed: false });
    }

    /// Sends what is in the buffer, in two parts where events are cut.
    fn flush(&mut self, tokens: u32, actions: &mut VecDeque<Action>) {
        if self.buffer.is_empty() {
            return;
        }
        let mut bytes = Bytes::from(std::mem::take(&mut self.buffer));
        if self.behaviour.split_utf8 {
            let inside = bytes.iter().position(|byte| *byte >= 0x80).map(|at| at + 1);
            let first = bytes.split_to(inside.unwrap_or(bytes.len() / 2));
            actions.push_back(Action::Send {
                bytes: first,
                tokens: 0,
            });
            actions.push_back(Action::Pause(CUT_PAUSE));
        }
        actions.push_back(Action::Send { bytes, tokens });
    }
}
