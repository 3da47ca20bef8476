//! A decode cell: the tool's own marks, else its figures.

use document::{
    CacheProof, Cell, CellKey, CellStatus, Distribution, Flag, FlagName, Phase, TokenLedger,
    TokenSource, format,
};

use super::{Asked, KEPT, positive};
use crate::error::ImportError;
use crate::fields::Fields;

/// `aggregate_tps` of a cell that was not run for lack of KV cache.
const MARK_OVER_CAPACITY: f64 = -1.0;
/// … of a cell with an error, or skipped by hand.
const MARK_ERROR: f64 = -2.0;
/// … of a cell whose answers looped.
const MARK_LOOP: f64 = -3.0;
/// The tool's own bound: fewer running on average than this share of C were held back.
const HELD_BACK_SHARE: f64 = 0.95;
/// Queued when requests waited in more than this share of the readings.
const QUEUED_SHARE: f64 = 0.5;
/// Counts of the same tokens may differ by this share …
const ALLOWED_SHARE: f64 = 0.01;
/// … or by the tokens of this many engine steps.
const ALLOWED_STEPS: f64 = 2.0;
/// Prompts are built to within this share of the context.
const PROMPT_SHARE: f64 = 0.02;
/// Milliseconds in a second.
const MS_PER_S: f64 = 1000.0;
/// What is too long to keep: one entry for each request.
const NOT_KEPT: [&str; 1] = ["request_samples"];
/// Most answers whose repetition is read.
const MAX_LOOPS: usize = 10_000;

/// Reads a cell of `results`.
pub(super) fn cell(fields: &Fields<'_>, asked: &Asked) -> Result<Cell, ImportError> {
    let missing = |name| fields.wrong(name, "is missing or 0");
    let key = CellKey {
        phase: Phase::Decode,
        context_tokens: fields
            .count("context_tokens")?
            .ok_or_else(|| missing("context_tokens"))?,
        concurrency: fields
            .small_count("concurrency")?
            .ok_or_else(|| missing("concurrency"))?,
    };
    let mut cell = match fields.signed("aggregate_tps")? {
        Some(MARK_OVER_CAPACITY) => over_capacity(key, fields)?,
        Some(MARK_ERROR) => failed(
            key,
            fields,
            "the tool marks the cell as an error, or as skipped by hand",
        )?,
        Some(MARK_LOOP) => failed(key, fields, "the tool gave the cell up: answers looped")?,
        Some(mark) if mark < 0.0 => {
            let problem = format!("{mark} is no speed, and no mark that is known (-1, -2, -3)");
            return Err(fields.wrong("aggregate_tps", problem));
        }
        tok_s => judged(key, fields, tok_s.filter(|tok_s| *tok_s > 0.0), asked)?,
    };
    cell.flags.extend(repetition(fields)?);
    let kept = fields.unread(&NOT_KEPT);
    if !kept.is_empty() {
        cell.extra.insert(KEPT.to_owned(), kept.into());
    }
    Ok(cell)
}

fn over_capacity(key: CellKey, fields: &Fields<'_>) -> Result<Cell, ImportError> {
    let needed = positive(fields.count("total_tokens")?)
        .map(|tokens| format!("the cell needs {} KV tokens", format::count(tokens)));
    let reason = match (fields.text("timeout_reason")?, needed) {
        (Some(said), Some(needed)) => format!("{said} ({needed})"),
        (Some(said), None) => said,
        (None, Some(needed)) => needed,
        (None, None) => "not run for lack of KV cache".to_owned(),
    };
    Ok(Cell {
        reason: Some(reason),
        ..Cell::empty(key, CellStatus::OverCapacity)
    })
}

fn failed(key: CellKey, fields: &Fields<'_>, what: &str) -> Result<Cell, ImportError> {
    let why = match fields.text("failure_reason")? {
        None => fields.text("timeout_reason")?,
        why => why,
    };
    Ok(Cell {
        reason: Some(match why {
            Some(why) => format!("{what}: {why}"),
            None => what.to_owned(),
        }),
        failed: positive(fields.count("num_errors")?),
        ..Cell::empty(key, CellStatus::Failed)
    })
}

