#![doc = include_str!("../README.md")]

pub mod accounts;
mod api;
mod files;
mod frame;
pub mod intake;
pub mod pages;
pub mod query;
pub mod report;
mod routes;
mod security;
mod site;
mod visitor;
pub mod words;

pub use security::Limits;
pub use site::{Importer, OidcOptions, Site, SiteOptions, serve};
