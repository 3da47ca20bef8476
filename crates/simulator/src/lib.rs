#![doc = include_str!("../README.md")]

mod config;
mod driver;
pub mod engine;
mod fault;
mod http;
mod ledger;
mod presets;
mod server;
pub mod speed;
mod text;
pub mod tokenizer;

pub use config::{Config, ConfigError, SpeedModel};
pub use fault::{FAULT_NAMES, Fault, FaultError, FaultKind, ReasoningField};
pub use ledger::{Clock, RequestTruth, TrueOutcome};
pub use presets::{preset_names, preset_run};
pub use server::{Simulator, StartError};
