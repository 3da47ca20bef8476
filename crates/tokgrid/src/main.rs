//! `tokgrid`: wiring only. Each command has a file of its own.

mod db_command;
mod demo_command;
mod import_command;
mod kept_tokens;
mod launch;
mod publish_command;
mod registry;
mod rejudge_command;
mod report_command;
mod run_command;
mod serve_command;
mod serve_options;
mod sign_in_command;
mod sim_command;
mod terminal;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Exit status: wrong use.
pub(crate) const EXIT_WRONG_USE: u8 = 2;
/// Exit status: the server cannot be reached or refuses.
pub(crate) const EXIT_SERVER: u8 = 3;

/// How fast is a language model server, really? Measures its speed test matrix.
#[derive(Parser)]
#[command(name = "tokgrid", version, propagate_version = true)]
#[command(
    after_help = "Exit status: 0 measured; 1 some cell failed, or the run was cut short; \
2 wrong use; 3 the server cannot be reached or refuses."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Shows it all on this machine: simulated engine, matrix, report
    Demo(demo_command::DemoArgs),
    /// Measures a server
    Run(Box<run_command::RunArgs>),
    /// Serves the site of runs: pages, leaderboard, API
    Serve(serve_command::ServeArgs),
    /// Prepares, checks and carries over the site's database
    Db(db_command::DbArgs),
    /// Publishes run documents on a registry
    Publish(publish_command::PublishArgs),
    /// Signs this terminal in to a registry, by a code that you confirm in a browser
    SignIn(sign_in_command::SignInArgs),
    /// Simulates an inference engine, to measure without one
    Sim(Box<sim_command::SimArgs>),
    /// Writes a run document as one HTML file
    Report(report_command::ReportArgs),
    /// Makes run documents of other tools' result files
    Import(import_command::ImportArgs),
    /// Computes a document's figures again from its samples
    Rejudge(rejudge_command::RejudgeArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return fail(&anyhow::Error::new(error).context("cannot start")),
    };
    let result = runtime.block_on(async {
        match cli.command {
            Command::Demo(args) => demo_command::run(args).await,
            Command::Run(args) => run_command::run(*args).await,
            Command::Serve(args) => serve_command::run(args).await,
            Command::Db(args) => db_command::run(args).await,
            Command::Publish(args) => publish_command::run(args).await,
            Command::SignIn(args) => sign_in_command::run(args).await,
            Command::Sim(args) => sim_command::run(*args).await,
            Command::Report(args) => report_command::run(&args),
            Command::Import(args) => import_command::run(&args),
            Command::Rejudge(args) => rejudge_command::run(&args),
        }
    });
    // A terminal thread that nobody reads any more is not waited for.
    runtime.shutdown_background();
    match result {
        Ok(code) => code,
        Err(error) => fail(&error),
    }
}

/// Says an error in one line and answers with the status of wrong use.
pub(crate) fn fail(error: &anyhow::Error) -> ExitCode {
    fail_with(error, EXIT_WRONG_USE)
}

/// Says an error in one line.
pub(crate) fn fail_with(error: &anyhow::Error, status: u8) -> ExitCode {
    // Nowhere to say that stderr is closed.
    let _ = writeln!(
        std::io::stderr(),
        "error: {}",
        printable(&in_one_line(error))
    );
    ExitCode::from(status)
}

/// What a server said may hold codes that a terminal obeys.
pub(crate) fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect()
}

/// An error with its causes; many say their cause themselves, and once is enough.
fn in_one_line(error: &anyhow::Error) -> String {
    error.chain().fold(String::new(), |said, cause| {
        let cause = cause.to_string();
        match (said.is_empty(), said.contains(&cause)) {
            (true, _) => cause,
            (false, true) => said,
            (false, false) => format!("{said}: {cause}"),
        }
    })
}
