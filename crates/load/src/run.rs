//! A run from the first probe to the last cell.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use document::{
    Cell, CellKey, CellSamples, CellStatus, Launch, Micros, Outcome, Phase, Plan, PlanError,
    RequestSample, RunDocument,
};
use engines::{Answers, DetectError, Server, Support};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use wire::Api;

use crate::bench::{Bench, Dialect, Halt, Patience, to_engines};
use crate::client::{Client, ClientError};
use crate::clock::RunClock;
use crate::matrix::{Capacity, Matrix, MatrixError, PlannedCell, lay_out};
use crate::progress::{self, Progress};
use crate::prompt::Prose;
use crate::recorder::{RecordError, Recorder};
use crate::resume::{self, ResumeError};
use crate::scout::{self, ContextLength};
use crate::sizing::Sizing;
use crate::target::{Target, TargetError, TargetOptions};
use crate::warm::{self, Warmth};
use crate::{decode, write_up};

/// How long a probe may take.
const PROBE_PATIENCE: Duration = Duration::from_secs(8);

/// All that a run is told.
pub struct RunOptions {
    /// Where the server is.
    pub target: TargetOptions,
    /// The model wanted; `None` for the only or first one.
    pub model: Option<String>,
    /// Which route generates.
    pub api: Api,
    /// What to measure.
    pub plan: Plan,
    /// What prompts are made of.
    pub prose: Prose,
    /// Its name in the document.
    pub prompt_source: String,
    /// How the server was started.
    pub launch: Launch,
    /// Who runs.
    pub author: Option<String>,
    /// On whose behalf.
    pub organization: Option<String>,
    /// Free text.
    pub notes: Option<String>,
    /// How long to wait for what may never come.
    pub patience: Patience,
    /// The run document; its samples lie beside it.
    pub out: PathBuf,
    /// Go on with the document at `out`.
    pub resume: bool,
    /// Replace what is at `out`.
    pub overwrite: bool,
}

/// What came of a run.
#[derive(Debug)]
pub struct RunOutcome {
    /// The document as it stands on the disk.
    pub document: RunDocument,
    /// Why it is not complete, if it is not.
    pub interruption: Option<Interruption>,
}

/// Why a run ended before its last cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interruption {
    /// It was told to stop.
    Stopped,
    /// The server went away: what was tried and what came back.
    ServerGone(String),
}

/// Why a run could not begin, or keep what it measured.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The address is none.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The plan is impossible.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The plan does not fit the server.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// There is a document already.
    #[error("{} exists already: go on with it by --resume, choose another file with --out, or replace it with --force", .0.display())]
    Exists(PathBuf),
    /// The document cannot be gone on with.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// Files cannot be written or read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The name cannot be resolved.
    #[error("cannot find {url}: its host name cannot be resolved ({source}). Check --url")]
    NoSuchHost {
        /// Where.
        url: String,
        /// Why.
        source: std::io::Error,
    },
    /// Nobody answers.
    #[error(
        "cannot reach {url}: {why}. Is the server running, and is this its address? Check --url"
    )]
    Unreachable {
        /// Where.
        url: String,
        /// What came back.
        why: String,
    },
    /// Something answers that cannot be measured.
    #[error("{url} cannot be measured: {source}")]
    Detect {
        /// Where.
        url: String,
        /// What came back and what to do.
        source: DetectError,
    },
    /// The server refuses the plainest request.
    #[error("{url} refuses to generate: {why}")]
    Refuses {
        /// Where.
        url: String,
        /// What came back.
        why: String,
    },
    /// Told to stop before anything was measured.
    #[error("stopped before anything was measured")]
    StoppedEarly,
}

impl RunError {
    /// Whether the server is the reason (exit 3) rather than what was asked (exit 2).
    #[must_use]
    pub fn is_servers(&self) -> bool {
        match self {
            RunError::NoSuchHost { .. }
            | RunError::Unreachable { .. }
            | RunError::Refuses { .. } => true,
            RunError::Detect { source, .. } => !matches!(source, DetectError::UnknownModel { .. }),
            RunError::Target(_)
            | RunError::Plan(_)
            | RunError::Matrix(_)
            | RunError::Exists(_)
            | RunError::Resume(_)
            | RunError::Record(_)
            | RunError::StoppedEarly => false,
        }
    }
}

