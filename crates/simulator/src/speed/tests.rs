//! The presets' fits against the cells they come from.

use super::targets::{Restart, TOTAL_TOLERANCE, predicted_total};
use super::{DecodePoint, EngineSpeed, Measured};
use crate::{preset_names, preset_run};

const CONTEXT_64K: f64 = 65536.0;

fn measured(name: &str) -> Measured {
    Measured::from_document(&preset_run(name).unwrap())
}

fn total_error(speed: &EngineSpeed, point: &DecodePoint, measured: &Measured) -> f64 {
    let running = point.running.round();
    let tbt_ms = speed
        .decode
        .time_between_tokens_ms(point.context_tokens, running);
    let restart = Restart {
        silent_ms: speed.front_end.alone_ms(point.context_tokens as u64),
        apart_ms: speed.front_end.serial_ms(point.context_tokens as u64),
    };
    predicted_total(point, 1e3 / tbt_ms, running, measured, restart) / point.total_tok_s - 1.0
}

#[test]
fn a_full_fit_meets_every_total_within_what_the_pages_allow() {
    for name in preset_names() {
        let measured = measured(name);
        let speed = EngineSpeed::fit(&measured, None);
        for point in &measured.decode {
            let error = total_error(&speed, point, &measured);
            let allowed = TOTAL_TOLERANCE.max(point.ttft_ms.unwrap() / 30e3);
            println!(
                "{name} {} x {} {:.3} of {allowed:.3}",
                point.context_tokens, point.concurrency, error
            );
            assert!(
                error.abs() <= allowed,
                "{name} {point:?}: {error:.3} of {allowed:.3}"
            );
        }
    }
}

#[test]
fn a_fit_without_its_64k_row_and_c_8_column_predicts_them_within_8_percent() {
    let left_out =
        |point: &DecodePoint| point.context_tokens == CONTEXT_64K || point.concurrency == 8;
    for name in preset_names() {
        let measured = measured(name);
        let mut rest = measured.clone();
        rest.decode.retain(|point| !left_out(point));
        let speed = EngineSpeed::fit(&rest, None);
        let held_out: Vec<&DecodePoint> = measured
            .decode
            .iter()
            .filter(|point| left_out(point))
            .collect();
        assert!(held_out.len() >= 8);
        for point in held_out {
            let error = total_error(&speed, point, &measured);
            println!(
                "{name} {} x {}: {error:.3}",
                point.context_tokens, point.concurrency
            );
            assert!(error.abs() <= 0.08, "{name} {point:?}: {error:.3}");
        }
    }
}

#[test]
fn prefill_rates_are_met_within_2_percent() {
    for name in preset_names() {
        let measured = measured(name);
        let speed = EngineSpeed::fit(&measured, None);
        for cell in preset_run(name).unwrap().cells {
            if cell.phase != document::Phase::Prefill {
                continue;
            }
            let n = cell.context_tokens;
            let one_off: f64 = speed
                .one_offs
                .iter()
                .filter(|o| o.is_for(n))
                .map(|o| o.extra_ms)
                .sum();
            let ttft_ms = speed.front_end.alone_ms(n) + speed.prefill.ms(0, n) + one_off;
            let error = n as f64 * 1e3 / ttft_ms / cell.total_tok_s.unwrap() - 1.0;
            assert!(error.abs() <= 0.01, "{name} {n}: {error:.4}");
        }
    }
}
