//! What a server is started with: presets, runs, and what is refused.

#![allow(clippy::unwrap_used, reason = "what is missing fails the test")]

mod support;

use document::{Cell, CellKey, CellStatus, Distribution, Phase, RunDocument};
use serde_json::json;
use simulator::engine::FlatSpeed;
use simulator::{Config, ConfigError, Simulator, StartError, preset_names};
use support::{Client, LEAD_S, decode_cell};

fn run(cells: Vec<Cell>) -> RunDocument {
    let mut run: RunDocument = serde_json::from_value(json!({
        "schema": document::SCHEMA,
        "id": "test",
        "source": "measured",
    }))
    .unwrap();
    run.cells = cells;
    run
}

fn decode(context_tokens: u64, concurrency: u32, status: CellStatus) -> Cell {
    let key = CellKey {
        phase: Phase::Decode,
        context_tokens,
        concurrency,
    };
    Cell::empty(key, status)
}

fn measured(context_tokens: u64, concurrency: u32, total_tok_s: f64) -> Cell {
    let mut cell = decode(context_tokens, concurrency, CellStatus::Valid);
    cell.total_tok_s = Some(total_tok_s);
    cell
}

#[test]
fn one_decode_cell_is_enough_to_simulate_its_server() {
    let config = Config::like(&run(vec![measured(4096, 4, 80.0)])).unwrap();
    config.check().unwrap();
    let mut client = Client::new(config.machine());
    let at = |client: &mut Client, concurrency| {
        decode_cell(client, 4096, concurrency, LEAD_S, 30.0).total_tok_s
    };
    assert!((at(&mut client, 4) / 80.0 - 1.0).abs() < 0.02);
    let (one, sixteen) = (at(&mut client, 1), at(&mut client, 16));
    assert!(one > 20.0 && one < 80.0, "{one}");
    assert!(sixteen > 80.0 && sixteen < 320.0, "{sixteen}");
}

#[test]
fn limits_come_from_the_document_or_from_what_its_cells_say() {
    let mut queued = measured(8192, 64, 900.0);
    queued.status = CellStatus::Queued;
    queued.average_active = Some(31.9);
    let cells = vec![
        measured(8192, 16, 800.0),
        queued.clone(),
        decode(65536, 64, CellStatus::OverCapacity),
    ];
    let config = Config::like(&run(cells.clone())).unwrap();
    assert_eq!(config.max_num_seqs, 32);
    let (ran, refused) = (64 * (8192 + 4096), 64 * (65536 + 4096));
    assert!((ran..refused).contains(&config.kv_tokens));
    let mut known = run(cells);
    known.engine.max_num_seqs = Some(48);
    known.engine.kv_cache_tokens = Some(1_000_000);
    known.engine.max_model_len = Some(131_072);
    known.model.served_name = Some("m".to_owned());
    let config = Config::like(&known).unwrap();
    assert_eq!((config.max_num_seqs, config.kv_tokens), (48, 1_000_000));
    assert_eq!(
        (config.max_model_len, config.model.as_str()),
        (131_072, "m")
    );
}

#[test]
fn figures_that_were_taken_away_are_not_fitted() {
    let mut doubtful = measured(8192, 2, 5000.0);
    doubtful.flags = serde_json::from_value(json!([
        {"name": "contaminated", "evidence": "3 running at C = 2"}
    ]))
    .unwrap();
    let error = Config::like(&run(vec![doubtful])).unwrap_err();
    assert_eq!(error, ConfigError::NothingToFit);
}

#[test]
fn a_run_of_the_simulated_server_gives_the_same_server_again() {
    let preset = Config::preset("glm-5.3-flash-4x-rtx-pro-6000").unwrap();
    let mut client = Client::new(preset.machine());
    let mut cells = Vec::new();
    for (context, concurrency) in [(8192, 1), (8192, 8), (32768, 1), (32768, 8), (32768, 16)] {
        let scout = client.send(context, context, 1);
        let scout = client.finish(scout);
        if concurrency == 1 {
            let key = CellKey {
                phase: Phase::Prefill,
                context_tokens: context,
                concurrency: 1,
            };
            let mut prefill = Cell::empty(key, CellStatus::Valid);
            prefill.total_tok_s = Some(context as f64 * 1e3 / scout.ttft_ms());
            prefill.ttft_ms = p50(scout.ttft_ms());
            cells.push(prefill);
        }
        let seen = decode_cell(&mut client, context, concurrency, LEAD_S, 30.0);
        let mut cell = measured(context, concurrency as u32, seen.total_tok_s);
        cell.ttft_ms = p50(seen.ttft_ms);
        cell.tbt_ms = p50(seen.tbt_ms);
        cell.per_request_tok_s = Some(1e3 / seen.tbt_ms);
        cell.average_active = Some(seen.average_active);
        cells.push(cell);
    }
    let again = Config::like(&run(cells.clone())).unwrap();
    let mut client = Client::new(again.machine());
    for cell in cells.iter().filter(|cell| cell.phase == Phase::Decode) {
        let context = cell.context_tokens;
        let scout = client.send(context, context, 1);
        client.finish(scout);
        let concurrency = cell.concurrency as usize;
        let seen = decode_cell(&mut client, context, concurrency, LEAD_S, 30.0);
        let error = seen.total_tok_s / cell.total_tok_s.unwrap() - 1.0;
        assert!(error.abs() < 0.03, "{context} x {concurrency}: {error:+.3}");
    }
}

fn p50(value: f64) -> Option<Distribution> {
    Some(Distribution {
        p50: Some(value),
        ..Distribution::default()
    })
}

#[test]
fn what_no_server_could_be_started_with_is_refused_in_words() {
    let unknown = Config::preset("gpt").unwrap_err().to_string();
    assert!(
        preset_names().iter().all(|name| unknown.contains(name)),
        "{unknown}"
    );
    let mut config = Config::preset("glm-5.3-flash-4x-rtx-pro-6000").unwrap();
    config.kv_tokens = 100_000;
    let small = config.check().unwrap_err().to_string();
    assert!(small.contains("--kv-tokens"), "{small}");
    let flat = FlatSpeed {
        ttft_ms: 50.0,
        tbt_ms: 8.0,
        tokens_per_event: 1,
    };
    for speed in [0.0, -1.0, f64::NAN] {
        let mut config = Config::flat(flat);
        config.speed = speed;
        assert!(config.check().is_err());
    }
}

#[test]
fn half_the_cache_still_serves_both_presets() {
    for name in preset_names() {
        let mut config = Config::preset(name).unwrap();
        config.kv_tokens /= 2;
        config.check().unwrap();
    }
}

#[tokio::test]
async fn an_address_in_use_or_a_truth_file_that_cannot_be_is_said() {
    let flat = FlatSpeed {
        ttft_ms: 50.0,
        tbt_ms: 8.0,
        tokens_per_event: 1,
    };
    let first = Simulator::start(Config::flat(flat)).await.unwrap();
    let mut config = Config::flat(flat);
    config.listen = first.addr();
    let error = Simulator::start(config).await.unwrap_err();
    assert!(matches!(error, StartError::Listen { .. }));
    assert!(error.to_string().contains("--listen"), "{error}");
    first.stop().await;
    let mut config = Config::flat(flat);
    config.truth = Some("/nowhere/at/all/truth.jsonl".into());
    let error = Simulator::start(config).await.unwrap_err();
    assert!(error.to_string().contains("/nowhere/at/all"), "{error}");
}