/// A cell without a mark: it may have failed all the same.
fn judged(
    key: CellKey,
    fields: &Fields<'_>,
    tok_s: Option<f64>,
    asked: &Asked,
) -> Result<Cell, ImportError> {
    if let Some(errors) = positive(fields.count("num_errors")?) {
        return failed(
            key,
            fields,
            &format!("{errors} of the cell's requests failed"),
        );
    }
    let is_measured = tok_s.is_some() || fields.figure("inter_token_latency_p50")?.is_some();
    if !is_measured {
        return failed(key, fields, "the file has no figure of this cell");
    }
    let queue = Queue::read(key, fields)?;
    let mut cell = Cell::empty(
        key,
        if queue.is_queued {
            CellStatus::Queued
        } else {
            CellStatus::Valid
        },
    );
    cell.queue_inferred = queue.is_inferred;
    cell.remarks.extend(queue.remark);
    cell.failed = fields.count("num_errors")?;
    cell.cache_proof = Some(CacheProof::Unproven);
    latencies(&mut cell, fields)?;
    totals(&mut cell, fields, tok_s, asked)?;
    cell.completed = completed(&mut cell.remarks, fields, cell.output_tokens, asked, key)?;
    ledger(&mut cell, fields)?;
    cell.flags.extend(contaminated(key, fields)?);
    cell.remarks.extend(prompt_remark(&cell));
    name_missing(&mut cell, fields);
    Ok(cell)
}

/// Whether requests waited, as far as the file tells.
struct Queue {
    is_queued: bool,
    is_inferred: Option<bool>,
    remark: Option<String>,
}

impl Queue {
    /// The tool's own marks first, then its readings, then how many ran. A low
    /// average alone is a gap between answers, not a queue.
    fn read(key: CellKey, fields: &Fields<'_>) -> Result<Queue, ImportError> {
        let limited = fields.is("capacity_limited")?;
        let timed_out = fields.is("warmup_timed_out")?;
        let waiting = fields.number("queue_fraction")?;
        let most = fields.figure("max_running_reqs")?;
        let average = fields.figure("avg_running_reqs")?;
        let asked = f64::from(key.concurrency);
        let said = match (limited, timed_out) {
            (_, Some(true)) => Some("the warm-up timed out before all requests ran"),
            (Some(true), _) => Some("the tool marks the cell as limited by capacity"),
            _ => None,
        };
        let is_waiting = waiting.is_some_and(|share| share > QUEUED_SHARE);
        let is_held_back = key.concurrency > 1
            && match (most, limited) {
                (Some(most), _) => most < asked,
                (None, None) => average.is_some_and(|active| active < HELD_BACK_SHARE * asked),
                (None, Some(_)) => false,
            };
        let ran = most
            .or(average)
            .map(|ran| format!("{ran} of {asked} requests ran at once"));
        let is_silent = waiting.is_none_or(|share| share == 0.0) && most.is_none();
        let remark = if let Some(said) = said {
            Some(ran.map_or(said.to_owned(), |ran| format!("{said}; {ran}")))
        } else if is_waiting {
            waiting
                .map(|share| format!("requests waited in {:.0} % of the readings", share * 100.0))
        } else if is_held_back {
            ran
        } else if is_silent && average.is_none() {
            Some(
                "the file has no readings of the server's queue: that nothing waited is not known"
                    .to_owned(),
            )
        } else {
            None
        };
        let is_queued = said.is_some() || is_waiting || is_held_back;
        Ok(Queue {
            is_queued,
            is_inferred: Some(is_silent && said.is_none()),
            remark,
        })
    }
}

fn latencies(cell: &mut Cell, fields: &Fields<'_>) -> Result<(), ImportError> {
    let ms = |name: &str| -> Result<Option<Distribution>, ImportError> {
        let of = |which: &str| -> Result<Option<f64>, ImportError> {
            let seconds = fields.figure(&format!("{name}_{which}"))?;
            Ok(seconds.map(|seconds| seconds * MS_PER_S))
        };
        let distribution = Distribution {
            p50: of("p50")?,
            p90: of("p90")?,
            p99: of("p99")?,
            mean: of("avg")?,
            ..Distribution::default()
        };
        Ok(Some(distribution).filter(|d| *d != Distribution::default()))
    };
    cell.ttft_ms = ms("ttft")?;
    cell.tbt_ms = ms("inter_token_latency")?;
    cell.chunk_gap_ms = ms("chunk_inter_token_latency")?;
    // Not `per_request_avg_tps`, which is the total over C and no request's own.
    cell.per_request_tok_s = fields.figure("output_tps_per_user_p50")?;
    cell.prompt_tokens = fields
        .figure("input_seq_len_avg")?
        .map(|tokens| tokens.round() as u64);
    cell.average_active = fields.figure("avg_running_reqs")?;
    Ok(())
}

