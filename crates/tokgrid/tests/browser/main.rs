//! What people do with the site, in a real Chromium: `scripts/test browser`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
mod harness;

mod accessible;
mod languages;
mod links;
mod people;
mod ranking;
mod reading;
mod without_scripts;
