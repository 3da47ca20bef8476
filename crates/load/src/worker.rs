//! One stream: send a request, read its answer, stamp what comes.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use document::{Micros, Outcome, RequestRole, RequestSample};
use http::Method;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE};
use hyper::body::Incoming;
use tokio_util::sync::CancellationToken;

use crate::answer_stream::AnswerStream;
use crate::client::request;
use crate::clock::RunClock;
use crate::connection::Connection;
use crate::live::{Live, LiveStream};
use crate::repetition;
use crate::target::Target;

/// After the finish reason, usage and the end are due at once; a server that
/// takes longer is read to its end beside the next request.
const TAIL_GRACE: Duration = Duration::from_millis(30);
/// A server that took longer so often is not given the time again: the next request
/// would start late each time.
const MAX_LATE_TAILS: u32 = 2;
/// What comes later than this after the finish reason is not waited for.
const TAIL_PATIENCE: Duration = Duration::from_secs(10);
/// Where usage has come already, a stream held open has nothing more to say.
const TAIL_PATIENCE_WITH_USAGE: Duration = Duration::from_secs(1);
/// How much of an error's body is read, bytes.
const MAX_ERROR_BYTES: usize = 64 * 1024;
/// How long an error's body may take.
const ERROR_PATIENCE: Duration = Duration::from_secs(5);

/// What all requests of a wave have in common.
#[derive(Clone)]
pub(crate) struct Wave {
    pub target: Arc<Target>,
    pub addresses: Arc<[SocketAddr]>,
    pub clock: RunClock,
    pub path: &'static str,
    pub role: RequestRole,
    pub live: Arc<Live>,
    /// Answers of the run whose end came late.
    pub late_tails: Arc<AtomicU32>,
}

/// A request's answer, read as far as its finish reason.
pub(crate) enum Read {
    /// Read to its end (or failed, or cut).
    Whole(Box<RequestSample>),
    /// Finished, but the server has not closed: the rest is read elsewhere.
    Tail(Box<Tail>),
}

/// A finished answer whose stream is still open.
pub(crate) struct Tail {
    connection: Connection,
    body: Incoming,
    answer: AnswerStream,
    sample: RequestSample,
    clock: RunClock,
    target: Arc<Target>,
}

/// Ends of an exchange before there is a stream of events.
enum NoStream {
    Cut,
    Failed(Outcome),
}

impl Wave {
    fn stream(&self, stream: u32) -> &LiveStream {
        &self.live.streams[stream as usize]
    }

    pub async fn connect(&self) -> Result<Connection, Outcome> {
        Connection::open(&self.target, &self.addresses, self.clock)
            .await
            .map_err(|error| Outcome::Broke {
                reason: format!("could not connect: {error}"),
            })
    }

    /// Sends `body` on `connection` (or a new one) and reads the answer up to its
    /// finish reason. A connection still good is left in `connection`.
    pub async fn perform(
        &self,
        connection: &mut Option<Connection>,
        stream: u32,
        body: Bytes,
        cut: &CancellationToken,
    ) -> Read {
        let live = self.stream(stream);
        let mut sample = RequestSample::unsent(stream, self.role);
        live.began(self.clock.now());
        let started = self.start(connection, &mut sample, live, body, cut).await;
        let read = match started {
            Ok((open, incoming)) => {
                self.read(connection, open, incoming, sample, live, cut)
                    .await
            }
            Err(no_stream) => {
                *connection = None;
                if let NoStream::Failed(outcome) = no_stream {
                    sample.outcome = outcome;
                } else if let Some(outcome) = overdue(live, 0) {
                    sample.outcome = outcome;
                }
                sample.closed_us = Some(self.clock.now());
                Read::Whole(Box::new(sample))
            }
        };
        live.ended();
        match read {
            Read::Whole(mut sample) => {
                self.target.redact_outcome(&mut sample.outcome);
                if sample.outcome.failure().is_some() {
                    self.live.failures.fetch_add(1, Relaxed);
                }
                Read::Whole(sample)
            }
            Read::Tail(tail) => Read::Tail(tail),
        }
    }