/// Measures a server and writes its run document.
///
/// # Errors
/// [`RunError`] when nothing can be measured or kept. A server that goes away
/// later is an [`Interruption`], a cell that fails is a failed cell.
pub async fn run(
    options: RunOptions,
    progress: UnboundedSender<Progress>,
    stop: CancellationToken,
) -> Result<RunOutcome, RunError> {
    options.plan.check()?;
    let target = Target::new(&options.target)?;
    let earlier = resume::open(&options)?;
    let already = earlier.as_ref().map_or(Micros(0), resume::end_of);
    let clock = RunClock::starting_at(already);
    let mut bench = meet(&options, target, clock, progress, stop).await?;
    let capacity = capacity_of(&bench.server);
    let matrix = lay_out(&options.plan, capacity)?;
    let fresh = write_up::begin(&options, &bench, &matrix);
    let (mut document, mut recorder) = match earlier {
        Some(earlier) => {
            resume::check(&earlier, &fresh)?;
            let recorder = Recorder::resume(&options.out, &earlier)?;
            (earlier, recorder)
        }
        None => (fresh, Recorder::create(&options.out)?),
    };
    recorder.save(&mut document)?;
    let mut course = Course::new(&bench, &matrix, &document);
    course.announce(&mut bench, &document);
    let walked = walk(
        &mut bench,
        &mut course,
        &options,
        &mut document,
        &mut recorder,
    )
    .await?;
    let interruption = walked.err().map(|halt| match halt {
        Halt::Stopped => Interruption::Stopped,
        Halt::Gone(why) => Interruption::ServerGone(why),
    });
    match &interruption {
        None => document.finished_at = Some(write_up::now()),
        Some(Interruption::Stopped) => {
            bench.note("stopped: what is measured is kept, --resume goes on")
        }
        Some(Interruption::ServerGone(why)) => {
            bench.note(format!("{why}: what is measured is kept, --resume goes on"));
        }
    }
    document.events.append(&mut bench.events);
    recorder.save(&mut document)?;
    let at_s = bench.now_s();
    bench.tell(Progress::Finished {
        at_s,
        interrupted: interruption.is_some(),
    });
    Ok(RunOutcome {
        document,
        interruption,
    })
}

/// Finds out what answers, and how to ask it.
async fn meet(
    options: &RunOptions,
    target: Target,
    clock: RunClock,
    progress: UnboundedSender<Progress>,
    stop: CancellationToken,
) -> Result<Bench, RunError> {
    let url = target.shown();
    let addresses = target
        .resolve()
        .await
        .map_err(|source| RunError::NoSuchHost {
            url: url.clone(),
            source,
        })?;
    let mut client = Client::new(target.clone(), addresses.clone(), clock);
    let probed = tokio::select! {
        () = stop.cancelled() => return Err(RunError::StoppedEarly),
        probed = probe(&mut client, &target) => probed,
    };
    let answers = probed.map_err(|error| RunError::Unreachable {
        url: url.clone(),
        why: target.redact(&error.to_string()),
    })?;
    let server =
        engines::detect(&answers, options.model.as_deref()).map_err(|source| RunError::Detect {
            url: url.clone(),
            source,
        })?;
    let features = server.features();
    let dialect = Dialect {
        ignore_eos: options.plan.ignore_eos && features.ignore_eos != Support::No,
        usage: features.stream_usage(),
    };
    let mut bench = Bench {
        target: Arc::new(target),
        addresses: addresses.into(),
        clock,
        server,
        features,
        plan: options.plan.clone(),
        api: options.api,
        dialect,
        patience: options.patience,
        client,
        progress,
        events: Vec::new(),
        stop,
        answers_beside: false,
        left_s: 0.0,
    };
    bench.tell(Progress::Detected(progress::Server {
        url,
        engine: bench.server.engine.name().to_owned(),
        version: bench.server.version.clone(),
        model: bench.server.model.id.clone(),
        max_model_len: bench.server.max_model_len(),
        max_num_seqs: bench.server.max_num_seqs.or(bench.server.slot_count),
        kv_cache_tokens: bench.server.kv_cache_tokens,
    }));
    for note in bench.server.notes.clone() {
        bench.note(note);
    }
    Ok(bench)
}

async fn probe(client: &mut Client, target: &Target) -> Result<Answers, ClientError> {
    let mut answers = Answers::new();
    for request in engines::probe_requests() {
        match client.get(request.path, PROBE_PATIENCE).await {
            Ok(answer) => answers.insert(request.path, to_engines(target.redact_answer(answer))),
            Err(error) if request.is_required => return Err(error),
            // What a server does not tell is not known: detection says so.
            Err(_) => {}
        }
    }
    Ok(answers)
}

