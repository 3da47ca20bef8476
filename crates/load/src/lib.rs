#![doc = include_str!("../README.md")]

mod progress;

pub use progress::{Progress, Server, Stage, Tick};
