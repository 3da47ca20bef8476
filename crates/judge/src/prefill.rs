use document::{
    CacheProof, Cell, CellSamples, CellStatus, Flag, FlagName, RequestRole, RequestSample,
    TimestampSource,
};

use crate::flags;
use crate::statistics::{distribution, median, median_count};

/// A cold prompt may still find this many tokens in the cache: a shared template.
pub(crate) const COLD_TOKENS: u64 = 64;
/// Or this share of the prompt.
pub(crate) const COLD_SHARE: f64 = 0.01;
/// The first sample is an outlier when it took this much longer than the median of the rest.
const OUTLIER_FACTOR: f64 = 1.25;
/// The engine's own prefill time and ours may differ by this share before it is said.
const ENGINE_GAP_SHARE: f64 = 0.10;

/// One cold request, read.
struct ColdSample {
    ttft_ms: f64,
    tok_s: f64,
    prompt_tokens: u64,
    cached_tokens: Option<u64>,
    engine_prefill_ms: Option<f64>,
}

/// Figures of a prefill cell: median over its cold samples of uncached prompt
/// tokens / TTFT (METHOD, "Prefill").
pub(crate) fn judge(samples: &CellSamples) -> Cell {
    let block_tokens = samples.limits.block_tokens.unwrap_or(0);
    let mut requests: Vec<&RequestSample> = samples
        .requests
        .iter()
        .filter(|request| request.role == RequestRole::Scout)
        .collect();
    requests.sort_by_key(|request| request.sent_us);
    let scouts: Vec<ColdSample> = requests.into_iter().filter_map(read).collect();
    if scouts.is_empty() {
        return Cell {
            reason: Some("the server answered without a token or without usage, so there is no prompt length to divide".to_owned()),
            ..Cell::empty(samples.key, CellStatus::Failed)
        };
    }
    let mut cell = Cell::empty(samples.key, CellStatus::Valid);
    if samples
        .requests
        .iter()
        .any(|r| r.usage.is_none() && r.counted_prompt_tokens.is_some())
    {
        cell.remarks.push(
            "the server reports no usage: the prompt's length is what its tokenizer counted"
                .to_owned(),
        );
    }
    let (cold, warm): (Vec<_>, Vec<_>) = scouts
        .into_iter()
        .partition(|sample| is_cold(sample, block_tokens));
    let mut counted = if cold.is_empty() {
        cell.flags.push(cache_hit(&warm));
        warm
    } else {
        if !warm.is_empty() {
            cell.remarks.push(format!(
                "{} of {} samples found their prompt in the cache and do not count",
                warm.len(),
                warm.len() + cold.len()
            ));
        }
        cold
    };
    cell.cache_proof = Some(proof(&counted, &cell.flags));
    if let Some(flag) = cold_outlier(&counted) {
        cell.flags.push(flag);
        counted.remove(0);
    }
    cell.flags.extend(flags::exceeds_context(samples, 1));
    fill(&mut cell, &counted);
    cell
}

fn fill(cell: &mut Cell, counted: &[ColdSample]) {
    cell.total_tok_s = median(counted.iter().map(|s| s.tok_s).collect());
    cell.ttft_ms = distribution(counted.iter().map(|s| s.ttft_ms).collect());
    cell.completed = Some(counted.len() as u64);
    cell.prompt_tokens = median_count(counted.iter().map(|s| s.prompt_tokens));
    cell.cached_tokens = median_count(counted.iter().filter_map(|s| s.cached_tokens));
    cell.engine_prefill_ms = median(counted.iter().filter_map(|s| s.engine_prefill_ms).collect());
    cell.timestamp_source = Some(TimestampSource::Read);
    if let (Some(engine_ms), Some(ttft_ms)) = (cell.engine_prefill_ms, cell.ttft_ms_p50())
        && (ttft_ms - engine_ms).abs() > ENGINE_GAP_SHARE * ttft_ms
    {
        cell.remarks.push(format!(
            "the engine clocks its prefill at {engine_ms:.0} ms, TTFT is {ttft_ms:.0} ms: the rest is queueing, tokenizing and transport"
        ));
    }
}

fn read(request: &RequestSample) -> Option<ColdSample> {
    let ttft_ms = request.first_token_us()?.ms_since(request.sent_us?);
    let prompt_tokens = request.prompt_tokens()?;
    let cached_tokens = request.cached_tokens();
    let uncached_tokens = prompt_tokens.saturating_sub(cached_tokens.unwrap_or(0));
    (ttft_ms > 0.0 && prompt_tokens > 0).then(|| ColdSample {
        ttft_ms,
        tok_s: uncached_tokens as f64 / ttft_ms * 1e3,
        prompt_tokens,
        cached_tokens,
        engine_prefill_ms: request.timings.and_then(|timings| timings.prefill_ms),
    })
}

/// Cold: cached ≤ max(64 tokens, one block, 1 %). Unknown counts as cold, unproven.
fn is_cold(sample: &ColdSample, block_tokens: u64) -> bool {
    let allowed =
        (COLD_SHARE * sample.prompt_tokens as f64).max(COLD_TOKENS.max(block_tokens) as f64);
    sample
        .cached_tokens
        .is_none_or(|cached| cached as f64 <= allowed)
}

fn cache_hit(warm: &[ColdSample]) -> Flag {
    let cached = warm
        .iter()
        .filter_map(|s| s.cached_tokens)
        .max()
        .unwrap_or(0);
    let prompt = warm.iter().map(|s| s.prompt_tokens).max().unwrap_or(0);
    Flag {
        name: FlagName::PrefixCacheHit,
        evidence: format!("{cached} of {prompt} prompt tokens came from the cache"),
    }
}

fn proof(counted: &[ColdSample], flags: &[Flag]) -> CacheProof {
    if flags
        .iter()
        .any(|flag| flag.name == FlagName::PrefixCacheHit)
    {
        CacheProof::Failed
    } else if counted.iter().all(|sample| sample.cached_tokens.is_some()) {
        CacheProof::Proved
    } else {
        CacheProof::Unproven
    }
}

/// The first of three or more samples against the rest.
fn cold_outlier(samples: &[ColdSample]) -> Option<Flag> {
    let (first, rest) = samples.split_first()?;
    if rest.len() < 2 {
        return None;
    }
    let usual_ms = median(rest.iter().map(|s| s.ttft_ms).collect())?;
    let slowest_ms = rest.iter().map(|s| s.ttft_ms).fold(0.0, f64::max);
    (first.ttft_ms > OUTLIER_FACTOR * usual_ms && first.ttft_ms > slowest_ms).then(|| Flag {
        name: FlagName::ColdOutlier,
        evidence: format!(
            "the first sample took {:.0} ms, the other {} a median of {usual_ms:.0} ms; it is left out",
            first.ttft_ms,
            rest.len()
        ),
    })
}
