//! Run documents as the world would make them, from a seed.

mod cells;
mod draw;
mod launch;
mod machines;
mod matrix;
mod models;
mod run;
mod speed;

pub use draw::{Facts, Quantization, World};
pub use machines::{MACHINES, Machine, MachineKind};
pub use models::{MODEL_COUNT, ModelSpec, models};
pub use run::published_at_ms;
