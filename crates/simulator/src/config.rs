//! What a simulated server is started with.

use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use document::{CellStatus, Phase, RunDocument};
use thiserror::Error;

use crate::engine::{BLOCK_TOKENS, Engine, FlatMachine, FlatSpeed, Limits, Machine, Speculation};
use crate::fault::Fault;
use crate::presets::{preset_names, preset_run};
use crate::speed::{EngineSpeed, Measured};

/// Requests run at once where nothing else is known: vLLM's default.
const DEFAULT_MAX_NUM_SEQS: usize = 256;

/// Tokens computed in one step: what vLLM's recipes for such servers use.
const DEFAULT_MAX_NUM_BATCHED_TOKENS: u64 = 8192;

/// Random share of a step's length.
const DEFAULT_JITTER: f64 = 0.02;

/// Mean answer where the client allows the model to stop, tokens.
const DEFAULT_MEAN_ANSWER_TOKENS: f64 = 600.0;

/// Draft tokens of the presets (`num_speculative_tokens` of both launch commands).
const PRESET_DRAFT_TOKENS: u32 = 7;

/// Tokens a step of the presets yields: a usual acceptance for seven draft tokens.
const PRESET_TOKENS_PER_STEP: f64 = 3.0;

/// Room for sequences where a document does not say.
const ASSUMED_MAX_MODEL_LEN: u64 = 131_072;

/// Room in the cache, in longest sequences, where a document does not say.
const ASSUMED_KV_SEQUENCES: u64 = 4;

/// Longest answer of a document that does not say, tokens.
const ASSUMED_MAX_OUTPUT_TOKENS: u64 = 4096;

/// Speeds at which a step is neither an age nor nothing.
const SPEEDS: RangeInclusive<f64> = 0.001..=10_000.0;
/// No cache and no model has more tokens.
const MAX_TOKENS: u64 = 1_000_000_000;

/// What decides how fast tokens come.
#[derive(Debug, Clone)]
pub enum SpeedModel {
    /// Continuous batching at a fitted speed.
    Batching(Arc<EngineSpeed>),
    /// Fixed times whatever else runs, for checking a client.
    Flat(FlatSpeed),
}

/// Everything a simulated server is started with.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The model's name in requests.
    pub model: String,
    /// What `/version` says.
    pub engine_version: String,
    /// How fast tokens come.
    pub speed_model: SpeedModel,
    /// How many times faster than the real server.
    pub speed: f64,
    /// Longest sequence, prompt and answer, tokens.
    pub max_model_len: u64,
    /// Requests run at once.
    pub max_num_seqs: usize,
    /// Tokens computed in one step.
    pub max_num_batched_tokens: u64,
    /// Tokens the KV cache holds.
    pub kv_tokens: u64,
    /// Random share of a step's length, 0.02 for ±2 %.
    pub jitter: f64,
    /// Seed of everything random.
    pub seed: u64,
    /// Mean answer of requests that let the model stop, tokens.
    pub mean_answer_tokens: f64,
    /// Whether usage says how many prompt tokens were cached
    /// (vLLM's `--enable-prompt-tokens-details`).
    pub prompt_tokens_details: bool,
    /// Key that `/v1` routes ask for.
    pub api_key: Option<String>,
    /// What goes wrong.
    pub faults: Vec<Fault>,
    /// Where the server writes what it truly did.
    pub truth: Option<PathBuf>,
}

/// A configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ConfigError {
    /// No preset has this name.
    #[error("there is no preset {name:?}; there are: {}", preset_names().join(", "))]
    UnknownPreset {
        /// What was given.
        name: String,
    },
    /// A run without a decode cell that has figures.
    #[error(
        "the run has no decode cell with a total, so there is nothing to fit a speed to; \
         give a run whose decode cells were measured"
    )]
    NothingToFit,
    /// A number outside what makes sense.
    #[error("{what} is {value}, and must be {wanted}")]
    OutOfRange {
        /// Which setting.
        what: &'static str,
        /// Its value.
        value: String,
        /// What it must be.
        wanted: &'static str,
    },
    /// The cache cannot hold one longest sequence.
    #[error(
        "to serve one request of the longest sequence ({max_model_len} tokens) the KV cache must \
         hold as many, and it holds {kv_tokens}; raise --kv-tokens or lower --max-model-len"
    )]
    CacheTooSmall {
        /// Longest sequence, tokens.
        max_model_len: u64,
        /// Tokens the cache holds.
        kv_tokens: u64,
    },
}

