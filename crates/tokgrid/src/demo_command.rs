//! `tokgrid demo`: the whole thing on a machine without a GPU.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use document::{Launch, LaunchProvenance, Plan};
use load::prompt::{self, Prose};
use load::{Patience, RunOptions, TargetOptions};
use simulator::{Config, Simulator};
use site::Site;
use site::intake::{self, Publisher};
use site::words::Words;
use store::Store;
use tokio::net::TcpListener;

use crate::terminal::{self, Mode};
use crate::{EXIT_SERVER, fail_with, report_command, run_command, serve_command};

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

/// The runs that stand beside the demo's own: two published pages, imported.
const EXAMPLES: [&str; 2] = [
    include_str!("../../../examples/runs/deepseek-v4.1-flash-4x-rtx-pro-6000.json"),
    include_str!("../../../examples/runs/glm-5.3-flash-4x-rtx-pro-6000.json"),
];
/// Where the site is served unless told otherwise; a free port where this is taken.
const LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);

/// Shows it all on this machine: simulated engine, matrix, report, site
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Where run.json, report.html and the site's database go
    #[arg(long, value_name = "FOLDER", default_value = "tokgrid-demo")]
    out: PathBuf,
    /// Where the run is stored [default: sqlite:tokgrid.db in the folder]
    #[arg(
        long = "db",
        value_name = "URL",
        env = "TOKGRID_DB",
        hide_env_values = true
    )]
    database: Option<store::DatabaseUrl>,
    /// Address of the site [default: 127.0.0.1:8080, or a free port]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Stores the run and ends, without serving the site
    #[arg(long)]
    no_serve: bool,
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
    if outcome.interruption.is_none() {
        store_and_serve(&args, &out).await?;
    }
    Ok(code)
}

/// Stores the run beside the examples and serves the site, until Ctrl-C.
async fn store_and_serve(args: &DemoArgs, out: &Path) -> anyhow::Result<()> {
    let database = match &args.database {
        Some(database) => database.clone(),
        None => database_in(&args.out)?,
    };
    let store = Store::open(&database)
        .await
        .context("cannot open the database")?;
    let listener = if args.no_serve {
        None
    } else {
        Some(listen(args.listen).await?)
    };
    let public_url = match &listener {
        Some(listener) => serve_command::address(listener)?,
        None => format!("http://{LISTEN}"),
    };
    let site = serve_command::site(store, &public_url);
    let run = std::fs::read(out).with_context(|| format!("reading {}", out.display()))?;
    let id = store_runs(&site, &run).await?;
    terminal::print(&format!(
        "\nThis was a simulated server at {SPEED:.0} times its speed: {SPEED:.0} times the tok/s and a tenth of\n\
         the times of the machine it imitates. To measure a server of your own:\n\n    \
         tokgrid run --url http://localhost:8000 --report report.html\n\n\
         The run is stored in {database}, beside two example runs.\n"
    ))?;
    match listener {
        Some(listener) => {
            terminal::print(&format!("Its page: {public_url}/runs/{id}\n"))?;
            serve_command::serve(site, listener).await
        }
        None => Ok(terminal::print(&format!(
            "To read it: tokgrid serve --db {database}\n"
        ))?),
    }
}

/// The database in the demo's folder.
fn database_in(folder: &Path) -> anyhow::Result<store::DatabaseUrl> {
    Ok(format!("sqlite:{}", folder.join("tokgrid.db").display()).parse()?)
}

/// The address asked for; else the usual one, or a free port where that is taken.
async fn listen(asked: Option<SocketAddr>) -> anyhow::Result<TcpListener> {
    if let Some(address) = asked {
        return serve_command::listen(address).await;
    }
    match TcpListener::bind(LISTEN).await {
        Ok(listener) => Ok(listener),
        Err(_) => serve_command::listen(SocketAddr::new(LISTEN.ip(), 0)).await,
    }
}

/// Stores the examples and the demo's run, and names the latter.
async fn store_runs(site: &Site, run: &[u8]) -> anyhow::Result<String> {
    let mut id = String::new();
    for content in EXAMPLES.iter().map(|text| text.as_bytes()).chain([run]) {
        let received = intake::read(content, &site.options)?;
        id = intake::publish(site, &received, Publisher::default())
            .await?
            .id;
    }
    Ok(id)
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
