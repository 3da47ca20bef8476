//! Warming every slot of an engine whose slots cache prompts for themselves.

use std::sync::Arc;

use document::{RequestRole, RequestSample};
use engines::Capacity;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, Halt, READING_INTERVAL, Silence};
use crate::live::Live;
use crate::progress::Stage;
use crate::scout::wave;
use crate::slot_copy;
use crate::watch::watch;
use crate::worker::Read;

/// Waves sent before a cold slot is left to the verdict.
const MAX_WAVES: u32 = 3;
/// A warm-up's answer, tokens.
const WARMUP_OUTPUT_TOKENS: u64 = 1;
/// Tokens of a warm prompt that need not be in the cache: the last one is always
/// computed, and a template may differ.
const SPARED_TOKENS: u64 = 64;

/// How many slots of a context are warm already.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Warmth {
    /// Requests at once that found (or left) a warm prompt.
    pub slots: u32,
}

/// Sends the prompt at the cell's concurrency until every request that can run
/// is warm. `Some(failure)` when a request was refused or broke.
pub(crate) async fn warm(
    bench: &mut Bench,
    warmth: &mut Warmth,
    prompt: &Arc<str>,
    concurrency: u32,
) -> Result<Option<String>, Halt> {
    let needed = match bench.server.capacity() {
        Capacity::Slots { count, .. } => concurrency.min(count),
        Capacity::Shared { .. } => concurrency,
    };
    if !bench.warms_by_slot() || needed <= warmth.slots {
        return Ok(None);
    }
    bench.stage(Stage::Warming);
    if bench.plan.copy_slots
        && let Capacity::Slots { count, .. } = bench.server.capacity()
    {
        if slot_copy::copy_to_all(bench, count).await {
            warmth.slots = count;
            return Ok(None);
        }
        bench.plan.copy_slots = false;
    }
    for _ in 0..MAX_WAVES {
        let requests = send_wave(bench, prompt, needed).await?;
        if let Some(failure) = requests.iter().find_map(|r| r.outcome.failure()) {
            bench.check_alive().await?;
            return Ok(Some(failure));
        }
        if requests.iter().all(was_warm) {
            break;
        }
    }
    warmth.slots = needed;
    Ok(None)
}

/// Whether the request found its prompt; unknown counts as warm: there is
/// nothing to wait for.
fn was_warm(request: &RequestSample) -> bool {
    match (request.usage, request.cached_tokens()) {
        (Some(usage), Some(cached)) => cached + SPARED_TOKENS >= usage.prompt_tokens,
        (Some(_) | None, None) | (None, Some(_)) => true,
    }
}

async fn send_wave(
    bench: &mut Bench,
    prompt: &Arc<str>,
    requests: u32,
) -> Result<Vec<RequestSample>, Halt> {
    let live = Arc::new(Live::new(requests));
    let wave = wave(bench, RequestRole::Warmup, Arc::clone(&live));
    let cuts: Vec<_> = (0..requests).map(|_| CancellationToken::new()).collect();
    let body = bench.body(prompt, WARMUP_OUTPUT_TOKENS, bench.plan.seed);
    let mut tasks = JoinSet::new();
    for (stream, cut) in cuts.iter().cloned().enumerate() {
        let (wave, body) = (wave.clone(), body.clone());
        tasks.spawn(async move {
            match wave.perform(&mut None, stream as u32, body, &cut).await {
                Read::Whole(sample) => *sample,
                Read::Tail(tail) => tail.finish(&cut).await,
            }
        });
    }
    let prompt_bytes = prompt.len().saturating_mul(requests as usize);
    let mut silence = Silence::new(bench.clock.now(), prompt_bytes);
    let mut done = Vec::new();
    loop {
        tokio::select! {
            biased;
            () = bench.stop.cancelled() => return Err(Halt::Stopped),
            joined = tasks.join_next() => match joined {
                Some(sample) => done.extend(sample.ok()),
                None => return Ok(done),
            },
            () = tokio::time::sleep(READING_INTERVAL) => {
                watch(bench, &live, &cuts);
                crate::decode::tick(bench, &live, None, None, None);
                if silence.is_long(bench.clock.now()) {
                    bench.check_beside().await?;
                    silence.heard(bench.clock.now());
                }
            }
        }
    }
}
