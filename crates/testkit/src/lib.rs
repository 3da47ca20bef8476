#![doc = include_str!("../README.md")]

mod readings;
mod scenario;
mod serve;

pub use scenario::{Counting, Scenario, completed, prefill, scout};
