//! Prefill cells: cold samples in, prompt tok/s out.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use document::{CacheProof, Cell, CellStatus, EngineTimings, Figure, FlagName, Outcome};
use testkit::{completed, prefill, scout};
use tokgrid_judge::judge;

fn has(cell: &Cell, name: FlagName) -> bool {
    cell.flags.iter().any(|flag| flag.name == name)
}

/// Cold samples of 16K with these times to first token, ms.
fn cold(ttfts_ms: &[f64]) -> document::CellSamples {
    let requests = ttfts_ms
        .iter()
        .zip(0..)
        .map(|(ttft_ms, i)| scout(10_000.0 * f64::from(i), *ttft_ms, 16_000, Some(0)));
    prefill(16_384, requests.collect())
}

#[test]
fn prefill_divides_the_reported_prompt_by_ttft() {
    let cell = judge(&cold(&[2000.0]));
    assert_eq!(cell.status, CellStatus::Valid);
    assert_eq!(cell.total_tok_s, Some(8000.0));
    assert_eq!(cell.prompt_tokens, Some(16_000));
    assert_eq!(cell.context_tokens, 16_384);
    assert_eq!(cell.ttft_ms_p50(), Some(2000.0));
    assert_eq!(cell.cache_proof, Some(CacheProof::Proved));
    assert_eq!(cell.tbt_ms, None);
    assert_eq!(cell.average_active, None);
}

#[test]
fn prefill_divides_uncached_tokens_only() {
    let cell = judge(&prefill(
        16_384,
        vec![scout(0.0, 1000.0, 16_000, Some(160))],
    ));
    assert_eq!(cell.total_tok_s, Some(15_840.0));
    assert!(cell.flags.is_empty());
}

#[test]
fn a_sample_is_cold_up_to_64_tokens_one_block_or_one_percent() {
    for (prompt, block, allowed) in [
        (2000, None, 64),
        (2000, Some(544), 544),
        (16_000, None, 160),
    ] {
        for (cached, is_hit) in [(allowed, false), (allowed + 1, true)] {
            let mut samples = prefill(2048, vec![scout(0.0, 100.0, prompt, Some(cached))]);
            samples.limits.block_tokens = block;
            let cell = judge(&samples);
            assert_eq!(
                has(&cell, FlagName::PrefixCacheHit),
                is_hit,
                "{cached} of {prompt}"
            );
            assert_eq!(cell.is_taken_away(Figure::Prefill), is_hit);
            let proof = if is_hit {
                CacheProof::Failed
            } else {
                CacheProof::Proved
            };
            assert_eq!(cell.cache_proof, Some(proof));
        }
    }
}

#[test]
fn a_warm_sample_among_cold_ones_does_not_count() {
    let mut samples = cold(&[2000.0, 2000.0, 2000.0]);
    samples.requests[1] = scout(10_000.0, 50.0, 16_000, Some(15_000));
    let cell = judge(&samples);
    assert_eq!(cell.total_tok_s, Some(8000.0));
    assert_eq!(cell.ttft_ms.unwrap().n, Some(2));
    assert!(cell.flags.is_empty(), "{:?}", cell.flags);
    assert!(
        cell.remarks.iter().any(|r| r.contains("1 of 3 samples")),
        "{:?}",
        cell.remarks
    );
}

#[test]
fn a_cache_that_is_not_told_is_unproven() {
    let cell = judge(&prefill(16_384, vec![scout(0.0, 2000.0, 16_000, None)]));
    assert_eq!(cell.cache_proof, Some(CacheProof::Unproven));
    assert_eq!(cell.cached_tokens, None);
    assert_eq!(cell.total_tok_s, Some(8000.0));
}

#[test]
fn counters_tell_of_the_cache_where_usage_does_not() {
    let mut request = scout(0.0, 2000.0, 16_000, None);
    request.counted_cached_tokens = Some(12_000);
    let cell = judge(&prefill(16_384, vec![request]));
    assert!(has(&cell, FlagName::PrefixCacheHit));
}

