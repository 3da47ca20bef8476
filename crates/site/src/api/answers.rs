//! What the API answers with: the store's rows with times as RFC 3339.

use document::{CacheProof, CellStatus, Phase};
use jiff::Timestamp;
use serde::Serialize;
use store::Kind;
use utoipa::ToSchema;

use super::schemas;
use super::table::{self, Row};

/// ms since 1970 as RFC 3339.
pub(super) fn time(ms: i64) -> String {
    Timestamp::from_millisecond(ms)
        .unwrap_or_default()
        .to_string()
}

/// A name in JSON, as the document writes it.
fn name_of(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}

/// A thing with a page of its own.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Named {
    /// As filters and addresses name it.
    #[schema(example = "glm-5-3-flash")]
    pub(super) slug: String,
    /// As people know it.
    pub(super) name: String,
}

impl From<store::Named> for Named {
    fn from(named: store::Named) -> Named {
        Named {
            slug: named.slug,
            name: named.name,
        }
    }
}

/// Which cells are compared.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Shape {
    /// Prefill or decode.
    #[schema(schema_with = schemas::phase)]
    phase: Phase,
    /// Target prompt length, tokens.
    context_tokens: u64,
    /// Requests at once.
    concurrency: u32,
}

impl From<store::Shape> for Shape {
    fn from(shape: store::Shape) -> Shape {
        Shape {
            phase: shape.phase,
            context_tokens: shape.context_tokens,
            concurrency: shape.concurrency,
        }
    }
}

/// A run in a list.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RunEntry {
    /// Names the run.
    #[schema(format = Uuid)]
    id: String,
    #[schema(format = DateTime)]
    published_at: String,
    /// When it was started, where the document says it.
    #[schema(format = DateTime, required)]
    measured_at: Option<String>,
    /// How the figures came to be.
    #[schema(schema_with = schemas::kind)]
    kind: Kind,
    model: Named,
    #[schema(required)]
    quantization: Option<String>,
    #[schema(required)]
    engine: Option<String>,
    #[schema(required)]
    engine_version: Option<String>,
    /// A GPU, or a processor where there is none.
    hardware: Named,
    #[schema(required)]
    gpu_count: Option<u32>,
    /// Who published it: an account, or the document's author.
    #[schema(required)]
    author: Option<String>,
    #[schema(required)]
    organization: Option<Named>,
    /// Cells of the document.
    cell_count: u64,
    /// Its largest context, tokens.
    #[schema(required)]
    context_tokens_max: Option<u64>,
    /// Its most requests at once.
    #[schema(required)]
    concurrency_max: Option<u32>,
    /// The largest total tok/s of a decode cell that may rank.
    #[schema(required)]
    decode_tok_s_max: Option<f64>,
    /// The largest prompt tok/s of a prefill cell that may rank.
    #[schema(required)]
    prefill_tok_s_max: Option<f64>,
}

impl From<store::RunSummary> for RunEntry {
    fn from(run: store::RunSummary) -> RunEntry {
        RunEntry {
            id: run.id,
            published_at: time(run.published_at_ms),
            measured_at: run.measured_at_ms.map(time),
            kind: run.kind,
            model: run.model.into(),
            quantization: run.quantization,
            engine: run.engine,
            engine_version: run.engine_version,
            hardware: run.hardware.into(),
            gpu_count: run.gpu_count,
            author: run.author,
            organization: run.organization.map(Named::from),
            cell_count: run.cell_count,
            context_tokens_max: run.context_tokens_max,
            concurrency_max: run.concurrency_max,
            decode_tok_s_max: run.decode_tok_s_max,
            prefill_tok_s_max: run.prefill_tok_s_max,
        }
    }
}

