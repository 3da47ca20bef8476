//! Cold requests: they measure prefill and warm the prompt cache.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use document::{
    CellKey, CellSamples, EngineReading, EngineTimings, Outcome, RequestRole, RequestSample,
};
use engines::Support;
use tokio_util::sync::CancellationToken;
use wire::request::StreamUsage;

use crate::bench::{Bench, Halt, Silence};
use crate::live::Live;
use crate::progress::Stage;
use crate::prompt::Prose;
use crate::sizing::{SizedPrompt, Sizing};
use crate::watch::watch;
use crate::worker::{Read, Wave};

/// A prompt whose reported length is off is sized again this often.
const MAX_RESIZES: u32 = 3;
/// The answer of a scout, tokens: only its first token matters.
pub(crate) const SCOUT_OUTPUT_TOKENS: u64 = 1;
/// Where an answer begins with marks that have no text, it must be longer to show any.
const SCOUT_OUTPUT_TOKENS_WITH_MARKS: u64 = 16;
/// A server that writes more than this ignores how much it was asked for, and may
/// go on for ever.
const MAX_SCOUT_OUTPUT_TOKENS: u64 = 64;
/// Prompts of a calibration, tokens.
const CALIBRATION_TOKENS: [u64; 2] = [256, 1536];

/// What a context needs before its decode cells: its warm prompt.
pub(crate) struct Scouted {
    /// The samples of the prefill cell.
    pub samples: CellSamples,
    /// The prompt that the last sample warmed; `None` when it failed.
    pub prompt: Option<Arc<str>>,
}

/// Length and allowance of a context's prompts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ContextLength {
    pub key: CellKey,
    /// Prompt and template, at most, tokens.
    pub at_most_tokens: u64,
    /// Cold samples to take.
    pub samples: u32,
}

/// Sends cold prompts of one context, alone, one after another.
pub(crate) async fn scout(
    bench: &mut Bench,
    sizing: &mut Sizing,
    prose: &Prose,
    run_nonce: &str,
    length: ContextLength,
) -> Result<Scouted, Halt> {
    let mut samples = CellSamples::empty(length.key, bench.limits());
    samples.clock_origin_unix_us = Some(bench.clock.origin_unix_us());
    let mut prompt = None;
    let mut resizes = 0;
    let mut taken = 0;
    while taken < length.samples {
        bench.stage(Stage::Draining);
        let before = match bench.drain().await? {
            Ok(before) => before,
            Err(reason) => {
                samples.failure = Some(reason);
                return Ok(Scouted {
                    samples,
                    prompt: None,
                });
            }
        };
        let nonce = format!("{run_nonce}-{}-{taken}{resizes}", length.key.context_tokens);
        let stop = bench.stop.clone();
        let was_broken = sizing.is_route_broken;
        let context_tokens = length.key.context_tokens;
        let sized = tokio::select! {
            () = stop.cancelled() => return Err(Halt::Stopped),
            sized = sizing.prompt(bench, prose, &nonce, context_tokens, length.at_most_tokens) => sized,
        };
        if sizing.is_route_broken && !was_broken {
            bench.check_alive().await?;
        }
        bench.stage(Stage::Scouting);
        let mut sample = alone(bench, &sized.text, RequestRole::Scout).await?;
        sample.counted_prompt_tokens = sized.counted_tokens;
        let after = bench.read_state().await;
        add_counters(&mut sample, before.as_ref(), after.as_ref());
        let is_failed = sample.outcome.failure().is_some();
        if !is_failed
            && sample.events.is_empty()
            && bench.scout_output_tokens == SCOUT_OUTPUT_TOKENS
        {
            bench.scout_output_tokens = SCOUT_OUTPUT_TOKENS_WITH_MARKS;
            bench.note(format!(
                "a first token came without text (a mark of reasoning?): scouts ask for {SCOUT_OUTPUT_TOKENS_WITH_MARKS} tokens"
            ));
            resizes += 1;
            continue;
        }
        if !is_failed && is_off(bench, sizing, &sized, &sample, &mut resizes) {
            continue;
        }
        if let Some(why) = sized.is_another_length(&sample) {
            samples.failure = Some(why);
            return Ok(Scouted {
                samples,
                prompt: None,
            });
        }
        samples.readings.extend(before.into_iter().chain(after));
        samples.requests.push(sample);
        prompt = (!is_failed).then_some(sized.text);
        taken += 1;
        if is_failed {
            bench.check_alive().await?;
            break;
        }
    }
    Ok(Scouted { samples, prompt })
}

/// Whether the prompt had another length than wanted and is worth sizing again.
fn is_off(
    bench: &mut Bench,
    sizing: &mut Sizing,
    sized: &SizedPrompt,
    sample: &RequestSample,
    resizes: &mut u32,
) -> bool {
    let Some(prompt_tokens) = sample.usage.map(|usage| usage.prompt_tokens) else {
        return false;
    };
    if sized.allows(prompt_tokens) || prompt_tokens == 0 {
        return false;
    }
    sizing.correct(sized, prompt_tokens);
    *resizes += 1;
    let is_worth_it = *resizes <= MAX_RESIZES;
    bench.note(format!(
        "the server counted {prompt_tokens} prompt tokens where {} were wanted{}",
        sized.target_tokens,
        if is_worth_it {
            ": the prompt is sized again"
        } else {
            ""
        }
    ));
    is_worth_it
}