    /// Sends and checks the head of the answer.
    async fn start(
        &self,
        kept: &mut Option<Connection>,
        sample: &mut RequestSample,
        live: &LiveStream,
        body: Bytes,
        cut: &CancellationToken,
    ) -> Result<(Connection, Incoming), NoStream> {
        let reusable = match kept.take() {
            Some(mut connection) => connection.is_ready().await.then_some(connection),
            None => None,
        };
        let was_used_before = reusable.as_ref().is_some_and(Connection::has_answered);
        let first = self.send(reusable, sample, live, body.clone(), cut).await;
        let (mut connection, response) = match first {
            // The server closed a kept connection at the moment we wrote to it.
            Err(NoStream::Failed(Outcome::Broke { .. })) if was_used_before => {
                self.send(None, sample, live, body, cut).await?
            }
            sent => sent?,
        };
        let status = response.status().as_u16();
        let header = |name| {
            let value = response.headers().get(name).and_then(|v| v.to_str().ok());
            value.unwrap_or_default().to_ascii_lowercase()
        };
        let content_type = header(CONTENT_TYPE);
        let encoding = header(CONTENT_ENCODING);
        if !encoding.is_empty() && encoding != "identity" {
            let message = format!("the answer is compressed ({encoding}), which was not asked for");
            return Err(NoStream::Failed(Outcome::Refused { status, message }));
        }
        let is_stream = status == 200
            && (content_type.starts_with("text/event-stream") || content_type.is_empty());
        let mut incoming = response.into_body();
        if is_stream {
            return Ok((connection, incoming));
        }
        let text = error_text(&mut connection, &mut incoming).await;
        Err(NoStream::Failed(self.refusal(status, &content_type, &text)))
    }

    /// Connects where needed and sends; the head of the answer.
    async fn send(
        &self,
        kept: Option<Connection>,
        sample: &mut RequestSample,
        live: &LiveStream,
        body: Bytes,
        cut: &CancellationToken,
    ) -> Result<(Connection, http::Response<Incoming>), NoStream> {
        let mut connection = match kept {
            Some(connection) => connection,
            None => tokio::select! {
                biased;
                () = cut.cancelled() => return Err(NoStream::Cut),
                opened = self.connect() => opened.map_err(NoStream::Failed)?,
            },
        };
        sample.connect_began_us = Some(connection.began_us);
        sample.connected_us = Some(connection.stood_us);
        let request = request(&self.target, Method::POST, self.path, body);
        let sent = tokio::select! {
            biased;
            () = cut.cancelled() => None,
            sent = connection.send(request) => Some(sent),
        };
        let written_us = connection.written_us();
        if written_us > connection.stood_us {
            sample.sent_us = Some(written_us);
            live.sent_us.store(written_us.0, Relaxed);
        }
        match sent {
            None => Err(NoStream::Cut),
            Some(Ok(response)) => Ok((connection, response)),
            Some(Err(error)) => {
                let reason =
                    format!("the server closed the connection before it answered ({error})");
                Err(NoStream::Failed(Outcome::Broke { reason }))
            }
        }
    }

    fn refusal(&self, status: u16, content_type: &str, body: &[u8]) -> Outcome {
        // Before it is cut short: half a secret is one too.
        let body = self.target.redact(&String::from_utf8_lossy(body));
        let said = wire::error_body::sentence(body.as_bytes());
        let message = if status == 200 {
            format!("it answered with {content_type} instead of a stream of events: {said}")
        } else {
            said
        };
        Outcome::Refused { status, message }
    }

    /// Reads events until the answer has finished, fails or is cut.
    async fn read(
        &self,
        kept: &mut Option<Connection>,
        mut connection: Connection,
        mut body: Incoming,
        sample: RequestSample,
        live: &LiveStream,
        cut: &CancellationToken,
    ) -> Read {
        let mut answer = AnswerStream::new();
        let cancelled = cut.cancelled();
        tokio::pin!(cancelled);
        let broken = loop {
            let frame = tokio::select! {
                biased;
                frame = connection.frame(&mut body) => frame,
                () = &mut cancelled => return self.cut_off(answer, sample, live),
            };
            match frame {
                None => break None,
                Some(Err(error)) => break Some(format!("the connection broke off ({error})")),
                Some(Ok(frame)) => {
                    let Ok(bytes) = frame.into_data() else {
                        continue;
                    };
                    let at = connection.read_us();
                    let brought = answer.take(&bytes, at);
                    if brought.events > 0 {
                        live.seen_us.store(at.0, Relaxed);
                        live.events.fetch_add(brought.events, Relaxed);
                    }
                    if brought.is_first && live.first_token(at) {
                        self.live.newest_first_us.fetch_max(at.0, Relaxed);
                    }
                    self.live
                        .tokens
                        .fetch_add(u64::from(brought.tokens), Relaxed);
                }
            }
            if answer.has_finished() {
                let tail = Tail {
                    connection,
                    body,
                    answer,
                    sample,
                    clock: self.clock,
                    target: Arc::clone(&self.target),
                };
                let is_late = self.late_tails.load(Relaxed) >= MAX_LATE_TAILS;
                let grace = if is_late { Duration::ZERO } else { TAIL_GRACE };
                let read = tail.finish_soon(kept, grace).await;
                if matches!(read, Read::Tail(_)) {
                    self.late_tails.fetch_add(1, Relaxed);
                }
                return read;
            }
        };
        Read::Whole(Box::new(fill(sample, answer, broken, self.clock.now())))
    }

