//! The two generation routes.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::{StatusCode, header};
use tokio::sync::mpsc::unbounded_channel;

use super::Shared;
use super::answer::Answer;
use super::body::{EventBody, Flight};
use super::error::{ApiError, json_response};
use super::events::{Voice, reason_name};
use super::request::{Api, Asked, GenerateBody, StreamUsage};
use super::routes::{check_model, parse, proxy_page};
use crate::engine::{FinishReason, RequestId, Submission};
use crate::fault::{Behaviour, UsageManner};
use crate::ledger::{RequestTruth, TrueOutcome};
use crate::text::{Text, mix};
use crate::tokenizer::block_hashes;

/// Bodies above this are read on a thread of their own, bytes.
const LARGE_BODY_BYTES: usize = 128 * 1024;

/// Answers a generation request whose head had been read at `arrived`.
pub(super) async fn generate(
    app: Shared,
    api: Api,
    bytes: Bytes,
    arrived: Instant,
) -> Result<Response, ApiError> {
    let number = app.requests.fetch_add(1, Ordering::Relaxed);
    let behaviour = Behaviour::of_request(&app.config.faults, number, app.config.seed);
    if behaviour.html {
        return Ok(proxy_page(StatusCode::OK));
    }
    if behaviour.status_500 {
        return Err(ApiError::internal());
    }
    let prepared = prepare(&app, api, bytes).await?;
    if behaviour.never_answer {
        return std::future::pending().await;
    }
    let (flight, answer, stream) = take_off(&app, api, prepared, behaviour, number, arrived);
    if !stream {
        return whole(flight, answer).await;
    }
    let body = EventBody::new(flight, answer.stream());
    let mut response = Response::new(Body::new(body));
    response.headers_mut().insert(
        header::CONTENT_TYPE,
        header::HeaderValue::from_static("text/event-stream; charset=utf-8"),
    );
    Ok(response)
}

/// A request read, checked, tokenized and hashed.
struct Prepared {
    body: GenerateBody,
    asked: Asked,
    hashes: Vec<Arc<[u64]>>,
}

async fn prepare(app: &Shared, api: Api, bytes: Bytes) -> Result<Prepared, ApiError> {
    let served = app.config.model.clone();
    let max_model_len = app.config.max_model_len;
    let large = bytes.len() > LARGE_BODY_BYTES;
    let read = move || {
        let body: GenerateBody = parse(&bytes)?;
        check_model(body.model.as_deref(), &served)?;
        let asked = body.asked(api, max_model_len)?;
        let hashes = asked
            .prompts
            .iter()
            .map(|ids| Arc::from(block_hashes(ids)))
            .collect();
        Ok(Prepared {
            body,
            asked,
            hashes,
        })
    };
    if large {
        let read = tokio::task::spawn_blocking(read).await;
        return read.unwrap_or_else(|_panicked| Err(ApiError::internal()));
    }
    read()
}

/// Everything a response is written from, streamed or not.
struct Draft {
    voice: Voice,
    behaviour: Behaviour,
    details: bool,
    seed: u64,
    ends: Vec<u64>,
}

impl Draft {
    fn stream(self) -> Answer {
        Answer::new(
            self.voice,
            self.behaviour,
            self.details,
            self.seed,
            &self.ends,
        )
    }
}

