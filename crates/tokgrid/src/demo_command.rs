//! `tokgrid demo`: the whole thing on a machine without a GPU.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use document::{Launch, LaunchProvenance, Plan};
use load::prompt::{self, Prose};
use load::{Patience, RunOptions, TargetOptions};
use simulator::{Config, Simulator};
use site::words::Words;

use crate::terminal::{self, Mode};
use crate::{EXIT_SERVER, fail_with, report_command, run_command};

/// What the demo measures.
const PRESET: &str = "glm-5.3-flash-4x-rtx-pro-6000";
/// How much faster than the real server the simulated one runs, so that a small
/// matrix takes about a minute.
const SPEED: f64 = 10.0;
/// Its contexts, tokens: small enough to be read quickly.
const CONTEXTS: [u64; 3] = [8 << 10, 32 << 10, 128 << 10];
/// Its requests at once; the preset runs 32, so that the last one shows a queue.
const CONCURRENCY: [u32; 4] = [1, 8, 32, 64];
/// Length of its windows, s: 30 s of the simulated server's time.
const WINDOW_S: f64 = 3.0;

/// Shows it all on this machine: simulated engine, matrix, report
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Where run.json and report.html go
    #[arg(long, value_name = "FOLDER", default_value = "tokgrid-demo")]
    out: PathBuf,
    /// Plain lines instead of the live view
    #[arg(long)]
    plain: bool,
}

/// Starts the simulated engine, measures it, writes document and report.
///
/// # Errors
/// When the engine cannot be started or files cannot be written.
pub async fn run(args: DemoArgs) -> anyhow::Result<ExitCode> {
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make the folder {}", args.out.display()))?;
    let mut config = Config::preset(PRESET)?;
    config.speed = SPEED;
    config.listen = ([127, 0, 0, 1], 0).into();
    let server = Simulator::start(config)
        .await
        .context("cannot start the simulated engine")?;
    let mode = Mode::choose(args.plain, false);
    let out = args.out.join("run.json");
    let measured = run_command::measure(options(&server.url(), out.clone()), mode).await?;
    server.stop().await;
    let outcome = match measured {
        Ok(outcome) => outcome,
        Err(error) => return Ok(fail_with(&error.into(), EXIT_SERVER)),
    };
    let code = run_command::conclude(&outcome, mode, &out)?;
    let report = args.out.join("report.html");
    report_command::write(&outcome.document, &report, Words::default())?;
    report_command::say_where(&report)?;
    terminal::print(&format!(
        "\nThis was a simulated server at {SPEED:.0} times its speed: {SPEED:.0} times the tok/s and a tenth of\n\
         the times of the machine it imitates. Open the report in a browser. To measure a server of your own:\n\n    \
         tokgrid run --url http://localhost:8000 --report report.html\n"
    ))?;
    Ok(code)
}

fn options(url: &str, out: PathBuf) -> RunOptions {
    RunOptions {
        target: TargetOptions {
            url: url.to_owned(),
            ..TargetOptions::default()
        },
        model: None,
        api: wire::Api::Chat,
        plan: Plan {
            contexts: Some(CONTEXTS.to_vec()),
            concurrency: CONCURRENCY.to_vec(),
            window_s: WINDOW_S,
            ..Plan::default()
        },
        prose: Prose::built_in(),
        prompt_source: prompt::BUILT_IN_NAME.to_owned(),
        launch: Launch {
            command: Some(format!("tokgrid sim --preset {PRESET} --speed {SPEED:.0}")),
            provenance: LaunchProvenance::Provided,
            ..Launch::default()
        },
        author: None,
        organization: None,
        notes: Some(format!(
            "Measured by tokgrid demo on the built-in simulated engine at {SPEED:.0} times real speed: not a real machine."
        )),
        patience: Patience::default(),
        out,
        resume: false,
        overwrite: true,
    }
}
