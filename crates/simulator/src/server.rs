//! Starting and stopping a simulated server.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::config::{Config, ConfigError};
use crate::driver::Driver;
use crate::engine::{RequestId, Submission};
use crate::fault::FaultKind;
use crate::http::{App, router};
use crate::ledger::{Clock, Ledger, RequestTruth, TruthHeader};
use crate::text::mix;

/// Prompt of a request that is none of the client's, tokens.
const LEFTOVER_PROMPT_TOKENS: u64 = 512;

/// Its answer, tokens; it starts over when it ends.
const LEFTOVER_ANSWER_TOKENS: u64 = 65_536;

/// Names of such requests count down from here, out of the way of all others.
const LEFTOVER_FIRST_ID: u64 = u64::MAX - 1;

/// Pause after a connection could not be accepted.
const ACCEPT_RETRY: Duration = Duration::from_millis(10);

/// A simulated server that cannot start.
#[derive(Debug, Error)]
pub enum StartError {
    /// The configuration makes no sense.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The address cannot be listened on.
    #[error("cannot listen on {listen}: {source}; give another address with --listen")]
    Listen {
        /// The address.
        listen: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// The truth file cannot be written.
    #[error("cannot write the truth file {path}: {source}")]
    Truth {
        /// Its path.
        path: String,
        /// What the system says.
        source: io::Error,
    },
    /// The engine's thread cannot be started.
    #[error("cannot start the engine's thread: {0}")]
    Thread(io::Error),
}

/// A running simulated server.
#[derive(Debug)]
pub struct Simulator {
    addr: SocketAddr,
    app: Arc<App>,
    stop: Option<oneshot::Sender<()>>,
    accepting: tokio::task::JoinHandle<()>,
    engine: Option<JoinHandle<()>>,
    writer: Option<JoinHandle<()>>,
}

impl Simulator {
    /// Starts a server on the current tokio runtime.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn start(config: Config) -> Result<Simulator, StartError> {
        config.check()?;
        let listen = config.listen;
        let listener = TcpListener::bind(listen)
            .await
            .map_err(|source| StartError::Listen { listen, source })?;
        let addr = listener
            .local_addr()
            .map_err(|source| StartError::Listen { listen, source })?;
        let clock = Clock::start();
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let header = TruthHeader {
            origin_unix_us: unix.as_micros() as u64,
            speed: config.speed,
            model: config.model.clone(),
        };
        let (ledger, writer) =
            Ledger::open(config.truth.as_deref(), &header).map_err(|source| {
                let path = config.truth.as_deref().unwrap_or("".as_ref());
                StartError::Truth {
                    path: path.display().to_string(),
                    source,
                }
            })?;
        let (driver, engine) =
            Driver::start(config.machine(), clock, config.speed).map_err(StartError::Thread)?;
        start_leftovers(&config, &driver, &clock);
        let app = Arc::new(App {
            config,
            driver,
            clock,
            ledger,
            requests: Default::default(),
            submissions: Default::default(),
            started_unix_s: unix.as_secs(),
        });
        let (stop, stopped) = oneshot::channel();
        let accepting = tokio::spawn(accept(listener, Arc::clone(&app), stopped));
        Ok(Simulator {
            addr,
            app,
            stop: Some(stop),
            accepting,
            engine: Some(engine),
            writer,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn addr(&self) -> SocketAddr {
        self.addr
    }

    /// Its base URL, without a path.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// What it was started with.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.app.config
    }

    /// The clock all times of the truth are on.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.app.clock
    }

    /// What it truly did for the requests that are over; after very many, for the last.
    #[must_use]
    pub fn truth(&self) -> Vec<RequestTruth> {
        self.app.ledger.finished()
    }

    /// Drops all connections, as a server does that dies, then ends the engine and
    /// completes the truth file.
    pub async fn stop(mut self) {
        self.begin_stop();
        // A task that panicked is as gone as one that returned.
        let _gone = (&mut self.accepting).await;
        let threads = [self.engine.take(), self.writer.take()];
        self.app.driver.stop();
        self.app.ledger.close();
        let _joined = tokio::task::spawn_blocking(move || {
            for thread in threads.into_iter().flatten() {
                let _gone = thread.join();
            }
        })
        .await;
    }

    fn begin_stop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _already_gone = stop.send(());
        }
    }
}

impl Drop for Simulator {
    fn drop(&mut self) {
        self.begin_stop();
        self.app.driver.stop();
        self.app.ledger.close();
    }
}

fn start_leftovers(config: &Config, driver: &Driver, clock: &Clock) {
    let count: u64 = config
        .faults
        .iter()
        .filter_map(|fault| {
            if let FaultKind::Leftover { count } = fault.kind {
                return Some(count);
            }
            None
        })
        .sum();
    for number in 0..count {
        let submission = Submission {
            id: RequestId(LEFTOVER_FIRST_ID - number),
            prompt_tokens: LEFTOVER_PROMPT_TOKENS.min(config.max_model_len / 2).max(1),
            block_hashes: Arc::new([]),
            max_tokens: LEFTOVER_ANSWER_TOKENS.min(config.max_model_len / 2).max(1),
            stops_after: None,
            seed: mix(config.seed ^ number),
        };
        driver.submit(clock.origin(), submission, None);
    }
}

/// Serves connections until told to stop; then they are all dropped.
async fn accept(listener: TcpListener, app: Arc<App>, mut stopped: oneshot::Receiver<()>) {
    let routes = router(app);
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            _ = &mut stopped => break,
            accepted = listener.accept() => accepted,
            Some(_ended) = connections.join_next() => continue,
        };
        let Ok((stream, _peer)) = accepted else {
            // Out of file descriptors, or the client went away already.
            tokio::time::sleep(ACCEPT_RETRY).await;
            continue;
        };
        // Without this, events would wait for the client's acknowledgements.
        let _unsupported = stream.set_nodelay(true);
        let service = TowerToHyperService::new(routes.clone());
        connections.spawn(async move {
            let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
            // Broken connections are the client's business, and on purpose here.
            let _broken = connection.await;
        });
    }
    connections.shutdown().await;
}
