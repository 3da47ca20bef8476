//! Sustained decode: C streams, a window, and what was seen of it.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use bytes::Bytes;
use document::{
    CellKey, CellSamples, EngineReading, Micros, Outcome, RequestRole, RequestSample, Window,
};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, Halt, READING_INTERVAL, Silence};
use crate::connection::Connection;
use crate::live::Live;
use crate::progress::{Progress, Stage, Tick};
use crate::ready::{self, Starting};
use crate::scout::wave;
use crate::watch::watch;
use crate::worker::{Read, Wave};

/// After the window each stream may bring one more event, so that tokens astride
/// its end can be shared out; it is waited for at least this long …
const LAST_EVENT_PATIENCE: Duration = Duration::from_millis(400);
/// … for this many of the stream's usual gaps …
const USUAL_GAPS: f64 = 2.0;
/// … and no longer than this.
const MAX_LAST_EVENT_PATIENCE: Duration = Duration::from_secs(5);
/// Streams that flow but never come to rest are measured after this long, s.
const READY_PATIENCE_S: f64 = 120.0;
/// How often the engine is asked while streams start: three readings say that they
/// are steady, and answers are being written meanwhile.
const STARTING_INTERVAL: Duration = Duration::from_millis(100);
/// Seeds of different streams lie this far apart.
const SEED_STRIDE: u64 = 1_000_003;
/// Connections opened at the same time before a cell.
const CONNECTING_AT_ONCE: usize = 64;

/// Measures one decode cell with a prompt that a scout has warmed.
pub(crate) async fn measure(
    bench: &mut Bench,
    key: CellKey,
    prompt: &Arc<str>,
) -> Result<CellSamples, Halt> {
    let mut samples = CellSamples::empty(key, bench.limits());
    samples.clock_origin_unix_us = Some(bench.clock.origin_unix_us());
    bench.stage(Stage::Draining);
    match bench.drain().await? {
        Ok(last) => samples.readings.extend(last),
        Err(reason) => {
            samples.failure = Some(reason);
            return Ok(samples);
        }
    }
    bench.stage(Stage::Starting);
    let live = Arc::new(Live::new(key.concurrency));
    let wave = wave(bench, RequestRole::Stream, Arc::clone(&live));
    let connections = match connect_all(&wave, key.concurrency).await {
        Ok(connections) => connections,
        Err(failure) => {
            samples.failure = Some(failure);
            bench.check_alive().await?;
            return Ok(samples);
        }
    };
    let mut streams = Streams::start(bench, wave, prompt, connections);
    let prompt_bytes = prompt.len().saturating_mul(key.concurrency as usize);
    let result = control(bench, &mut streams, &mut samples, prompt_bytes).await;
    match streams.end().await {
        Ok(requests) => samples.requests = requests,
        Err(breakdown) => samples.failure = Some(breakdown),
    }
    samples.requests.sort_by_key(|request| request.sent_us);
    result?;
    if live.failures.load(Relaxed) > 0 {
        bench.check_alive().await?;
    }
    Ok(samples)
}

/// Waits for readiness, lets the window pass, keeps the readings.
async fn control(
    bench: &mut Bench,
    streams: &mut Streams,
    samples: &mut CellSamples,
    prompt_bytes: usize,
) -> Result<(), Halt> {
    let live = Arc::clone(&streams.live);
    let started_us = bench.clock.now();
    let first_reading = samples.readings.len();
    let mut meter = Meter::default();
    let mut silence = Silence::new(started_us, prompt_bytes);
    let mut tokens = 0;
    let mut window: Option<Window> = None;
    let mut ticks = every(STARTING_INTERVAL);
    loop {
        tokio::select! {
            biased;
            () = bench.stop.cancelled() => return Err(Halt::Stopped),
            () = streams.failed.cancelled() => return Ok(()),
            _ = ticks.tick() => {}
        }
        let reading = bench.read_state().await;
        let now_us = bench.clock.now();
        bench.answers_beside |= reading.is_some();
        if live.have_flowed() == samples.key.concurrency {
            silence.prompts_are_read();
        }
        if !bench.answers_beside && tokens == 0 && live.tokens.load(Relaxed) > 0 {
            // It is writing: a good moment to learn whether it answers meanwhile.
            bench.check_beside().await?;
        }
        if reading.is_some() || live.tokens.load(Relaxed) > tokens {
            silence.heard(now_us);
        } else if silence.is_long(now_us) {
            bench.check_beside().await?;
            silence.heard(bench.clock.now());
        }
        tokens = live.tokens.load(Relaxed);
        watch(bench, &live, &streams.cuts);
        tick(
            bench,
            &live,
            reading.as_ref(),
            meter.tok_s(now_us, &live),
            window,
        );
        samples.readings.extend(reading);
        if let Some(over) = window.filter(|window| now_us >= window.close_us) {
            samples.window = window;
            last_events(bench, &live, over.close_us).await;
            return Ok(());
        }
        if window.is_none() && may_open(&live, samples, first_reading, started_us, now_us) {
            let close_us = now_us.plus_seconds(bench.plan.window_s);
            window = Some(Window {
                open_us: now_us,
                close_us,
            });
            ticks = every(READING_INTERVAL);
            bench.stage(Stage::Measuring);
        }
    }
}

