//! What the tests of whole runs share: a simulated server, a run against it in
//! this process, and the binary itself.
#![allow(dead_code, reason = "every test file uses another part of it")]

pub mod binary;
pub mod people;
pub mod serve;
pub mod truth;

use std::time::Duration;

use document::{Cell, CellKey, CellSamples, Launch, Phase, Plan, RunDocument};
use load::prompt::{self, Prose};
use load::{Interruption, Patience, Progress, RunError, RunOptions, RunOutcome, TargetOptions};
use simulator::engine::FlatSpeed;
use simulator::{Config, Fault, Simulator};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Context of most tests, tokens: small, since a prompt is no part of their claim.
pub const CONTEXT: u64 = 1024;
/// A run that takes longer than this hangs.
const HANGS_AFTER: Duration = Duration::from_secs(60);

/// A server of fixed times: 20 ms to the first token, 4 ms between tokens.
pub fn server() -> Config {
    Config::flat(FlatSpeed {
        ttft_ms: 20.0,
        tbt_ms: 4.0,
        tokens_per_event: 1,
    })
}

/// That server with faults, as on the command line.
pub fn faulty(faults: &[&str]) -> Config {
    let faults = faults.iter().map(|fault| fault.parse::<Fault>().unwrap());
    Config {
        faults: faults.collect(),
        ..server()
    }
}

/// Two streams of 100 tokens, over and over, for most of a second.
pub fn plan() -> Plan {
    Plan {
        contexts: Some(vec![CONTEXT]),
        concurrency: vec![2],
        window_s: 0.8,
        max_output_tokens: 100,
        ..Plan::default()
    }
}

/// A run of that plan, with short patience.
pub fn options(url: &str, folder: &std::path::Path) -> RunOptions {
    RunOptions {
        target: TargetOptions {
            url: url.to_owned(),
            ..TargetOptions::default()
        },
        model: None,
        api: wire::Api::Chat,
        plan: plan(),
        prose: Prose::built_in(),
        prompt_source: prompt::BUILT_IN_NAME.to_owned(),
        launch: Launch::default(),
        author: None,
        organization: None,
        notes: None,
        patience: Patience {
            first_token_s: 2.0,
            next_event_s: 1.0,
            drain_s: 2.0,
        },
        out: folder.join("run.json"),
        resume: false,
        overwrite: false,
    }
}

/// A run that is over, and what the server says of it.
pub struct Measured {
    pub document: RunDocument,
    pub interruption: Option<Interruption>,
    pub samples: Vec<CellSamples>,
    pub truth: truth::Truth,
    pub progress: Vec<Progress>,
}

impl Measured {
    pub fn cell(&self, phase: Phase, concurrency: u32) -> &Cell {
        self.document
            .cells
            .iter()
            .find(|cell| cell.phase == phase && cell.concurrency == concurrency)
            .unwrap()
    }

    pub fn prefill(&self) -> &Cell {
        self.cell(Phase::Prefill, 1)
    }

    /// The decode cell of [`plan`].
    pub fn decode(&self) -> &Cell {
        self.cell(Phase::Decode, 2)
    }

    pub fn samples_of(&self, key: CellKey) -> &CellSamples {
        self.samples.iter().find(|cell| cell.key == key).unwrap()
    }
}

/// Measures a server that behaves as `config` says; `change` changes the run.
pub async fn measure(config: Config, change: impl FnOnce(&mut RunOptions)) -> Measured {
    try_measure(config, change).await.unwrap()
}

/// The same, for runs that may come to nothing.
pub async fn try_measure(
    config: Config,
    change: impl FnOnce(&mut RunOptions),
) -> Result<Measured, RunError> {
    let server = Simulator::start(config).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(&server.url(), folder.path());
    change(&mut options);
    let out = options.out.clone();
    let (outcome, progress) = run(options, CancellationToken::new()).await;
    let RunOutcome {
        document,
        interruption,
    } = outcome?;
    let samples = load::recorder::read_samples(&out, &document).unwrap();
    // A request that was cut is over for the server when it notices.
    let sent: usize = samples.iter().map(|cell| cell.requests.len()).sum();
    for _ in 0..50 {
        if server.truth().len() >= sent {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let truth = truth::Truth::of(&server);
    server.stop().await;
    Ok(Measured {
        document,
        interruption,
        samples,
        truth,
        progress,
    })
}

/// Runs to the end; a run that hangs is a failure.
pub async fn run(
    options: RunOptions,
    stop: CancellationToken,
) -> (Result<RunOutcome, RunError>, Vec<Progress>) {
    let (run, mut events) = begin(options, stop);
    let outcome = tokio::time::timeout(HANGS_AFTER, run)
        .await
        .expect("the run hangs")
        .expect("the run panicked");
    let mut progress = Vec::new();
    while let Ok(event) = events.try_recv() {
        progress.push(event);
    }
    (outcome, progress)
}

/// Begins a run on a thread of its own, as the command does.
pub fn begin(
    options: RunOptions,
    stop: CancellationToken,
) -> (
    JoinHandle<Result<RunOutcome, RunError>>,
    UnboundedReceiver<Progress>,
) {
    let (sender, events) = tokio::sync::mpsc::unbounded_channel();
    let run = tokio::task::spawn_blocking(move || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        runtime.block_on(load::run(options, sender, stop))
    });
    (run, events)
}