    fn cut_off(&self, answer: AnswerStream, sample: RequestSample, live: &LiveStream) -> Read {
        let mut sample = fill(sample, answer, None, self.clock.now());
        let events = sample.events.len();
        sample.outcome = overdue(live, events).unwrap_or(Outcome::CutAtWindowEnd);
        Read::Whole(Box::new(sample))
    }
}

impl Tail {
    /// Reads the rest if it comes at once; else hands the stream back open.
    async fn finish_soon(mut self, kept: &mut Option<Connection>, grace: Duration) -> Read {
        match tokio::time::timeout(grace, self.rest()).await {
            Ok(broken) => {
                let sample = fill(self.sample, self.answer, broken, self.clock.now());
                if matches!(sample.outcome, Outcome::Completed { .. }) {
                    *kept = Some(self.connection);
                }
                Read::Whole(Box::new(sample))
            }
            Err(_) => Read::Tail(Box::new(self)),
        }
    }

    /// Reads to the end of the stream, or as long as anyone should wait: what is
    /// still missing then is usage, the answer itself was complete.
    pub async fn finish(mut self, cut: &CancellationToken) -> RequestSample {
        let has_usage = self.answer.usage.is_some();
        let patience = if has_usage {
            TAIL_PATIENCE_WITH_USAGE
        } else {
            TAIL_PATIENCE
        };
        let broken = tokio::select! {
            broken = self.rest() => broken,
            () = tokio::time::sleep(patience) => None,
            () = cut.cancelled() => None,
        };
        let mut sample = fill(self.sample, self.answer, broken, self.clock.now());
        self.target.redact_outcome(&mut sample.outcome);
        sample
    }

    async fn rest(&mut self) -> Option<String> {
        while let Some(frame) = self.connection.frame(&mut self.body).await {
            match frame {
                Ok(frame) => {
                    if let Ok(bytes) = frame.into_data() {
                        self.answer.take(&bytes, self.connection.read_us());
                    }
                }
                Err(error) => return Some(format!("the connection broke off ({error})")),
            }
        }
        None
    }
}

fn fill(
    mut sample: RequestSample,
    mut answer: AnswerStream,
    broken: Option<String>,
    now: Micros,
) -> RequestSample {
    sample.outcome = answer.outcome(broken);
    sample.first_answer_us = answer.first_answer_us;
    sample.usage = answer.usage;
    sample.timings = answer.timings;
    sample.repetition = repetition::find(answer.tail());
    sample.events = answer.take_events();
    sample.closed_us = Some(now);
    sample
}

/// The end of a stream that was cut for its silence after `events`.
fn overdue(live: &LiveStream, events: usize) -> Option<Outcome> {
    let allowed_s = live.overdue_after_ms.load(Relaxed) as f64 / 1e3;
    let reason = if events == 0 {
        format!("no token came within {allowed_s} s (--first-token-timeout allows more)")
    } else {
        format!(
            "no further token came for {allowed_s} s after {events} events (--stall-timeout allows more)"
        )
    };
    (allowed_s > 0.0).then_some(Outcome::TimedOut { reason })
}

async fn error_text(connection: &mut Connection, body: &mut Incoming) -> Vec<u8> {
    let mut text = Vec::new();
    let reading = async {
        while let Some(Ok(frame)) = connection.frame(body).await {
            if let Ok(data) = frame.into_data() {
                text.extend_from_slice(&data);
            }
            if text.len() > MAX_ERROR_BYTES {
                break;
            }
        }
    };
    // What came in time is what there is to say.
    let _ = tokio::time::timeout(ERROR_PATIENCE, reading).await;
    text
}
