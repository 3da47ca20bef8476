//! What people do with accounts, and what others must not be able to do.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod attacks;
mod browser;
mod devices;
mod leaks;
mod moderation;
mod oidc;
mod organizations;
mod sessions;
mod tokens;