#[test]
fn several_samples_give_median_and_spread() {
    let cell = judge(&cold(&[2000.0, 1600.0, 2100.0, 1900.0]));
    let ttft = cell.ttft_ms.unwrap();
    assert_eq!(
        (ttft.min, ttft.p50, ttft.max, ttft.n),
        (Some(1600.0), Some(1950.0), Some(2100.0), Some(4))
    );
    assert!(cell.flags.is_empty(), "{:?}", cell.flags);
}

#[test]
fn a_first_sample_colder_than_the_rest_is_flagged_and_left_out() {
    let cell = judge(&cold(&[3900.0, 2000.0, 2050.0, 1950.0]));
    assert!(has(&cell, FlagName::ColdOutlier));
    assert_eq!(cell.total_tok_s, Some(8000.0));
    assert_eq!(cell.ttft_ms.unwrap().n, Some(3));
}

#[test]
fn the_first_sample_is_the_first_sent() {
    let mut samples = cold(&[3900.0, 2000.0, 2050.0, 1950.0]);
    samples.requests.reverse();
    assert!(has(&judge(&samples), FlagName::ColdOutlier));
}

#[test]
fn a_first_sample_within_the_spread_is_no_outlier() {
    for ttfts in [
        &[2100.0, 2000.0, 2050.0][..],
        &[2600.0, 1500.0, 2000.0, 2700.0],
        &[3900.0, 2000.0],
    ] {
        let cell = judge(&cold(ttfts));
        assert!(!has(&cell, FlagName::ColdOutlier), "{ttfts:?}");
        assert_eq!(cell.ttft_ms.unwrap().n, Some(ttfts.len() as u64));
    }
}

#[test]
fn a_later_slow_sample_is_spread_and_no_cold_outlier() {
    let cell = judge(&cold(&[2000.0, 3900.0, 2050.0]));
    assert!(cell.flags.is_empty(), "{:?}", cell.flags);
}

#[test]
fn the_engines_own_prefill_time_is_kept_and_a_gap_is_said() {
    for (engine_ms, is_said) in [(1900.0, false), (1700.0, true)] {
        let mut samples = cold(&[2000.0]);
        samples.requests[0].timings = Some(EngineTimings {
            prefill_ms: Some(engine_ms),
            ..EngineTimings::default()
        });
        let cell = judge(&samples);
        assert_eq!(cell.engine_prefill_ms, Some(engine_ms));
        assert_eq!(!cell.remarks.is_empty(), is_said, "{:?}", cell.remarks);
    }
}

#[test]
fn a_prompt_past_the_models_limit_is_told() {
    let mut samples = cold(&[2000.0]);
    samples.limits.max_model_len = Some(16_001);
    assert!(!has(&judge(&samples), FlagName::ExceedsContext));
    samples.limits.max_model_len = Some(16_000);
    assert!(has(&judge(&samples), FlagName::ExceedsContext));
}

#[test]
fn without_usage_there_is_nothing_to_divide() {
    let mut request = scout(0.0, 2000.0, 16_000, None);
    request.usage = None;
    let cell = judge(&prefill(16_384, vec![request]));
    assert_eq!(cell.status, CellStatus::Failed);
    assert!(cell.reason.unwrap().contains("without usage"));
    assert_eq!(cell.total_tok_s, None);
}

#[test]
fn a_refused_scout_fails_the_cell() {
    let mut samples = cold(&[2000.0, 2000.0]);
    samples.requests[1].outcome = Outcome::Refused {
        status: 400,
        message: "too long".to_owned(),
    };
    let cell = judge(&samples);
    assert_eq!((cell.status, cell.failed), (CellStatus::Failed, Some(1)));
}

#[test]
fn requests_that_are_no_scouts_do_not_count() {
    let mut samples = cold(&[2000.0]);
    samples.requests.push(completed(50_000.0, &[50_001.0]));
    assert_eq!(judge(&samples).ttft_ms.unwrap().n, Some(1));
}
