//! `tokgrid rejudge`: a document's figures again, from its samples.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use document::{Cell, CellKey, Source, format};
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
    if document.source == Source::Imported {
        bail!("{path} was imported: only runs measured by tokgrid have samples to judge again");
    }
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
        let changes = changes(cell, &again)?;
        if !changes.is_empty() {
            differing.push(format!("  {}: {}\n", name(cell.key()), changes.join(", ")));
            *cell = again;
        }
    }
    let cells = match document.cells.len() {
        1 => "1 cell".to_owned(),
        cells => format!("{cells} cells"),
    };
    if differing.is_empty() {
        terminal::print(&format!("{cells} judged again: every figure is the same\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    terminal::print(&format!(
        "{cells} judged again, {} differ:\n{}",
        differing.len(),
        differing.concat()
    ))?;
    if args.write {
        recorder::save_document(&args.run, &document)?;
        terminal::print(&format!("{path} has the new figures\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::from(EXIT_DIFFERS))
}

/// Fields that differ, with what is written and what is judged now. Compared as
/// they are written: JSON is what a document is.
fn changes(written: &Cell, judged: &Cell) -> anyhow::Result<Vec<String>> {
    let (written, judged) = (
        serde_json::to_value(written)?,
        serde_json::to_value(judged)?,
    );
    let fields = written.as_object().into_iter().flatten();
    Ok(fields
        .filter(|(name, value)| judged.get(name.as_str()) != Some(value))
        .map(|(name, value)| {
            let now = judged
                .get(name.as_str())
                .unwrap_or(&serde_json::Value::Null);
            format!("{name} {value}, now {now}")
        })
        .collect())
}

/// How a cell is named in lines for people.
pub(crate) fn name(key: CellKey) -> String {
    let context = format::context(key.context_tokens);
    match key.phase {
        document::Phase::Prefill => format!("prefill {context}"),
        document::Phase::Decode => format!("decode {context} × {}", key.concurrency),
    }
}