impl Row for RunEntry {
    const COLUMNS: &'static [&'static str] = &[
        "id",
        "published_at",
        "measured_at",
        "kind",
        "model",
        "quantization",
        "engine",
        "engine_version",
        "hardware",
        "gpu_count",
        "author",
        "organization",
        "cell_count",
        "context_tokens_max",
        "concurrency_max",
        "decode_tok_s_max",
        "prefill_tok_s_max",
    ];

    fn fields(&self) -> Vec<String> {
        vec![
            table::text(&self.id),
            self.published_at.clone(),
            self.measured_at.clone().unwrap_or_default(),
            self.kind.as_str().to_owned(),
            table::text(&self.model.name),
            table::maybe(self.quantization.as_deref()),
            table::maybe(self.engine.as_deref()),
            table::maybe(self.engine_version.as_deref()),
            table::text(&self.hardware.name),
            table::number(self.gpu_count),
            table::maybe(self.author.as_deref()),
            table::maybe(self.organization.as_ref().map(|of| of.name.as_str())),
            self.cell_count.to_string(),
            table::number(self.context_tokens_max),
            table::number(self.concurrency_max),
            table::number(self.decode_tok_s_max),
            table::number(self.prefill_tok_s_max),
        ]
    }
}

/// A cell in a list.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CellEntry {
    /// The run it is from.
    #[schema(format = Uuid)]
    run_id: String,
    /// Its place in the document's `cells`, from 0.
    cell_index: u64,
    #[serde(flatten)]
    shape: Shape,
    /// The verdict.
    #[schema(schema_with = schemas::status)]
    status: CellStatus,
    /// Total tok/s; prompt tok/s of a prefill cell.
    #[schema(required)]
    total_tok_s: Option<f64>,
    /// tok/s of one request.
    #[schema(required)]
    per_request_tok_s: Option<f64>,
    /// Median TTFT, ms.
    #[schema(required)]
    ttft_ms_p50: Option<f64>,
    /// Median time between tokens, ms.
    #[schema(required)]
    tbt_ms_p50: Option<f64>,
    /// Time average of requests being decoded.
    #[schema(required)]
    average_active: Option<f64>,
    /// Names of its flags, those included that the figures prove.
    flags: Vec<String>,
    /// Whether the prompt cache was as cold or warm as it must be.
    #[schema(schema_with = schemas::cache_proof, required)]
    cache_proof: Option<CacheProof>,
    /// Which figures may rank.
    ranks: Ranks,
}

/// Which figures of a cell may rank.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Ranks {
    total: bool,
    per_request: bool,
    ttft: bool,
}

impl From<store::CellRow> for CellEntry {
    fn from(cell: store::CellRow) -> CellEntry {
        let [total, per_request, ttft] = cell.ranks;
        CellEntry {
            run_id: cell.run_id,
            cell_index: cell.cell_index,
            shape: cell.shape.into(),
            status: cell.status,
            total_tok_s: cell.total_tok_s,
            per_request_tok_s: cell.per_request_tok_s,
            ttft_ms_p50: cell.ttft_ms_p50,
            tbt_ms_p50: cell.tbt_ms_p50,
            average_active: cell.average_active,
            flags: cell.flags,
            cache_proof: cell.cache_proof,
            ranks: Ranks {
                total,
                per_request,
                ttft,
            },
        }
    }
}

impl Row for CellEntry {
    const COLUMNS: &'static [&'static str] = &[
        "run_id",
        "cell_index",
        "phase",
        "context_tokens",
        "concurrency",
        "status",
        "total_tok_s",
        "per_request_tok_s",
        "ttft_ms_p50",
        "tbt_ms_p50",
        "average_active",
        "flags",
        "cache_proof",
        "total_ranks",
        "per_request_ranks",
        "ttft_ranks",
    ];

    fn fields(&self) -> Vec<String> {
        vec![
            table::text(&self.run_id),
            self.cell_index.to_string(),
            name_of(self.shape.phase),
            self.shape.context_tokens.to_string(),
            self.shape.concurrency.to_string(),
            name_of(self.status),
            table::number(self.total_tok_s),
            table::number(self.per_request_tok_s),
            table::number(self.ttft_ms_p50),
            table::number(self.tbt_ms_p50),
            table::number(self.average_active),
            table::text(&self.flags.join(" ")),
            self.cache_proof.map(name_of).unwrap_or_default(),
            self.ranks.total.to_string(),
            self.ranks.per_request.to_string(),
            self.ranks.ttft.to_string(),
        ]
    }
}

