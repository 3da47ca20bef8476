//! A run as a real server gave it, as events and as a document, for the tests
//! of this module. Figures of `examples/runs/`, with every status and a flag.

use document::{Cell, CellKey, CellStatus, Distribution, Flag, FlagName, Phase, RunDocument};
use load::{Progress, Server, Stage, Tick};

const K: u64 = 1024;
const CONCURRENCY: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Context in K, prompt tok/s, TTFT in ms.
const PREFILL: [(u64, f64, f64); 8] = [
    (8, 18_500.0, 442.0),
    (16, 8_174.0, 850.0),
    (32, 19_300.0, 1_674.0),
    (64, 19_200.0, 3_352.0),
    (128, 18_900.0, 6_804.0),
    (256, 18_000.0, 14_268.0),
    (507, 16_500.0, 30_744.0),
    (512, 16_400.0, 31_277.0),
];
/// Context in K; total tok/s and TTFT in ms for each concurrency that was run.
type DecodeRow = (u64, &'static [(f64, f64)]);
const DECODE: [DecodeRow; 7] = [
    (
        8,
        &[
            (153.7, 82.0),
            (245.9, 97.0),
            (364.0, 245.0),
            (488.1, 301.0),
            (769.0, 298.0),
            (1037.5, 792.0),
            (1198.5, 827.0),
        ],
    ),
    (
        16,
        &[
            (151.4, 85.0),
            (250.8, 105.0),
            (357.8, 212.0),
            (505.4, 241.0),
            (753.9, 456.0),
            (1020.5, 765.0),
            (1163.7, 973.0),
        ],
    ),
    (
        32,
        &[
            (152.5, 108.0),
            (242.4, 125.0),
            (347.4, 207.0),
            (498.4, 317.0),
            (732.9, 502.0),
            (997.8, 834.0),
        ],
    ),
    (
        64,
        &[
            (167.0, 166.0),
            (241.7, 185.0),
            (361.5, 281.0),
            (491.6, 469.0),
            (721.9, 799.0),
        ],
    ),
    (
        128,
        &[
            (150.6, 277.0),
            (245.7, 297.0),
            (349.0, 548.0),
            (478.2, 889.0),
        ],
    ),
    (256, &[(149.6, 559.0), (239.7, 750.0), (341.1, 1124.0)]),
    (507, &[(197.4, 1144.0), (232.9, 1556.0)]),
];

/// The document of the run.
pub(super) fn document() -> RunDocument {
    // As JSON, so that a new field of the document is no matter of this module.
    let run = serde_json::json!({
        "schema": document::SCHEMA,
        "id": "018f0000-0000-7000-8000-000000000000",
        "finished_at": "2026-01-02T04:05:06Z",
        "source": "measured",
        "model": { "id": "deepseek-ai/DeepSeek-V4.1-Flash-1017" },
        "engine": {
            "name": "vllm",
            "version": "0.33.0rc1.dev141",
            "quantization": "MXFP4+FP8",
        },
        "hardware": {
            "gpu": "RTX PRO 6000 Blackwell Server Edition",
            "gpu_count": 4,
            "vram_gb_each": 96.0,
        },
    });
    RunDocument {
        cells: cells(),
        ..serde_json::from_value(run).unwrap()
    }
}

/// The run's cells in the order they are measured, with a queued, a failed and
/// two flagged ones among them.
pub(super) fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for (context, tok_s, ttft) in PREFILL {
        let mut cell = measured(Phase::Prefill, context * K, 1, tok_s, ttft);
        cell.completed = Some(1);
        if context == 16 {
            cell.flags.push(Flag {
                name: FlagName::ColdOutlier,
                evidence: "the first of 3 samples took 850 ms, the others 430 and 432 ms"
                    .to_owned(),
            });
        }
        cells.push(cell);
        let row = DECODE.iter().find(|(k, _)| *k == context);
        for (at, concurrency) in CONCURRENCY.iter().enumerate() {
            if let Some((_, figures)) = row {
                cells.push(decode(context * K, *concurrency, figures.get(at)));
            }
        }
    }
    cells
}

