#![doc = include_str!("../README.md")]

mod answer_stream;
mod bench;
mod client;
mod clock;
mod connection;
mod context_run;
mod course;
mod decode;
mod live;
pub mod matrix;
mod meet;
mod options;
mod progress;
pub mod prompt;
mod ready;
pub mod recorder;
mod repetition;
mod resume;
mod run;
mod scout;
mod sizing;
mod slot_copy;
mod target;
mod warm;
mod watch;
mod worker;
mod write_up;

pub use bench::Patience;
pub use clock::RunClock;
pub use options::{Interruption, RunError, RunOptions, RunOutcome};
pub use progress::{Progress, Server, Stage, Tick};
pub use resume::ResumeError;
pub use run::run;
pub use target::{REDACTED, Target, TargetError, TargetOptions};