fn capacity_of(server: &Server) -> Capacity {
    let kv_cache_tokens = match server.capacity() {
        engines::Capacity::Shared { kv_tokens } => kv_tokens,
        engines::Capacity::Slots { .. } => None,
    };
    Capacity {
        max_model_len: server.max_model_len(),
        kv_cache_tokens,
    }
}

/// The way through the matrix: what is to be done, what is done, how long it takes.
struct Course {
    cells: Vec<PlannedCell>,
    kept: Vec<CellKey>,
    done: usize,
    decode_s: Vec<f64>,
    window_s: f64,
}

/// When so many scouts of a context have failed, its cells fail for that reason.
const MAX_SCOUTS_FAILED: u32 = 2;

/// Beside its window a decode cell takes about this long, before any is known, s.
const USUAL_OVERHEAD_S: f64 = 2.0;
/// Prefill, before any is known, tok/s.
const USUAL_PREFILL_TOK_S: f64 = 5000.0;

impl Course {
    fn new(bench: &Bench, matrix: &Matrix, document: &RunDocument) -> Course {
        let kept = document
            .cells
            .iter()
            .filter(|cell| cell.status != CellStatus::Failed)
            .map(Cell::key)
            .collect();
        Course {
            cells: matrix.cells.clone(),
            kept,
            done: 0,
            decode_s: Vec::new(),
            window_s: bench.plan.window_s,
        }
    }

    fn announce(&mut self, bench: &mut Bench, document: &RunDocument) {
        self.done = self
            .cells
            .iter()
            .filter(|cell| self.kept.contains(&cell.key))
            .count();
        bench.left_s = self.left_s(None);
        bench.tell(Progress::Planned {
            cells: self.cells.iter().map(|cell| cell.key).collect(),
            kept: document
                .cells
                .iter()
                .filter(|c| self.kept.contains(&c.key()))
                .cloned()
                .collect(),
            estimated_s: bench.left_s,
        });
    }

    fn is_kept(&self, key: CellKey) -> bool {
        self.kept.contains(&key)
    }

    /// A guess at the time for the cells after `after`, by those that are done.
    fn left_s(&self, after: Option<CellKey>) -> f64 {
        let begin = after
            .and_then(|key| self.cells.iter().position(|c| c.key == key))
            .map_or(0, |at| at + 1);
        let decode_s =
            judge::median(self.decode_s.clone()).unwrap_or(self.window_s + USUAL_OVERHEAD_S);
        self.cells[begin..]
            .iter()
            .filter(|cell| cell.over_capacity.is_none() && !self.is_kept(cell.key))
            .map(|cell| match cell.key.phase {
                Phase::Prefill => cell.key.context_tokens as f64 / USUAL_PREFILL_TOK_S,
                Phase::Decode => decode_s,
            })
            .sum()
    }
}

/// Goes through the matrix, context by context.
async fn walk(
    bench: &mut Bench,
    course: &mut Course,
    options: &RunOptions,
    document: &mut RunDocument,
    recorder: &mut Recorder,
) -> Result<Result<(), Halt>, RunError> {
    let nonce = uuid::Uuid::now_v7().simple().to_string();
    let mut sizing = Sizing::default();
    match scout::calibrate(bench, &mut sizing, &options.prose, &nonce).await {
        Ok(Ok(())) => {}
        Ok(Err(why)) => {
            return Err(RunError::Refuses {
                url: bench.target.shown(),
                why,
            });
        }
        Err(halt) => return Ok(Err(halt)),
    }
    document.settings.ignore_eos = write_up::ignore_eos(bench);
    let mut by_context: BTreeMap<u64, Vec<PlannedCell>> = BTreeMap::new();
    for cell in course.cells.clone() {
        by_context
            .entry(cell.key.context_tokens)
            .or_default()
            .push(cell);
    }
    for (context_tokens, cells) in by_context {
        let mut context = ContextRun {
            bench,
            course,
            sizing: &mut sizing,
            options,
            document,
            recorder,
            nonce: &nonce,
            prompt: None,
            scouts_failed: 0,
            why_failed: None,
            warmth: Warmth::default(),
        };
        if let Err(halt) = context.measure(context_tokens, &cells).await? {
            return Ok(Err(halt));
        }
    }
    Ok(Ok(()))
}

/// All cells of one context: they share a prompt.
struct ContextRun<'a> {
    bench: &'a mut Bench,
    course: &'a mut Course,
    sizing: &'a mut Sizing,
    options: &'a RunOptions,
    document: &'a mut RunDocument,
    recorder: &'a mut Recorder,
    nonce: &'a str,
    prompt: Option<Arc<str>>,
    /// Scouts of this context that failed, and why the last one did.
    scouts_failed: u32,
    why_failed: Option<String>,
    warmth: Warmth,
}