fn decode(context_tokens: u64, concurrency: u32, figures: Option<&(f64, f64)>) -> Cell {
    let key = CellKey {
        phase: Phase::Decode,
        context_tokens,
        concurrency,
    };
    let Some((tok_s, ttft)) = figures else {
        return Cell::empty(key, CellStatus::OverCapacity);
    };
    if (context_tokens, concurrency) == (128 * K, 8) {
        return Cell {
            reason: Some("HTTP 500 from /v1/completions: CUDA out of memory".to_owned()),
            ..Cell::empty(key, CellStatus::Failed)
        };
    }
    let mut cell = measured(Phase::Decode, context_tokens, concurrency, *tok_s, *ttft);
    cell.per_request_tok_s = Some(tok_s / f64::from(concurrency));
    cell.tbt_ms = Some(median(1000.0 * f64::from(concurrency) / tok_s));
    cell.average_active = Some(f64::from(concurrency));
    cell.completed = Some(7);
    cell.output_tokens = Some((tok_s * 30.0) as u64);
    cell.measured_s = Some(30.0);
    if (context_tokens, concurrency) == (8 * K, 64) {
        cell.status = CellStatus::Queued;
        cell.average_active = Some(32.0);
        cell.ttft_censored = Some(true);
    }
    if (context_tokens, concurrency) == (64 * K, 16) {
        cell.flags.push(Flag {
            name: FlagName::Unsteady,
            evidence: "tok/s fell from 780 to 640 within the window".to_owned(),
        });
    }
    cell
}

fn measured(phase: Phase, context_tokens: u64, concurrency: u32, tok_s: f64, ttft: f64) -> Cell {
    let key = CellKey {
        phase,
        context_tokens,
        concurrency,
    };
    Cell {
        total_tok_s: Some(tok_s),
        ttft_ms: Some(median(ttft)),
        ..Cell::empty(key, CellStatus::Valid)
    }
}

fn median(value: f64) -> Distribution {
    Distribution {
        p50: Some(value),
        ..Distribution::default()
    }
}

/// The places of all cells.
pub(super) fn keys() -> Vec<CellKey> {
    cells().iter().map(Cell::key).collect()
}

/// The cell that is measured `at`-th.
pub(super) fn finished_cell(at: usize) -> Cell {
    cells().swap_remove(at)
}

/// A tick in mid-window.
pub(super) fn tick(at_s: f64) -> Tick {
    Tick {
        at_s,
        open_streams: 16,
        flowing_streams: 15,
        tok_s: Some(700.0 + 60.0 * (at_s * 0.7).sin()),
        ttft_ms_p50: Some(798.6),
        running: Some(16.0),
        waiting: Some(0.0),
        kv_used: Some(0.451),
        measured_s: Some(12.34),
        window_s: 30.0,
        left_s: 412.0,
    }
}

/// The first events: server, plan, a note.
pub(super) fn start() -> Vec<Progress> {
    vec![
        Progress::Detected(Server {
            url: "http://127.0.0.1:8000".to_owned(),
            engine: "vllm".to_owned(),
            version: Some("0.33.0rc1.dev141".to_owned()),
            model: "deepseek-ai/DeepSeek-V4.1-Flash-1017".to_owned(),
            max_model_len: Some(524_288),
            max_num_seqs: Some(64),
            kv_cache_tokens: Some(1_000_000),
        }),
        Progress::Planned {
            cells: keys(),
            kept: Vec::new(),
            estimated_s: 2000.0,
        },
        Progress::Note {
            at_s: 0.4,
            text: "KV cache holds 1,000,000 tokens: 24 cells are over capacity and not run"
                .to_owned(),
        },
    ]
}

/// The events up to `cells_done` cells, and a tick in the midst of the next.
pub(super) fn until(cells_done: usize) -> Vec<Progress> {
    let mut events = start();
    let all = cells();
    let of = all.len();
    for (at, cell) in all.into_iter().enumerate().take(cells_done + 1) {
        let at_s = 35.0 * at as f64;
        let key = cell.key();
        events.push(Progress::CellStarted { cell: key, at_s });
        let stage = match key.phase {
            Phase::Prefill => Stage::Scouting,
            Phase::Decode => Stage::Measuring,
        };
        events.push(Progress::StageEntered { stage, at_s });
        for step in 1..20 {
            events.push(Progress::Tick(tick(at_s + 0.5 * f64::from(step))));
        }
        if at < cells_done {
            events.push(Progress::CellFinished {
                cell: Box::new(cell),
                at_s: at_s + 35.0,
                done: at + 1,
                of,
                left_s: 35.0 * (of - at) as f64,
            });
        }
    }
    events
}

/// The whole run.
pub(super) fn run() -> Vec<Progress> {
    let mut events = until(cells().len());
    events.push(Progress::Finished {
        at_s: 2240.0,
        interrupted: false,
    });
    events
}
