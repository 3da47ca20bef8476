//! `tokgrid run`: measures a server.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use document::{CellStatus, Launch, Plan, RunDocument, parse_context_tokens};
use load::prompt::{self, Prose};
use load::recorder;
use load::{Interruption, Patience, RunError, RunOptions, RunOutcome, TargetOptions};
use site::words::Words;
use tokio_util::sync::CancellationToken;

use crate::terminal::{self, Mode};
use crate::{EXIT_SERVER, EXIT_WRONG_USE, fail_with, launch, report_command};

/// Some cell failed, or the run was cut short.
const EXIT_NOT_ALL_MEASURED: u8 = 1;

/// Measures a server and writes its run document
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Where the server is: http://host:port
    #[arg(long, value_name = "URL")]
    url: String,
    /// The model, when the server has several
    #[arg(long, value_name = "ID")]
    model: Option<String>,
    /// Which route generates
    #[arg(long, value_enum, default_value = "chat")]
    api: ApiArg,

    /// Context lengths, such as 8k,16k [default: 8k to the model's limit, doubling]
    #[arg(long, value_name = "LENGTHS", value_delimiter = ',', value_parser = context, help_heading = "Plan")]
    contexts: Option<Vec<u64>>,
    /// Context lengths whose prefill is measured [default: those above and the model's limit]
    #[arg(long, value_name = "LENGTHS", value_delimiter = ',', value_parser = context, help_heading = "Plan")]
    prefill_contexts: Option<Vec<u64>>,
    /// Requests at once, such as 1,2,4 [default: 1,2,4 … 128]
    #[arg(
        long,
        value_name = "NUMBERS",
        value_delimiter = ',',
        value_parser = concurrency,
        help_heading = "Plan"
    )]
    concurrency: Option<Vec<u32>>,
    /// Length of each decode measurement [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Plan")]
    duration: Option<Duration>,
    /// Longest answer, tokens [default: 4096]
    #[arg(long, value_name = "TOKENS", help_heading = "Plan")]
    max_output: Option<u64>,
    /// Cold samples for each prefill figure [default: 1]
    #[arg(long, value_name = "N", help_heading = "Plan")]
    prefill_samples: Option<u32>,
    /// Seed of the prompts [default: 0]
    #[arg(long, value_name = "N", help_heading = "Plan")]
    seed: Option<u64>,
    /// Send each stream a sampling seed too; an engine may sample slower then
    #[arg(long, help_heading = "Plan")]
    stream_seeds: bool,
    /// Let the model end its answers
    #[arg(long, help_heading = "Plan")]
    no_ignore_eos: bool,
    /// Count a prompt that all requests share once against the KV cache
    #[arg(long, help_heading = "Plan")]
    count_shared_prompt_once: bool,
    /// Warm llama.cpp's slots by copying one; it must run with --slot-save-path,
    /// and a file stays in that folder
    #[arg(long, help_heading = "Plan")]
    copy_slots: bool,
    /// A TOML file with the plan; flags go before it
    #[arg(long, value_name = "FILE", help_heading = "Plan")]
    plan: Option<PathBuf>,
    /// Text that prompts are made of, one sentence a line
    #[arg(long, value_name = "FILE", help_heading = "Plan")]
    prompt_file: Option<PathBuf>,

    /// API key; better in the environment or a file
    #[arg(
        long,
        value_name = "KEY",
        env = "TOKGRID_API_KEY",
        hide_env_values = true,
        help_heading = "Access"
    )]
    api_key: Option<String>,
    /// A file that holds the API key
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "api_key",
        help_heading = "Access"
    )]
    api_key_file: Option<PathBuf>,
    /// A header to send, `Name: value`; may be given several times
    #[arg(long, value_name = "HEADER", help_heading = "Access")]
    header: Vec<String>,
    /// A file of CA certificates (PEM) to trust
    #[arg(long, value_name = "FILE", help_heading = "Access")]
    ca: Option<PathBuf>,
    /// Do not verify the server's certificate
    #[arg(long, help_heading = "Access")]
    insecure: bool,
    /// How long a first token may take [default: 15min]
    #[arg(long, value_name = "TIME", value_parser = patience, help_heading = "Access")]
    first_token_timeout: Option<Duration>,
    /// How long a stream may fall silent [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = patience, help_heading = "Access")]
    stall_timeout: Option<Duration>,

    /// Where the run document goes; samples lie beside it
    #[arg(
        long,
        value_name = "FILE",
        default_value = "run.json",
        help_heading = "Output"
    )]
    out: PathBuf,
    /// Write the report too
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    report: Option<PathBuf>,
    /// Plain lines instead of the live view
    #[arg(long, help_heading = "Output")]
    plain: bool,
    /// One JSON event a line on stdout, and nothing else
    #[arg(long, conflicts_with = "plain", help_heading = "Output")]
    json: bool,
    /// Go on with the run at --out
    #[arg(long, conflicts_with = "force", help_heading = "Output")]
    resume: bool,
    /// Replace what is at --out
    #[arg(long, help_heading = "Output")]
    force: bool,

    /// The command that started the server; secrets in it are replaced
    #[arg(long, value_name = "COMMAND", help_heading = "What the document says")]
    launch_command: Option<String>,
    /// A file that holds it
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "launch_command",
        help_heading = "What the document says"
    )]
    launch_file: Option<PathBuf>,
    /// Who runs this
    #[arg(long, value_name = "NAME", help_heading = "What the document says")]
    author: Option<String>,
    /// On whose behalf
    #[arg(long, value_name = "NAME", help_heading = "What the document says")]
    organization: Option<String>,
    /// Free text
    #[arg(long, value_name = "TEXT", help_heading = "What the document says")]
    notes: Option<String>,
}

