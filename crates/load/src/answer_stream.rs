//! One answer as it comes in: bytes and their arrival in, a sample out. No socket.

use document::{EngineTimings, Micros, Outcome, TokenEvents, Usage};
use wire::event::{ErrorCode, Payload, StreamEvent};
use wire::sse::{SseDecoder, StreamEnd};

use crate::repetition;

/// Answers are seldom longer; more is possible.
const USUAL_EVENTS: usize = 1024;

/// No prompt or answer has more tokens; a server that says so says nothing.
pub(crate) const MAX_TOKENS: u64 = 1 << 31;

/// What one read brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Brought {
    /// Events with text.
    pub events: u32,
    /// Output tokens, as far as known; else events.
    pub tokens: u32,
    /// The first token of the answer was among them.
    pub is_first: bool,
}

/// Reads one answer.
#[derive(Debug)]
pub(crate) struct AnswerStream {
    decoder: SseDecoder,
    pub events: TokenEvents,
    pub first_answer_us: Option<Micros>,
    pub usage: Option<Usage>,
    pub timings: Option<EngineTimings>,
    has_reasoned: bool,
    finish_reason: Option<String>,
    fault: Option<Outcome>,
    tail: String,
}

impl AnswerStream {
    pub fn new() -> AnswerStream {
        AnswerStream {
            decoder: SseDecoder::new(),
            events: TokenEvents {
                at_us: Vec::with_capacity(USUAL_EVENTS),
                tokens_so_far: Vec::with_capacity(USUAL_EVENTS),
            },
            first_answer_us: None,
            usage: None,
            timings: None,
            has_reasoned: false,
            finish_reason: None,
            fault: None,
            tail: String::with_capacity(2 * repetition::TAIL_BYTES),
        }
    }

    /// Takes bytes that arrived at `at`.
    pub fn take(&mut self, bytes: &[u8], at: Micros) -> Brought {
        let mut brought = Brought::default();
        let mut decoder = std::mem::take(&mut self.decoder);
        let fed = decoder.feed(bytes, |event| self.event(event.data, at, &mut brought));
        self.decoder = decoder;
        if let Err(error) = fed {
            self.fault.get_or_insert(Outcome::Broke {
                reason: error.to_string(),
            });
        }
        brought
    }

    fn event(&mut self, data: &[u8], at: Micros, brought: &mut Brought) {
        match wire::event::parse(data) {
            // The end of the body says as much, and some servers leave it out.
            Ok(Payload::Done) => {}
            Ok(Payload::Chunk(chunk)) => self.chunk(&chunk, at, brought),
            Ok(Payload::Error(error)) => {
                let status = match error.code {
                    Some(ErrorCode::Number(code)) => u16::try_from(code).unwrap_or(200),
                    Some(ErrorCode::Word(_)) | None => 200,
                };
                let said = wire::error_body::excerpt(&error.message);
                let message = format!("an error inside the stream: {said}");
                self.fault
                    .get_or_insert(Outcome::Refused { status, message });
            }
            Err(error) => {
                self.fault.get_or_insert(Outcome::Broke {
                    reason: error.to_string(),
                });
            }
        }
    }

    fn chunk(&mut self, chunk: &StreamEvent<'_>, at: Micros, brought: &mut Brought) {
        if chunk.carries_token() {
            brought.is_first |= self.events.is_empty();
            brought.events += 1;
            self.events.at_us.push(at);
            brought.tokens = brought.tokens.saturating_add(self.count(chunk));
            if chunk.carries_answer() && self.has_reasoned {
                self.first_answer_us.get_or_insert(at);
            }
            self.has_reasoned |= chunk.carries_reasoning();
            repetition::keep_tail(&mut self.tail, &chunk.content);
            repetition::keep_tail(&mut self.tail, &chunk.reasoning);
        }
        // Some servers write an empty reason, or the word null, until there is one.
        let reason = chunk.finish_reason.as_ref();
        if let Some(reason) = reason.filter(|r| !r.is_empty() && **r != "null") {
            self.finish_reason.get_or_insert_with(|| reason.to_string());
        }
        if let Some(usage) = chunk.usage {
            let before = self.usage.unwrap_or_default();
            let possible = |told: Option<u64>| told.filter(|tokens| *tokens <= MAX_TOKENS);
            let written = possible(usage.completion_tokens);
            self.usage = Some(Usage {
                prompt_tokens: possible(usage.prompt_tokens).unwrap_or(before.prompt_tokens),
                completion_tokens: written.unwrap_or(before.completion_tokens),
                cached_tokens: possible(usage.cached_tokens).or(before.cached_tokens),
            });
        }
        if let Some(timings) = chunk.timings {
            self.timings = Some(EngineTimings {
                prefill_ms: timings.prompt_ms,
                decode_ms: timings.predicted_ms,
            });
            self.take_counts_of_timings(chunk);
        }
    }