impl Config {
    /// A preset by name, on a free port of this machine, in real time.
    ///
    /// # Errors
    /// [`ConfigError::UnknownPreset`].
    pub fn preset(name: &str) -> Result<Config, ConfigError> {
        let run = preset_run(name).ok_or_else(|| ConfigError::UnknownPreset {
            name: name.to_owned(),
        })?;
        let speculation = Speculation {
            draft_tokens: PRESET_DRAFT_TOKENS,
            mean_tokens_per_step: PRESET_TOKENS_PER_STEP,
        };
        Config::fitted(&run, Some(speculation))
    }

    /// A server like the one a run measured, on a free port of this machine, in
    /// real time.
    ///
    /// # Errors
    /// [`ConfigError::NothingToFit`].
    pub fn like(run: &RunDocument) -> Result<Config, ConfigError> {
        Config::fitted(run, None)
    }

    /// A server of fixed times: for checking what a client measures.
    #[must_use]
    pub fn flat(speed: FlatSpeed) -> Config {
        Config::with(SpeedModel::Flat(speed), "flat", ASSUMED_MAX_MODEL_LEN)
    }

    /// A batching server of a given speed.
    #[must_use]
    pub fn batching(speed: EngineSpeed) -> Config {
        let model = SpeedModel::Batching(Arc::new(speed));
        Config::with(model, "simulated", ASSUMED_MAX_MODEL_LEN)
    }

    fn with(speed_model: SpeedModel, model: &str, max_model_len: u64) -> Config {
        Config {
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            model: model.to_owned(),
            engine_version: "0.32.0".to_owned(),
            speed_model,
            speed: 1.0,
            max_model_len,
            max_num_seqs: DEFAULT_MAX_NUM_SEQS,
            max_num_batched_tokens: DEFAULT_MAX_NUM_BATCHED_TOKENS,
            kv_tokens: ASSUMED_KV_SEQUENCES * max_model_len,
            jitter: DEFAULT_JITTER,
            seed: 0,
            mean_answer_tokens: DEFAULT_MEAN_ANSWER_TOKENS,
            prompt_tokens_details: true,
            api_key: None,
            faults: Vec::new(),
            truth: None,
        }
    }

    fn fitted(run: &RunDocument, speculation: Option<Speculation>) -> Result<Config, ConfigError> {
        let measured = Measured::from_document(run);
        if measured.decode.is_empty() {
            return Err(ConfigError::NothingToFit);
        }
        let speed = EngineSpeed::fit(&measured, speculation);
        let max_model_len = run.engine.max_model_len.unwrap_or_else(|| longest(run));
        let name = run.model.served_name.as_deref();
        let name = name.or(run.model.id.as_deref()).unwrap_or("simulated");
        let model = SpeedModel::Batching(Arc::new(speed));
        let mut config = Config::with(model, name, max_model_len);
        config.kv_tokens = kv_tokens(run, max_model_len);
        config.max_num_seqs = max_num_seqs(run);
        if let Some(version) = &run.engine.version {
            config.engine_version.clone_from(version);
        }
        Ok(config)
    }

    /// Refuses what no server could be started with.
    ///
    /// # Errors
    /// [`ConfigError::OutOfRange`] and [`ConfigError::CacheTooSmall`].
    pub fn check(&self) -> Result<(), ConfigError> {
        let wanted = |ok: bool, what, value: String, wanted| {
            if ok {
                Ok(())
            } else {
                Err(ConfigError::OutOfRange {
                    what,
                    value,
                    wanted,
                })
            }
        };
        let positive = |value: f64| value.is_finite() && value > 0.0;
        wanted(
            SPEEDS.contains(&self.speed),
            "the speed",
            self.speed.to_string(),
            "from 0.001 to 10,000",
        )?;
        wanted(
            (1..=MAX_TOKENS).contains(&self.max_model_len),
            "max-model-len",
            self.max_model_len.to_string(),
            "at least 1 and below a billion",
        )?;
        wanted(
            self.kv_tokens <= MAX_TOKENS,
            "kv-tokens",
            self.kv_tokens.to_string(),
            "below a billion",
        )?;
        wanted(
            self.max_num_seqs > 0,
            "max-num-seqs",
            self.max_num_seqs.to_string(),
            "at least 1",
        )?;
        wanted(
            self.max_num_batched_tokens > 0,
            "max-num-batched-tokens",
            self.max_num_batched_tokens.to_string(),
            "at least 1",
        )?;
        wanted(
            (0.0..1.0).contains(&self.jitter),
            "the jitter",
            self.jitter.to_string(),
            "at least 0 and below 1",
        )?;
        wanted(
            positive(self.mean_answer_tokens),
            "the mean answer",
            self.mean_answer_tokens.to_string(),
            "above 0",
        )?;
        match &self.speed_model {
            SpeedModel::Batching(_) if self.kv_tokens < self.max_model_len => {
                Err(ConfigError::CacheTooSmall {
                    max_model_len: self.max_model_len,
                    kv_tokens: self.kv_tokens,
                })
            }
            SpeedModel::Batching(_) | SpeedModel::Flat(_) => Ok(()),
        }
    }