fn totals(
    cell: &mut Cell,
    fields: &Fields<'_>,
    tok_s: Option<f64>,
    asked: &Asked,
) -> Result<(), ImportError> {
    let source = fields.text("aggregate_source")?;
    cell.token_source = match source.as_deref() {
        Some("openai_continuous_usage") => Some(TokenSource::ContinuousUsage),
        Some("openai_stream_chunks_fallback") => Some(TokenSource::EventsOnly),
        Some(_) | None => None,
    };
    cell.measured_s = fields.figure("measurement_seconds")?;
    cell.output_tokens = positive(fields.count("client_output_tokens")?);
    let total_tokens = positive(fields.count("total_tokens")?);
    let is_burst = asked.is_request_count
        || fields
            .text("benchmark_mode")?
            .is_some_and(|mode| mode != "duration");
    let is_servers = matches!(source.as_deref(), Some("prometheus_fallback" | "none"));
    if is_burst {
        cell.remarks.push("total tok/s and output tokens are null: a fixed number of requests was sent, and what ramps up and runs out is no sustained decode".to_owned());
        cell.output_tokens = None;
    } else if is_servers {
        cell.remarks.push("total tok/s is null: the file has it from the server's counter alone, which counts others' tokens too".to_owned());
    } else {
        cell.total_tok_s = tok_s;
        // Where only this one is there, it counts the window's tokens or the whole
        // cell's; the speed tells which.
        let of_window = cell.measured_s.zip(tok_s).map(|(s, tok_s)| s * tok_s);
        if let (None, Some(tokens), Some(of_window)) = (cell.output_tokens, total_tokens, of_window)
            && (tokens as f64 - of_window).abs() <= ALLOWED_SHARE * of_window
        {
            cell.output_tokens = Some(tokens);
        }
    }
    Ok(())
}

/// The tool counts the answers of the whole cell, ours are the window's. Where none
/// can have ended in the warm-up the two are one; else the file cannot say.
fn completed(
    remarks: &mut Vec<String>,
    fields: &Fields<'_>,
    output_tokens: Option<u64>,
    asked: &Asked,
    key: CellKey,
) -> Result<Option<u64>, ImportError> {
    let Some(count) = fields.count("completed_request_count")? else {
        return Ok(None);
    };
    let answer_tokens = match fields.figure("output_seq_len_p50")? {
        None => fields.figure("output_seq_len_avg")?,
        tokens => tokens,
    };
    let answer_tokens = answer_tokens.or(asked.max_output_tokens.map(|tokens| tokens as f64));
    let fastest_tok_s = match fields.figure("output_tps_per_user_p99")? {
        None => fields.figure("output_tps_per_user_p50")?,
        tok_s => tok_s,
    };
    let is_windows = count == 0
        || match (
            fields.number("warmup_duration")?,
            fastest_tok_s,
            answer_tokens,
        ) {
            (Some(warmup_s), Some(tok_s), Some(tokens)) => warmup_s * tok_s < tokens,
            // Without a warm-up's length: as many as the window's tokens allow, and
            // one more of each stream, begun before.
            (None, _, Some(tokens)) => output_tokens.is_none_or(|output| {
                count as f64 <= output as f64 / tokens + f64::from(key.concurrency)
            }),
            (Some(_), _, _) | (None, _, None) => false,
        };
    if !is_windows {
        remarks.push(format!(
            "completed requests are null: the file counts {} over the whole cell, its warm-up included",
            format::count(count)
        ));
    }
    Ok(is_windows.then_some(count))
}

