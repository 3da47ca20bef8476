//! Flags that a finished document proves by its own figures.

use document::{CacheProof, Cell, CellStatus, Flag, FlagName, Phase, RunDocument, TokenLedger};

use crate::flags::MAX_OVERLAP;
use crate::ledger::ALLOWED_SHARE;
use crate::prefill::{COLD_SHARE, COLD_TOKENS};

/// Pages and other tools write a window's length to a tenth of a second.
const WINDOW_ROUNDING_S: f64 = 0.05;
/// Latencies are written to a whole millisecond.
const TTFT_ROUNDING_MS: f64 = 0.5;
/// Prompts of one context differ by this share where they are built by calibration.
const PROMPT_SHARE: f64 = 0.02;
/// Without the readings it is not known how well two counts can agree: what differs
/// by this share …
const LEDGER_PROOF_SHARE: f64 = 0.05;
/// … and by the tokens of this many engine steps cannot agree.
const LEDGER_PROOF_STEPS: f64 = 12.0;
/// A warm prompt may miss its last two blocks and the template; the block is not in
/// the document, and none is as large as this.
const SPARED_TOKENS: u64 = 16_384;

/// A flag that a document proves and does not carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedFlag {
    /// Which of `run.cells`, from 0.
    pub cell_index: usize,
    /// The flag, with its evidence.
    pub flag: Flag,
}

/// The flags that the document's own figures prove and its cells do not carry, so
/// that a run is not ranked because its writer left a flag out. Needs no samples:
/// it works on runs that other tools measured too.
///
/// Every rule is weaker than the judge's own (which has the samples), so that a run
/// that tokgrid judged gets nothing added:
///
/// * `contaminated`: more requests were active than were asked for.
/// * `exceeds_context`: prompt and longest answer are more than the engine's limit.
/// * `token_count_disputed`: `output_tokens` over `measured_s` is not `total_tok_s`, a
///   prompt's tokens over its TTFT are fewer than its tok/s, or the counts of the
///   ledger are far apart.
/// * `prefix_cache_hit`, `prefix_cache_miss`: the cache proof failed, or the cached
///   tokens say so.
#[must_use]
pub fn derived_flags(run: &RunDocument) -> Vec<DerivedFlag> {
    run.cells
        .iter()
        .enumerate()
        .flat_map(|(cell_index, cell)| {
            proven(run, cell)
                .into_iter()
                .filter(|flag| cell.flags.iter().all(|has| has.name != flag.name))
                .map(move |flag| DerivedFlag { cell_index, flag })
        })
        .collect()
}

/// Adds the [`derived_flags`] to the cells. Doing it again adds nothing.
pub fn add_derived_flags(run: &mut RunDocument) {
    for DerivedFlag { cell_index, flag } in derived_flags(run) {
        if let Some(cell) = run.cells.get_mut(cell_index) {
            cell.flags.push(flag);
        }
    }
}