/// Which route generates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ApiArg {
    /// /v1/chat/completions
    Chat,
    /// /v1/completions
    Completions,
}

fn context(text: &str) -> Result<u64, String> {
    parse_context_tokens(text).map_err(|error| error.to_string())
}

fn concurrency(text: &str) -> Result<u32, String> {
    let bad = |_| format!("`{text}` is no number of requests: write for example 1,2,4");
    text.trim().parse().map_err(bad)
}

/// `30s`, `500ms`, `2min`; a bare number is seconds.
fn duration(text: &str) -> Result<Duration, String> {
    let bad = || format!("`{text}` is no length of time: write 30s, 500ms or 2min");
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|_| bad());
    }
    let span: jiff::SignedDuration = text.parse().map_err(|_| bad())?;
    Duration::try_from(span).map_err(|_| bad())
}

/// A length of time in which something can happen.
fn patience(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("nothing can come in no time: write 30s or 2min".to_owned()),
        given => Ok(given),
    }
}

/// Measures, shows, writes.
///
/// # Errors
/// Wrong use that is found before the server is asked.
pub async fn run(args: RunArgs) -> anyhow::Result<ExitCode> {
    let mode = Mode::choose(args.plain, args.json);
    let report = args.report.clone();
    check_places(&args)?;
    let options = options(args)?;
    let out = options.out.clone();
    match measure(options, mode).await? {
        Ok(outcome) => {
            let code = conclude(&outcome, mode, &out)?;
            if let Some(report) = report {
                report_command::write(&outcome.document, &report, Words::default())?;
                if mode != Mode::Json {
                    report_command::say_where(&report)?;
                }
            }
            Ok(code)
        }
        Err(error) => {
            let status = if error.is_servers() {
                EXIT_SERVER
            } else if error.is_midway() {
                EXIT_NOT_ALL_MEASURED
            } else {
                EXIT_WRONG_USE
            };
            Ok(fail_with(&error.into(), status))
        }
    }
}

/// Finds out before an hour of measuring what cannot be written after it.
fn check_places(args: &RunArgs) -> anyhow::Result<()> {
    let out = &args.out;
    if out.is_dir() {
        bail!(
            "{} is a folder; give a file in it, such as --out {}",
            out.display(),
            out.join("run.json").display()
        );
    }
    let Some(report) = &args.report else {
        return Ok(());
    };
    let is_report = |path: &Path| recorder::real_path(path) == recorder::real_path(report);
    if is_report(out) || is_report(&recorder::samples_path(out)) {
        bail!(
            "--report and --out both name {}; give them files of their own",
            report.display()
        );
    }
    let folder = report.parent().filter(|f| !f.as_os_str().is_empty());
    if report.is_dir() || !folder.is_none_or(Path::is_dir) {
        bail!(
            "{} cannot be written; give a file in a folder that exists with --report",
            report.display()
        );
    }
    Ok(())
}

/// Runs a measurement and shows it while it goes on.
///
/// # Errors
/// When the display breaks down; what went wrong with the run is the inner result.
pub(crate) async fn measure(
    options: RunOptions,
    mode: Mode,
) -> anyhow::Result<Result<RunOutcome, RunError>> {
    let (progress, events) = tokio::sync::mpsc::unbounded_channel();
    let (cancel, mut cancelled) = tokio::sync::watch::channel(false);
    let stop = CancellationToken::new();
    let stop_on_cancel = stop.clone();
    tokio::spawn(async move {
        // The sender lives as long as the display listens for Ctrl-C.
        if cancelled
            .wait_for(|is_cancelled| *is_cancelled)
            .await
            .is_ok()
        {
            stop_on_cancel.cancel();
        }
    });
    let shown = tokio::spawn(terminal::show(mode, events, cancel));
    let outcome = on_a_thread_of_its_own(options, progress, stop).await?;
    shown.await.context("the display broke down")??;
    Ok(outcome)
}

