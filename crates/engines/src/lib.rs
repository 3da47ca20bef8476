#![doc = include_str!("../README.md")]

mod answer;
mod detect;
mod engine;
mod features;
mod llama_cpp;
mod openai;
mod server;
pub mod slots;
mod state;
mod tokenize;
mod vllm;

pub use answer::{Answer, Answers, PostRequest, ProbeRequest};
pub use detect::{DetectError, detect, probe_requests};
pub use engine::{Engine, EngineKind};
pub use features::{Features, PromptCache, Support};
pub use server::{Capacity, ServedModel, Server};
pub use state::{EngineState, SlotState};
pub use tokenize::{TokenizeError, TokenizeInput, Tokenized};