/// The client's count against the growth of the server's counter.
fn ledger(cell: &mut Cell, fields: &Fields<'_>) -> Result<(), ImportError> {
    let server = positive(fields.count("server_output_tokens")?).map(|tokens| tokens as f64);
    let client = cell.output_tokens.map(|tokens| tokens as f64);
    if server.is_some() || client.is_some() {
        cell.token_ledger = Some(TokenLedger {
            client_tokens: client,
            engine_tokens: server.filter(|_| client.is_some()),
            engine_client_tokens: client.filter(|_| server.is_some()),
            ..TokenLedger::default()
        });
    }
    let flag = |evidence| Flag {
        name: FlagName::TokenCountDisputed,
        evidence,
    };
    if let (Some(server), Some(client)) = (server, client) {
        let step = f64::from(cell.concurrency) * tokens_per_event(cell);
        let allowed = (ALLOWED_SHARE * server).max(ALLOWED_STEPS * step);
        if (server - client).abs() > allowed {
            cell.flags.push(flag(format!(
                "the engine counted {server:.0} tokens, the client {client:.0}; {allowed:.0} may differ"
            )));
        }
    } else if cell.token_source == Some(TokenSource::EventsOnly) {
        cell.flags.push(flag("events were counted, and an event may carry several tokens; no counter of the server confirms them".to_owned()));
    }
    Ok(())
}

/// What an event usually carries: the gap between events over that between tokens.
fn tokens_per_event(cell: &Cell) -> f64 {
    let gap_ms = cell.chunk_gap_ms.and_then(|gap| gap.p50);
    let tokens = gap_ms.zip(cell.tbt_ms_p50()).map(|(gap, tbt)| gap / tbt);
    tokens.unwrap_or(1.0).max(1.0)
}

fn contaminated(key: CellKey, fields: &Fields<'_>) -> Result<Option<Flag>, ImportError> {
    let most = fields.figure("max_running_reqs")?;
    Ok(most
        .filter(|most| *most > f64::from(key.concurrency))
        .map(|most| Flag {
            name: FlagName::Contaminated,
            evidence: format!(
                "the server ran {most:.0} requests while {} were ours",
                key.concurrency
            ),
        }))
}

fn repetition(fields: &Fields<'_>) -> Result<Option<Flag>, ImportError> {
    let is_marked = fields.signed("aggregate_tps")? == Some(MARK_LOOP);
    if !is_marked && fields.is("loop_detected")? != Some(true) {
        return Ok(None);
    }
    let loops = fields.objects("loop_diagnostics", MAX_LOOPS)?;
    let mut evidence = "the tool found answers that loop".to_owned();
    if let Some(first) = loops.first()
        && let (Some(chars), Some(times)) = (first.count("period_chars")?, first.count("cycles")?)
    {
        evidence = format!(
            "{evidence}: one repeats {} characters {times} times",
            format::count(chars)
        );
    }
    Ok(Some(Flag {
        name: FlagName::Repetition,
        evidence,
    }))
}

fn prompt_remark(cell: &Cell) -> Option<String> {
    let (prompt, context) = (cell.prompt_tokens?, cell.context_tokens);
    super::prefill::length_remark(prompt, context, PROMPT_SHARE)
}

/// Names each figure that is null, with the field that did not have it.
fn name_missing(cell: &mut Cell, fields: &Fields<'_>) {
    let ttft_ms = cell.ttft_ms_p50();
    let figures = [
        ("total tok/s", cell.total_tok_s.is_none(), "aggregate_tps"),
        (
            "per-request tok/s",
            cell.per_request_tok_s.is_none(),
            "output_tps_per_user_p50",
        ),
        ("TTFT", ttft_ms.is_none(), "ttft_p50"),
        (
            "time between tokens",
            cell.tbt_ms_p50().is_none(),
            "inter_token_latency_p50",
        ),
        (
            "average active",
            cell.average_active.is_none(),
            "avg_running_reqs",
        ),
        (
            "completed requests",
            cell.completed.is_none(),
            "completed_request_count",
        ),
        (
            "output tokens",
            cell.output_tokens.is_none(),
            "client_output_tokens",
        ),
        ("window", cell.measured_s.is_none(), "measurement_seconds"),
        (
            "prompt tokens",
            cell.prompt_tokens.is_none(),
            "input_seq_len_avg",
        ),
        (
            "token source",
            cell.token_source.is_none(),
            "aggregate_source",
        ),
    ];
    let is_said = |figure: &str| cell.remarks.iter().any(|said| said.starts_with(figure));
    let missing: Vec<String> = figures
        .into_iter()
        .filter(|(figure, is_null, _)| *is_null && !is_said(figure))
        .map(|(figure, _, field)| {
            if fields.has(field) {
                format!("{figure} (`{field}` is 0 or says nothing)")
            } else {
                format!("{figure} (no `{field}`)")
            }
        })
        .collect();
    if !missing.is_empty() {
        let remark = format!("not in the file, so null: {}", missing.join(", "));
        cell.remarks.push(remark);
    }
}
