#![doc = include_str!("../README.md")]

mod databases;
mod readings;
mod scenario;
mod serve;

pub use databases::{DatabaseError, FreshDatabase, POSTGRES_VARIABLE, on_both};
pub use scenario::{Counting, Scenario, completed, prefill, scout};
