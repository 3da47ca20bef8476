use document::{CellSamples, Micros, Outcome, RequestRole, RequestSample, TokenSource};

/// An answer may end with the tokens of this many events that carry no text.
const TAIL_EVENTS: f64 = 2.0;
/// Events and final usage agree within this share.
const AGREEING_SHARE: f64 = 0.01;

/// One stream's tokens over time: the running count after each event.
#[derive(Debug, Clone)]
pub(crate) struct Timeline<'a> {
    /// The request.
    pub request: &'a RequestSample,
    /// Arrival of each event.
    pub at_us: &'a [Micros],
    /// Tokens after each event, same length.
    pub tokens: Vec<f64>,
}

impl Timeline<'_> {
    /// Tokens that had come by `at`. The tokens of an event are spread evenly over
    /// the time since the event before; the first event's come at once.
    pub fn tokens_by(&self, at: Micros) -> f64 {
        let after = self.at_us.partition_point(|event| *event <= at);
        let Some(before) = after.checked_sub(1) else {
            return 0.0;
        };
        let done = self.tokens[before];
        match (self.at_us.get(after), self.tokens.get(after)) {
            (Some(next_at), Some(next)) => {
                let gap = next_at.0 - self.at_us[before].0;
                let share = (at.0 - self.at_us[before].0) as f64 / gap.max(1) as f64;
                done + (next - done) * share
            }
            (Some(_), None) | (None, Some(_) | None) => done,
        }
    }

    /// Tokens of the events that had come by `at`.
    pub fn arrived_by(&self, at: Micros) -> f64 {
        let events = self.at_us.partition_point(|event| *event <= at);
        events.checked_sub(1).map_or(0.0, |last| self.tokens[last])
    }

    /// Tokens that came between two moments.
    pub fn tokens_between(&self, from: Micros, to: Micros) -> f64 {
        self.tokens_by(to) - self.tokens_by(from)
    }

    /// Events from `from` to `to`, as a range of indexes.
    pub fn events_between(&self, from: Micros, to: Micros) -> std::ops::Range<usize> {
        let begin = self.at_us.partition_point(|event| *event < from);
        let end = self.at_us.partition_point(|event| *event <= to);
        begin..end.max(begin)
    }

    /// The stretch in which the server was writing this answer, as far as it lies
    /// before `until`: first token to last token, or to `until` when unfinished.
    pub fn active(&self, until: Micros) -> Option<(Micros, Micros)> {
        let first = *self.at_us.first()?;
        let last = match self.request.outcome {
            Outcome::CutAtWindowEnd => until,
            Outcome::Completed { .. }
            | Outcome::Refused { .. }
            | Outcome::Broke { .. }
            | Outcome::TimedOut { .. } => *self.at_us.last()?,
        };
        (first <= until).then_some((first, last.min(until)))
    }
}

/// Tokens of all streams that came between two moments.
pub(crate) fn tokens_between(streams: &[Timeline<'_>], from: Micros, to: Micros) -> f64 {
    streams.iter().map(|s| s.tokens_between(from, to)).sum()
}

/// The streams of a cell with their tokens counted, and how they were counted:
/// the weakest source among them.
pub(crate) fn timelines(samples: &CellSamples) -> (Vec<Timeline<'_>>, Option<TokenSource>) {
    let streams: Vec<&RequestSample> = samples
        .requests
        .iter()
        .filter(|r| r.role == RequestRole::Stream)
        .collect();
    let uncounted = Uncounted::of(&streams, samples.limits.one_token_per_event);
    let mut weakest: Option<TokenSource> = None;
    let timelines = streams
        .into_iter()
        .map(|request| {
            let (tokens, source) = count(request, uncounted);
            if !request.events.is_empty() {
                weakest = Some(weakest.map_or(source, |so_far| weaker(so_far, source)));
            }
            Timeline {
                request,
                at_us: &request.events.at_us,
                tokens,
            }
        })
        .collect();
    (timelines, weakest)
}

/// How to count the tokens of events that carry no running count: one way for
/// all the cell's streams, so that an answer cut by the window's end is counted
/// as those that came to theirs.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Uncounted {
    /// Each event is a token: final usage agrees, or the engine is known for it.
    EventIsToken,
    /// By the usage of the cell's other answers, tokens an event.
    Spread { tokens_per_event: f64 },
    /// Nothing is known.
    EventsOnly,
}

