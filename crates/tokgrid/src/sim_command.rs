//! `tokgrid sim`: a simulated engine to measure.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{ArgGroup, Args};
use simulator::engine::{FlatSpeed, Speculation};
use simulator::{Config, Fault, Simulator};

use crate::report_command::read_document;

/// Fixed times that a clock can tell, ms.
const FLAT_MS: RangeInclusive<f64> = 0.001..=1e6;
/// Tokens in an event of a flat engine.
const FLAT_TOKENS: RangeInclusive<f64> = 1.0..=64.0;

/// Simulates an inference engine that answers in vLLM's dialect.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("engine").required(true).args(["preset", "like", "flat"]))]
pub struct SimArgs {
    /// A built-in engine: deepseek-v4.1-flash-4x-rtx-pro-6000 or
    /// glm-5.3-flash-4x-rtx-pro-6000
    #[arg(long, value_name = "NAME")]
    preset: Option<String>,
    /// An engine like the one this run measured
    #[arg(long, value_name = "RUN.JSON")]
    like: Option<PathBuf>,
    /// An engine of fixed times, for checking a client: time to first token ms,
    /// time between tokens ms, tokens in each event
    #[arg(long, value_name = "TTFT,TBT,TOKENS", value_parser = parse_flat)]
    flat: Option<FlatSpeed>,
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8000")]
    listen: SocketAddr,
    /// How many times faster than the real server
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    speed: f64,
    /// The model's name in requests
    #[arg(long, value_name = "NAME")]
    served_model_name: Option<String>,
    /// Longest sequence, prompt and answer, tokens
    #[arg(long, value_name = "TOKENS")]
    max_model_len: Option<u64>,
    /// Requests run at once
    #[arg(long, value_name = "N")]
    max_num_seqs: Option<usize>,
    /// Tokens computed in one step
    #[arg(long, value_name = "TOKENS")]
    max_num_batched_tokens: Option<u64>,
    /// Tokens the KV cache holds
    #[arg(long, value_name = "TOKENS")]
    kv_tokens: Option<u64>,
    /// Speculative decoding: tokens proposed in a step, 0 for none
    #[arg(long, value_name = "TOKENS", value_parser = clap::value_parser!(u32).range(..=64))]
    draft_tokens: Option<u32>,
    /// Speculative decoding: mean tokens a step yields
    #[arg(long, value_name = "TOKENS", default_value_t = 3.0, value_parser = parse_tokens_per_step)]
    tokens_per_step: f64,
    /// Random share of a step's length, 0.02 for ±2 %
    #[arg(long, value_name = "SHARE")]
    jitter: Option<f64>,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Mean answer of requests that let the model stop, tokens
    #[arg(long, value_name = "TOKENS")]
    mean_answer_tokens: Option<f64>,
    /// Key that /v1 routes ask for
    #[arg(
        long,
        value_name = "KEY",
        env = "TOKGRID_SIM_API_KEY",
        hide_env_values = true
    )]
    api_key: Option<String>,
    /// Usage does not say how many prompt tokens were cached
    #[arg(long)]
    no_prompt_tokens_details: bool,
    /// Something that goes wrong, NAME or NAME:KEY=VALUE,…, for instance
    /// die-mid-stream:after=20,every=3; may be given several times, and an
    /// unknown name lists all
    #[arg(long, value_name = "FAULT")]
    fault: Vec<Fault>,
    /// File for what the server truly did: one JSON line for each request
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
}

/// Serves until Ctrl-C.
///
/// # Errors
/// When what was asked for makes no sense, or the address or the truth file cannot
/// be used.
pub async fn run(args: SimArgs) -> anyhow::Result<ExitCode> {
    let server = Simulator::start(config(args)?).await?;
    greet(&server)?;
    wait_for_end().await?;
    server.stop().await;
    Ok(ExitCode::SUCCESS)
}

/// What was asked for, over what the preset, the run or the fixed times say.
fn config(args: SimArgs) -> anyhow::Result<Config> {
    let mut config = match (&args.preset, &args.like, args.flat) {
        (Some(name), _, _) => Config::preset(name)?,
        (None, Some(path), _) => {
            let run = read_document(path)?;
            Config::like(&run).with_context(|| format!("cannot simulate {}", path.display()))?
        }
        (None, None, Some(flat)) => Config::flat(flat),
        (None, None, None) => anyhow::bail!("give --preset, --like or --flat"),
    };
    config.listen = args.listen;
    config.speed = args.speed;
    config.seed = args.seed;
    config.faults = args.fault;
    config.truth = args.truth;
    config.api_key = args.api_key;
    config.prompt_tokens_details = !args.no_prompt_tokens_details;
    if let Some(draft_tokens) = args.draft_tokens {
        config.set_speculation((draft_tokens > 0).then_some(Speculation {
            draft_tokens,
            mean_tokens_per_step: args.tokens_per_step,
        }));
    }
    config.model = args.served_model_name.unwrap_or(config.model);
    config.max_model_len = args.max_model_len.unwrap_or(config.max_model_len);
    config.max_num_seqs = args.max_num_seqs.unwrap_or(config.max_num_seqs);
    config.max_num_batched_tokens = args
        .max_num_batched_tokens
        .unwrap_or(config.max_num_batched_tokens);
    config.kv_tokens = args.kv_tokens.unwrap_or(config.kv_tokens);
    config.jitter = args.jitter.unwrap_or(config.jitter);
    config.mean_answer_tokens = args.mean_answer_tokens.unwrap_or(config.mean_answer_tokens);
    Ok(config)
}

fn parse_tokens_per_step(text: &str) -> Result<f64, String> {
    let tokens = text
        .parse::<f64>()
        .ok()
        .filter(|tokens| (1.0..=65.0).contains(tokens));
    tokens.ok_or_else(|| "a number from 1 to 65".to_owned())
}

fn parse_flat(text: &str) -> Result<FlatSpeed, String> {
    let wanted = "three numbers like 50,8,1: TTFT and time between tokens, from 0.001 to 1,000,000 ms, \
                  and tokens in each event, from 1 to 64";
    let numbers: Vec<f64> = text
        .split(',')
        .map(|number| number.trim().parse::<f64>())
        .collect::<Result<_, _>>()
        .map_err(|_| wanted.to_owned())?;
    match numbers[..] {
        [ttft_ms, tbt_ms, tokens]
            if FLAT_MS.contains(&ttft_ms)
                && FLAT_MS.contains(&tbt_ms)
                && FLAT_TOKENS.contains(&tokens) =>
        {
            Ok(FlatSpeed {
                ttft_ms,
                tbt_ms,
                tokens_per_event: tokens as u32,
            })
        }
        _ => Err(wanted.to_owned()),
    }
}

/// Says where the server is and what to do next.
fn greet(server: &Simulator) -> io::Result<()> {
    let config = server.config();
    let url = server.url();
    let mut out = io::stdout().lock();
    let pace = if config.speed == 1.0 {
        "in real time".to_owned()
    } else {
        format!("{} times as fast as the real server", config.speed)
    };
    writeln!(out, "Simulating {} at {url}, {pace}.", config.model)?;
    writeln!(
        out,
        "Measure it from another terminal:  tokgrid run --url {url}"
    )?;
    writeln!(out, "Ctrl-C stops it.")?;
    out.flush()
}

/// Waits for Ctrl-C, or for being told to end.
async fn wait_for_end() -> io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        tokio::select! {
            pressed = tokio::signal::ctrl_c() => pressed,
            _ = terminate.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    tokio::signal::ctrl_c().await
}