    /// Changes speculative decoding. The time between tokens stays what it is:
    /// more tokens in a step make it a longer step.
    pub fn set_speculation(&mut self, speculation: Option<Speculation>) {
        if let SpeedModel::Batching(speed) = &mut self.speed_model {
            Arc::make_mut(speed).speculation = speculation;
        }
    }

    /// The engine, without its clock and its server.
    #[must_use]
    pub fn machine(&self) -> Machine {
        match &self.speed_model {
            SpeedModel::Batching(speed) => {
                let engine = Engine::new(self.limits(), Arc::clone(speed), self.speed);
                Machine::Batching(Box::new(engine))
            }
            SpeedModel::Flat(speed) => {
                let flat = FlatMachine::new(*speed, self.max_num_seqs, self.speed);
                Machine::Flat(Box::new(flat))
            }
        }
    }

    /// KV blocks of the cache.
    #[must_use]
    pub fn kv_blocks(&self) -> u64 {
        self.kv_tokens / BLOCK_TOKENS
    }

    /// What the scheduler needs to know.
    fn limits(&self) -> Limits {
        Limits {
            max_num_seqs: self.max_num_seqs,
            max_num_batched_tokens: self.max_num_batched_tokens,
            kv_tokens: self.kv_tokens,
            jitter: self.jitter,
            seed: self.seed,
        }
    }
}

/// Tokens of the longest sequence any cell asked for.
fn longest(run: &RunDocument) -> u64 {
    let answer = max_output_tokens(run);
    let cells = run.cells.iter().map(|cell| cell.context_tokens + answer);
    cells.max().unwrap_or(ASSUMED_MAX_MODEL_LEN)
}

fn max_output_tokens(run: &RunDocument) -> u64 {
    let settings = &run.settings;
    settings
        .max_output_tokens
        .unwrap_or(ASSUMED_MAX_OUTPUT_TOKENS)
}

/// The document's KV budget, or one between what ran and what would not fit.
fn kv_tokens(run: &RunDocument, max_model_len: u64) -> u64 {
    if let Some(tokens) = run.engine.kv_cache_tokens {
        return tokens.max(max_model_len);
    }
    let answer = max_output_tokens(run);
    let decode = || run.cells.iter().filter(|cell| cell.phase == Phase::Decode);
    let needs = |over: bool| {
        decode()
            .filter(move |cell| (cell.status == CellStatus::OverCapacity) == over)
            .map(move |cell| u64::from(cell.concurrency) * (cell.context_tokens + answer))
    };
    let ran = needs(false).max().unwrap_or(max_model_len);
    let budget = match needs(true).min() {
        Some(refused) if refused > ran => ran + (refused - ran) / 2,
        Some(_) => ran,
        None => ran.max(ASSUMED_KV_SEQUENCES * max_model_len),
    };
    budget.max(max_model_len)
}

/// The document's limit, or the largest batch a queued cell had.
fn max_num_seqs(run: &RunDocument) -> usize {
    let seen = run
        .cells
        .iter()
        .filter(|cell| cell.status == CellStatus::Queued)
        .filter_map(|cell| cell.average_active)
        .fold(0.0, f64::max)
        .round() as usize;
    match run.engine.max_num_seqs {
        Some(limit) => limit as usize,
        None if seen > 0 => seen,
        None => DEFAULT_MAX_NUM_SEQS,
    }
}