/// One request alone, read to its end.
pub(crate) async fn alone(
    bench: &mut Bench,
    prompt: &Arc<str>,
    role: RequestRole,
) -> Result<RequestSample, Halt> {
    let live = Arc::new(Live::new(1));
    let wave = wave(bench, role, Arc::clone(&live));
    let mut connection = wave.connect().await.ok();
    let body = bench.body(prompt, bench.scout_output_tokens, bench.plan.seed);
    let cut = CancellationToken::new();
    let cut_all = cut.clone();
    let stop = bench.stop.clone();
    let mut silence = Silence::new(bench.clock.now(), prompt.len());
    let mut reading = Box::pin(async {
        match wave.perform(&mut connection, 0, body, &cut).await {
            Read::Whole(sample) => *sample,
            Read::Tail(tail) => tail.finish(&cut).await,
        }
    });
    loop {
        tokio::select! {
            sample = &mut reading => return Ok(sample),
            () = stop.cancelled() => return Err(Halt::Stopped),
            () = tokio::time::sleep(crate::bench::READING_INTERVAL) => {}
        }
        watch(bench, &live, std::slice::from_ref(&cut_all));
        crate::decode::tick(bench, &live, None, None, None);
        if live.tokens.load(Relaxed) > MAX_SCOUT_OUTPUT_TOKENS {
            cut.cancel();
            let mut sample = reading.await;
            sample.outcome = Outcome::Broke {
                reason: format!(
                    "the server wrote on where {SCOUT_OUTPUT_TOKENS} token was asked for: it ignores max_tokens"
                ),
            };
            return Ok(sample);
        }
        if silence.is_long(bench.clock.now()) {
            // The answer is read meanwhile: asking must not make its first token late.
            tokio::select! {
                sample = &mut reading => return Ok(sample),
                () = stop.cancelled() => return Err(Halt::Stopped),
                alive = bench.check_beside() => alive?,
            }
            silence.heard(bench.clock.now());
        }
    }
}

pub(crate) fn wave(bench: &Bench, role: RequestRole, live: Arc<Live>) -> Wave {
    Wave {
        target: Arc::clone(&bench.target),
        addresses: Arc::clone(&bench.addresses),
        clock: bench.clock,
        path: bench.api.path(),
        role,
        live,
        late_tails: Arc::clone(&bench.late_tails),
    }
}

/// Cached tokens and prefill time by the engine's counters: only this request
/// can have moved them.
fn add_counters(
    sample: &mut RequestSample,
    before: Option<&EngineReading>,
    after: Option<&EngineReading>,
) {
    let (Some(before), Some(after)) = (before, after) else {
        return;
    };
    let grown = |of: fn(&EngineReading) -> Option<f64>| Some(of(after)? - of(before)?);
    if grown(|r| r.cache_queried_tokens).is_some_and(|queried| queried > 0.0) {
        sample.counted_cached_tokens =
            grown(|r| r.cache_hit_tokens).map(|hit| hit.max(0.0).round() as u64);
    }
    if sample.timings.is_none()
        && let Some(prefill_s) = grown(|r| r.prefill_s).filter(|s| *s > 0.0)
    {
        sample.timings = Some(EngineTimings {
            prefill_ms: Some(prefill_s * 1e3),
            decode_ms: None,
        });
    }
}

/// Finds out, with two short requests, which fields the server takes and how
/// prose counts in its tokenizer. Needed only where the engine is not known.
///
/// `Ok(Err(reason))` when the server refuses even the plainest request.
pub(crate) async fn calibrate(
    bench: &mut Bench,
    sizing: &mut Sizing,
    prose: &Prose,
    run_nonce: &str,
) -> Result<Result<(), String>, Halt> {
    let knows_fields = bench.features.ignore_eos != Support::Unknown;
    if knows_fields {
        return Ok(Ok(()));
    }
    let mut counted: Vec<(usize, u64)> = Vec::new();
    for tokens in CALIBRATION_TOKENS {
        let nonce = format!("{run_nonce}-calibration-{tokens}");
        let text: Arc<str> = prose
            .draft(bench.plan.seed, &nonce, tokens as usize * 8)
            .cut(tokens as usize * 4)
            .into();
        let sample = loop {
            let sample = alone(bench, &text, RequestRole::Warmup).await?;
            let Some(failure) = sample.outcome.failure() else {
                break sample;
            };
            if !(matches!(sample.outcome, Outcome::Refused { .. }) && drop_a_field(bench, &failure))
            {
                return Ok(Err(failure));
            }
        };
        counted.extend(sample.usage.map(|usage| (text.len(), usage.prompt_tokens)));
    }
    match counted[..] {
        [(short, few), (long, many)] if many > few && long > short => {
            let per_char = (many - few) as f64 / (long - short) as f64;
            sizing.tokens_per_char = Some(per_char);
            sizing.surplus_tokens = few as i64 - (short as f64 * per_char).round() as i64;
        }
        _ => bench.note("the server reports no prompt tokens: prompt lengths are estimated"),
    }
    Ok(Ok(()))
}

/// Leaves out the next field that a strict server may refuse; says so.
fn drop_a_field(bench: &mut Bench, failure: &str) -> bool {
    if bench.dialect.ignore_eos {
        bench.dialect.ignore_eos = false;
        bench.note(format!(
            "ignore_eos is left out, since {failure}: answers may end early"
        ));
        true
    } else if bench.dialect.usage != StreamUsage::None {
        bench.dialect.usage = StreamUsage::None;
        bench.note(format!(
            "stream_options is left out, since {failure}: the server may report no usage"
        ));
        true
    } else {
        false
    }
}