impl ContextRun<'_> {
    async fn measure(
        &mut self,
        context_tokens: u64,
        cells: &[PlannedCell],
    ) -> Result<Result<(), Halt>, RunError> {
        let has_decode = |cell: &&PlannedCell| cell.key.phase == Phase::Decode;
        let needs_room = cells.iter().any(|cell| has_decode(&cell));
        for cell in cells {
            if self.course.is_kept(cell.key) {
                continue;
            }
            let at_s = self.bench.now_s();
            self.bench.tell(Progress::CellStarted {
                cell: cell.key,
                at_s,
            });
            let samples = match (&cell.over_capacity, cell.key.phase) {
                (Some(reason), _) => {
                    let mut samples = CellSamples::empty(cell.key, self.bench.limits());
                    samples.over_capacity = Some(reason.clone());
                    Ok(samples)
                }
                (None, Phase::Prefill) => self.scout(cell.key, needs_room, true).await,
                (None, Phase::Decode) => self.decode(cell.key, context_tokens).await,
            };
            match samples {
                Ok(samples) => self.keep(&samples, at_s)?,
                Err(halt) => return Ok(Err(halt)),
            }
        }
        Ok(Ok(()))
    }

    /// Cold requests of this context; the last one's prompt stays warm.
    async fn scout(
        &mut self,
        key: CellKey,
        needs_room: bool,
        is_measured: bool,
    ) -> Result<CellSamples, Halt> {
        let limit = self.bench.server.max_model_len().unwrap_or(u64::MAX);
        let output_tokens = if needs_room {
            self.bench.plan.max_output_tokens
        } else {
            1
        };
        let length = ContextLength {
            key,
            at_most_tokens: limit.saturating_sub(output_tokens),
            samples: if is_measured {
                self.bench.plan.prefill_samples
            } else {
                1
            },
        };
        let scouted = scout::scout(
            self.bench,
            self.sizing,
            &self.options.prose,
            self.nonce,
            length,
        )
        .await?;
        self.prompt = scouted.prompt;
        if self.prompt.is_none() {
            self.scouts_failed += 1;
            self.why_failed = judge::judge(&scouted.samples).reason;
            // What waited in vain once is not waited for again.
            let is_silent = |r: &RequestSample| matches!(r.outcome, Outcome::TimedOut { .. });
            if scouted.samples.requests.iter().any(is_silent) {
                self.scouts_failed = MAX_SCOUTS_FAILED;
            }
        }
        self.warmth = Warmth { slots: 1 };
        Ok(scouted.samples)
    }

    async fn decode(&mut self, key: CellKey, context_tokens: u64) -> Result<CellSamples, Halt> {
        let mut failed = CellSamples::empty(key, self.bench.limits());
        if self.prompt.is_none() && self.scouts_failed < MAX_SCOUTS_FAILED {
            let prefill = CellKey {
                phase: Phase::Prefill,
                context_tokens,
                concurrency: 1,
            };
            self.scout(prefill, true, false).await?;
        }
        let Some(prompt) = self.prompt.clone() else {
            failed.failure = self.why_failed.clone();
            return Ok(failed);
        };
        let warmed = warm::warm(self.bench, &mut self.warmth, &prompt, key.concurrency).await?;
        if let Some(failure) = warmed {
            failed.failure = Some(failure);
            return Ok(failed);
        }
        decode::measure(self.bench, key, &prompt).await
    }

    /// Judges a cell and keeps it, before the next one begins.
    fn keep(&mut self, samples: &CellSamples, began_s: f64) -> Result<(), RunError> {
        let cell = judge::judge(samples);
        self.recorder.append(samples)?;
        let key = cell.key();
        self.document.cells.retain(|other| other.key() != key);
        self.document.cells.push(cell.clone());
        self.document.events.append(&mut self.bench.events);
        self.recorder.save(self.document)?;
        let at_s = self.bench.now_s();
        if key.phase == Phase::Decode && samples.window.is_some() {
            self.course.decode_s.push(at_s - began_s);
        }
        self.course.done += 1;
        self.bench.left_s = self.course.left_s(Some(key));
        self.bench.tell(Progress::CellFinished {
            cell: Box::new(cell),
            at_s,
            done: self.course.done,
            of: self.course.cells.len(),
            left_s: self.bench.left_s,
        });
        Ok(())
    }
}
