//! `tokgrid import FILE…`: another tool's result files as run documents.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use document::{Cell, CellStatus, RunDocument, format};
use load::recorder;

use crate::rejudge_command::name;
use crate::terminal;

/// Most cells that are named behind one remark.
const MAX_NAMED: usize = 6;

/// Makes run documents of other tools' result files
#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// Result files of llm-inference-bench, or figures of a published matrix page
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Where the document goes; of several files, a folder that exists
    /// [default: the file's name with the ending .run.json, in this folder]
    #[arg(long, value_name = "RUN.JSON")]
    out: Option<PathBuf>,
    /// Replace documents that are there
    #[arg(long)]
    force: bool,
}

/// Reads all files, then writes all documents: where one is wrong, none is written.
///
/// # Errors
/// When a file is none that is known, or its document has no place to go; each
/// names the file and says what to do.
pub fn run(args: &ImportArgs) -> anyhow::Result<ExitCode> {
    let mut imported: Vec<(PathBuf, RunDocument)> = Vec::new();
    for file in &args.files {
        let run = convert::import(&read(file)?).with_context(|| file.display().to_string())?;
        let out = out_of(file, args)?;
        if let Some(place) = imported.iter().position(|(other, _)| *other == out) {
            bail!(
                "{} and {} would both become {}: import them one by one, each with its own --out",
                args.files[place].display(),
                file.display(),
                out.display()
            );
        }
        refuse_to_replace(&out, args)?;
        imported.push((out, run));
    }
    for (file, (out, run)) in args.files.iter().zip(&imported) {
        recorder::save_document(out, run)?;
        let told = format!("{}{}", report(file, run), written(out));
        terminal::print(&told)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(file: &Path) -> anyhow::Result<Vec<u8>> {
    let named = || file.display().to_string();
    let about = std::fs::metadata(file).with_context(|| format!("{}: cannot be read", named()))?;
    if !about.is_file() {
        bail!("{}: is no file; give the result file itself", named());
    }
    if about.len() > convert::MAX_FILE_BYTES as u64 {
        bail!(
            "{}: {} MB is more than a result file has (at most {} MB are read)",
            named(),
            about.len() / 1_000_000,
            convert::MAX_FILE_BYTES / 1_000_000
        );
    }
    std::fs::read(file).with_context(|| format!("{}: cannot be read", named()))
}

/// Where the document of a file goes.
fn out_of(file: &Path, args: &ImportArgs) -> anyhow::Result<PathBuf> {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let usual = format!("{stem}.run.json");
    match &args.out {
        None => Ok(PathBuf::from(usual)),
        Some(folder) if folder.is_dir() => Ok(folder.join(usual)),
        Some(out) if args.files.len() > 1 => bail!(
            "{} is no folder, and {} files make as many documents: give a folder that exists with --out",
            out.display(),
            args.files.len()
        ),
        Some(out) => Ok(out.clone()),
    }
}

/// Nothing that is there is replaced unasked, and no result file ever.
fn refuse_to_replace(out: &Path, args: &ImportArgs) -> anyhow::Result<()> {
    let is_out = |file: &PathBuf| recorder::real_path(file) == recorder::real_path(out);
    if args.files.iter().any(is_out) {
        bail!(
            "{} is a result file; give another file with --out",
            out.display()
        );
    }
    match std::fs::symlink_metadata(out) {
        Ok(about) if !about.is_file() => bail!(
            "{} is a device, a folder or a link: choose another file with --out",
            out.display()
        ),
        Ok(_) if !args.force => bail!(
            "{} exists: choose another file with --out, or --force to replace it",
            out.display()
        ),
        Ok(_) | Err(_) => Ok(()),
    }
}

fn written(out: &Path) -> String {
    format!("Run document: {}\n", out.display())
}

/// What was imported, which figures are null and why, and the flags.
fn report(file: &Path, run: &RunDocument) -> String {
    let or_unknown = |text: &Option<String>| text.clone().unwrap_or("?".to_owned());
    let from = run.imported_from.clone().unwrap_or_default();
    let version = from.version.map(|version| format!(" {version}"));
    let mut lines = vec![
        format!(
            "{}: {}{}, {} on {}",
            file.display(),
            or_unknown(&from.tool),
            version.unwrap_or_default(),
            or_unknown(&run.model.id),
            or_unknown(&run.engine.name),
        ),
        format!("  {}", statuses(&run.cells)),
    ];
    lines.extend(run.notes.iter().map(|notes| format!("  {notes}")));
    let mut said: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for cell in &run.cells {
        for line in doubts(cell) {
            said.entry(line).or_default().push(name(cell.key()));
        }
    }
    for (line, cells) in said {
        let named = cells.iter().take(MAX_NAMED).cloned().collect::<Vec<_>>();
        let more = match cells.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        lines.push(format!("  {}{more}: {line}", named.join(", ")));
    }
    let lines: Vec<String> = lines.iter().map(|line| crate::printable(line)).collect();
    lines.join("\n") + "\n"
}

/// `14 cells: 10 Valid, 2 Requests queued`.
fn statuses(cells: &[Cell]) -> String {
    let all = [
        CellStatus::Valid,
        CellStatus::Queued,
        CellStatus::OverCapacity,
        CellStatus::Failed,
    ];
    let counts: Vec<String> = all
        .into_iter()
        .map(|status| (status, cells.iter().filter(|c| c.status == status).count()))
        .filter(|(_, count)| *count > 0)
        .map(|(status, count)| format!("{count} {}", status.title()))
        .collect();
    let total = match cells.len() {
        1 => "1 cell".to_owned(),
        cells => format!("{} cells", format::count(cells as u64)),
    };
    format!("{total}: {}", counts.join(", "))
}

/// Everything about a cell that a reader should know before believing it.
fn doubts(cell: &Cell) -> Vec<String> {
    let reason = cell.reason.iter();
    let reason = reason.map(|reason| format!("{}: {reason}", cell.status.title()));
    let flags = cell.flags.iter();
    let flags = flags.map(|flag| format!("flag {}: {}", flag.name.as_str(), flag.evidence));
    reason
        .chain(flags)
        .chain(cell.remarks.iter().cloned())
        .collect()
}