/// Submits the engine requests of one HTTP request.
fn take_off(
    app: &Shared,
    api: Api,
    prepared: Prepared,
    behaviour: Behaviour,
    number: u64,
    arrived: Instant,
) -> (Flight, Draft, bool) {
    let Prepared {
        body,
        asked,
        hashes,
    } = prepared;
    let count = asked.prompts.len() as u64 * u64::from(asked.answers_each);
    let first = app.submissions.fetch_add(count, Ordering::Relaxed);
    let seed = mix(app.config.seed ^ mix(number)) ^ mix(body.seed.unwrap_or(0) as u64);
    let id = match api {
        Api::Chat => format!("chatcmpl-{seed:016x}"),
        Api::Completions => format!("cmpl-{seed:016x}"),
    };
    let (sink, outputs) = unbounded_channel();
    let mut ends = Vec::with_capacity(count as usize);
    let mut prompt_tokens = 0;
    for (prompt, hashes) in asked.prompts.iter().zip(&hashes) {
        prompt_tokens += prompt.len() as u64;
        for _ in 0..asked.answers_each {
            let index = ends.len() as u64;
            let submission = Submission {
                id: RequestId(first + index),
                prompt_tokens: prompt.len() as u64,
                block_hashes: Arc::clone(hashes),
                max_tokens: asked.max_tokens,
                stops_after: stops_after(app, &body, &behaviour, mix(seed ^ index)),
                seed: mix(seed ^ index),
            };
            ends.push(submission.end().0);
            app.driver.submit(arrived, submission, Some(sink.clone()));
        }
    }
    let flight = Flight {
        app: Arc::clone(app),
        first: RequestId(first),
        count,
        outputs,
        open: count,
        truth: RequestTruth {
            id: id.clone(),
            arrival_us: app.clock.us(arrived),
            admitted_us: None,
            first_token_us: None,
            last_token_us: None,
            ended_us: 0,
            outcome: TrueOutcome::Cancelled,
            preemptions: 0,
            prompt_tokens,
            cached_tokens: 0,
            output_tokens: 0,
            events: Vec::new(),
        },
    };
    let usage = match behaviour.usage {
        UsageManner::Never => StreamUsage::Never,
        UsageManner::AsAsked => body.stream_usage(),
        // Said late means said at the end only.
        UsageManner::Late(_) if body.stream_usage() == StreamUsage::Never => StreamUsage::Never,
        UsageManner::Late(_) => StreamUsage::AtEnd,
    };
    let voice = Voice {
        api,
        id,
        created: app.started_unix_s + app.clock.now_us() / 1_000_000,
        model_json: serde_json::to_string(&app.config.model).unwrap_or_default(),
        usage,
        prompt_tokens,
        cached_tokens: None,
    };
    let draft = Draft {
        voice,
        behaviour,
        details: app.config.prompt_tokens_details,
        seed,
        ends,
    };
    (flight, draft, body.stream)
}

/// Where the model would end its answer: by a fault, or at a length drawn from an
/// exponential distribution unless the client ignores the end.
fn stops_after(app: &Shared, body: &GenerateBody, behaviour: &Behaviour, seed: u64) -> Option<u64> {
    if behaviour.stop_after.is_some() {
        return behaviour.stop_after;
    }
    if body.ignore_eos {
        return None;
    }
    let uniform = (mix(seed) as f64 + 1.0) / (u64::MAX as f64 + 2.0);
    let length = -app.config.mean_answer_tokens * uniform.ln();
    Some((length.ceil() as u64).max(body.min_tokens).max(1))
}

/// Waits for the end of all answers and writes them in one JSON object.
async fn whole(mut flight: Flight, draft: Draft) -> Result<Response, ApiError> {
    let mut written = vec![0u64; draft.ends.len()];
    let mut reasons = vec![FinishReason::Length; draft.ends.len()];
    while flight.open > 0 {
        let Some(output) = flight.outputs.recv().await else {
            return Err(ApiError::internal());
        };
        let index = flight.note(&output);
        written[index] += u64::from(output.tokens);
        if let Some(reason) = output.finish {
            reasons[index] = reason;
        }
        flight.stamp(output.tokens);
    }
    flight.truth.outcome = TrueOutcome::Completed;
    let voice = &draft.voice;
    let object = match voice.api {
        Api::Chat => "chat.completion",
        Api::Completions => "text_completion",
    };
    let mut json = format!(
        r#"{{"id":"{}","object":"{object}","created":{},"model":{},"choices":["#,
        voice.id, voice.created, voice.model_json
    );
    for index in 0..written.len() {
        if index > 0 {
            json.push(',');
        }
        let text = Text::new(mix(draft.seed ^ index as u64), draft.behaviour.text);
        let mut answer = String::new();
        for position in 0..written[index] {
            text.append_token(position, &mut answer);
        }
        let reason = reason_name(reasons[index]);
        let _ = match voice.api {
            Api::Chat => write!(
                json,
                r#"{{"index":{index},"message":{{"role":"assistant","content":"{answer}"}},"logprobs":null,"finish_reason":"{reason}","stop_reason":null}}"#
            ),
            Api::Completions => write!(
                json,
                r#"{{"index":{index},"text":"{answer}","logprobs":null,"finish_reason":"{reason}","stop_reason":null}}"#
            ),
        };
    }
    let completion: u64 = written.iter().sum();
    let prompt = voice.prompt_tokens;
    json.push(']');
    if draft.behaviour.usage != UsageManner::Never {
        let _ = write!(
            json,
            r#","usage":{{"prompt_tokens":{prompt},"total_tokens":{},"completion_tokens":{completion}"#,
            prompt + completion
        );
        if draft.details {
            let cached = flight.truth.cached_tokens;
            let _ = write!(
                json,
                r#","prompt_tokens_details":{{"cached_tokens":{cached}}}"#
            );
        }
        json.push('}');
    }
    json.push('}');
    Ok(json_response(StatusCode::OK, json))
}
