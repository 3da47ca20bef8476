#![doc = include_str!("../README.md")]

mod catalogue;
mod database;
mod error;
mod names;
mod publish;
mod query;
mod ranking;
mod read;

pub use catalogue::{Counted, HardwareEntry, ModelEntry, Offered, OrganizationEntry};
pub use database::{DatabaseUrl, Dialect, Store};
pub use error::StoreError;
pub use names::{Kind, Metric, Named, Shape};
pub use publish::{NewRun, Published};
pub use query::{Filter, Page, PageRequest};
pub use ranking::{Configuration, RankedCell, RankingQuery, ShapeCount};
pub use read::{CellQuery, CellRow, Hidden, RunQuery, RunSummary, StoredRun};
