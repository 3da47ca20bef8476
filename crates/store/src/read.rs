use document::{CacheProof, CellStatus};
use serde::Serialize;
use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::{Filter, Kind, Named, Page, PageRequest, Shape, Store, StoreError, content, rows};

/// Which runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunQuery {
    /// By configuration.
    pub filter: Filter,
    /// Slug of the organization it was published for.
    pub organization: Option<String>,
    /// Name of the account that published it.
    pub account: Option<String>,
    /// Hidden runs too: for their author and for administrators.
    pub with_hidden: bool,
}

/// Why a run is not shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hidden {
    /// ms since 1970.
    pub at_ms: i64,
    /// In the administrator's words.
    pub reason: String,
}

/// A run in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunSummary {
    /// Names the run.
    pub id: String,
    /// ms since 1970.
    pub published_at_ms: i64,
    /// ms since 1970, where the document says it.
    pub measured_at_ms: Option<i64>,
    /// How the figures came to be.
    pub kind: Kind,
    /// The model.
    pub model: Named,
    /// As the document says it.
    pub quantization: Option<String>,
    /// As the document says it.
    pub engine: Option<String>,
    /// Version of the engine.
    pub engine_version: Option<String>,
    /// A GPU, or a processor where there is none.
    pub hardware: Named,
    /// GPUs.
    pub gpu_count: Option<u32>,
    /// Who published it: an account, or the document's author.
    pub author: Option<String>,
    /// On whose behalf.
    pub organization: Option<Named>,
    /// Cells of the document.
    pub cell_count: u64,
    /// Its largest context, tokens.
    pub context_tokens_max: Option<u64>,
    /// Its most requests at once.
    pub concurrency_max: Option<u32>,
    /// The largest total tok/s of a decode cell that may rank.
    pub decode_tok_s_max: Option<f64>,
    /// The largest prompt tok/s of a prefill cell that may rank.
    pub prefill_tok_s_max: Option<f64>,
    /// Set where the run is not shown.
    pub hidden: Option<Hidden>,
}

/// A run's document as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredRun {
    /// Names the run.
    pub id: String,
    /// The document's bytes, unchanged.
    pub document: Vec<u8>,
    /// SHA-256 of them, hex.
    pub sha256: String,
    /// ms since 1970.
    pub published_at_ms: i64,
    /// Who published it; `None` for what the operator put in.
    pub account: Option<String>,
    /// On whose behalf.
    pub organization: Option<Named>,
    /// Its model's page.
    pub model: Named,
    /// Its hardware's page.
    pub hardware: Named,
    /// Set where the run is not shown.
    pub hidden: Option<Hidden>,
}

/// Which cells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CellQuery {
    /// Of which runs.
    pub runs: RunQuery,
    /// Of this run only.
    pub run_id: Option<String>,
    /// Prefill or decode.
    pub phase: Option<document::Phase>,
    /// Target prompt length, tokens.
    pub context_tokens: Option<u64>,
    /// Requests at once.
    pub concurrency: Option<u32>,
}

/// A cell in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellRow {
    /// The run it is from.
    pub run_id: String,
    /// Position of the cell in the run document.
    pub cell_index: u64,
    /// Phase, context and concurrency.
    pub shape: Shape,
    /// The verdict.
    pub status: CellStatus,
    /// Total tok/s; prompt tok/s of a prefill cell.
    pub total_tok_s: Option<f64>,
    /// tok/s of one request.
    pub per_request_tok_s: Option<f64>,
    /// Median TTFT, ms.
    pub ttft_ms_p50: Option<f64>,
    /// Median time between tokens, ms.
    pub tbt_ms_p50: Option<f64>,
    /// Time average of requests being decoded.
    pub average_active: Option<f64>,
    /// Names of its flags.
    pub flags: Vec<String>,
    /// Whether total, per-request and TTFT may rank.
    pub ranks: [bool; 3],
    /// Proved, or not.
    pub cache_proof: Option<CacheProof>,
}

const STORED_RUN: &str = "
SELECT r.id, r.sha256, r.published_at_ms, a.name, o.slug, o.name, m.slug, m.id, h.slug, h.name,
    r.hidden_at_ms, r.hidden_reason, d.content_bytes, d.content_zstd
FROM runs r
JOIN documents d ON d.sha256 = r.sha256
JOIN models m ON m.model_key = r.model_key
JOIN hardware h ON h.hardware_key = r.hardware_key
LEFT JOIN accounts a ON a.account_key = r.account_key
LEFT JOIN organizations o ON o.organization_key = r.organization_key
WHERE r.id = $1";

fn stored_run(row: &AnyRow) -> Result<StoredRun, StoreError> {
    let id: String = row.try_get(0)?;
    let content_zstd: Vec<u8> = row.try_get(13)?;
    let document = content::decompress(&content_zstd, row.try_get(12)?).map_err(|why| {
        StoreError::Damaged {
            what: format!("the run {id}"),
            why,
        }
    })?;
    Ok(StoredRun {
        id,
        document,
        sha256: row.try_get(1)?,
        published_at_ms: row.try_get(2)?,
        account: row.try_get(3)?,
        organization: rows::named_if_any(row, 4)?,
        model: rows::named(row, 6)?,
        hardware: rows::named(row, 8)?,
        hidden: rows::hidden(row, 10)?,
    })
}

impl Store {
    /// A run's document, hidden ones too: the caller decides who sees them.
    ///
    /// # Errors
    /// When the database fails or the document is damaged.
    pub async fn run(&self, id: &str) -> Result<Option<StoredRun>, StoreError> {
        let row = sqlx::query(STORED_RUN)
            .bind(id)
            .fetch_optional(&self.read)
            .await?;
        row.map(|row| stored_run(&row)).transpose()
    }

    /// Runs, newest first, with their number.
    ///
    /// # Errors
    /// [`StoreError::Cursor`] for a page this list does not have.
    pub async fn runs(
        &self,
        query: &RunQuery,
        page: &PageRequest,
    ) -> Result<Page<RunSummary>, StoreError> {
        self.run_page(query, page).await
    }

    /// Cells, newest run first, in their document's order. A page can hold fewer
    /// than asked for and still have a next one: the work for a page is bounded.
    ///
    /// # Errors
    /// [`StoreError::Cursor`] for a page this list does not have.
    pub async fn cells(
        &self,
        query: &CellQuery,
        page: &PageRequest,
    ) -> Result<Page<CellRow>, StoreError> {
        self.cell_page(query, page).await
    }
}
