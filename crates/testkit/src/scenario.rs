use document::{
    CellKey, CellSamples, Micros, Outcome, Phase, RequestRole, RequestSample, SampledLimits,
    TokenEvents, Usage, Window,
};

use crate::readings;
use crate::serve::{Served, serve};

/// How the server lets its tokens be counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// A running count in each event.
    Continuous,
    /// Usage at the end of an answer only.
    FinalUsage,
    /// No usage at all.
    Nothing,
}

/// A decode cell, described by how its server behaves. Prompts are warm, nothing
/// fails, and every request is admitted at once unless told otherwise.
#[derive(Debug, Clone)]
pub struct Scenario {
    pub(crate) concurrency: u32,
    pub(crate) ttft_ms: Vec<f64>,
    pub(crate) tbt_ms: f64,
    pub(crate) tokens_per_event: u32,
    pub(crate) answer_tokens: Vec<u32>,
    pub(crate) slots: u32,
    pub(crate) window: Window,
    pub(crate) final_slowness: f64,
    pub(crate) noise_share: f64,
    context_tokens: u64,
    counting: Counting,
    finish_reason: String,
    max_output_tokens: u64,
    has_readings: bool,
    has_slot_readings: bool,
    pub(crate) cached_tokens: Option<u64>,
    pub(crate) prompt_tokens: u64,
    is_cache_in_usage: bool,
}

impl Scenario {
    /// `concurrency` streams at an 8K context: 200 ms to the first token, 20 ms
    /// between tokens, one token an event, answers of 4,096 tokens, continuous
    /// usage, a window from 1 s to 11 s, no engine readings.
    #[must_use]
    pub fn decode(concurrency: u32) -> Scenario {
        Scenario {
            concurrency,
            ttft_ms: vec![200.0],
            tbt_ms: 20.0,
            tokens_per_event: 1,
            answer_tokens: vec![4096],
            slots: u32::MAX,
            window: Window {
                open_us: Micros(1_000_000),
                close_us: Micros(11_000_000),
            },
            final_slowness: 1.0,
            noise_share: 0.0,
            context_tokens: 8192,
            counting: Counting::Continuous,
            finish_reason: "length".to_owned(),
            max_output_tokens: 4096,
            has_readings: false,
            has_slot_readings: false,
            cached_tokens: None,
            prompt_tokens: 8192,
            is_cache_in_usage: false,
        }
    }

    /// Admission to first token, ms.
    #[must_use]
    pub fn ttft_ms(self, ms: f64) -> Scenario {
        self.ttfts_ms(&[ms])
    }

    /// Admission to first token, ms, taken in turn by the requests as they are sent.
    #[must_use]
    pub fn ttfts_ms(mut self, ms: &[f64]) -> Scenario {
        self.ttft_ms = ms.to_vec();
        self
    }

    /// Between tokens, ms; an event of n tokens comes every n times that.
    #[must_use]
    pub fn tbt_ms(mut self, ms: f64) -> Scenario {
        self.tbt_ms = ms;
        self
    }

    /// Tokens each event carries.
    #[must_use]
    pub fn tokens_per_event(mut self, tokens: u32) -> Scenario {
        self.tokens_per_event = tokens;
        self
    }

    /// Lengths of the answers, tokens, taken in turn by the requests as they are sent.
    #[must_use]
    pub fn answers(mut self, tokens: &[u32]) -> Scenario {
        self.answer_tokens = tokens.to_vec();
        self
    }

    /// Target prompt length and the prompt length the server counts, tokens.
    #[must_use]
    pub fn context(mut self, tokens: u64) -> Scenario {
        self.context_tokens = tokens;
        self.prompt_tokens = tokens;
        self
    }

    /// The server runs only so many requests at once; the others queue in order.
    #[must_use]
    pub fn slots(mut self, slots: u32) -> Scenario {
        self.slots = slots;
        self
    }

    /// The measured stretch, s since the first request was sent.
    #[must_use]
    pub fn window_s(mut self, open: f64, close: f64) -> Scenario {
        self.window = Window {
            open_us: Micros::default().plus_seconds(open),
            close_us: Micros::default().plus_seconds(close),
        };
        self
    }

    /// The server slows down in a straight line: when the window closes, the time
    /// between tokens is `factor` times what it was when the window opened.
    #[must_use]
    pub fn slowing_to(mut self, factor: f64) -> Scenario {
        self.final_slowness = factor;
        self
    }

    /// Gaps between events vary by up to this share, evenly, around their length.
    #[must_use]
    pub fn noise(mut self, share: f64) -> Scenario {
        self.noise_share = share;
        self
    }

    /// How tokens can be counted.
    #[must_use]
    pub fn counting(mut self, counting: Counting) -> Scenario {
        self.counting = counting;
        self
    }

    /// Answers end with this reason; `length` unless told otherwise.
    #[must_use]
    pub fn finish_reason(mut self, reason: &str) -> Scenario {
        reason.clone_into(&mut self.finish_reason);
        self
    }

    /// The engine reports running, waiting and counters every 200 ms.
    #[must_use]
    pub fn readings(mut self) -> Scenario {
        self.has_readings = true;
        self
    }

