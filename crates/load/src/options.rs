//! What a run is told, what comes of it, and why it may come to nothing.

use std::path::PathBuf;

use document::{Launch, Plan, PlanError, RunDocument};
use engines::DetectError;
use wire::Api;

use crate::bench::Patience;
use crate::matrix::MatrixError;
use crate::prompt::Prose;
use crate::recorder::RecordError;
use crate::resume::ResumeError;
use crate::target::{TargetError, TargetOptions};

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
    /// Something is there that a document must not replace.
    #[error("{} is a device, a folder or a link: choose another file with --out", .0.display())]
    NoFile(PathBuf),
    /// There is no place for the document.
    #[error("{} is no folder: make it first, or choose another file with --out", .0.display())]
    NoFolder(PathBuf),
    /// The document cannot be gone on with.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// Files cannot be written or read.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// Files could be written when the run began, and then no more.
    #[error(transparent)]
    NotKept(RecordError),
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
            | RunError::NoFile(_)
            | RunError::NoFolder(_)
            | RunError::Resume(_)
            | RunError::Record(_)
            | RunError::NotKept(_)
            | RunError::StoppedEarly => false,
        }
    }

    /// Whether the run had begun, and was cut short (exit 1).
    #[must_use]
    pub fn is_midway(&self) -> bool {
        matches!(self, RunError::NotKept(_) | RunError::StoppedEarly)
    }
}
