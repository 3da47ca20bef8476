//! The interface that an engine implements, and the list of those that do.

use serde::{Deserialize, Serialize};

use crate::{Answer, Answers, EngineState, Features, PostRequest, Server};
use crate::{TokenizeError, TokenizeInput, Tokenized, llama_cpp, openai, vllm};

/// Which engine a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum EngineKind {
    /// vLLM, or a server that speaks its dialect.
    #[serde(rename = "vllm")]
    Vllm,
    /// llama.cpp's `llama-server`.
    #[serde(rename = "llama.cpp")]
    LlamaCpp,
    /// Anything else that answers `/v1/models`.
    #[serde(rename = "openai-compatible")]
    OpenAiCompatible,
}

impl EngineKind {
    /// All kinds, the most particular first: the first that recognises a server
    /// describes it.
    pub const ALL: [Self; 3] = [Self::Vllm, Self::LlamaCpp, Self::OpenAiCompatible];

    /// The name in run documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vllm => "vllm",
            Self::LlamaCpp => "llama.cpp",
            Self::OpenAiCompatible => "openai-compatible",
        }
    }

    /// The engine's knowledge.
    #[must_use]
    pub fn engine(self) -> &'static dyn Engine {
        match self {
            Self::Vllm => &vllm::Vllm,
            Self::LlamaCpp => &llama_cpp::LlamaCpp,
            Self::OpenAiCompatible => &openai::OpenAiCompatible,
        }
    }
}

/// What is particular to one engine. All of it is reading and writing bytes.
pub trait Engine: Sync {
    /// Paths worth a `GET` besides `/v1/models`.
    fn probes(&self) -> &'static [&'static str];

    /// Whether the replies are this engine's.
    fn recognises(&self, answers: &Answers) -> bool;

    /// Fills in what the replies tell beyond the list of models.
    fn describe(&self, answers: &Answers, server: &mut Server);

    /// What the server may be asked for.
    fn features(&self, server: &Server) -> Features;

    /// Paths whose replies [`read_state`](Self::read_state) wants, as few as do.
    fn state_paths(&self, server: &Server) -> Vec<&'static str>;

    /// Reads the engine's state; `None` if the replies tell nothing of it.
    fn read_state(&self, answers: &Answers) -> Option<EngineState>;

    /// The request that counts tokens; `None` if the engine has none for it.
    fn tokenize_request(&self, server: &Server, input: &TokenizeInput<'_>) -> Option<PostRequest>;

    /// Reads the reply to [`tokenize_request`](Self::tokenize_request).
    ///
    /// # Errors
    ///
    /// [`TokenizeError`] if it is a refusal or of another shape.
    fn read_tokenize(&self, answer: &Answer) -> Result<Tokenized, TokenizeError>;
}
