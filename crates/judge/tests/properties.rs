//! What holds for any samples whatever.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use document::{
    Cell, CellKey, CellSamples, EngineReading, EngineTimings, Micros, Outcome, Phase, Repetition,
    RequestRole, RequestSample, SampledLimits, SlotReading, TokenEvents, Usage, Window,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tokgrid_judge::judge;

/// Ten seconds hold everything, so that things coincide now and then.
fn moment() -> impl Strategy<Value = Micros> {
    prop_oneof![
        (0u64..10_000_000).prop_map(Micros),
        (0u64..10).prop_map(|s| Micros(s * 1_000_000)),
    ]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        8 => Just(Outcome::CutAtWindowEnd),
        8 => prop_oneof!["length", "stop"].prop_map(|finish_reason| Outcome::Completed { finish_reason }),
        1 => Just(Outcome::Refused { status: 503, message: "busy".to_owned() }),
        1 => Just(Outcome::Broke { reason: "reset".to_owned() }),
        1 => Just(Outcome::TimedOut { reason: "no token".to_owned() }),
    ]
}

fn events() -> impl Strategy<Value = TokenEvents> {
    (vec(moment(), 0..30), vec(0u32..40, 30), any::<bool>()).prop_map(
        |(mut at_us, so_far, told)| {
            at_us.sort();
            TokenEvents {
                tokens_so_far: if told {
                    so_far[..at_us.len()].to_vec()
                } else {
                    Vec::new()
                },
                at_us,
            }
        },
    )
}

fn usage() -> impl Strategy<Value = Option<Usage>> {
    let usage = (0u64..20_000, 0u64..100, option::of(0u64..20_000));
    option::of(
        usage.prop_map(|(prompt_tokens, completion_tokens, cached_tokens)| Usage {
            prompt_tokens,
            completion_tokens,
            cached_tokens,
        }),
    )
}

fn request() -> impl Strategy<Value = RequestSample> {
    let role = prop_oneof![
        6 => Just(RequestRole::Stream),
        2 => Just(RequestRole::Scout),
        1 => Just(RequestRole::Warmup),
    ];
    let moments = (
        option::of(moment()),
        option::of(moment()),
        option::of(moment()),
    );
    let rest = (
        option::of(0u64..9_000),
        option::of(0f64..5e3),
        option::of(any::<(u32, u32)>()),
    );
    (role, moments, outcome(), events(), usage(), rest).prop_map(
        |(role, (sent_us, first_answer_us, closed_us), outcome, events, usage, rest)| {
            RequestSample {
                stream: 0,
                role,
                connect_began_us: None,
                connected_us: None,
                sent_us,
                first_answer_us,
                closed_us,
                outcome,
                events,
                usage,
                counted_prompt_tokens: None,
                counted_cached_tokens: rest.0,
                timings: rest.1.map(|ms| EngineTimings {
                    prefill_ms: Some(ms),
                    decode_ms: None,
                }),
                repetition: rest
                    .2
                    .map(|(unit_chars, times)| Repetition { unit_chars, times }),
            }
        },
    )
}

fn reading() -> impl Strategy<Value = EngineReading> {
    let slot = (
        0u32..4,
        0i64..6,
        any::<bool>(),
        0u64..90,
        option::of(0u64..9_000),
        option::of(0u64..9_000),
    )
        .prop_map(
            |(slot, task, is_processing, decoded_tokens, prompt_tokens, cached_tokens)| {
                SlotReading {
                    slot,
                    task,
                    is_processing,
                    decoded_tokens,
                    prompt_tokens,
                    cached_tokens,
                }
            },
        );
    let figure = || option::of(0f64..1e5);
    let figures = (
        figure(),
        figure(),
        figure(),
        figure(),
        figure(),
        figure(),
        figure(),
        figure(),
    );
    (moment(), 0u64..500_000, figures, vec(slot, 0..4)).prop_map(|(asked_us, trip, f, slots)| {
        EngineReading {
            asked_us,
            answered_us: Micros(asked_us.0 + trip),
            running: f.0,
            waiting: f.1,
            kv_used: f.2,
            generated_tokens: f.3,
            preemptions: f.4,
            steps: f.5,
            cache_queried_tokens: f.6,
            cache_hit_tokens: f.7,
            slots,
            ..EngineReading::default()
        }
    })
}

fn limits() -> impl Strategy<Value = SampledLimits> {
    (
        option::of(0u64..20_000),
        0u64..5000,
        option::of(0u64..600),
        0u64..90,
        any::<(bool, bool)>(),
    )
        .prop_map(
            |(max_model_len, max_output_tokens, block_tokens, template_tokens, is)| SampledLimits {
                max_model_len,
                max_output_tokens,
                block_tokens,
                template_tokens,
                one_token_per_event: is.0,
                queue_is_reported: is.1,
                ignore_eos: true,
            },
        )
}

prop_compose! {
    fn samples()(
        phase in prop_oneof![1 => Just(Phase::Prefill), 4 => Just(Phase::Decode)],
        context_tokens in 0u64..20_000,
        concurrency in 0u32..9,
        limits in limits(),
        window in option::weighted(0.9, (moment(), moment())),
        requests in vec(request(), 0..12),
        mut readings in vec(reading(), 0..12),
    ) -> CellSamples {
        readings.sort_by_key(EngineReading::at_us);
        CellSamples {
            window: window.map(|(open_us, close_us)| Window { open_us, close_us }),
            requests,
            readings,
            ..CellSamples::empty(CellKey { phase, context_tokens, concurrency }, limits)
        }
    }
}

