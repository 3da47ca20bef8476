use document::{CacheProof, CellStatus};
use serde::Serialize;

use crate::{Filter, Kind, Metric, Named, Page, PageRequest, Shape, Store, StoreError, rows};

/// What is ranked: like with like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankingQuery {
    /// Phase, context and concurrency.
    pub shape: Shape,
    /// What orders.
    pub metric: Metric,
    /// Which configurations take part.
    pub filter: Filter,
}

/// A model, quantized so, by this engine, on this hardware.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Configuration {
    /// Names it in this database.
    #[serde(skip)]
    pub key: i64,
    /// How its figures came to be.
    pub kind: Kind,
    /// The model.
    pub model: Named,
    /// As the documents say it.
    pub quantization: Option<String>,
    /// As the documents say it.
    pub engine: Option<String>,
    /// A GPU, or a processor where there is none.
    pub hardware: Named,
    /// GPUs.
    pub gpu_count: Option<u32>,
    /// Its runs that are not hidden.
    pub run_count: u64,
}

/// The best cell of a configuration, at its place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankedCell {
    /// 1 for the best; cells of the same value share a rank and the next is left out.
    pub rank: u64,
    /// The metric's value: tok/s or ms.
    pub value: f64,
    /// What was measured.
    pub configuration: Configuration,
    /// The run it is from.
    pub run_id: String,
    /// Position of the cell in the run document.
    pub cell_index: u64,
    /// Phase, context and concurrency.
    pub shape: Shape,
    /// The verdict (always valid).
    pub status: CellStatus,
    /// Total tok/s of this cell, if it may be shown.
    pub total_tok_s: Option<f64>,
    /// Per-request tok/s of this cell.
    pub per_request_tok_s: Option<f64>,
    /// Median TTFT of this cell, ms.
    pub ttft_ms_p50: Option<f64>,
    /// Whether the prompt cache was proved; anything else ranks with a mark.
    pub cache_proof: Option<CacheProof>,
    /// Version of the engine.
    pub engine_version: Option<String>,
    /// Who published it: an account, or the document's author.
    pub author: Option<String>,
    /// On whose behalf.
    pub organization: Option<Named>,
    /// ms since 1970.
    pub published_at_ms: i64,
}

/// How many cells that may rank have a shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ShapeCount {
    /// The shape.
    pub shape: Shape,
    /// Cells.
    pub cell_count: u64,
}

const SHAPES: &str = "
SELECT s.phase, s.context_tokens, s.concurrency, n.cell_count
FROM shape_counts n
JOIN shapes s ON s.shape_key = n.shape_key
WHERE n.model_key = CASE WHEN CAST($1 AS TEXT) IS NULL THEN 0
        ELSE (SELECT model_key FROM models WHERE slug = $1) END
    AND n.hardware_key = CASE WHEN CAST($2 AS TEXT) IS NULL THEN 0
        ELSE (SELECT hardware_key FROM hardware WHERE slug = $2) END
ORDER BY n.cell_count DESC, s.phase, s.context_tokens, s.concurrency";

impl Store {
    /// The best cells, best first.
    ///
    /// # Errors
    /// [`StoreError::Cursor`] for a page this list does not have.
    pub async fn ranking(
        &self,
        query: &RankingQuery,
        page: &PageRequest,
    ) -> Result<Page<RankedCell>, StoreError> {
        self.ranking_page(query, page).await
    }

    /// Shapes that have cells which may rank, commonest first: of a model, of a
    /// hardware (by slug), of a model on a hardware, or of everything where both
    /// are `None`.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn shapes(
        &self,
        model: Option<&str>,
        hardware: Option<&str>,
    ) -> Result<Vec<ShapeCount>, StoreError> {
        // 0 stands for any; a slug that stands for nothing finds nothing.
        let found = sqlx::query(SHAPES)
            .bind(model)
            .bind(hardware)
            .fetch_all(&self.read)
            .await?;
        found
            .iter()
            .map(|row| {
                Ok(ShapeCount {
                    shape: rows::shape(row, 0)?,
                    cell_count: rows::unsigned(row, 3)?,
                })
            })
            .collect()
    }

    /// The best cells of some configurations at every concurrency of a phase and
    /// context, or at every context where `context_tokens` is `None`: for curves, by
    /// context and concurrency. Ranks are among the cells of the same shape.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn curves(
        &self,
        configuration_keys: &[i64],
        phase: document::Phase,
        context_tokens: Option<u64>,
        metric: Metric,
    ) -> Result<Vec<RankedCell>, StoreError> {
        self.best_of(configuration_keys, phase, context_tokens, metric)
            .await
    }
}