/// Ticks that are skipped, not caught up with, when the engine is slow to tell.
fn every(interval: Duration) -> tokio::time::Interval {
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Skip);
    ticks
}

fn may_open(
    live: &Live,
    samples: &CellSamples,
    first_reading: usize,
    started_us: Micros,
    now_us: Micros,
) -> bool {
    let newest = live.newest_first_us.load(Relaxed);
    let starting = Starting {
        concurrency: samples.key.concurrency,
        have_flowed: live.have_flowed(),
        flowing: live.flowing(),
        started_us,
        newest_first_us: (newest > 0).then_some(Micros(newest)),
        now_us,
        readings: &samples.readings[first_reading..],
    };
    let settled_for_s = now_us.seconds_since(Micros(newest.max(started_us.0)));
    ready::is_ready(&starting) || (newest > 0 && settled_for_s > READY_PATIENCE_S)
}

/// Gives every flowing stream the time for one event past the window's end.
async fn last_events(bench: &Bench, live: &Live, close_us: Micros) {
    let gaps = Duration::from_secs_f64((USUAL_GAPS * live.longest_gap_s()).clamp(0.0, 60.0));
    let patience = gaps.clamp(LAST_EVENT_PATIENCE, MAX_LAST_EVENT_PATIENCE);
    let deadline = tokio::time::Instant::now() + patience;
    while tokio::time::Instant::now() < deadline && !live.all_heard_since(close_us) {
        tokio::time::sleep(Duration::from_millis(10)).await;
        if bench.stop.is_cancelled() {
            return;
        }
    }
}

/// Tells the terminal how the cell stands.
pub(crate) fn tick(
    bench: &Bench,
    live: &Live,
    reading: Option<&EngineReading>,
    tok_s: Option<f64>,
    window: Option<Window>,
) {
    let now = bench.clock.now();
    bench.tell(Progress::Tick(Tick {
        at_s: bench.now_s(),
        open_streams: live.open(),
        flowing_streams: live.flowing(),
        tok_s: tok_s.filter(|tok_s| *tok_s > 0.0),
        ttft_ms_p50: live.ttft_ms_p50(),
        running: reading.and_then(|r| r.running),
        waiting: reading.and_then(|r| r.waiting),
        kv_used: reading.and_then(|r| r.kv_used),
        measured_s: window.map(|w| now.seconds_since(w.open_us).clamp(0.0, w.length_s())),
        window_s: bench.plan.window_s,
        left_s: bench.left_s,
    }));
}

/// Tokens over about the last second, for people to look at.
#[derive(Debug, Default)]
struct Meter {
    seen: std::collections::VecDeque<(Micros, u64)>,
}

impl Meter {
    fn tok_s(&mut self, now: Micros, live: &Live) -> Option<f64> {
        let tokens = live.tokens.load(Relaxed);
        self.seen.push_back((now, tokens));
        while self.seen.len() > 2 && now.seconds_since(self.seen[1].0) > 1.0 {
            self.seen.pop_front();
        }
        let (since, before) = *self.seen.front()?;
        let length_s = now.seconds_since(since);
        (length_s > 0.0).then(|| (tokens - before) as f64 / length_s)
    }
}