    /// The engine reports its slots, too, as llama.cpp does, in place of a
    /// counter of tokens.
    #[must_use]
    pub fn slot_readings(mut self) -> Scenario {
        self.has_readings = true;
        self.has_slot_readings = true;
        self
    }

    /// Prompt tokens that requests find in the cache, seen by the engine's
    /// counters or slots only.
    #[must_use]
    pub fn cached(mut self, tokens: u64) -> Scenario {
        self.cached_tokens = Some(tokens);
        self
    }

    /// Prompt tokens that requests find in the cache, told in their usage.
    #[must_use]
    pub fn cached_in_usage(mut self, tokens: u64) -> Scenario {
        self.cached_tokens = Some(tokens);
        self.is_cache_in_usage = true;
        self
    }

    /// What a runner would have recorded.
    #[must_use]
    pub fn build(&self) -> CellSamples {
        let served = serve(self);
        let readings = if self.has_readings {
            readings::read(self, &served, self.has_slot_readings)
        } else {
            Vec::new()
        };
        let key = CellKey {
            phase: Phase::Decode,
            context_tokens: self.context_tokens,
            concurrency: self.concurrency,
        };
        let limits = SampledLimits {
            max_model_len: None,
            max_output_tokens: self.max_output_tokens,
            block_tokens: Some(16),
            template_tokens: 16,
            one_token_per_event: false,
            queue_is_reported: self.has_readings,
            ignore_eos: true,
        };
        CellSamples {
            window: Some(self.window),
            requests: served.iter().map(|served| self.sample(served)).collect(),
            readings,
            ..CellSamples::empty(key, limits)
        }
    }

    fn sample(&self, served: &Served) -> RequestSample {
        let is_complete = served.tokens == served.answer_tokens;
        let usage = Usage {
            prompt_tokens: self.prompt_tokens,
            completion_tokens: u64::from(served.tokens),
            cached_tokens: self.cached_tokens.filter(|_| self.is_cache_in_usage),
        };
        RequestSample {
            sent_us: Some(Micros(served.sent_us)),
            closed_us: Some(Micros(
                served
                    .events
                    .last()
                    .map_or(self.window.close_us.0, |event| event.0),
            )),
            outcome: if is_complete {
                Outcome::Completed {
                    finish_reason: self.finish_reason.clone(),
                }
            } else {
                Outcome::CutAtWindowEnd
            },
            events: TokenEvents {
                at_us: served.events.iter().map(|event| Micros(event.0)).collect(),
                tokens_so_far: match self.counting {
                    Counting::Continuous => served.events.iter().map(|event| event.1).collect(),
                    Counting::FinalUsage | Counting::Nothing => Vec::new(),
                },
            },
            usage: match self.counting {
                Counting::Continuous => (!served.events.is_empty()).then_some(usage),
                Counting::FinalUsage => is_complete.then_some(usage),
                Counting::Nothing => None,
            },
            ..RequestSample::unsent(served.stream, RequestRole::Stream)
        }
    }
}

/// A stream sent at `sent_ms` that ended well: events at these times, ms, one
/// token each, with a running count and usage.
#[must_use]
pub fn completed(sent_ms: f64, events_ms: &[f64]) -> RequestSample {
    let at = |ms: &f64| Micros::default().plus_seconds(ms / 1e3);
    let count = u32::try_from(events_ms.len()).unwrap_or(u32::MAX);
    RequestSample {
        sent_us: Some(at(&sent_ms)),
        closed_us: events_ms.last().map(at),
        outcome: Outcome::Completed {
            finish_reason: "length".to_owned(),
        },
        events: TokenEvents {
            at_us: events_ms.iter().map(at).collect(),
            tokens_so_far: (1..=count).collect(),
        },
        usage: Some(Usage {
            prompt_tokens: 8192,
            completion_tokens: u64::from(count),
            cached_tokens: None,
        }),
        ..RequestSample::unsent(0, RequestRole::Stream)
    }
}

/// A cold request of `prompt_tokens` whose one token came after `ttft_ms`;
/// `cached_tokens` as usage tells them. Sent at `sent_ms`.
#[must_use]
pub fn scout(
    sent_ms: f64,
    ttft_ms: f64,
    prompt_tokens: u64,
    cached_tokens: Option<u64>,
) -> RequestSample {
    RequestSample {
        role: RequestRole::Scout,
        usage: Some(Usage {
            prompt_tokens,
            completion_tokens: 1,
            cached_tokens,
        }),
        ..completed(sent_ms, &[sent_ms + ttft_ms])
    }
}

/// A prefill cell at `context_tokens` with these requests.
#[must_use]
pub fn prefill(context_tokens: u64, requests: Vec<RequestSample>) -> CellSamples {
    let key = CellKey {
        phase: Phase::Prefill,
        context_tokens,
        concurrency: 1,
    };
    let limits = SampledLimits {
        max_output_tokens: 4096,
        ..SampledLimits::default()
    };
    CellSamples {
        requests,
        ..CellSamples::empty(key, limits)
    }
}