    /// llama.cpp tells prompt and cached tokens from the first event on in its
    /// timings, and in usage only at the end.
    fn take_counts_of_timings(&mut self, chunk: &StreamEvent<'_>) {
        let Some(timings) = chunk.timings else { return };
        if self.usage.is_none_or(|usage| usage.cached_tokens.is_none())
            && let (Some(cached), Some(read), Some(written)) =
                (timings.cache_n, timings.prompt_n, timings.predicted_n)
            && cached.max(read).max(written) <= MAX_TOKENS
        {
            self.usage = Some(Usage {
                prompt_tokens: cached + read,
                completion_tokens: written,
                cached_tokens: Some(cached),
            });
        }
    }

    /// Notes the running count after this event and returns what the event added.
    fn count(&mut self, chunk: &StreamEvent<'_>) -> u32 {
        let before = self.events.tokens_so_far.last().copied().unwrap_or(0);
        match chunk.output_tokens_so_far() {
            // Counts are complete from the first event on, or useless.
            Some(so_far)
                if so_far <= MAX_TOKENS
                    && self.events.tokens_so_far.len() + 1 == self.events.at_us.len() =>
            {
                let so_far = u32::try_from(so_far).unwrap_or(u32::MAX).max(before);
                self.events.tokens_so_far.push(so_far);
                so_far - before
            }
            Some(_) | None => 1,
        }
    }

    /// The server has given its reason to end: what may follow is usage.
    pub fn has_finished(&self) -> bool {
        self.finish_reason.is_some() || self.fault.is_some()
    }

    /// How the stream ended, when it was read to its end (`broken` tells why it
    /// broke off, if it did).
    pub fn outcome(&mut self, broken: Option<String>) -> Outcome {
        if let Some(fault) = self.fault.take() {
            return fault;
        }
        if let Some(finish_reason) = self.finish_reason.take() {
            return Outcome::Completed { finish_reason };
        }
        let events = self.events.len();
        let half = match std::mem::take(&mut self.decoder).finish() {
            StreamEnd::Clean => "",
            StreamEnd::HalfEvent { .. } => ", in the middle of an event",
        };
        let how = broken.unwrap_or_else(|| "it closed without a finish reason".to_owned());
        Outcome::Broke {
            reason: format!("{how}, after {events} events{half}"),
        }
    }

    /// The last text of the answer, for finding loops.
    pub fn tail(&self) -> &str {
        &self.tail
    }

    /// Token counts as far as they are complete: counts that began late say nothing.
    pub fn take_events(&mut self) -> TokenEvents {
        let mut events = std::mem::take(&mut self.events);
        if events.tokens_so_far.len() != events.at_us.len() {
            events.tokens_so_far.clear();
        }
        events.at_us.shrink_to_fit();
        events.tokens_so_far.shrink_to_fit();
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(events: &[&str]) -> AnswerStream {
        let mut answer = AnswerStream::new();
        for (at, event) in events.iter().enumerate() {
            answer.take(
                format!("data: {event}\n\n").as_bytes(),
                Micros(at as u64 * 1000),
            );
        }
        answer
    }

    #[test]
    fn an_empty_finish_reason_is_none() {
        for reason in [r#""""#, r#""null""#, "null"] {
            let event = format!(r#"{{"choices":[{{"text":"a","finish_reason":{reason}}}]}}"#);
            let mut answer = read(&[&event, &event]);
            assert!(!answer.has_finished(), "{reason}");
            assert!(matches!(answer.outcome(None), Outcome::Broke { .. }));
        }
        assert!(read(&[r#"{"choices":[{"text":"a","finish_reason":"length"}]}"#]).has_finished());
    }

    #[test]
    fn counts_that_cannot_be_are_not_taken() {
        let huge = u64::MAX;
        let event = format!(
            r#"{{"choices":[{{"text":"a"}}],"usage":{{"prompt_tokens":{huge},"completion_tokens":{huge}}}}}"#
        );
        let mut answer = read(&[&event, &event]);
        assert_eq!(answer.usage, Some(Usage::default()));
        let events = answer.take_events();
        assert_eq!((events.len(), events.tokens_so_far.len()), (2, 0));
    }

    #[test]
    fn reasoning_before_content_has_its_own_first_answer() {
        let answer = read(&[
            r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#,
            r#"{"choices":[{"delta":{"reasoning":"hm"}}]}"#,
            r#"{"choices":[{"delta":{"content":"so"}}]}"#,
        ]);
        assert_eq!(answer.events.at_us, [Micros(1000), Micros(2000)]);
        assert_eq!(answer.first_answer_us, Some(Micros(2000)));
    }
}
