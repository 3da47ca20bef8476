//! House checks and regenerated files: `cargo xtask check`, `cargo xtask schema`,
//! `cargo xtask examples`.
// Printing is this program's job.
#![allow(clippy::print_stdout)]

mod check;
mod examples;
mod schema;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;

/// Chores of the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask")]
enum Chore {
    /// Check the house rules of CONTRIBUTING.md.
    Check,
    /// Write docs/schema/tokgrid.run-1.json from the types of the document crate.
    Schema,
    /// Write examples/runs/ from the published pages' figures in examples/seeds/.
    Examples,
}

fn main() -> anyhow::Result<ExitCode> {
    let root = workspace_root()?;
    match Chore::parse() {
        Chore::Check => check::run(&root),
        Chore::Schema => {
            let path = schema::write(&root)?;
            println!("wrote {}", path.display());
            Ok(ExitCode::SUCCESS)
        }
        Chore::Examples => {
            for name in examples::write(&root)? {
                println!("wrote examples/runs/{name}.json");
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The folder that holds this crate's folder.
fn workspace_root() -> anyhow::Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent()
        .map(Path::to_path_buf)
        .with_context(|| format!("{} has no parent folder", here.display()))
}
