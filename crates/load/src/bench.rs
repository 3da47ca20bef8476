//! What every stage of a run needs at hand: the server, the clock, the plan and
//! the ways to ask and tell.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use bytes::Bytes;
use document::{EngineReading, Micros, Plan, RunEvent, SampledLimits};
use engines::{Answer, Answers, Features, PromptCache, Server, Support};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use wire::Api;
use wire::request::{GenerationRequest, Prompt, StreamUsage};

use crate::client::{Client, ClientError};
use crate::clock::RunClock;
use crate::progress::{Progress, Stage};
use crate::target::Target;

/// How often the engine is asked for its state.
pub(crate) const READING_INTERVAL: Duration = Duration::from_millis(200);
/// A state that takes longer to tell is stale.
const STATE_PATIENCE: Duration = Duration::from_secs(2);
/// A server that does not answer this fast whether it is there is gone. With the
/// silence before ([`SILENCE_S`]) and a state that never came ([`STATE_PATIENCE`])
/// this stays below 10 s.
const ALIVE_PATIENCE: Duration = Duration::from_secs(4);
/// A server of which nothing was heard for this long, neither a token nor its
/// state, is asked whether it is still there, s.
const SILENCE_S: f64 = 3.0;
/// A server may be deaf while it takes prompts apart; no slower than this, bytes/s.
const READING_BYTES_S: f64 = 1e6;
/// Between two looks at a draining server.
const DRAIN_INTERVAL: Duration = Duration::from_millis(50);
/// Seeds of 63 bits are positive as signed numbers too.
const SEED_MASK: u64 = u64::MAX >> 1;
/// Chat templates add fewer tokens than this that need not be in the cache.
const TEMPLATE_TOKENS: u64 = 64;

/// How long a run waits for what may never come.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patience {
    /// For a first token, s: a cold prompt of a million tokens takes minutes.
    pub first_token_s: f64,
    /// For the next event of a stream that flows, s.
    pub next_event_s: f64,
    /// For the server to come to rest, s: longer, and somebody else's requests run.
    pub drain_s: f64,
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            first_token_s: 900.0,
            next_event_s: 60.0,
            drain_s: 30.0,
        }
    }
}

/// Why a run cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Halt {
    /// Somebody pressed Ctrl-C.
    Stopped,
    /// The server does not answer any more: why.
    Gone(String),
}

/// Fields that a server may refuse, as they stand after it was asked.
#[derive(Debug, Clone)]
pub(crate) struct Dialect {
    pub ignore_eos: bool,
    pub usage: StreamUsage,
}

pub(crate) struct Bench {
    pub target: Arc<Target>,
    pub addresses: Arc<[SocketAddr]>,
    pub clock: RunClock,
    pub server: Server,
    pub features: Features,
    pub plan: Plan,
    pub api: Api,
    pub dialect: Dialect,
    pub patience: Patience,
    pub client: Client,
    pub progress: UnboundedSender<Progress>,
    pub events: Vec<RunEvent>,
    pub stop: CancellationToken,
    /// It has been seen to answer short requests while it generates.
    pub answers_beside: bool,
    /// Answers of which the end came long after the finish reason.
    pub late_tails: Arc<AtomicU32>,
    /// Tokens a scout asks for.
    pub scout_output_tokens: u64,
    /// A guess at the time left, s; told with every tick.
    pub left_s: f64,
}

impl Bench {
    pub fn now_s(&self) -> f64 {
        self.clock.now().0 as f64 / 1e6
    }

    pub fn tell(&self, progress: Progress) {
        // Nobody listening is no reason to stop measuring.
        let _ = self.progress.send(progress);
    }

    pub fn note(&mut self, text: impl Into<String>) {
        let (at_s, text) = (self.now_s(), self.target.redact(&text.into()));
        self.events.push(RunEvent {
            at_s,
            text: text.clone(),
            extra: document::Extra::new(),
        });
        self.tell(Progress::Note { at_s, text });
    }

    pub fn stage(&self, stage: Stage) {
        self.tell(Progress::StageEntered {
            stage,
            at_s: self.now_s(),
        });
    }

    /// The body of a generation request.
    pub fn body(&self, prompt: &Arc<str>, max_tokens: u64, seed: u64) -> Bytes {
        let max_tokens = u32::try_from(max_tokens).unwrap_or(u32::MAX);
        let mut request = GenerationRequest::new(
            self.server.model.id.clone(),
            Prompt::Text(Arc::clone(prompt)),
            max_tokens,
        );
        request.stream = Some(self.dialect.usage);
        request.ignore_eos = self.dialect.ignore_eos;
        // Engines take signed seeds.
        request.seed = self.plan.stream_seeds.then_some(seed & SEED_MASK);
        request.extra = self.features.count_fields.clone();
        // Text prompts without a system message fit both routes, and the engines'
        // own fields are none of the reserved ones.
        request.body(self.api).map(Bytes::from).unwrap_or_default()
    }

    pub fn limits(&self) -> SampledLimits {
        SampledLimits {
            max_model_len: self.server.max_model_len(),
            max_output_tokens: self.plan.max_output_tokens,
            block_tokens: self.server.block_tokens,
            template_tokens: TEMPLATE_TOKENS,
            one_token_per_event: self.features.one_token_per_event == Support::Yes,
            queue_is_reported: !self.server.state_paths().is_empty(),
            ignore_eos: self.dialect.ignore_eos,
        }
    }

