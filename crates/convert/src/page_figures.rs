//! The figures of a published matrix page: the rows of its "All measurements" and,
//! beside them, what the page says of model, engine and GPU.

use document::{
    Cell, CellKey, CellStatus, Distribution, Engine, Extra, Hardware, Model, Phase, RunDocument,
    Settings,
};
use serde_json::{Map, Value};

use crate::error::ImportError;
use crate::fields::Fields;
use crate::import::push_cell;
use crate::matrix_page::prefill_tok_s;

/// As errors name it.
pub(crate) const NAME: &str = "figures of a published matrix page";
/// As documents name it.
const TOOL: &str = "published matrix page";
/// Most rows that are read.
const MAX_ROWS: usize = 10_000;

/// Whether an object is the figures of a page.
pub(crate) fn recognises(map: &Map<String, Value>) -> bool {
    let rows = map.get("rows").and_then(Value::as_array);
    let first = rows.and_then(|rows| rows.first()?.as_object());
    map.contains_key("model")
        && first.is_some_and(|row| row.contains_key("phase") && row.contains_key("concurrency"))
}

/// Fills a run.
pub(crate) fn read(file: &Fields<'_>, run: &mut RunDocument) -> Result<(), ImportError> {
    if let Some(from) = &mut run.imported_from {
        from.tool = Some(TOOL.to_owned());
    }
    let model = file.text("model")?;
    run.model = Model {
        id: model,
        ..Model::default()
    };
    run.engine = Engine {
        name: file.text("engine")?,
        version: file.text("engine_version")?,
        quantization: file.text("quantization")?,
        max_model_len: file.count("max_model_len")?,
        max_num_seqs: file.small_count("max_num_seqs")?,
        ..Engine::default()
    };
    run.hardware = hardware(file)?;
    for fields in file.objects("rows", MAX_ROWS)? {
        let cell = cell(&fields)?;
        push_cell(run, cell, &fields)?;
    }
    run.settings = settings(run, file.count("max_output_tokens")?);
    run.notes = Some("Imported from the figures of a published page. Pages show medians, rounded: percentiles, prompt tokens, the counts of tokens behind a total and the tool that measured are not in the file and null.".to_owned());
    let kept = file.unread(&[]);
    if let Some(from) = &mut run.imported_from
        && !kept.is_empty()
    {
        from.extra.insert("imported_fields".to_owned(), kept.into());
    }
    Ok(())
}

fn hardware(file: &Fields<'_>) -> Result<Hardware, ImportError> {
    let (gpu_count, each) = (file.small_count("gpu_count")?, file.figure("vram_gb_each")?);
    Ok(Hardware {
        gpu: file.text("gpu")?,
        gpu_count,
        vram_gb: each.zip(gpu_count).map(|(each, n)| each * f64::from(n)),
        vram_gb_each: each,
        ..Hardware::default()
    })
}

/// What was asked for is what the rows have.
fn settings(run: &RunDocument, max_output_tokens: Option<u64>) -> Settings {
    let contexts = |phase| {
        let mut all: Vec<u64> = run
            .cells
            .iter()
            .filter(|cell| cell.phase == phase)
            .map(|cell| cell.context_tokens)
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let mut concurrency: Vec<u32> = run
        .cells
        .iter()
        .filter(|cell| cell.phase == Phase::Decode)
        .map(|cell| cell.concurrency)
        .collect();
    concurrency.sort_unstable();
    concurrency.dedup();
    Settings {
        max_output_tokens,
        contexts: contexts(Phase::Decode),
        prefill_contexts: contexts(Phase::Prefill),
        concurrency,
        ..Settings::default()
    }
}

fn cell(row: &Fields<'_>) -> Result<Cell, ImportError> {
    let missing = |name| row.wrong(name, "is missing or 0");
    let phase = match row.text("phase")?.as_deref() {
        Some("prefill") => Phase::Prefill,
        Some("sustained_decode") => Phase::Decode,
        _ => return Err(row.wrong("phase", "is neither `prefill` nor `sustained_decode`")),
    };
    let status = match row.text("status")?.as_deref() {
        Some("Valid") => CellStatus::Valid,
        Some("Requests queued") => CellStatus::Queued,
        Some("Over capacity") => CellStatus::OverCapacity,
        _ => {
            let problem = "is none of `Valid`, `Requests queued`, `Over capacity`";
            return Err(row.wrong("status", problem));
        }
    };
    let key = CellKey {
        phase,
        context_tokens: row
            .count("context_tokens")?
            .ok_or_else(|| missing("context_tokens"))?,
        concurrency: row
            .small_count("concurrency")?
            .ok_or_else(|| missing("concurrency"))?,
    };
    let median = |p50: Option<f64>| {
        p50.map(|p50| Distribution {
            p50: Some(p50),
            ..Distribution::default()
        })
    };
    let ttft_ms = row.figure("ttft_ms")?;
    let printed = row.figure("total_tok_s")?;
    let mut cell = Cell {
        total_tok_s: match phase {
            Phase::Prefill => prefill_tok_s(key.context_tokens, printed, ttft_ms),
            Phase::Decode => printed,
        },
        per_request_tok_s: row.figure("per_request_tok_s")?,
        ttft_ms: median(ttft_ms),
        tbt_ms: median(row.figure("tbt_ms")?),
        average_active: row.figure("avg_active")?,
        completed: row.count("completed")?,
        output_tokens: row.count("output_tokens")?,
        measured_s: row.figure("measured_s")?,
        ..Cell::empty(key, status)
    };
    row.text("context")?;
    let kept: Extra = row.unread(&[]);
    if !kept.is_empty() {
        cell.extra.insert("imported_fields".to_owned(), kept.into());
    }
    Ok(cell)
}
