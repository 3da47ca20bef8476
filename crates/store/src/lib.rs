#![doc = include_str!("../README.md")]

mod accounts;
mod accounts_hidden;
mod accounts_oidc;
mod catalogue;
mod catalogue_list;
mod cell_list;
mod cell_rows;
mod check;
mod check_documents;
mod columns;
mod content;
mod database;
mod devices;
mod error;
mod export;
mod filter;
mod import;
mod kept;
mod kept_sql;
mod moderation;
mod names;
mod naming;
mod organizations;
mod publish;
mod query;
mod ranking;
mod ranking_list;
mod read;
mod rows;
mod run_list;
mod sessions;
mod slug;
mod statement;
mod tables;
mod tokens;

pub use accounts::{Account, NewAccount};
pub use accounts_hidden::HiddenRun;
pub use accounts_oidc::OidcRequest;
pub use catalogue::{Counted, HardwareEntry, ModelEntry, Offered, OrganizationEntry};
pub use check::CheckReport;
pub use database::{DatabaseUrl, Dialect, Store};
pub use devices::{DevicePoll, DeviceRequest, NewDeviceRequest};
pub use error::StoreError;
pub use export::Carried;
pub use names::{Kind, Metric, Named, Shape};
pub use organizations::{
    Member, MemberChange, MemberChanged, Membership, OrganizationCreated, Role,
};
pub use publish::{NewRun, Published};
pub use query::{Filter, Page, PageRequest};
pub use ranking::{Configuration, RankedCell, RankingQuery, ShapeCount};
pub use read::{CellQuery, CellRow, Hidden, RunQuery, RunSummary, StoredRun};
pub use sessions::{NewSession, Session};
pub use tokens::{NewToken, TOKENS_MAX, Token};
