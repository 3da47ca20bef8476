use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::cell::Cell;

/// The schema this crate reads and writes.
pub const SCHEMA: &str = "tokgrid.run/1";

/// Minor version written: grows when fields are added.
pub const SCHEMA_MINOR: u32 = 0;

/// Fields this version does not know, kept as they came.
pub type Extra = Map<String, Value>;

/// One run: what was measured, on what, how, and the figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunDocument {
    /// Always `tokgrid.run/1`.
    pub schema: String,
    /// Grows when fields are added.
    #[serde(default)]
    pub schema_minor: u32,
    /// SHA-256 of the samples file beside the document, hex.
    #[serde(default)]
    pub samples_sha256: Option<String>,
    /// Its length: what lies beyond was written by a run that was cut off.
    #[serde(default)]
    pub samples_bytes: Option<u64>,
    /// Names the run everywhere (UUID).
    pub id: String,
    /// RFC 3339, UTC.
    #[serde(default)]
    pub started_at: Option<String>,
    /// RFC 3339, UTC; `null` while a run goes on or was interrupted.
    #[serde(default)]
    pub finished_at: Option<String>,
    /// What wrote the document.
    #[serde(default)]
    pub tool: Tool,
    /// Who ran it.
    #[serde(default)]
    pub author: Option<String>,
    /// On whose behalf.
    #[serde(default)]
    pub organization: Option<String>,
    /// Measured by tokgrid or read from another tool's file.
    pub source: Source,
    /// Where an imported run came from.
    #[serde(default)]
    pub imported_from: Option<ImportedFrom>,
    /// What answered.
    #[serde(default)]
    pub model: Model,
    /// What ran the model.
    #[serde(default)]
    pub engine: Engine,
    /// What the engine ran on.
    #[serde(default)]
    pub hardware: Hardware,
    /// What was asked for.
    #[serde(default)]
    pub settings: Settings,
    /// How the server was started.
    #[serde(default)]
    pub launch: Launch,
    /// The figures, in the order they were measured.
    #[serde(default)]
    pub cells: Vec<Cell>,
    /// Power, temperature and load during the run.
    #[serde(default)]
    pub telemetry: Option<Telemetry>,
    /// What happened, in order.
    #[serde(default)]
    pub events: Vec<RunEvent>,
    /// Free text.
    #[serde(default)]
    pub notes: Option<String>,
    /// Fields of a newer writer.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How the document came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Measured by tokgrid.
    Measured,
    /// Read from another tool's result file.
    Imported,
}

/// The program that measured or wrote.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tool {
    /// `tokgrid`, or the name of another benchmark tool.
    pub name: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// Fields of a newer writer.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Where an imported run came from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ImportedFrom {
    /// The tool that wrote the file, or the words that say how it came.
    pub tool: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// SHA-256 of the file, hex.
    pub file_sha256: Option<String>,
    /// Fields of a newer writer.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Model {
    /// Its identity, `organization/name` where known.
    pub id: Option<String>,
    /// The name the server answers to.
    pub served_name: Option<String>,
    /// Revision of the weights.
    pub revision: Option<String>,
    /// Fields of a newer writer.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The inference engine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Engine {
    /// `vllm`, `llama.cpp`, …; `openai-compatible` where the server does not tell.
    pub name: Option<String>,
    /// Version as the server says it.
    pub version: Option<String>,
    /// Quantization of the weights.
    pub quantization: Option<String>,
    /// `cuda`, `rocm`, `cpu`, `metal`, …
    pub backend: Option<String>,
    /// Source repository.
    pub repository: Option<String>,
    /// Build label.
    pub build: Option<String>,
    /// Commit of the build.
    pub commit: Option<String>,
    /// Longest sequence, tokens.
    pub max_model_len: Option<u64>,
    /// Requests run at once.
    pub max_num_seqs: Option<u32>,
    /// Tokens the KV cache holds.
    pub kv_cache_tokens: Option<u64>,
    /// Fields of a newer writer.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The machine the engine runs on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Hardware {
    /// `Discrete GPU`, `Unified memory`, `CPU only`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Name of the GPU.
    pub gpu: Option<String>,
    /// GPUs the server uses.
    pub gpu_count: Option<u32>,
    /// Memory of all GPUs, GB.
    pub vram_gb: Option<f64>,
    /// Memory of one GPU, GB.
    pub vram_gb_each: Option<f64>,
    /// Name of the processor.
    pub cpu: Option<String>,
    /// Main memory, GB.
    pub ram_gb: Option<f64>,
    /// Operating system.
    pub os: Option<String>,
    /// GPU driver.
    pub driver: Option<String>,
    /// Fields of a newer writer.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Hardware {
    /// What a simulated engine has as its type: its figures are those of no machine.
    pub const SIMULATED: &str = "Simulated engine";

    /// Whether the figures come from a simulated engine.
    #[must_use]
    pub fn is_simulated(&self) -> bool {
        self.kind.as_deref() == Some(Hardware::SIMULATED)
    }
}

/// Whether the streams of a cell share one prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PromptSharing {
    /// One prompt for all streams of a context.
    #[default]
    Shared,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Settings {
    /// `Fixed duration`.
    pub decode_test: Option<String>,
    /// `Measured during decode warm-up` or `Separate cold samples`.
    pub prefill_mode: Option<String>,
    /// Length of a decode window, s.
    pub window_s: Option<f64>,
    /// Longest answer asked for, tokens.
    pub max_output_tokens: Option<u64>,
    /// Whether streams share a prompt.
    pub prompt_sharing: Option<PromptSharing>,
    /// Decode contexts, tokens.
    pub contexts: Vec<u64>,
    /// Contexts whose prefill is measured, tokens.
    pub prefill_contexts: Vec<u64>,
    /// Requests at once.
    pub concurrency: Vec<u32>,
    /// Seed of the prompts, and of the streams where they get one.
    pub seed: Option<u64>,
    /// Whether requests carried a sampling seed.
    pub stream_seeds: Option<bool>,
    /// Cold samples for each prefill cell.
    pub prefill_samples: Option<u32>,
    /// `chat` or `completions`.
    pub api: Option<String>,
    /// Whether answers were told to go on past their end; `null` where the server refused it.
    pub ignore_eos: Option<bool>,
    /// Where the prompt's text comes from.
    pub prompt_source: Option<String>,
    /// KV budget counts a prompt shared by all requests once.
    pub count_shared_prompt_once: Option<bool>,
    /// Fields of a newer writer.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How a launch command is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaunchProvenance {
    /// Read from the running process.
    Captured,
    /// Given by the person who ran.
    Provided,
    /// Put together afterwards.
    Reconstructed,
    /// Not known.
    #[default]
    Unknown,
}

/// How the server was started.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Launch {
    /// A command a person can paste, secrets replaced.
    pub command: Option<String>,
    /// How it is known.
    pub provenance: LaunchProvenance,
    /// A word on it.
    pub note: Option<String>,
    /// Fields of a newer writer.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Power, temperature and load during the run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Telemetry {
    /// Fields of a newer writer.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Something worth knowing that happened during a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunEvent {
    /// Seconds since the run started.
    pub at_s: f64,
    /// What happened.
    pub text: String,
    /// Fields of a newer writer.
    #[serde(flatten)]
    pub extra: Extra,
}
