//! A browser, a site, and what tests do with them.

pub mod axe;
pub mod browser;
pub mod driver;
pub mod http;
pub mod pages;
pub mod site;

pub use browser::{Browser, NARROW, Scheme, WIDE};
pub use site::TestSite;
