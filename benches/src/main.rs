//! `tokgrid-benches`: what holds at the size of the world.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use benches::registry::{self, Options};
use benches::world::World;
use clap::{Args, Parser, Subcommand};

/// What could not be measured at all.
const EXIT_BROKEN: u8 = 2;
/// The database's name where none is given.
const DATABASE_NAME: &str = "registry.db";

/// How fast tokgrid is at the size of the world
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fills a registry, serves it and reads its pages at stated rates
    ///
    /// Exit status: 0 all that is required holds, 1 something is over, 2 it could not
    /// be measured.
    Registry(RegistryArgs),
    /// Fills a database with runs, to look at
    Fill(FillArgs),
}

#[derive(Debug, Args)]
struct FillArgs {
    /// Runs, those that are there included
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    runs: u64,
    /// SQLite file
    #[arg(long, value_name = "PATH")]
    database: PathBuf,
    /// Makes the runs
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
struct RegistryArgs {
    /// Runs at the largest size; smaller sizes are measured on the way
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(100..))]
    runs: u64,
    /// SQLite file; what is there is kept and filled up [default: a new one in the temporary folder]
    #[arg(long, value_name = "PATH")]
    database: Option<PathBuf>,
    /// Keeps the database, also a temporary one
    #[arg(long)]
    keep: bool,
    /// Makes the runs and what is asked for
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The tokgrid to measure [default: the one beside this program, built first]
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    /// Lists, leaderboards and models a second
    #[arg(long, value_name = "N", default_value_t = 100.0)]
    listing_rate: f64,
    /// Run pages a second
    #[arg(long, value_name = "N", default_value_t = 1000.0)]
    run_rate: f64,
    /// Length of each measurement, s
    #[arg(long, value_name = "S", default_value_t = 30.0)]
    seconds: f64,
    /// Also writes the tables to this file, as Markdown
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Registry(args) => registry(args).await,
        Command::Fill(args) => fill(args).await,
    };
    match done {
        Ok(status) => status,
        Err(error) => {
            // Nobody reads what cannot be written.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(EXIT_BROKEN)
        }
    }
}

async fn fill(args: FillArgs) -> anyhow::Result<ExitCode> {
    let url = format!("sqlite:{}", args.database.display()).parse()?;
    let world = Arc::new(World::new(args.seed)?);
    registry::filled(&url, &world, args.runs, &mut std::io::stderr()).await?;
    Ok(ExitCode::SUCCESS)
}

async fn registry(args: RegistryArgs) -> anyhow::Result<ExitCode> {
    let mut folder = tempfile::tempdir().context("a temporary folder")?;
    let database = args
        .database
        .unwrap_or_else(|| folder.path().join(DATABASE_NAME));
    if args.keep {
        folder.disable_cleanup(true);
        writeln!(std::io::stderr(), "the database is {}", database.display())?;
    }
    let options = Options {
        runs: args.runs,
        database,
        seed: args.seed,
        server: args.server,
        listing_rate_per_s: args.listing_rate,
        run_rate_per_s: args.run_rate,
        duration: Duration::from_secs_f64(args.seconds),
    };
    let sizes = registry::run(&options, &mut std::io::stderr()).await?;
    let (tables, missed) = registry::told(&sizes);
    let mut stdout = std::io::stdout();
    write!(stdout, "{tables}")?;
    if let Some(path) = args.out {
        std::fs::write(&path, &tables)
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    if missed.is_empty() {
        writeln!(stdout, "\nAll that is required holds.")?;
        Ok(ExitCode::SUCCESS)
    } else {
        writeln!(stdout, "\nOver what is required: {}.", missed.join(", "))?;
        Ok(ExitCode::FAILURE)
    }
}
