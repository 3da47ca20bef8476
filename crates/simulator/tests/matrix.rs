//! Every cell of both presets, measured in the engine's own time.

#![allow(clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use document::{Cell, CellStatus, Phase};
use simulator::{Config, preset_names, preset_run};
use support::{Client, LEAD_S, decode_cell};

const WINDOW_S: f64 = 30.0;

fn cells(name: &str, phase: Phase) -> Vec<Cell> {
    let mut cells = preset_run(name).unwrap().cells;
    cells.retain(|cell| cell.phase == phase);
    cells
}

fn client(config: &Config) -> Client {
    Client::new(config.machine())
}

#[test]
fn every_decode_cell_that_ran_is_reproduced_however_long_warm_up_takes() {
    let misses: Vec<String> = [3.0, 4.5, 6.0, 8.0]
        .into_iter()
        .flat_map(misses_with_lead)
        .collect();
    assert!(misses.is_empty(), "{misses:#?}");
}

/// Cells that are not met when the window begins `lead_s` after the first tokens.
fn misses_with_lead(lead_s: f64) -> Vec<String> {
    let mut misses = Vec::new();
    for name in preset_names() {
        let config = Config::preset(name).unwrap();
        let mut client = client(&config);
        for cell in cells(name, Phase::Decode) {
            let Some(total) = cell.total_tok_s else {
                continue;
            };
            let (context, concurrency) = (cell.context_tokens, cell.concurrency as usize);
            let scout = client.send(context, context, 1);
            client.finish(scout);
            let seen = decode_cell(&mut client, context, concurrency, lead_s, WINDOW_S);
            let ttft_s = cell.ttft_ms_p50().unwrap() / 1e3;
            let error = seen.total_tok_s / total - 1.0;
            let allowed = (ttft_s / WINDOW_S).max(0.02);
            let active = cell.average_active.unwrap();
            let active_error = (seen.average_active - active).abs();
            let expected = active.round().min(f64::from(cell.concurrency));
            // The page's time between tokens counts where its own figures agree; its
            // rates have more digits than its times.
            let each = cell.per_request_tok_s.unwrap();
            let agrees = (expected * each / total - 1.0).abs() <= 0.03;
            let tbt_error = seen.tbt_ms * each / 1e3 - 1.0;
            let line = format!(
                "{name} {context} x {concurrency}, lead {lead_s}: total {error:+.3} of {allowed:.3}, active {} for {active}, tbt {tbt_error:+.3} ({agrees}), ttft {:.0} for {:.0}, queued {}",
                seen.average_active,
                seen.ttft_ms,
                ttft_s * 1e3,
                seen.queued
            );
            let wrong = error.abs() > allowed
                || active_error > (active * 0.02).max(0.1)
                || (agrees && tbt_error.abs() > 0.03)
                || seen.queued != (cell.status == CellStatus::Queued);
            if wrong {
                misses.push(line);
            }
        }
    }
    misses
}

#[test]
fn every_prefill_rate_is_reproduced_within_2_percent() {
    for name in preset_names() {
        let mut client = client(&Config::preset(name).unwrap());
        for cell in cells(name, Phase::Prefill) {
            let prompt_tokens = cell.context_tokens - 8;
            let scout = client.send(prompt_tokens, cell.context_tokens, 1);
            let seen = client.finish(scout);
            assert_eq!(seen.cached_tokens, 0);
            let tok_s = prompt_tokens as f64 * 1e3 / seen.ttft_ms();
            let error = tok_s / cell.total_tok_s.unwrap() - 1.0;
            assert!(error.abs() <= 0.015, "{name} {prompt_tokens}: {error:+.4}");
        }
    }
}

#[test]
fn the_kv_budget_tells_what_ran_from_what_was_over_capacity() {
    for name in preset_names() {
        let config = Config::preset(name).unwrap();
        for cell in cells(name, Phase::Decode) {
            let needed = u64::from(cell.concurrency) * (cell.context_tokens + 4096);
            let over = needed > config.kv_tokens;
            assert_eq!(
                over,
                cell.status == CellStatus::OverCapacity,
                "{name} {cell:?}"
            );
        }
    }
}

#[test]
fn a_compile_is_paid_once() {
    let mut client = client(&Config::preset("glm-5.3-flash-4x-rtx-pro-6000").unwrap());
    let mut ttft_ms = |topic| {
        let scout = client.send(16384, topic, 1);
        client.finish(scout).ttft_ms()
    };
    let (first, second) = (ttft_ms(1), ttft_ms(2));
    assert!(first > 1900.0 && second < 1400.0, "{first} {second}");
}

#[test]
fn decode_without_a_scout_shows_a_cold_time_to_first_token() {
    let config = Config::preset("deepseek-v4.1-flash-4x-rtx-pro-6000").unwrap();
    let cold = decode_cell(&mut client(&config), 65536, 1, LEAD_S, WINDOW_S);
    let mut warm_client = client(&config);
    let scout = warm_client.send(65536, 65536, 1);
    warm_client.finish(scout);
    let warm = decode_cell(&mut warm_client, 65536, 1, LEAD_S, WINDOW_S);
    assert!(
        cold.ttft_ms > 5.0 * warm.ttft_ms,
        "{} {}",
        cold.ttft_ms,
        warm.ttft_ms
    );
}

#[test]
fn half_the_sequences_queue_the_cells_above() {
    let mut config = Config::preset("glm-5.3-flash-4x-rtx-pro-6000").unwrap();
    config.max_num_seqs = 16;
    let seen = decode_cell(&mut client(&config), 8192, 32, LEAD_S, WINDOW_S);
    assert!(seen.queued);
    assert_eq!(seen.average_active, 16.0);
}
