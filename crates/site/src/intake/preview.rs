//! What an upload would be shown as, before it is stored.

use document::{Cell, CellStatus, Figure, Phase};
use serde::Serialize;
use sha2::{Digest, Sha256};
use store::{Kind, StoreError};
use utoipa::ToSchema;

use super::{Imported, Received};
use crate::site::Site;

/// A flag that a document proves and did not carry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct AddedFlag {
    /// `cells[12]`
    pub field: String,
    /// Its place in the document's `cells`, from 0.
    pub cell_index: usize,
    /// The flag.
    #[schema(example = "contaminated")]
    pub name: &'static str,
    /// What was seen.
    pub evidence: String,
}

impl AddedFlag {
    /// Those of a document.
    #[must_use]
    pub fn of(received: &Received) -> Vec<AddedFlag> {
        let added = received.added_flags.iter();
        added
            .map(|added| AddedFlag {
                field: format!("cells[{}]", added.cell_index),
                cell_index: added.cell_index,
                name: added.flag.name.as_str(),
                evidence: added.flag.evidence.clone(),
            })
            .collect()
    }
}

/// Whether a document is published already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Its id is free.
    New,
    /// The same document is here.
    Published,
    /// Another document has its id: this one cannot be published.
    Conflict,
}

/// Whether a document is published already.
///
/// # Errors
/// When the database fails.
pub async fn standing(site: &Site, received: &Received) -> Result<Standing, StoreError> {
    let Some(run) = site.store.run(&received.document.id).await? else {
        return Ok(Standing::New);
    };
    let hash = Sha256::digest(&received.content);
    let sha256: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(if run.sha256 == sha256 {
        Standing::Published
    } else {
        Standing::Conflict
    })
}

/// What would be shown of a document.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Preview {
    /// Names the run.
    #[schema(format = Uuid)]
    pub id: String,
    /// How the figures came to be.
    #[schema(schema_with = crate::api::kind_schema)]
    pub kind: Kind,
    /// The model, where the document names it.
    #[schema(required)]
    pub model: Option<String>,
    /// As the document says it.
    #[schema(required)]
    pub quantization: Option<String>,
    /// As the document says it.
    #[schema(required)]
    pub engine: Option<String>,
    /// A GPU, or a processor where there is none.
    #[schema(required)]
    pub hardware: Option<String>,
    /// GPUs.
    #[schema(required)]
    pub gpu_count: Option<u32>,
    /// Cells of each status.
    pub cells: CellCounts,
    /// The largest total tok/s of a decode cell that may rank.
    #[schema(required)]
    pub decode_tok_s_max: Option<f64>,
    /// The largest prompt tok/s of a prefill cell that may rank.
    #[schema(required)]
    pub prefill_tok_s_max: Option<f64>,
    /// The tool whose file was read, where it was another one's.
    #[schema(required)]
    pub imported: Option<Imported>,
    /// Flags that the document proves and does not carry: they would count.
    pub added_flags: Vec<AddedFlag>,
}

/// Cells of each status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, ToSchema)]
pub struct CellCounts {
    /// Valid.
    pub valid: usize,
    /// Requests queued.
    pub queued: usize,
    /// Over capacity.
    pub over_capacity: usize,
    /// Failed.
    pub failed: usize,
    /// Valid cells whose total a flag takes away, so that it does not rank.
    pub taken_away: usize,
}

impl Preview {
    /// Of a document.
    #[must_use]
    pub fn of(received: &Received) -> Preview {
        let run = &received.document;
        Preview {
            id: run.id.clone(),
            kind: kind(run),
            model: run
                .model
                .id
                .clone()
                .or_else(|| run.model.served_name.clone()),
            quantization: run.engine.quantization.clone(),
            engine: run.engine.name.clone(),
            hardware: [&run.hardware.gpu, &run.hardware.cpu, &run.hardware.kind]
                .into_iter()
                .find_map(Clone::clone),
            gpu_count: run.hardware.gpu_count,
            cells: counts(&run.cells),
            decode_tok_s_max: best(&run.cells, Phase::Decode),
            prefill_tok_s_max: best(&run.cells, Phase::Prefill),
            imported: received.imported.clone(),
            added_flags: AddedFlag::of(received),
        }
    }
}

fn kind(run: &document::RunDocument) -> Kind {
    if run.hardware.is_simulated() {
        return Kind::Simulated;
    }
    match run.source {
        document::Source::Measured => Kind::Measured,
        document::Source::Imported => Kind::Imported,
    }
}

/// The figure that a cell's total is.
fn total_of(phase: Phase) -> Figure {
    match phase {
        Phase::Prefill => Figure::Prefill,
        Phase::Decode => Figure::DecodeTotal,
    }
}

fn counts(cells: &[Cell]) -> CellCounts {
    let mut counts = CellCounts::default();
    for cell in cells {
        match cell.status {
            CellStatus::Valid => {
                counts.valid += 1;
                counts.taken_away += usize::from(cell.is_taken_away(total_of(cell.phase)));
            }
            CellStatus::Queued => counts.queued += 1,
            CellStatus::OverCapacity => counts.over_capacity += 1,
            CellStatus::Failed => counts.failed += 1,
        }
    }
    counts
}

fn best(cells: &[Cell], phase: Phase) -> Option<f64> {
    cells
        .iter()
        .filter(|cell| cell.phase == phase && cell.status == CellStatus::Valid)
        .filter(|cell| !cell.is_taken_away(total_of(phase)))
        .filter_map(|cell| cell.total_tok_s)
        .reduce(f64::max)
}