/// Measuring shares no thread with anything else: a display that redraws must
/// not make a token late.
async fn on_a_thread_of_its_own(
    options: RunOptions,
    progress: tokio::sync::mpsc::UnboundedSender<load::Progress>,
    stop: CancellationToken,
) -> anyhow::Result<Result<RunOutcome, RunError>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start measuring")?;
    let measuring =
        tokio::task::spawn_blocking(move || runtime.block_on(load::run(options, progress, stop)));
    measuring.await.context("measuring broke down")
}

/// Final tables, where the document is, and the exit status.
pub(crate) fn conclude(outcome: &RunOutcome, mode: Mode, out: &Path) -> anyhow::Result<ExitCode> {
    let document = &outcome.document;
    if mode != Mode::Json {
        let tables = terminal::tables::render(document, terminal::width(), terminal::has_colour());
        terminal::print(&tables)?;
        let hint = match outcome.interruption {
            Some(Interruption::Stopped) => {
                ", as far as measured; the same command with --resume goes on"
            }
            Some(Interruption::ServerGone(_)) | None => "",
        };
        terminal::print(&format!("\nRun document: {}{hint}\n", out.display()))?;
    }
    if let Some(Interruption::ServerGone(why)) = &outcome.interruption {
        let said = anyhow::anyhow!(
            "{why}. What was measured is in {}; go on with --resume",
            out.display()
        );
        return Ok(fail_with(&said, EXIT_NOT_ALL_MEASURED));
    }
    let is_complete = outcome.interruption.is_none() && !has_failed(document);
    Ok(if is_complete {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(EXIT_NOT_ALL_MEASURED)
    })
}

fn has_failed(document: &RunDocument) -> bool {
    document
        .cells
        .iter()
        .any(|cell| cell.status == CellStatus::Failed)
}

fn options(args: RunArgs) -> anyhow::Result<RunOptions> {
    let plan = plan(&args)?;
    plan.check()?;
    let (prose, prompt_source) = prose(args.prompt_file.as_deref())?;
    let api_key = match &args.api_key_file {
        Some(path) => Some(read(path)?.trim().to_owned()),
        None => args.api_key,
    };
    let launch = match (&args.launch_command, &args.launch_file) {
        (Some(command), _) => launch::provided(command),
        (None, Some(path)) => launch::provided(&read(path)?),
        (None, None) => Launch::default(),
    };
    let usual = Patience::default();
    let seconds = |given: Option<Duration>, usual: f64| given.map_or(usual, |d| d.as_secs_f64());
    Ok(RunOptions {
        target: TargetOptions {
            url: args.url,
            api_key: api_key.filter(|key| !key.is_empty()),
            headers: args.header,
            ca: args.ca,
            insecure: args.insecure,
        },
        model: args.model,
        api: match args.api {
            ApiArg::Chat => wire::Api::Chat,
            ApiArg::Completions => wire::Api::Completions,
        },
        plan,
        prose,
        prompt_source,
        launch,
        author: args.author,
        organization: args.organization,
        notes: args.notes,
        patience: Patience {
            first_token_s: seconds(args.first_token_timeout, usual.first_token_s),
            next_event_s: seconds(args.stall_timeout, usual.next_event_s),
            ..usual
        },
        out: args.out,
        resume: args.resume,
        overwrite: args.force,
    })
}

/// The plan file, where there is one, with the flags over it.
fn plan(args: &RunArgs) -> anyhow::Result<Plan> {
    let mut plan = match &args.plan {
        Some(path) => toml::from_str(&read(path)?)
            .with_context(|| format!("{} is not a plan", path.display()))?,
        None => Plan::default(),
    };
    plan.contexts = args.contexts.clone().or(plan.contexts);
    plan.prefill_contexts = args.prefill_contexts.clone().or(plan.prefill_contexts);
    plan.concurrency = args.concurrency.clone().unwrap_or(plan.concurrency);
    plan.window_s = args.duration.map_or(plan.window_s, |d| d.as_secs_f64());
    plan.max_output_tokens = args.max_output.unwrap_or(plan.max_output_tokens);
    plan.prefill_samples = args.prefill_samples.unwrap_or(plan.prefill_samples);
    plan.seed = args.seed.unwrap_or(plan.seed);
    plan.stream_seeds |= args.stream_seeds;
    plan.ignore_eos &= !args.no_ignore_eos;
    plan.copy_slots |= args.copy_slots;
    plan.count_shared_prompt_once |= args.count_shared_prompt_once;
    Ok(plan)
}

fn prose(path: Option<&Path>) -> anyhow::Result<(Prose, String)> {
    let Some(path) = path else {
        return Ok((Prose::built_in(), prompt::BUILT_IN_NAME.to_owned()));
    };
    let prose = Prose::from_text(&read(path)?)
        .with_context(|| format!("cannot make prompts of {}", path.display()))?;
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    Ok((prose, name.unwrap_or_default()))
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
