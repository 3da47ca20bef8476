#![doc = include_str!("../README.md")]

mod cell;
mod events;
mod flag;
pub mod format;
mod plan;
mod read;
mod reading;
mod run;
mod samples;
mod schema;
mod units;

pub use cell::{
    CacheProof, Cell, CellKey, CellStatus, Distribution, Phase, TimestampSource, TokenLedger,
    TokenSource,
};
pub use events::TokenEvents;
pub use flag::{Figure, Flag, FlagName};
pub use plan::{Plan, PlanError, parse_context_tokens};
pub use read::DocumentError;
pub use reading::{EngineReading, SlotReading};
pub use run::{
    Engine, Extra, Hardware, ImportedFrom, Launch, LaunchProvenance, Model, PromptSharing,
    RunDocument, RunEvent, SCHEMA, SCHEMA_MINOR, Settings, Source, Telemetry, Tool,
};
pub use samples::{
    CellSamples, EngineTimings, Outcome, Repetition, RequestRole, RequestSample, SampledLimits,
    Usage, Window,
};
pub use schema::run_document_schema;
pub use units::Micros;