impl Uncounted {
    fn of(streams: &[&RequestSample], one_token_per_event: bool) -> Uncounted {
        let (mut tokens, mut events, mut answers) = (0u64, 0u64, 0u64);
        for request in streams {
            let told = final_usage(request).or_else(|| last_running_count(request));
            if let Some(total) = told.filter(|_| !request.events.is_empty()) {
                tokens = tokens.saturating_add(total);
                events += request.events.len() as u64;
                answers += 1;
            }
        }
        if tokens == 0 {
            return if one_token_per_event {
                Uncounted::EventIsToken
            } else {
                Uncounted::EventsOnly
            };
        }
        // An engine known for one token an event may still end an answer with a
        // token that has no text.
        let allowed = if one_token_per_event {
            (TAIL_EVENTS * answers as f64).max(AGREEING_SHARE * tokens as f64)
        } else {
            0.0
        };
        if (tokens.abs_diff(events) as f64) <= allowed {
            Uncounted::EventIsToken
        } else {
            Uncounted::Spread {
                tokens_per_event: tokens as f64 / events as f64,
            }
        }
    }
}

/// Tokens of the whole answer, where it came to its end and the server told.
fn final_usage(request: &RequestSample) -> Option<u64> {
    request
        .usage
        .filter(|_| matches!(request.outcome, Outcome::Completed { .. }))
        .map(|usage| usage.completion_tokens)
}

/// An event with text is a token at least; a running count that ends below this
/// share of the events does not run.
const RUNNING_SHARE: f64 = 0.9;

/// Tokens so far, where each event told and the count runs along with the events.
fn last_running_count(request: &RequestSample) -> Option<u64> {
    let events = &request.events;
    let last = (events.tokens_so_far.len() == events.len()).then(|| events.tokens_so_far.last())?;
    let runs = |last: &&u32| f64::from(**last) >= RUNNING_SHARE * events.len() as f64;
    last.filter(runs).map(|tokens| u64::from(*tokens))
}

/// The running count after each event, by the first source that applies
/// (METHOD, "Sustained decode", 4).
fn count(request: &RequestSample, uncounted: Uncounted) -> (Vec<f64>, TokenSource) {
    let events = &request.events;
    let evenly =
        |per_event: f64| -> Vec<f64> { (1..=events.len()).map(|i| i as f64 * per_event).collect() };
    let (mut tokens, source) = if last_running_count(request).is_some() {
        (rising(&events.tokens_so_far), TokenSource::ContinuousUsage)
    } else {
        match (uncounted, final_usage(request)) {
            (Uncounted::EventIsToken, _) => (evenly(1.0), TokenSource::EventIsToken),
            (Uncounted::Spread { .. }, Some(total)) => (
                evenly(total as f64 / events.len().max(1) as f64),
                TokenSource::SpreadUsage,
            ),
            (Uncounted::Spread { tokens_per_event }, None) => {
                (evenly(tokens_per_event), TokenSource::SpreadUsage)
            }
            (Uncounted::EventsOnly, _) => (evenly(1.0), TokenSource::EventsOnly),
        }
    };
    close_with(&mut tokens, final_usage(request));
    (tokens, source)
}

/// A running count never falls, whatever a server says.
fn rising(so_far: &[u32]) -> Vec<f64> {
    let mut most = 0u32;
    so_far
        .iter()
        .map(|tokens| {
            most = most.max(*tokens);
            f64::from(most)
        })
        .collect()
}

/// A token without text (the end-of-sequence token) makes no event; final usage
/// counts it, and it belongs to the last one. A larger gap is left for the ledger.
fn close_with(tokens: &mut [f64], total: Option<u64>) {
    let per_event = tokens.last().map_or(0.0, |last| last / tokens.len() as f64);
    if let (Some(last), Some(total)) = (tokens.last_mut(), total) {
        let missing = total as f64 - *last;
        if missing > 0.0 && missing <= TAIL_EVENTS * per_event.max(1.0) {
            *last = total as f64;
        }
    }
}

fn weaker(a: TokenSource, b: TokenSource) -> TokenSource {
    let rank = |source| match source {
        TokenSource::ContinuousUsage => 0,
        TokenSource::EventIsToken => 1,
        TokenSource::SpreadUsage => 2,
        TokenSource::EventsOnly => 3,
    };
    if rank(a) >= rank(b) { a } else { b }
}
