//! Prefill cells: one for each context under `prefill`.

use document::{
    CacheProof, Cell, CellKey, CellStatus, Distribution, Flag, FlagName, Phase, RunDocument, format,
};

use super::{KEPT, MAX_CELLS, positive};
use crate::error::ImportError;
use crate::fields::Fields;

/// Milliseconds in a second.
const MS_PER_S: f64 = 1000.0;
/// Prompts are built to within this share of the context.
const PROMPT_SHARE: f64 = 0.02;
/// A cold prompt may still find this many tokens in the cache …
const COLD_TOKENS: f64 = 64.0;
/// … or this share of it.
const COLD_SHARE: f64 = 0.01;
/// The engine's own prefill time and ours may differ by this share before it is said.
const ENGINE_GAP_SHARE: f64 = 0.10;

/// Reads every prefill cell, shortest context first.
pub(super) fn read(file: &Fields<'_>, run: &mut RunDocument) -> Result<(), ImportError> {
    let Some(contexts) = file.object("prefill")? else {
        return Ok(());
    };
    let mut cells = Vec::new();
    for name in contexts.names().take(MAX_CELLS) {
        let context_tokens = name
            .parse()
            .ok()
            .filter(|tokens: &u64| *tokens > 0 && tokens.to_string() == name)
            .ok_or_else(|| contexts.wrong(name, "is not a context in tokens"))?;
        if let Some(fields) = contexts.object(name)? {
            cells.push(cell(context_tokens, &fields)?);
        }
    }
    cells.sort_by_key(|cell| cell.context_tokens);
    run.settings.prefill_contexts = cells.iter().map(|cell| cell.context_tokens).collect();
    run.cells.extend(cells);
    Ok(())
}

fn cell(context_tokens: u64, fields: &Fields<'_>) -> Result<Cell, ImportError> {
    let key = CellKey {
        phase: Phase::Prefill,
        context_tokens,
        concurrency: 1,
    };
    // `tok_per_sec` may be the server's own; ours is the client's.
    let tok_s = match fields.figure("client_tok_per_sec")? {
        None => fields.figure("tok_per_sec")?,
        tok_s => tok_s,
    };
    let ttft_s = match fields.figure("client_ttft_seconds")? {
        None => fields.figure("ttft_seconds")?,
        ttft_s => ttft_s,
    };
    let mut cell = Cell::empty(key, CellStatus::Valid);
    cell.total_tok_s = tok_s;
    cell.completed = positive(fields.count("samples")?);
    cell.prompt_tokens = positive(fields.count("prompt_tokens")?);
    cell.ttft_ms = ttft_s.map(|seconds| Distribution {
        p50: Some(seconds * MS_PER_S),
        n: cell.completed,
        ..Distribution::default()
    });
    if tok_s.is_none() && ttft_s.is_none() {
        cell = Cell {
            reason: Some("the file has no figure of this cell".to_owned()),
            ..Cell::empty(key, CellStatus::Failed)
        };
    } else {
        cell.cache_proof = Some(CacheProof::Unproven);
        validation(&mut cell, fields)?;
        cell.remarks.extend(
            cell.prompt_tokens
                .and_then(|prompt| length_remark(prompt, context_tokens, PROMPT_SHARE)),
        );
        name_missing(&mut cell);
    }
    let kept = fields.unread(&[]);
    if !kept.is_empty() {
        cell.extra.insert(KEPT.to_owned(), kept.into());
    }
    Ok(cell)
}

/// What the server's own counters said of the prompt.
fn validation(cell: &mut Cell, fields: &Fields<'_>) -> Result<(), ImportError> {
    let Some(server) = fields.object("server_validation")? else {
        return Ok(());
    };
    let is_there =
        positive(server.count("samples")?).is_some() && server.text("invalid_reason")?.is_none();
    if !is_there {
        return Ok(());
    }
    let prefill_s = server.figure("prefill_seconds")?;
    cell.engine_prefill_ms = prefill_s.map(|seconds| seconds * MS_PER_S);
    // Without its source the count of cached tokens is an empty field, not a 0.
    if server.text("token_source")?.is_some() {
        cell.cached_tokens = server.count("cached_tokens")?;
    }
    if let (Some(cached), Some(prompt)) = (cell.cached_tokens, cell.prompt_tokens) {
        let is_cold = cached as f64 <= COLD_TOKENS.max(COLD_SHARE * prompt as f64);
        cell.cache_proof = Some(if is_cold {
            CacheProof::Proved
        } else {
            CacheProof::Failed
        });
        if !is_cold {
            cell.flags.push(Flag {
                name: FlagName::PrefixCacheHit,
                evidence: format!("{cached} of {prompt} prompt tokens came from the cache"),
            });
        }
    }
    if let (Some(engine_ms), Some(ttft_ms)) = (cell.engine_prefill_ms, cell.ttft_ms_p50())
        && (ttft_ms - engine_ms).abs() > ENGINE_GAP_SHARE * ttft_ms
    {
        cell.remarks.push(format!(
            "the engine clocks its prefill at {engine_ms:.0} ms, TTFT is {ttft_ms:.0} ms: the rest is queueing, tokenizing and transport"
        ));
    }
    Ok(())
}

fn name_missing(cell: &mut Cell) {
    let figures = [
        (
            "prompt tok/s (no `client_tok_per_sec`)",
            cell.total_tok_s.is_none(),
        ),
        ("TTFT (no `ttft_seconds`)", cell.ttft_ms.is_none()),
        (
            "prompt tokens (no `prompt_tokens`)",
            cell.prompt_tokens.is_none(),
        ),
        (
            "completed requests (no `samples`)",
            cell.completed.is_none(),
        ),
    ];
    let missing: Vec<&str> = figures
        .into_iter()
        .filter(|(_, is_null)| *is_null)
        .map(|(figure, _)| figure)
        .collect();
    if !missing.is_empty() {
        let remark = format!("not in the file, so null: {}", missing.join(", "));
        cell.remarks.push(remark);
    }
}

/// That a prompt is longer or shorter than its context by more than `share`.
pub(super) fn length_remark(prompt: u64, context: u64, share: f64) -> Option<String> {
    let off = prompt as f64 / context as f64 - 1.0;
    (context > 0 && off.abs() > share).then(|| {
        format!(
            "the prompt has {} tokens where {} were meant: {:.0} % off",
            format::count(prompt),
            format::count(context),
            off.abs() * 100.0
        )
    })
}
