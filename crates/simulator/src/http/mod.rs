//! vLLM's HTTP dialect over the engine.

mod answer;
mod body;
mod error;
mod events;
mod generate;
mod metrics;
mod request;
mod routes;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::config::Config;
use crate::driver::Driver;
use crate::ledger::{Clock, Ledger};

pub(crate) use routes::router;

/// What all routes share.
#[derive(Debug)]
pub(crate) struct App {
    pub config: Config,
    pub driver: Driver,
    pub clock: Clock,
    pub ledger: Ledger,
    /// Generation requests received so far.
    pub requests: AtomicU64,
    /// Engine requests submitted so far: an HTTP request may ask for several answers.
    pub submissions: AtomicU64,
    /// Wall clock at the start, s since 1970.
    pub started_unix_s: u64,
}

/// The state handlers get.
pub(crate) type Shared = Arc<App>;
