use document::{CellSamples, Micros, Outcome, RequestRole, RequestSample, TokenSource};

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

/// The streams of a cell with their tokens counted, and how they were counted:
/// the weakest source among them.
pub(crate) fn timelines(samples: &CellSamples) -> (Vec<Timeline<'_>>, Option<TokenSource>) {
    let streams = || {
        samples
            .requests
            .iter()
            .filter(|r| r.role == RequestRole::Stream)
    };
    let tokens_per_event = usual_tokens_per_event(streams());
    let mut weakest: Option<TokenSource> = None;
    let timelines = streams()
        .map(|request| {
            let (tokens, source) = count(
                request,
                samples.limits.one_token_per_event,
                tokens_per_event,
            );
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

/// Tokens an event carries in this cell, from requests whose final usage is known.
fn usual_tokens_per_event<'a>(requests: impl Iterator<Item = &'a RequestSample>) -> Option<f64> {
    let (mut tokens, mut events) = (0u64, 0usize);
    for request in requests {
        if let Some(usage) = request.usage
            && matches!(request.outcome, Outcome::Completed { .. })
        {
            tokens += usage.completion_tokens;
            events += request.events.len();
        }
    }
    (events > 0 && tokens > 0).then(|| tokens as f64 / events as f64)
}

/// The running count after each event, by the first source that applies
/// (METHOD, "Sustained decode", 4).
fn count(
    request: &RequestSample,
    one_token_per_event: bool,
    usual_tokens_per_event: Option<f64>,
) -> (Vec<f64>, TokenSource) {
    let events = &request.events;
    if events.tokens_so_far.len() == events.len() && !events.is_empty() {
        let tokens = events.tokens_so_far.iter().map(|t| f64::from(*t)).collect();
        return (tokens, TokenSource::ContinuousUsage);
    }
    let evenly = |per_event: f64| (1..=events.len()).map(|i| i as f64 * per_event).collect();
    let final_usage = request
        .usage
        .filter(|_| matches!(request.outcome, Outcome::Completed { .. }))
        .map(|usage| usage.completion_tokens);
    match final_usage {
        Some(total) if total == events.len() as u64 => (evenly(1.0), TokenSource::EventIsToken),
        Some(total) => (
            evenly(total as f64 / events.len().max(1) as f64),
            TokenSource::SpreadUsage,
        ),
        None if one_token_per_event => (evenly(1.0), TokenSource::EventIsToken),
        None => match usual_tokens_per_event {
            Some(per_event) => (evenly(per_event), TokenSource::SpreadUsage),
            None => (evenly(1.0), TokenSource::EventsOnly),
        },
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