/// A connection for each stream, so that none is opened while it is timed.
async fn connect_all(wave: &Wave, streams: u32) -> Result<Vec<Connection>, String> {
    let mut connections = Vec::with_capacity(streams as usize);
    let mut opening = JoinSet::new();
    let mut left = streams;
    while connections.len() < streams as usize {
        while left > 0 && opening.len() < CONNECTING_AT_ONCE {
            let wave = wave.clone();
            opening.spawn(async move { wave.connect().await });
            left -= 1;
        }
        match opening.join_next().await {
            Some(Ok(Ok(connection))) => connections.push(connection),
            Some(Ok(Err(outcome))) => {
                return Err(format!(
                    "{} ({} of {streams} connections stood)",
                    outcome.failure().unwrap_or_default(),
                    connections.len()
                ));
            }
            Some(Err(error)) => return Err(format!("connecting failed: {error}")),
            None => return Err("connecting ended early".to_owned()),
        }
    }
    Ok(connections)
}

/// The streams of a cell, each replaced as soon as it finishes.
struct Streams {
    live: Arc<Live>,
    tasks: JoinSet<Vec<RequestSample>>,
    /// Ends them one by one.
    cuts: Vec<CancellationToken>,
    /// Ends them all.
    cut_all: CancellationToken,
    /// Cancelled when one has failed: the cell has.
    failed: CancellationToken,
}

impl Streams {
    fn start(
        bench: &Bench,
        wave: Wave,
        prompt: &Arc<str>,
        connections: Vec<Connection>,
    ) -> Streams {
        let cut_all = CancellationToken::new();
        let failed = CancellationToken::new();
        let live = Arc::clone(&wave.live);
        let cuts: Vec<_> = connections.iter().map(|_| cut_all.child_token()).collect();
        let mut tasks = JoinSet::new();
        for (index, connection) in connections.into_iter().enumerate() {
            let seed = bench
                .plan
                .seed
                .wrapping_add((index as u64).wrapping_mul(SEED_STRIDE));
            let lane = Lane {
                wave: wave.clone(),
                stream: index as u32,
                body: bench.body(prompt, bench.plan.max_output_tokens, seed),
                cut: cuts[index].clone(),
                failed: failed.clone(),
            };
            tasks.spawn(lane.run(connection));
        }
        Streams {
            live,
            tasks,
            cuts,
            cut_all,
            failed,
        }
    }

    /// Cuts what is open and collects all requests.
    /// `Err` when a stream's task broke down: that is our fault, and no figure of
    /// the cell can be trusted.
    async fn end(mut self) -> Result<Vec<RequestSample>, String> {
        self.cut_all.cancel();
        let mut requests = Vec::new();
        while let Some(lane) = self.tasks.join_next().await {
            let lane = lane.map_err(|error| format!("reading a stream broke down: {error}"));
            requests.extend(lane?);
        }
        Ok(requests)
    }
}

/// One of the C streams.
struct Lane {
    wave: Wave,
    stream: u32,
    body: Bytes,
    cut: CancellationToken,
    failed: CancellationToken,
}

impl Lane {
    /// Sends request after request until it is cut or one fails.
    async fn run(self, connection: Connection) -> Vec<RequestSample> {
        // If this task breaks down, the cell must not wait for it.
        let breakdown = self.failed.clone().drop_guard();
        let mut kept = Some(connection);
        let mut done = Vec::new();
        let mut tails = JoinSet::new();
        while !self.cut.is_cancelled() {
            let body = self.body.clone();
            match self
                .wave
                .perform(&mut kept, self.stream, body, &self.cut)
                .await
            {
                Read::Whole(sample) => {
                    let is_empty = matches!(sample.outcome, Outcome::Completed { .. })
                        && sample.events.is_empty();
                    let has_failed = is_empty || sample.outcome.failure().is_some();
                    done.push(*sample);
                    if has_failed {
                        self.failed.cancel();
                        break;
                    }
                }
                Read::Tail(tail) => {
                    let cut = self.cut.clone();
                    tails.spawn(async move { tail.finish(&cut).await });
                }
            }
        }
        while let Some(tail) = tails.join_next().await {
            done.extend(tail.ok());
        }
        breakdown.disarm();
        done
    }
}
