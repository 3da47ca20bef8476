//! What detection found.

use crate::{Answer, Answers, EngineKind, EngineState, Features, PostRequest};
use crate::{TokenizeError, TokenizeInput, Tokenized};

/// One model of `/v1/models`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServedModel {
    /// The name that requests use.
    pub id: String,
    /// Other names that the server lists for it.
    pub aliases: Vec<String>,
    /// Where its weights come from, as vLLM says: a repository or a path.
    pub root: Option<String>,
    /// Longest sequence, tokens; of one slot for llama.cpp.
    pub max_model_len: Option<u64>,
    /// Format of the weights, such as `Q4_1`.
    pub quantization: Option<String>,
    /// Number of parameters.
    pub parameters: Option<u64>,
}

/// How many requests and tokens a server holds at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capacity {
    /// Requests share one KV cache.
    Shared {
        /// Tokens it holds, where told.
        kv_tokens: Option<u64>,
    },
    /// Each request has a slot of its own; more requests than slots wait.
    Slots {
        /// Number of slots.
        count: u32,
        /// Tokens a slot holds, prompt and answer together.
        n_ctx: Option<u64>,
    },
}

/// A server and what it told of itself. What it did not tell is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// Which engine it is.
    pub engine: EngineKind,
    /// The version as the engine writes it.
    pub version: Option<String>,
    /// The build label, where it differs from the version.
    pub build: Option<String>,
    /// Commit of the build.
    pub commit: Option<String>,
    /// `cuda`, `rocm`, `cpu`, …
    pub backend: Option<String>,
    /// The model to be measured.
    pub model: ServedModel,
    /// All models served.
    pub models: Vec<ServedModel>,
    /// What simulates this server, if it is a simulation.
    pub simulated_by: Option<String>,
    /// Requests run at once, where the engine tells a limit.
    pub max_num_seqs: Option<u32>,
    /// Fixed slots, for engines that have them.
    pub slot_count: Option<u32>,
    /// Tokens one slot holds.
    pub slot_n_ctx: Option<u64>,
    /// Tokens the KV cache holds, summed over data-parallel engines.
    pub kv_cache_tokens: Option<u64>,
    /// Tokens in a block of the prefix cache: hits are whole blocks.
    pub block_tokens: Option<u64>,
    /// Whether `/metrics` tells the engine's state.
    pub has_metrics: bool,
    /// Whether `/slots` tells it.
    pub has_slots: bool,
    /// What a person should know of this server, in sentences.
    pub notes: Vec<String>,
}

impl Server {
    /// A server of which only the models are known.
    pub(crate) fn new(engine: EngineKind, model: ServedModel, models: Vec<ServedModel>) -> Self {
        Self {
            engine,
            version: None,
            build: None,
            commit: None,
            backend: None,
            simulated_by: None,
            model,
            models,
            max_num_seqs: None,
            slot_count: None,
            slot_n_ctx: None,
            kv_cache_tokens: None,
            block_tokens: None,
            has_metrics: false,
            has_slots: false,
            notes: Vec::new(),
        }
    }

    /// Longest sequence that one request may have, tokens: the model's limit or
    /// the slot's, whichever is smaller.
    #[must_use]
    pub fn max_model_len(&self) -> Option<u64> {
        let limits = [self.model.max_model_len, self.slot_n_ctx];
        limits.into_iter().flatten().min()
    }

    /// What decides whether requests fit.
    #[must_use]
    pub fn capacity(&self) -> Capacity {
        match self.slot_count {
            Some(count) => Capacity::Slots {
                count,
                n_ctx: self.slot_n_ctx,
            },
            None => Capacity::Shared {
                kv_tokens: self.kv_cache_tokens,
            },
        }
    }

    /// What may be asked for and what is proved how.
    #[must_use]
    pub fn features(&self) -> Features {
        self.engine.engine().features(self)
    }

    /// Paths to `GET` for [`read_state`](Self::read_state); none if the server
    /// tells nothing of its state.
    #[must_use]
    pub fn state_paths(&self) -> Vec<&'static str> {
        self.engine.engine().state_paths(self)
    }

    /// Reads the engine's state; `None` if the replies tell nothing of it.
    #[must_use]
    pub fn read_state(&self, answers: &Answers) -> Option<EngineState> {
        self.engine.engine().read_state(answers)
    }

    /// The request that counts the tokens of `input`; `None` if this engine has
    /// no route for it.
    #[must_use]
    pub fn tokenize_request(&self, input: &TokenizeInput<'_>) -> Option<PostRequest> {
        self.engine.engine().tokenize_request(self, input)
    }

    /// Reads the reply to [`tokenize_request`](Self::tokenize_request).
    ///
    /// # Errors
    ///
    /// [`TokenizeError`] if it is a refusal or of another shape.
    pub fn read_tokenize(&self, answer: &Answer) -> Result<Tokenized, TokenizeError> {
        self.engine.engine().read_tokenize(answer)
    }

    /// The engine as run documents describe it.
    #[must_use]
    pub fn to_document(&self) -> document::Engine {
        document::Engine {
            name: Some(self.engine.name().to_owned()),
            version: self.version.clone(),
            quantization: self.model.quantization.clone(),
            backend: self.backend.clone(),
            build: self.build.clone().or(self.simulated_by.clone()),
            commit: self.commit.clone(),
            max_model_len: self.max_model_len(),
            max_num_seqs: self.max_num_seqs.or(self.slot_count),
            kv_cache_tokens: self.kv_cache_tokens,
            ..document::Engine::default()
        }
    }
}