/// The best cell of a configuration, at its place.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct RankedEntry {
    /// 1 for the best; cells of the same value share a rank, and the next is left out.
    #[schema(minimum = 1)]
    rank: u64,
    /// What was ranked by: tok/s, or ms of a TTFT.
    value: f64,
    #[schema(schema_with = schemas::kind)]
    kind: Kind,
    model: Named,
    #[schema(required)]
    quantization: Option<String>,
    #[schema(required)]
    engine: Option<String>,
    #[schema(required)]
    engine_version: Option<String>,
    hardware: Named,
    #[schema(required)]
    gpu_count: Option<u32>,
    /// Runs of this configuration.
    run_count: u64,
    /// The run whose cell is the best.
    #[schema(format = Uuid)]
    run_id: String,
    /// Its place in the document's `cells`, from 0.
    cell_index: u64,
    #[serde(flatten)]
    shape: Shape,
    #[schema(required)]
    total_tok_s: Option<f64>,
    #[schema(required)]
    per_request_tok_s: Option<f64>,
    #[schema(required)]
    ttft_ms_p50: Option<f64>,
    /// Anything but `proved` ranks with a mark.
    #[schema(schema_with = schemas::cache_proof, required)]
    cache_proof: Option<CacheProof>,
    #[schema(required)]
    author: Option<String>,
    #[schema(required)]
    organization: Option<Named>,
    #[schema(format = DateTime)]
    published_at: String,
}

impl From<store::RankedCell> for RankedEntry {
    fn from(cell: store::RankedCell) -> RankedEntry {
        let configuration = cell.configuration;
        RankedEntry {
            rank: cell.rank,
            value: cell.value,
            kind: configuration.kind,
            model: configuration.model.into(),
            quantization: configuration.quantization,
            engine: configuration.engine,
            engine_version: cell.engine_version,
            hardware: configuration.hardware.into(),
            gpu_count: configuration.gpu_count,
            run_count: configuration.run_count,
            run_id: cell.run_id,
            cell_index: cell.cell_index,
            shape: cell.shape.into(),
            total_tok_s: cell.total_tok_s,
            per_request_tok_s: cell.per_request_tok_s,
            ttft_ms_p50: cell.ttft_ms_p50,
            cache_proof: cell.cache_proof,
            author: cell.author,
            organization: cell.organization.map(Named::from),
            published_at: time(cell.published_at_ms),
        }
    }
}

impl Row for RankedEntry {
    const COLUMNS: &'static [&'static str] = &[
        "rank",
        "value",
        "kind",
        "model",
        "quantization",
        "engine",
        "engine_version",
        "hardware",
        "gpu_count",
        "run_id",
        "cell_index",
        "phase",
        "context_tokens",
        "concurrency",
        "total_tok_s",
        "per_request_tok_s",
        "ttft_ms_p50",
        "cache_proof",
        "author",
        "organization",
        "published_at",
    ];

    fn fields(&self) -> Vec<String> {
        vec![
            self.rank.to_string(),
            self.value.to_string(),
            self.kind.as_str().to_owned(),
            table::text(&self.model.name),
            table::maybe(self.quantization.as_deref()),
            table::maybe(self.engine.as_deref()),
            table::maybe(self.engine_version.as_deref()),
            table::text(&self.hardware.name),
            table::number(self.gpu_count),
            table::text(&self.run_id),
            self.cell_index.to_string(),
            name_of(self.shape.phase),
            self.shape.context_tokens.to_string(),
            self.shape.concurrency.to_string(),
            table::number(self.total_tok_s),
            table::number(self.per_request_tok_s),
            table::number(self.ttft_ms_p50),
            self.cache_proof.map(name_of).unwrap_or_default(),
            table::maybe(self.author.as_deref()),
            table::maybe(self.organization.as_ref().map(|of| of.name.as_str())),
            self.published_at.clone(),
        ]
    }
}