/// Every number of a cell, by its place in the document.
fn figures(cell: &Cell) -> Vec<(String, f64)> {
    fn walk(at: &str, value: &serde_json::Value, into: &mut Vec<(String, f64)>) {
        use serde_json::Value;
        match value {
            Value::Number(number) => into.push((at.to_owned(), number.as_f64().unwrap())),
            Value::Object(fields) => {
                for (name, field) in fields {
                    walk(&format!("{at}/{name}"), field, into);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(at, item, into)),
            Value::Null | Value::Bool(_) | Value::String(_) => {}
        }
    }
    let mut all = Vec::new();
    walk("", &serde_json::to_value(cell).unwrap(), &mut all);
    all
}

/// JSON writes a figure that is not finite as null, so those are looked for apart.
fn has_only_finite_figures(cell: &Cell) -> bool {
    let text = format!("{cell:?}");
    !text.contains("NaN")
        && !text.contains("inf,")
        && !text.contains("inf)")
        && !text.contains("inf }")
}

/// Tokens inside the window, added up one event and one edge at a time.
fn total_by_hand(samples: &CellSamples, window: Window) -> f64 {
    let (open, close) = (window.open_us.0 as f64, window.close_us.0 as f64);
    let mut total = 0.0;
    for request in &samples.requests {
        let events: Vec<(f64, f64)> = request
            .events
            .at_us
            .iter()
            .zip(&request.events.tokens_so_far)
            .map(|(at, tokens)| (at.0 as f64, f64::from(*tokens)))
            .collect();
        for (i, (at, so_far)) in events.iter().enumerate() {
            let Some((before, told)) = i.checked_sub(1).map(|i| events[i]) else {
                total += if open < *at && *at <= close {
                    *so_far
                } else {
                    0.0
                };
                continue;
            };
            let inside = (at.min(close) - before.max(open)).max(0.0);
            total += (so_far - told) * inside / (at - before);
        }
    }
    total
}

prop_compose! {
    fn counted_stream()(
        first in 0u64..9_000_000,
        gaps in vec((1u64..900_000, 1u32..9), 0..40),
        n_first in 1u32..9,
        is_cut in any::<bool>(),
    ) -> RequestSample {
        let (mut at, mut so_far) = (first, n_first);
        let mut events = TokenEvents { at_us: vec![Micros(at)], tokens_so_far: vec![so_far] };
        for (gap, tokens) in gaps {
            at += gap;
            so_far += tokens;
            events.at_us.push(Micros(at));
            events.tokens_so_far.push(so_far);
        }
        RequestSample {
            sent_us: Some(Micros(first / 2)),
            outcome: if is_cut { Outcome::CutAtWindowEnd } else {
                Outcome::Completed { finish_reason: "length".to_owned() }
            },
            usage: Some(Usage { prompt_tokens: 8192, completion_tokens: so_far.into(), cached_tokens: None }),
            events,
            ..testkit::completed(0.0, &[])
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_samples_give_a_cell_without_wrong_figures(samples in samples()) {
        let cell = judge(&samples);
        prop_assert!(has_only_finite_figures(&cell), "{cell:?}");
        for (name, figure) in figures(&cell) {
            prop_assert!(figure >= 0.0, "{name} is {figure}");
        }
    }

    #[test]
    fn the_same_samples_give_the_same_cell(samples in samples()) {
        prop_assert_eq!(judge(&samples), judge(&samples));
    }

    #[test]
    fn samples_read_back_give_the_same_cell(streams in vec(counted_stream(), 1..8)) {
        let samples = CellSamples { requests: streams, ..testkit::Scenario::decode(4).build() };
        let read: CellSamples = serde_json::from_str(&serde_json::to_string(&samples).unwrap()).unwrap();
        prop_assert_eq!(judge(&samples), judge(&read));
    }

    #[test]
    fn the_order_of_requests_does_not_matter(
        (samples, shuffled) in samples().prop_flat_map(|samples| {
            let shuffled = Just(samples.requests.clone()).prop_shuffle();
            (Just(samples), shuffled)
        })
    ) {
        let other = CellSamples { requests: shuffled, ..samples.clone() };
        // Only where the first sample is known can it be an outlier.
        let mut sent: Vec<_> = samples.requests.iter().map(|r| r.sent_us).collect();
        sent.sort();
        sent.dedup();
        prop_assume!(samples.key.phase == Phase::Decode || sent.len() == samples.requests.len());
        let (cell, other) = (judge(&samples), judge(&other));
        prop_assert_eq!(cell.status, other.status);
        prop_assert_eq!(&cell.reason, &other.reason);
        let names = |cell: &Cell| cell.flags.iter().map(|f| f.name).collect::<Vec<_>>();
        prop_assert_eq!(names(&cell), names(&other));
        let (figures, others) = (figures(&cell), figures(&other));
        prop_assert_eq!(figures.len(), others.len());
        for ((name, a), (_, b)) in figures.into_iter().zip(others) {
            // Sums in another order differ in their last digits.
            prop_assert!((a - b).abs() <= 1e-9 * a.abs().max(1.0), "{name}: {a} and {b}");
        }
    }

    #[test]
    fn the_total_equals_an_event_by_event_count(
        streams in vec(counted_stream(), 1..8),
        open in 0u64..9_000_000,
        length in 1u64..9_000_000,
    ) {
        let window = Window { open_us: Micros(open), close_us: Micros(open + length) };
        let samples = CellSamples {
            window: Some(window),
            requests: streams,
            ..testkit::Scenario::decode(4).build()
        };
        let cell = judge(&samples);
        prop_assume!(cell.total_tok_s.is_some());
        let tokens = total_by_hand(&samples, window);
        let total = cell.total_tok_s.unwrap() * window.length_s();
        prop_assert!((total - tokens).abs() < 1e-6 * tokens.max(1.0), "{total} and {tokens}");
    }
}
