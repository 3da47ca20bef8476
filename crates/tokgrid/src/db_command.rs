//! `tokgrid db`: the registry's database itself.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, Subcommand};
use store::{Carried, CheckReport};

use crate::serve_command::DatabaseArgs;
use crate::terminal;

/// What is kept differs from what the runs make it.
const EXIT_DIFFERS: u8 = 1;

/// Prepares, checks and carries over the database of the site
#[derive(Debug, Args)]
pub struct DbArgs {
    #[command(subcommand)]
    command: DbCommand,
}

#[derive(Debug, Subcommand)]
enum DbCommand {
    /// Makes the tables, or brings them to this version; `serve` does it too
    Migrate {
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Proves documents, cells, counts and best cells; exit status 1 where one is wrong
    Check {
        #[command(flatten)]
        database: DatabaseArgs,
        /// Make counts and best cells anew from the runs first
        #[arg(long)]
        repair: bool,
    },
    /// Writes all that is stored into one file, for either database
    Export {
        /// The file, or `-` for standard output; it must not exist
        file: PathBuf,
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Reads what `export` wrote into an empty database
    Import {
        /// The file, or `-` for standard input
        file: PathBuf,
        #[command(flatten)]
        database: DatabaseArgs,
    },
}

/// Does it and says what was done.
///
/// # Errors
/// When the database cannot be opened, or a file cannot be read or written.
pub async fn run(args: DbArgs) -> anyhow::Result<ExitCode> {
    match args.command {
        DbCommand::Migrate { database } => {
            database.open().await?;
            terminal::print("The database has the tables of this version\n")?;
            Ok(ExitCode::SUCCESS)
        }
        DbCommand::Check { database, repair } => {
            let store = database.open_existing().await?;
            if repair {
                store.rebuild().await?;
            }
            let report = store.check().await?;
            terminal::print(&told(&report))?;
            Ok(if report.is_clean() {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(EXIT_DIFFERS)
            })
        }
        DbCommand::Export { file, database } => {
            let store = database.open_existing().await?;
            let to_stdout = file == Path::new("-");
            let out: Box<dyn Write> = if to_stdout {
                Box::new(io::stdout())
            } else {
                let created = File::create_new(&file);
                Box::new(created.with_context(|| format!("cannot create {}", file.display()))?)
            };
            let carried = store.export(out).await?;
            if !to_stdout {
                terminal::print(&format!(
                    "{} written to {}\n",
                    rows(carried),
                    file.display()
                ))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        DbCommand::Import { file, database } => {
            let input: Box<dyn Read> = if file == Path::new("-") {
                Box::new(io::stdin())
            } else {
                let opened = File::open(&file);
                Box::new(opened.with_context(|| format!("cannot open {}", file.display()))?)
            };
            let store = database.open().await?;
            let carried = store.import(input).await?;
            terminal::print(&format!("{} read and checked\n", rows(carried)))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn rows(carried: Carried) -> String {
    format!(
        "{} of {}",
        counted(carried.row_count, "row"),
        counted(carried.table_count, "table")
    )
}

fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

fn told(report: &CheckReport) -> String {
    let read = format!(
        "{} and {} read",
        counted(report.run_count, "run"),
        counted(report.cell_count, "cell")
    );
    if report.is_clean() {
        return format!("{read}: all is as it must be\n");
    }
    let mut told = format!(
        "{read}, {}:\n",
        counted(report.difference_count, "difference")
    );
    for difference in &report.differences {
        told.push_str(&format!("  {difference}\n"));
    }
    let untold = report.difference_count - report.differences.len() as u64;
    if untold > 0 {
        told.push_str(&format!("  and {untold} more\n"));
    }
    told.push_str("`tokgrid db check --repair` makes counts and best cells anew\n");
    told
}
