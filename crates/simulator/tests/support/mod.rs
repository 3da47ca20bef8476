//! A client without sockets or clock: what a runner does, in the engine's own time.
#![allow(dead_code, reason = "every test file uses another part of it")]

use std::collections::BTreeMap;
use std::sync::Arc;

use simulator::engine::{Machine, Output, RequestId, SimTime, Submission};

/// Longest answer of a decode cell, tokens.
pub const MAX_OUTPUT: u64 = 4096;

/// Warm-up's share of time: first tokens of all to the window, s.
pub const LEAD_S: f64 = 6.0;

/// A running count that has not changed for so long is steady, s.
pub const STEADY_S: f64 = 4.0;

/// One request as the client saw it.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    pub sent: SimTime,
    pub events: Vec<(SimTime, u32)>,
    pub finished: bool,
    pub cached_tokens: u64,
    pub preemptions: u32,
}

impl Seen {
    pub fn ttft_ms(&self) -> f64 {
        self.events[0].0.seconds_since(self.sent) * 1e3
    }

    pub fn tokens(&self) -> u64 {
        self.events
            .iter()
            .map(|(_, tokens)| u64::from(*tokens))
            .sum()
    }
}

/// Drives a machine and keeps what came back.
pub struct Client {
    pub machine: Machine,
    pub now: SimTime,
    pub requests: BTreeMap<u64, Seen>,
    next_id: u64,
    outputs: Vec<Output>,
}

impl Client {
    pub fn new(machine: Machine) -> Client {
        Client {
            machine,
            now: SimTime::default(),
            requests: BTreeMap::new(),
            next_id: 0,
            outputs: Vec::new(),
        }
    }

    /// Sends a request whose prompt is told apart by `topic`.
    pub fn send(&mut self, prompt_tokens: u64, topic: u64, max_tokens: u64) -> u64 {
        let hashes: Vec<u64> = (0..prompt_tokens / 16)
            .map(|block| (topic << 40) | block)
            .collect();
        self.send_hashes(prompt_tokens, hashes, max_tokens)
    }

    pub fn send_hashes(&mut self, prompt_tokens: u64, hashes: Vec<u64>, max_tokens: u64) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        let submission = Submission {
            id: RequestId(id),
            prompt_tokens,
            block_hashes: Arc::from(hashes),
            max_tokens,
            stops_after: None,
            seed: id,
        };
        let seen = Seen {
            sent: self.now,
            ..Seen::default()
        };
        self.requests.insert(id, seen);
        self.machine.submit(self.now, submission);
        id
    }

    pub fn cancel(&mut self, id: u64) {
        self.machine.cancel(self.now, RequestId(id));
    }

    /// Lets the next thing happen, but not later than `until`; the requests that
    /// finished with it.
    pub fn advance(&mut self, until: SimTime) -> Vec<u64> {
        let next = self
            .machine
            .next_deadline()
            .map_or(until, |at| at.min(until));
        self.now = next;
        self.machine.run_until(next, &mut self.outputs);
        let mut finished = Vec::new();
        for output in self.outputs.drain(..) {
            let Some(seen) = self.requests.get_mut(&output.id.0) else {
                continue;
            };
            seen.events.push((output.at, output.tokens));
            seen.cached_tokens = output.cached_tokens;
            seen.preemptions = output.preemptions;
            if output.finish.is_some() {
                seen.finished = true;
                finished.push(output.id.0);
            }
        }
        finished
    }

    /// Runs until a request is finished.
    pub fn finish(&mut self, id: u64) -> Seen {
        let mut steps = 0;
        while !self.requests[&id].finished {
            let until = self.now.plus_ms(1e9);
            self.advance(until);
            steps += 1;
            assert!(steps < 1_000_000, "request {id} never ends");
        }
        self.requests[&id].clone()
    }

    /// Runs until nothing is left to do.
    pub fn drain(&mut self) {
        while self.machine.next_deadline().is_some() {
            let until = self.now.plus_ms(1e9);
            self.advance(until);
        }
    }

    /// Lets `ms` pass.
    pub fn pass(&mut self, ms: f64) {
        let until = self.now.plus_ms(ms);
        while self.now < until {
            self.advance(until);
        }
    }
}

