//! Addresses of lists: what is written is what is read, and the rest is refused.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use document::Phase;
use proptest::option::of;
use proptest::prelude::*;
use site::query::{
    Parameters, QueryError, RankingRequest, ShapeRequest, address, run_pairs, take_cells, take_runs,
};
use site::words::{Language, Words};
use store::{Filter, Kind, Metric, RunQuery, Shape, ShapeCount};

/// Anything that a parameter can hold: no white space at its ends, which is cut off.
fn text() -> impl Strategy<Value = String> {
    "[^\\s]([^\\r\\n]{0,30}[^\\s])?"
        .prop_filter("white space of any kind", |text| text.trim() == text)
}

fn filter() -> impl Strategy<Value = Filter> {
    let kind = prop::sample::select(&Kind::ALL[..]);
    (
        of(kind),
        of(text()),
        of(text()),
        of(text()),
        of(text()),
        of(0..=1_000_000u32),
        of(text()),
    )
        .prop_map(
            |(kind, model, quantization, engine, hardware, gpu_count, search)| Filter {
                kind,
                model,
                quantization,
                engine,
                hardware,
                gpu_count,
                search,
            },
        )
}

fn shape() -> impl Strategy<Value = ShapeRequest> {
    let phase = prop::sample::select(&[Phase::Prefill, Phase::Decode][..]);
    (of(phase), of(1..=(1u64 << 30)), of(1..=65_536u32)).prop_map(
        |(phase, context_tokens, concurrency)| ShapeRequest {
            phase,
            context_tokens,
            concurrency,
        },
    )
}

fn request() -> impl Strategy<Value = RankingRequest> {
    let metric = prop::sample::select(&Metric::ALL[..]);
    (shape(), metric, filter()).prop_filter_map(
        "contradictions have a test of their own",
        |(mut shape, metric, filter)| {
            if metric == Metric::PerRequest {
                shape.phase = Some(Phase::Decode);
            }
            (metric != Metric::PerGpu || filter.gpu_count != Some(0)).then_some(RankingRequest {
                shape,
                metric,
                filter,
            })
        },
    )
}

fn parameters(address: &str) -> Parameters {
    let query = address.split_once('?').map(|(_, query)| query);
    Parameters::of(query).expect("parameters")
}

proptest! {
    #[test]
    fn a_leaderboard_reads_the_address_it_writes(request in request()) {
        let mut parameters = parameters(&address("/leaderboard", &request.pairs()));
        prop_assert_eq!(RankingRequest::take(&mut parameters).expect("reads"), request);
        prop_assert_eq!(parameters.finish(), Ok(()));
    }

    #[test]
    fn a_list_of_runs_reads_the_address_it_writes(
        filter in filter(), organization in of(text()), account in of(text()),
    ) {
        let query = RunQuery { filter, organization, account, with_hidden: false };
        let mut parameters = parameters(&address("/runs", &run_pairs(&query)));
        prop_assert_eq!(take_runs(&mut parameters).expect("reads"), query);
        prop_assert_eq!(parameters.finish(), Ok(()));
    }

    #[test]
    fn no_address_is_answered_by_a_panic(query in ".{0,200}") {
        if let Ok(mut parameters) = Parameters::of(Some(&query)) {
            let _ = RankingRequest::take(&mut parameters.clone());
            let _ = take_cells(&mut parameters);
            let _ = parameters.finish();
        }
    }
}

fn refused(query: &str) -> QueryError {
    let read = |query| {
        let mut parameters = Parameters::of(Some(query))?;
        RankingRequest::take(&mut parameters)?;
        parameters.finish()
    };
    read(query).expect_err(query)
}

#[test]
fn what_is_wrong_is_named_with_what_it_can_be() {
    let long = format!("q={}", "x".repeat(201));
    for (query, parameter, says) in [
        ("phase=training", "phase", "decode, prefill"),
        ("context=8q", "context", "8K"),
        ("context=0", "context", "8K"),
        ("concurrency=0", "concurrency", "65536"),
        ("concurrency=%2B1", "concurrency", "“+1”"),
        ("concurrency=many", "concurrency", "“many”"),
        ("metric=fastest", "metric", "per_request"),
        ("kind=guessed", "kind", "measured, imported, simulated"),
        ("gpus=-1", "gpus", "“-1”"),
        ("gups=4", "gups", "gpus"),
        ("model=a&model=b", "model", "twice"),
        ("phase=prefill&metric=per_request", "metric", "prefill"),
        ("gpus=0&metric=per_gpu", "metric", "gpus"),
        (long.as_str(), "q", "200"),
    ] {
        let error = refused(query);
        assert_eq!(error.parameter(), parameter, "{query}");
        for language in Language::ALL {
            let said = error.said(Words::of(language));
            assert!(said.contains(parameter), "{query}: {said}");
        }
        assert!(error.to_string().contains(says), "{query}: {error}");
    }
}

#[test]
fn a_form_left_empty_asks_for_nothing() {
    let mut parameters = Parameters::of(Some("model=&gpu=%20&q=&lang=zh-CN")).expect("parameters");
    assert!(parameters.has_empty());
    assert_eq!(take_runs(&mut parameters), Ok(RunQuery::default()));
    assert_eq!(parameters.finish(), Ok(()));
}

#[test]
fn what_an_address_leaves_open_is_the_commonest_that_has_the_rest() {
    let count = |phase, context_tokens, concurrency| ShapeCount {
        shape: Shape {
            phase,
            context_tokens,
            concurrency,
        },
        cell_count: 1,
    };
    let counts = [
        count(Phase::Decode, 8192, 1),
        count(Phase::Prefill, 8192, 1),
        count(Phase::Decode, 16_384, 4),
    ];
    let chosen = |query: &str| {
        let mut parameters = Parameters::of(Some(query)).expect("parameters");
        ShapeRequest::take(&mut parameters)
            .expect("a shape")
            .shape(&counts)
    };
    assert_eq!(chosen(""), Some(counts[0].shape));
    assert_eq!(chosen("phase=prefill"), Some(counts[1].shape));
    assert_eq!(chosen("concurrency=4"), Some(counts[2].shape));
    assert_eq!(chosen("concurrency=5"), None);
    assert_eq!(
        chosen("phase=decode&context=1M&concurrency=2"),
        Some(count(Phase::Decode, 1 << 20, 2).shape)
    );
}
