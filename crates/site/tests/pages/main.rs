//! Pages that anyone reads, on a real registry.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod hidden;
mod hostile;
mod leaderboard;
mod lists;
mod matrix_run;
mod reader;
mod things;
mod world;