fn proven(run: &RunDocument, cell: &Cell) -> Vec<Flag> {
    let is_measured = match cell.status {
        CellStatus::Valid | CellStatus::Queued => true,
        CellStatus::OverCapacity | CellStatus::Failed => false,
    };
    if !is_measured {
        return Vec::new();
    }
    let flag = |name, evidence: Option<String>| evidence.map(|evidence| Flag { name, evidence });
    let (disputed, cache) = match cell.phase {
        Phase::Prefill => (
            prompt_dispute(cell),
            flag(FlagName::PrefixCacheHit, cache_hit(cell)),
        ),
        Phase::Decode => (
            count_dispute(cell).or_else(|| ledger_dispute(cell)),
            flag(FlagName::PrefixCacheMiss, cache_miss(cell)),
        ),
    };
    [
        flag(FlagName::Contaminated, contaminated(cell)),
        flag(FlagName::TokenCountDisputed, disputed),
        flag(FlagName::ExceedsContext, exceeds_context(run, cell)),
        cache,
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Answers overlap a little where one takes over from another; more than that are
/// not ours alone.
fn contaminated(cell: &Cell) -> Option<String> {
    let active = cell.average_active?;
    (active > MAX_OVERLAP * f64::from(cell.concurrency)).then(|| {
        format!(
            "{active:.1} requests were active on average where {} were asked for",
            cell.concurrency
        )
    })
}

/// The prompt as the server counted it, else as it was meant to be.
fn exceeds_context(run: &RunDocument, cell: &Cell) -> Option<String> {
    let limit = run.engine.max_model_len?;
    let (prompt, output) = match (cell.phase, cell.prompt_tokens) {
        (Phase::Prefill, Some(prompt)) => (prompt, 1),
        // The label of a prefill context is what the prompt with its answer may fill.
        (Phase::Prefill, None) => (cell.context_tokens, 0),
        (Phase::Decode, prompt) => (
            prompt.unwrap_or(cell.context_tokens),
            run.settings.max_output_tokens.unwrap_or(1),
        ),
    };
    (prompt.saturating_add(output) > limit).then(|| {
        format!("{prompt} prompt and {output} output tokens are more than the model's {limit}")
    })
}

/// Output tokens over the window against the total that is said: one count, written
/// twice, so only rounding may come between.
fn count_dispute(cell: &Cell) -> Option<String> {
    let (tokens, tok_s) = (cell.output_tokens? as f64, cell.total_tok_s?);
    let measured_s = cell.measured_s.filter(|s| *s > 0.0)?;
    let allowed = (ALLOWED_SHARE * tokens).max(1.0) + WINDOW_ROUNDING_S * tok_s.abs();
    ((tok_s * measured_s - tokens).abs() > allowed).then(|| {
        format!(
            "{tokens:.0} output tokens in {measured_s:.1} s are {:.1} tok/s, and {tok_s:.1} are said",
            tokens / measured_s
        )
    })
}

/// Prompt tok/s that not even the fastest of the samples can have reached.
fn prompt_dispute(cell: &Cell) -> Option<String> {
    let (prompt, tok_s) = (cell.prompt_tokens? as f64, cell.total_tok_s?);
    let ttft = cell.ttft_ms?;
    let ttft_ms = ttft.min.or(ttft.p50)?;
    let fastest_ms = ttft_ms - TTFT_ROUNDING_MS;
    let most = prompt / fastest_ms * 1e3;
    (fastest_ms > 0.0 && tok_s > most * (1.0 + PROMPT_SHARE)).then(|| {
        format!(
            "{prompt:.0} prompt tokens in {ttft_ms:.1} ms are {:.1} tok/s, and {tok_s:.1} are said",
            prompt / ttft_ms * 1e3
        )
    })
}

fn ledger_dispute(cell: &Cell) -> Option<String> {
    let ledger = cell.token_ledger?;
    let allowed = LEDGER_PROOF_STEPS * step_tokens(cell);
    let pair = |what: &str, said: Option<f64>, client: Option<f64>| {
        let (said, client) = (said?, client?);
        ((said - client).abs() > allowed.max(LEDGER_PROOF_SHARE * said.max(client)))
            .then(|| format!("{what} {said:.0} tokens, the client counted {client:.0} of the same"))
    };
    let TokenLedger {
        client_tokens: _,
        usage_tokens,
        usage_client_tokens,
        engine_tokens,
        engine_client_tokens,
    } = ledger;
    pair("the engine counted", engine_tokens, engine_client_tokens)
        .or_else(|| pair("final usage says", usage_tokens, usage_client_tokens))
}

/// Tokens of an engine step: what an event usually carries, times the requests.
fn step_tokens(cell: &Cell) -> f64 {
    let tokens_per_event = cell
        .chunk_gap_ms
        .and_then(|gap| gap.mean)
        .zip(cell.tbt_ms_p50())
        .map_or(1.0, |(gap_ms, tbt_ms)| gap_ms / tbt_ms);
    let is_known = tokens_per_event.is_finite();
    f64::from(cell.concurrency)
        * if is_known {
            tokens_per_event.max(1.0)
        } else {
            1.0
        }
}

fn cache_hit(cell: &Cell) -> Option<String> {
    if cell.cache_proof == Some(CacheProof::Failed) {
        return Some("the document says that the cache proof failed".to_owned());
    }
    let (prompt, cached) = (cell.prompt_tokens?, cell.cached_tokens?);
    // One block may be warm; no block is half a prompt that begins with a nonce.
    let allowed = (COLD_SHARE * prompt as f64)
        .max(COLD_TOKENS as f64)
        .max(prompt as f64 / 2.0);
    (cached as f64 > allowed)
        .then(|| format!("{cached} of {prompt} prompt tokens came from the cache"))
}

fn cache_miss(cell: &Cell) -> Option<String> {
    if cell.cache_proof == Some(CacheProof::Failed) {
        return Some("the document says that the cache proof failed".to_owned());
    }
    let (prompt, cached) = (cell.prompt_tokens?, cell.cached_tokens?);
    (cached.saturating_add(SPARED_TOKENS) < prompt)
        .then(|| format!("only {cached} of {prompt} prompt tokens came from the cache"))
}