/// Figures of one decode cell.
#[derive(Debug)]
pub struct Figures {
    pub total_tok_s: f64,
    pub tbt_ms: f64,
    pub ttft_ms: f64,
    pub average_active: f64,
    pub queued: bool,
}

/// Measures a warm decode cell: `concurrency` streams of 4,096 tokens, replaced
/// as they end, `lead_s` after all that can run have begun, for `window_s`.
pub fn decode_cell(
    client: &mut Client,
    context: u64,
    concurrency: usize,
    lead_s: f64,
    window_s: f64,
) -> Figures {
    let mut open: Vec<u64> = (0..concurrency)
        .map(|_| client.send(context, context, MAX_OUTPUT))
        .collect();
    let all: Vec<u64> = open.clone();
    let mut sent = all.clone();
    let replace = |client: &mut Client, open: &mut Vec<u64>, sent: &mut Vec<u64>, ended| {
        for id in ended {
            let Some(at) = open.iter().position(|known| *known == id) else {
                continue;
            };
            open[at] = client.send(context, context, MAX_OUTPUT);
            sent.push(open[at]);
        }
    };
    // Ready: everyone flows, or for a while no more than now do and others wait.
    let mut steady = (client.now, 0);
    loop {
        let until = client.now.plus_ms(1e6);
        let ended = client.advance(until);
        replace(client, &mut open, &mut sent, ended);
        let begun = open
            .iter()
            .filter(|id| !client.requests[id].events.is_empty())
            .count();
        let counters = client.machine.counters();
        if counters.running != steady.1 {
            steady = (client.now, counters.running);
        }
        let stuck = client.now.seconds_since(steady.0) >= STEADY_S;
        if begun == concurrency || (stuck && counters.waiting > 0 && begun > 0) {
            break;
        }
    }
    let from = client.now.plus_ms(lead_s * 1e3);
    let to = from.plus_ms(window_s * 1e3);
    let (mut running, mut waiting, mut readings) = (0.0, 0, 0);
    let mut next_reading = from;
    while client.now < to {
        let until = if client.now < from {
            from
        } else {
            to.min(next_reading)
        };
        let ended = client.advance(until);
        replace(client, &mut open, &mut sent, ended);
        if client.now >= next_reading {
            running += client.machine.counters().running as f64;
            waiting += u32::from(client.machine.counters().waiting > 0);
            readings += 1;
            next_reading = next_reading.plus_ms(200.0);
        }
    }
    for id in &open {
        client.cancel(*id);
    }
    client.drain();
    let mut total = 0;
    let (mut tbts, mut ttfts) = (Vec::new(), Vec::new());
    for id in &sent {
        let seen = &client.requests[id];
        let inside: Vec<_> = seen
            .events
            .iter()
            .filter(|(at, _)| *at >= from && *at < to)
            .collect();
        let tokens: u32 = inside.iter().map(|(_, tokens)| tokens).sum();
        total += tokens;
        if seen.events.first().is_some_and(|(at, _)| *at < to) {
            ttfts.push(seen.ttft_ms());
        }
        if inside.len() > 1 {
            let seconds = inside[inside.len() - 1].0.seconds_since(inside[0].0);
            tbts.push(seconds * 1e3 / f64::from(tokens - inside[0].1));
        }
    }
    for id in sent {
        client.requests.remove(&id);
    }
    Figures {
        total_tok_s: f64::from(total) / window_s,
        tbt_ms: median(&mut tbts),
        ttft_ms: median(&mut ttfts),
        average_active: running / f64::from(readings),
        queued: f64::from(waiting) > 0.5 * f64::from(readings),
    }
}

pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len().is_multiple_of(2) {
        return (values[middle - 1] + values[middle]) / 2.0;
    }
    values[middle]
}
