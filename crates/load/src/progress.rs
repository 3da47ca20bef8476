use document::{Cell, CellKey};
use serde::Serialize;

/// What a run tells while it goes on: to the terminal, or with `--json` one
/// object a line. Times are seconds since the run started.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Progress {
    /// The server has been recognised.
    Detected(Server),
    /// The cells to come, in order; cells that will not be run are among them.
    Planned {
        /// All cells of the matrix in the order they are measured.
        cells: Vec<CellKey>,
        /// Of these, cells kept from an earlier, interrupted run.
        kept: Vec<Cell>,
        /// A guess at how long the run takes, s.
        estimated_s: f64,
    },
    /// Something worth a line in the event log.
    Note {
        /// When, s.
        at_s: f64,
        /// What happened.
        text: String,
    },
    /// Work on a cell begins.
    CellStarted {
        /// Which.
        cell: CellKey,
        /// When, s.
        at_s: f64,
    },
    /// Work on the cell enters another stage.
    StageEntered {
        /// Which.
        stage: Stage,
        /// When, s.
        at_s: f64,
    },
    /// A few times a second while a cell is measured.
    Tick(Tick),
    /// A cell is done; its figures and verdict.
    CellFinished {
        /// The cell as it stands in the document.
        cell: Box<Cell>,
        /// When, s.
        at_s: f64,
        /// Cells done so far.
        done: usize,
        /// Cells in all.
        of: usize,
        /// A guess at the time left, s.
        left_s: f64,
    },
    /// The run is over.
    Finished {
        /// When, s.
        at_s: f64,
        /// Whether it was cut short (Ctrl-C, or the server went away).
        interrupted: bool,
    },
}

/// What is known of the server once it has been recognised.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Server {
    /// Where it is, without secrets.
    pub url: String,
    /// `vllm`, `llama.cpp`, `openai-compatible`.
    pub engine: String,
    /// Version, where told.
    pub version: Option<String>,
    /// The model that is measured.
    pub model: String,
    /// Longest sequence, tokens.
    pub max_model_len: Option<u64>,
    /// Requests run at once, where told.
    pub max_num_seqs: Option<u32>,
    /// Tokens the KV cache holds, where told.
    pub kv_cache_tokens: Option<u64>,
}

/// The stages of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Waiting for the server to come to rest.
    Draining,
    /// The cold request that warms the cache.
    Scouting,
    /// Warming every slot.
    Warming,
    /// Streams started, not all have produced a token.
    Starting,
    /// The measured window.
    Measuring,
}

impl Stage {
    /// A word for a person.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Stage::Draining => "draining",
            Stage::Scouting => "reading the prompt cold",
            Stage::Warming => "warming the cache",
            Stage::Starting => "starting streams",
            Stage::Measuring => "measuring",
        }
    }
}

/// The state of the current cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tick {
    /// When, s.
    pub at_s: f64,
    /// Streams of ours that are open.
    pub open_streams: u32,
    /// Of these, streams that have produced a token.
    pub flowing_streams: u32,
    /// Output tokens a second, over about the last second; `None` before any token.
    pub tok_s: Option<f64>,
    /// Median TTFT of the cell so far, ms.
    pub ttft_ms_p50: Option<f64>,
    /// Requests the server says it runs.
    pub running: Option<f64>,
    /// Requests the server says wait.
    pub waiting: Option<f64>,
    /// Share of the KV cache in use, 0 to 1.
    pub kv_used: Option<f64>,
    /// Measured so far, s; `None` outside the window.
    pub measured_s: Option<f64>,
    /// Length of the window, s.
    pub window_s: f64,
    /// A guess at the time left for the whole run, s.
    pub left_s: f64,
}