    /// Whether each slot has a prompt cache of its own (or may have).
    pub fn warms_by_slot(&self) -> bool {
        self.features.prompt_cache != PromptCache::Shared
    }

    /// What the engine says of itself now; `None` if it says nothing, or not in time.
    pub async fn read_state(&mut self) -> Option<EngineReading> {
        let paths = self.server.state_paths();
        if paths.is_empty() {
            return None;
        }
        let asked_us = self.clock.now();
        let mut answers = Answers::new();
        for path in paths {
            if let Ok(answer) = self.client.get(path, STATE_PATIENCE).await {
                answers.insert(path, to_engines(answer));
            }
        }
        let answered_us = self.clock.now();
        let state = self.server.read_state(&answers)?;
        Some(EngineReading {
            asked_us,
            answered_us,
            running: state.running,
            waiting: state.waiting,
            kv_used: state.kv_used_fraction,
            generated_tokens: state.generation_tokens,
            preemptions: state.preemptions,
            steps: state.engine_steps,
            cache_queried_tokens: state.prefix_cache_queries,
            cache_hit_tokens: state.prefix_cache_hits,
            prefill_s: state.prefill_seconds,
            slots: state
                .slots
                .iter()
                .filter_map(engines::SlotState::to_reading)
                .collect(),
        })
    }

    /// Waits until the server is at rest. The last reading, where it tells any.
    ///
    /// `Ok(Err(reason))` when it does not come to rest: the cell fails.
    pub async fn drain(&mut self) -> Result<Result<Option<EngineReading>, String>, Halt> {
        if self.server.state_paths().is_empty() {
            return Ok(Ok(None));
        }
        let begun = tokio::time::Instant::now();
        let mut last = None;
        loop {
            if self.stop.is_cancelled() {
                return Err(Halt::Stopped);
            }
            match self.read_state().await {
                None => self.check_alive().await?,
                Some(reading) => {
                    let busy = reading.running.unwrap_or(0.0) + reading.waiting.unwrap_or(0.0);
                    last = Some(reading);
                    if busy <= 0.0 {
                        return Ok(Ok(last));
                    }
                }
            }
            if begun.elapsed().as_secs_f64() > self.patience.drain_s {
                return Ok(Err(other_traffic(last.as_ref(), self.patience.drain_s)));
            }
            tokio::time::sleep(DRAIN_INTERVAL).await;
        }
    }

    /// Whether the server still answers at all.
    pub async fn check_alive(&mut self) -> Result<(), Halt> {
        match self.client.get("/v1/models", ALIVE_PATIENCE).await {
            Ok(_) => Ok(()),
            Err(
                error @ (ClientError::Connect(_) | ClientError::Silent(_) | ClientError::Broke(_)),
            ) => Err(self.gone(&error)),
            Err(ClientError::TooLarge) => Ok(()),
        }
    }

    /// Whether the server still answers while it has requests of ours. One that
    /// never did may do one thing at a time: its silence then says nothing.
    pub async fn check_beside(&mut self) -> Result<(), Halt> {
        match self.client.get("/v1/models", ALIVE_PATIENCE).await {
            Ok(_) | Err(ClientError::TooLarge) => {
                self.answers_beside = true;
                Ok(())
            }
            Err(ClientError::Silent(_)) if !self.answers_beside => Ok(()),
            Err(
                error @ (ClientError::Connect(_) | ClientError::Silent(_) | ClientError::Broke(_)),
            ) => Err(self.gone(&error)),
        }
    }

    fn gone(&self, error: &ClientError) -> Halt {
        Halt::Gone(format!(
            "{} does not answer any more: {error}",
            self.target.shown()
        ))
    }
}

/// How long a server has not been heard of.
#[derive(Debug)]
pub(crate) struct Silence {
    heard_us: Micros,
    allowed_s: f64,
}

impl Silence {
    /// Begins now; `prompt_bytes` of prompts are on their way to the server.
    pub fn new(now: Micros, prompt_bytes: usize) -> Silence {
        Silence {
            heard_us: now,
            allowed_s: SILENCE_S + prompt_bytes as f64 / READING_BYTES_S,
        }
    }

    /// A sign of life.
    pub fn heard(&mut self, now: Micros) {
        self.heard_us = now;
    }

    /// The prompts have been read: it is writing.
    pub fn prompts_are_read(&mut self) {
        self.allowed_s = SILENCE_S;
    }

    /// Whether it is time to ask.
    pub fn is_long(&self, now: Micros) -> bool {
        now.seconds_since(self.heard_us) > self.allowed_s
    }
}

fn other_traffic(last: Option<&EngineReading>, patience_s: f64) -> String {
    match last {
        Some(reading) => format!(
            "other traffic: the server still ran {:.0} requests, {:.0} waiting, {patience_s} s after ours had ended",
            reading.running.unwrap_or(0.0),
            reading.waiting.unwrap_or(0.0)
        ),
        None => format!("the server did not tell its state for {patience_s} s"),
    }
}

pub(crate) fn to_engines(answer: crate::client::Answer) -> Answer {
    Answer {
        status: answer.status,
        content_type: (!answer.content_type.is_empty()).then_some(answer.content_type),
        body: answer.body.to_vec(),
    }
}
