//! `tokgrid rejudge`: a document's figures again, from its samples.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use document::{Cell, CellKey, format};
use load::recorder;

use crate::report_command::read_document;
use crate::terminal;

/// Some figure differs.
const EXIT_DIFFERS: u8 = 1;

/// Computes a document's figures again from its samples
#[derive(Debug, Args)]
pub struct RejudgeArgs {
    /// The run document; its samples must lie beside it
    run: PathBuf,
    /// Write the figures into the document
    #[arg(long)]
    write: bool,
}

/// Compares, says what differs, and writes if asked to.
///
/// # Errors
/// When document or samples cannot be read, or do not belong together.
pub fn run(args: &RejudgeArgs) -> anyhow::Result<ExitCode> {
    let path = args.run.display();
    let mut document = read_document(&args.run)?;
    let samples = recorder::read_samples(&args.run, &document)?;
    // A cell that was measured again stands twice; the later one counts.
    let judged: BTreeMap<CellKey, Cell> = samples
        .iter()
        .map(|cell| (cell.key, judge::judge(cell)))
        .collect();
    let mut differing = Vec::new();
    for cell in &mut document.cells {
        let again = judged
            .get(&cell.key())
            .with_context(|| format!("there are no samples of {}", name(cell.key())))?;
        // What a newer writer added is not ours to judge.
        let again = Cell {
            extra: cell.extra.clone(),
            ..again.clone()
        };
        if !is_same(cell, &again)? {
            differing.push(name(cell.key()));
            *cell = again;
        }
    }
    let cells = document.cells.len();
    if differing.is_empty() {
        terminal::print(&format!(
            "{cells} cells judged again: every figure is the same\n"
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    terminal::print(&format!(
        "{cells} cells judged again, {} differ: {}\n",
        differing.len(),
        differing.join(", ")
    ))?;
    if args.write {
        recorder::save_document(&args.run, &document)?;
        terminal::print(&format!("{path} has the new figures\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::from(EXIT_DIFFERS))
}

/// Compared as they are written: JSON is what a document is.
fn is_same(a: &Cell, b: &Cell) -> anyhow::Result<bool> {
    Ok(serde_json::to_string(a)? == serde_json::to_string(b)?)
}

fn name(key: CellKey) -> String {
    let context = format::context(key.context_tokens);
    match key.phase {
        document::Phase::Prefill => format!("prefill {context}"),
        document::Phase::Decode => format!("decode {context} × {}", key.concurrency),
    }
}
