#![doc = include_str!("../README.md")]

mod answer_stream;
mod bench;
mod client;
mod clock;
mod connection;
mod decode;
mod live;
pub mod matrix;
mod progress;
pub mod prompt;
mod ready;
pub mod recorder;
mod repetition;
mod resume;
mod run;
mod scout;
mod sizing;
mod target;
mod warm;
mod watch;
mod worker;
mod write_up;

pub use bench::Patience;
pub use clock::RunClock;
pub use progress::{Progress, Server, Stage, Tick};
pub use resume::ResumeError;
pub use run::{Interruption, RunError, RunOptions, RunOutcome, run};
pub use target::{REDACTED, Target, TargetError, TargetOptions};
