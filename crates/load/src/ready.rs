//! When a decode cell's streams are ready to be measured. Pure.

use document::{EngineReading, Micros};

/// The running count must be the same in this many readings.
const STEADY_READINGS: usize = 3;
/// Once every stream has produced a token, a running count that will not settle
/// (short answers, restarts) is waited for no longer than this, s.
const UNSETTLED_PATIENCE_S: f64 = 2.0;
/// Where the server does not show the queue, no new stream for this long (at least)
/// means that the rest is queued, s …
const SILENT_PATIENCE_S: f64 = 2.0;
/// … or for this many times the longest wait for a first token so far.
const SILENT_PATIENCE_WAITS: f64 = 3.0;

/// What the control loop knows while streams start.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Starting<'a> {
    /// Streams asked for.
    pub concurrency: u32,
    /// Streams that have produced a token at some time.
    pub have_flowed: u32,
    /// Streams whose present request has produced a token.
    pub flowing: u32,
    /// When the streams were started.
    pub started_us: Micros,
    /// The latest first token of a stream that had not flowed before.
    pub newest_first_us: Option<Micros>,
    /// Now.
    pub now_us: Micros,
    /// Readings since the streams were started.
    pub readings: &'a [EngineReading],
}

/// Whether the window may open.
pub(crate) fn is_ready(starting: &Starting<'_>) -> bool {
    let Some(newest_first_us) = starting.newest_first_us else {
        return false;
    };
    if starting.have_flowed >= starting.concurrency {
        let settled_for_s = starting.now_us.seconds_since(newest_first_us);
        return starting.readings.is_empty()
            || settled_for_s > UNSETTLED_PATIENCE_S
            || steady(starting, newest_first_us).is_some();
    }
    if is_queue_settled(starting) {
        return true;
    }
    let longest_wait_s = newest_first_us.seconds_since(starting.started_us);
    let silent_for_s = starting.now_us.seconds_since(newest_first_us);
    silent_for_s > SILENT_PATIENCE_S.max(SILENT_PATIENCE_WAITS * longest_wait_s)
}

/// Ready although streams wait: the server knows of all of them, runs as many as it
/// will, those have been writing, and the rest is queued. A request that waits for
/// a step while others are still on their way is no queue.
fn is_queue_settled(starting: &Starting<'_>) -> bool {
    let Some(last) = steady(starting, Micros(0)) else {
        return false;
    };
    let running = last.running.unwrap_or(0.0);
    let recent = &starting.readings[starting.readings.len() - STEADY_READINGS..];
    let all_wait_or_run = recent.iter().all(|reading| {
        let waiting = reading.waiting.unwrap_or(0.0);
        waiting > 0.0 && running + waiting >= f64::from(starting.concurrency)
    });
    running > 0.0 && f64::from(starting.flowing) >= running && all_wait_or_run
}

/// The last reading, if the running count has not moved for three readings taken
/// after `since`.
fn steady<'a>(starting: &Starting<'a>, since: Micros) -> Option<&'a EngineReading> {
    let recent = starting.readings.len().checked_sub(STEADY_READINGS)?;
    let recent = &starting.readings[recent..];
    let running = recent.first()?.running?;
    let is_steady = recent
        .iter()
        .all(|r| r.running == Some(running) && r.asked_us >= since);
    is_steady.then(|| recent.last()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings(values: &[(f64, f64)]) -> Vec<EngineReading> {
        let reading = |(i, (running, waiting)): (usize, &(f64, f64))| EngineReading {
            asked_us: Micros(1_000_000 + i as u64 * 200_000),
            answered_us: Micros(1_001_000 + i as u64 * 200_000),
            running: Some(*running),
            waiting: Some(*waiting),
            ..EngineReading::default()
        };
        values.iter().enumerate().map(reading).collect()
    }

    fn starting<'a>(concurrency: u32, flowed: u32, readings: &'a [EngineReading]) -> Starting<'a> {
        Starting {
            concurrency,
            have_flowed: flowed,
            flowing: flowed,
            started_us: Micros(500_000),
            newest_first_us: (flowed > 0).then_some(Micros(900_000)),
            now_us: Micros(2_000_000),
            readings,
        }
    }

    #[test]
    fn ready_when_all_streams_flow_and_the_running_count_is_steady() {
        let steady = readings(&[(3.0, 1.0), (4.0, 0.0), (4.0, 0.0), (4.0, 0.0)]);
        assert!(is_ready(&starting(4, 4, &steady)));
        assert!(!is_ready(&starting(4, 4, &steady[..3])));
        assert!(!is_ready(&starting(4, 3, &steady)));
    }

    #[test]
    fn a_queued_cell_is_ready_when_what_runs_has_flowed() {
        let queued = readings(&[(16.0, 16.0), (16.0, 16.0), (16.0, 16.0)]);
        assert!(is_ready(&starting(32, 16, &queued)));
        assert!(
            !is_ready(&starting(32, 9, &queued)),
            "the first wave is still being read"
        );
        let unsteady = readings(&[(12.0, 20.0), (14.0, 18.0), (16.0, 16.0)]);
        assert!(!is_ready(&starting(32, 16, &unsteady)));
    }

    #[test]
    fn a_request_in_passage_while_streams_start_is_no_queue() {
        let starting_up = readings(&[(7.0, 0.0), (7.0, 0.0), (7.0, 1.0)]);
        assert!(!is_ready(&starting(16, 7, &starting_up)));
        let still_arriving = readings(&[(7.0, 1.0), (7.0, 1.0), (7.0, 1.0)]);
        assert!(
            !is_ready(&starting(16, 7, &still_arriving)),
            "8 of 16 are known to the server"
        );
    }

    #[test]
    fn a_queue_in_front_of_the_server_is_found_by_waiting() {
        let behind_a_proxy = readings(&[(2.0, 0.0), (2.0, 0.0), (2.0, 0.0)]);
        let mut some = starting(4, 2, &behind_a_proxy);
        assert!(!is_ready(&some));
        some.now_us = Micros(3_000_000);
        assert!(is_ready(&some));
    }

    #[test]
    fn a_running_count_that_never_settles_is_not_waited_for() {
        let restless = readings(&[(4.0, 0.0), (3.0, 0.0), (4.0, 0.0), (3.0, 0.0)]);
        let mut short_answers = starting(4, 4, &restless);
        assert!(!is_ready(&short_answers));
        short_answers.now_us = Micros(2_950_000);
        assert!(is_ready(&short_answers));
    }

    #[test]
    fn a_silent_server_is_ready_when_all_flow_or_no_further_stream_comes() {
        assert!(is_ready(&starting(4, 4, &[])));
        let mut some = starting(4, 2, &[]);
        assert!(!is_ready(&some));
        some.now_us = Micros(3_000_000);
        assert!(is_ready(&some));
        assert!(!is_ready(&starting(4, 0, &[])), "nothing has come at all");
    }
}
