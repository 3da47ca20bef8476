//! What the API answers of models, hardware and organizations.

use serde::Serialize;
use store::ShapeCount;
use utoipa::ToSchema;

use super::answers::{Named, Shape, time};
use super::table::{self, Row};

/// A model, a hardware or an organization, with its numbers.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CatalogueEntry {
    #[serde(flatten)]
    named: Named,
    /// Runs that are shown.
    run_count: u64,
    /// The newest of them.
    #[schema(format = DateTime, required)]
    last_published_at: Option<String>,
}

impl CatalogueEntry {
    fn new(named: store::Named, run_count: u64, last_ms: Option<i64>) -> CatalogueEntry {
        CatalogueEntry {
            named: named.into(),
            run_count,
            last_published_at: last_ms.map(time),
        }
    }
}

impl From<store::ModelEntry> for CatalogueEntry {
    fn from(entry: store::ModelEntry) -> CatalogueEntry {
        CatalogueEntry::new(entry.named, entry.run_count, entry.last_published_at_ms)
    }
}

impl From<store::HardwareEntry> for CatalogueEntry {
    fn from(entry: store::HardwareEntry) -> CatalogueEntry {
        CatalogueEntry::new(entry.named, entry.run_count, entry.last_published_at_ms)
    }
}

impl From<store::OrganizationEntry> for CatalogueEntry {
    fn from(entry: store::OrganizationEntry) -> CatalogueEntry {
        CatalogueEntry::new(entry.named, entry.run_count, entry.last_published_at_ms)
    }
}

impl Row for CatalogueEntry {
    const COLUMNS: &'static [&'static str] = &["slug", "name", "run_count", "last_published_at"];

    fn fields(&self) -> Vec<String> {
        vec![
            table::text(&self.named.slug),
            table::text(&self.named.name),
            self.run_count.to_string(),
            self.last_published_at.clone().unwrap_or_default(),
        ]
    }
}

/// One of them, with what occurs among its runs.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CatalogueDetail {
    #[serde(flatten)]
    entry: CatalogueEntry,
    /// Cells that may rank, by phase, context and concurrency, commonest first; of an
    /// organization none are counted.
    shapes: Vec<CountedShape>,
    /// What occurs among its runs, commonest first.
    occurring: Occurring,
}

impl CatalogueDetail {
    pub(super) fn new(
        entry: CatalogueEntry,
        shapes: Vec<ShapeCount>,
        occurring: store::Offered,
    ) -> CatalogueDetail {
        let counted = |values: Vec<store::Counted>| values.into_iter().map(Counted::from).collect();
        CatalogueDetail {
            entry,
            shapes: shapes
                .into_iter()
                .map(|count| CountedShape {
                    shape: count.shape.into(),
                    cell_count: count.cell_count,
                })
                .collect(),
            occurring: Occurring {
                models: counted(occurring.models),
                hardware: counted(occurring.hardware),
                engines: counted(occurring.engines),
                quantizations: counted(occurring.quantizations),
                gpu_counts: counted(occurring.gpu_counts),
                kinds: counted(occurring.kinds),
            },
        }
    }
}

/// How many cells that may rank have a shape.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct CountedShape {
    #[serde(flatten)]
    shape: Shape,
    cell_count: u64,
}

/// A value that filters can have.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Counted {
    /// As a filter names it.
    value: String,
    /// As people read it.
    label: String,
    run_count: u64,
}

impl From<store::Counted> for Counted {
    fn from(counted: store::Counted) -> Counted {
        Counted {
            value: counted.value,
            label: counted.label,
            run_count: counted.run_count,
        }
    }
}

/// What occurs among runs.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Occurring {
    models: Vec<Counted>,
    hardware: Vec<Counted>,
    engines: Vec<Counted>,
    quantizations: Vec<Counted>,
    gpu_counts: Vec<Counted>,
    kinds: Vec<Counted>,
}
