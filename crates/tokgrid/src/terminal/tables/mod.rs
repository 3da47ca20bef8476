//! The tables at a run's end, in the words and formats of the pages.
//!
//! The long table of all measurements comes first and the matrix last: what
//! stands last is what a terminal still shows.

mod grid;
mod notes;

use std::collections::BTreeSet;

use document::{Cell, CellKey, CellStatus, Figure, Phase, RunDocument, Source, format};

use super::heat::Scale;
use super::words;
use grid::{Column, Grid, Paint, Slot, Text};

/// Widest bar of the prefill chart, columns.
const BAR_WIDTH: usize = 40;
/// Narrowest bar that says anything, columns.
const MIN_BAR_WIDTH: usize = 15;
/// What the prefill chart's figures take beside the bars (`Context`, `Over
/// capacity`, `≥ 31,277 ms†` and gaps), columns.
const PREFILL_FIGURES_WIDTH: usize = 38;
/// Narrowest width that is laid out for, columns; less breaks lines anyway.
const MIN_WIDTH: usize = 20;

/// All tables of a run, as wide as `width` columns where that is possible.
/// `colour` allows escape sequences; without it the text is plain.
pub(crate) fn render(run: &RunDocument, width: usize, colour: bool) -> String {
    let width = width.max(MIN_WIDTH);
    let paint = Paint { colour };
    let mut sections = Vec::new();
    let is_run = |cell: &Cell| cell.status != CellStatus::OverCapacity;
    if run.cells.iter().any(is_run) {
        sections.push(all_measurements(run, width, paint));
    }
    sections.push(title(run, width, paint));
    if run.cells.iter().any(|cell| cell.phase == Phase::Prefill) {
        sections.push(prefill(run, width, paint));
    }
    if run.cells.iter().any(|cell| cell.phase == Phase::Decode) {
        sections.push(decode(run, width, paint));
    }
    if run.cells.is_empty() {
        sections.push("Nothing was measured.\n".to_owned());
    }
    sections.extend(notes::sections(run, width, paint));
    sections.join("\n")
}

/// What was measured, on what, by what.
fn title(run: &RunDocument, width: usize, paint: Paint) -> String {
    let mut text = format!("{}\n", paint.bold("Speed test matrix"));
    let named = run.model.id.as_ref().or(run.model.served_name.as_ref());
    let model = named.map_or("unknown model", String::as_str);
    let model = model.rsplit('/').next().unwrap_or(model);
    let mut first = model.to_owned();
    if let Some(hardware) = hardware(run) {
        first.push_str(&format!(" on {hardware}"));
    }
    let engine = [
        &run.engine.name,
        &run.engine.version,
        &run.engine.quantization,
    ];
    let engine: Vec<&str> = engine.into_iter().flatten().map(String::as_str).collect();
    for line in [first, engine.join(" · "), extent(run)] {
        let line = words::one_line(&line);
        if !line.is_empty() {
            push_wrapped(&mut text, &line, width);
        }
    }
    let is_cut_short = run.source == Source::Measured && run.finished_at.is_none();
    if is_cut_short {
        let line = "Interrupted: what was measured until then is shown.";
        push_wrapped(&mut text, line, width);
    }
    text
}

/// `RTX PRO 6000 96GB ×4`, or the processor where no GPU is known.
fn hardware(run: &RunDocument) -> Option<String> {
    let hardware = &run.hardware;
    let Some(gpu) = &hardware.gpu else {
        return hardware.cpu.clone().or_else(|| hardware.kind.clone());
    };
    let mut text = gpu.clone();
    if let Some(each) = hardware.vram_gb_each {
        text.push_str(&format!(" {}", format::gigabytes(each).replace(' ', "")));
    }
    if let Some(count) = hardware.gpu_count.filter(|count| *count > 1) {
        text.push_str(&format!(" ×{count}"));
    }
    Some(text)
}

/// `7 contexts (8K–507K) × 8 concurrency levels (1–128) · prefill at 8K, 16K`.
fn extent(run: &RunDocument) -> String {
    let mut parts = Vec::new();
    let contexts = contexts(run, Phase::Decode);
    let concurrencies = concurrencies(run);
    if !contexts.is_empty() && !concurrencies.is_empty() {
        parts.push(format!(
            "{} × {}",
            span(&contexts, "context", |tokens| format::context(*tokens)),
            span(&concurrencies, "concurrency level", u32::to_string)
        ));
    }
    let prefill = contexts_of(run, Phase::Prefill);
    if !prefill.is_empty() {
        let labels: Vec<String> = prefill.into_iter().map(format::context).collect();
        parts.push(format!("prefill at {}", labels.join(", ")));
    }
    parts.join(" · ")
}

fn span<T>(values: &[T], noun: &str, label: impl Fn(&T) -> String) -> String {
    let count = words::plural(values.len(), noun);
    match (values.first(), values.last()) {
        (Some(first), Some(last)) if values.len() > 1 => {
            format!("{count} ({}–{})", label(first), label(last))
        }
        (Some(only), _) => format!("{count} ({})", label(only)),
        (None, _) => count,
    }
}

/// Contexts of a phase's cells, and of the decode plan where a run was cut short.
fn contexts(run: &RunDocument, phase: Phase) -> Vec<u64> {
    let planned = match phase {
        Phase::Decode => run.settings.contexts.as_slice(),
        Phase::Prefill => run.settings.prefill_contexts.as_slice(),
    };
    let all: BTreeSet<u64> = contexts_of(run, phase)
        .into_iter()
        .chain(planned.iter().copied())
        .collect();
    all.into_iter().collect()
}

fn contexts_of(run: &RunDocument, phase: Phase) -> BTreeSet<u64> {
    let cells = run.cells.iter().filter(|cell| cell.phase == phase);
    cells.map(|cell| cell.context_tokens).collect()
}

fn concurrencies(run: &RunDocument) -> Vec<u32> {
    let cells = run.cells.iter().filter(|cell| cell.phase == Phase::Decode);
    let all: BTreeSet<u32> = cells
        .map(|cell| cell.concurrency)
        .chain(run.settings.concurrency.iter().copied())
        .collect();
    all.into_iter().collect()
}

/// Prompt tok/s by context length, with bars from zero.
fn prefill(run: &RunDocument, width: usize, paint: Paint) -> String {
    let mut cells: Vec<&Cell> = run.cells.iter().collect();
    cells.retain(|cell| cell.phase == Phase::Prefill);
    cells.sort_by_key(|cell| cell.context_tokens);
    let largest = cells.iter().filter_map(|cell| words::total(cell));
    let largest = largest.fold(0.0, f64::max);
    let bar_width = width.saturating_sub(PREFILL_FIGURES_WIDTH).min(BAR_WIDTH);
    let has_bars = bar_width >= MIN_BAR_WIDTH;
    let rows = cells.into_iter().map(|cell| {
        let is_taken_away = cell.is_taken_away(Figure::Prefill);
        let total = words::total(cell);
        let first = match cell.status {
            CellStatus::Failed | CellStatus::OverCapacity => Text::plain(cell.status.title()),
            CellStatus::Valid | CellStatus::Queued => {
                let text = format::or_nothing(total, format::tok_s_chart);
                Text::figure(text, is_taken_away && total.is_some())
            }
        };
        let mut row = vec![
            Text::plain(format::context(cell.context_tokens)).into(),
            first.into(),
            Text::figure(words::ttft(cell), is_taken_away && total.is_some()).into(),
        ];
        if has_bars {
            row.push(Text::plain(bar(total, largest, bar_width)).into());
        }
        row
    });
    let rows = rows.collect();
    let mut columns = vec![
        Column::right("Context"),
        Column::right("tok/s"),
        Column::right("TTFT"),
    ];
    if has_bars {
        columns.push(Column::left(""));
    }
    let grid = Grid {
        columns,
        key_columns: 1,
        rows,
        is_spaced: false,
    };
    let heading = paint.bold("Prefill");
    format!(
        "{heading}\nprompt tok/s by context length\n\n{}",
        grid.render(width, paint)
    )
}

fn bar(total: Option<f64>, largest: f64, width: usize) -> String {
    match total {
        Some(total) if largest > 0.0 => {
            "█".repeat((total / largest * width as f64).round() as usize)
        }
        Some(_) | None => String::new(),
    }
}

/// The heat map.
fn decode(run: &RunDocument, width: usize, paint: Paint) -> String {
    let concurrencies = concurrencies(run);
    let decode = || run.cells.iter().filter(|cell| cell.phase == Phase::Decode);
    let scale = Scale::of(decode().filter_map(words::total));
    let mut columns = vec![Column::right("Context")];
    columns.extend(concurrencies.iter().map(|c| Column::right(&c.to_string())));
    let rows = contexts(run, Phase::Decode)
        .into_iter()
        .map(|context_tokens| {
            let label = Text::plain(format::context(context_tokens));
            let mut row = vec![Slot::from(label)];
            row.extend(concurrencies.iter().map(|concurrency| {
                let key = CellKey {
                    phase: Phase::Decode,
                    context_tokens,
                    concurrency: *concurrency,
                };
                match decode().find(|cell| cell.key() == key) {
                    Some(cell) => decode_slot(cell, scale),
                    None => Text::dim(format::NOTHING).into(),
                }
            }));
            row
        });
    let grid = Grid {
        columns,
        key_columns: 1,
        rows: rows.collect(),
        // Backgrounds tell rows apart where there are any.
        is_spaced: !paint.colour,
    };
    let mut text = format!("{}\n", paint.bold("Sustained decode"));
    for line in [
        "total tok/s · rows are context length, columns are simultaneous requests",
        "below each total: TTFT",
    ] {
        push_wrapped(&mut text, line, width);
    }
    text.push('\n');
    text.push_str(&grid.render(width, paint));
    text
}

fn decode_slot(cell: &Cell, scale: Scale) -> Slot {
    let words_of_status = cell.status.title().split(' ');
    let status = words_of_status.map(Text::dim);
    match cell.status {
        CellStatus::OverCapacity | CellStatus::Failed => Slot {
            lines: status.collect(),
            heat: None,
        },
        CellStatus::Valid | CellStatus::Queued => {
            let total = format::or_nothing(cell.total_tok_s, format::tok_s);
            let mut lines = vec![
                Text::figure(total, cell.is_taken_away(Figure::DecodeTotal)),
                Text::figure(words::ttft(cell), cell.is_taken_away(Figure::Ttft)),
            ];
            if cell.status == CellStatus::Queued {
                lines.extend(status);
            }
            Slot {
                lines,
                heat: cell.total_tok_s.and_then(|tok_s| scale.step(tok_s)),
            }
        }
    }
}

/// Every cell that was run with all its figures, in the order they were
/// measured, a table for each phase. Cells over capacity have no figures; the
/// matrix shows them.
fn all_measurements(run: &RunDocument, width: usize, paint: Paint) -> String {
    let mut text = format!("{}\n", paint.bold("All measurements"));
    let caption = "Latencies are medians. Total tok/s is output across all simultaneous requests.";
    push_wrapped(&mut text, caption, width);
    for phase in [Phase::Prefill, Phase::Decode] {
        let cells = run.cells.iter().filter(|cell| cell.phase == phase);
        let run_cells = cells.filter(|cell| cell.status != CellStatus::OverCapacity);
        let mut grid = Grid {
            columns: measurement_columns(),
            key_columns: 2,
            rows: run_cells.map(measurement_row).collect(),
            is_spaced: false,
        };
        grid.leave_out_columns_of(format::NOTHING);
        if !grid.rows.is_empty() {
            let heading = paint.bold(words::phase(phase));
            text.push_str(&format!("\n{heading}\n{}", grid.render(width, paint)));
        }
    }
    text
}

fn measurement_columns() -> Vec<Column> {
    vec![
        Column::right("Context"),
        Column::right("Requests\nat once"),
        Column::left("Status"),
        Column::right("Total\ntok/s"),
        Column::right("Per request\ntok/s"),
        Column::right("TTFT"),
        Column::right("Time between\ntokens"),
        Column::right("Average active\nrequests"),
        Column::right("Completed\nrequests"),
        Column::right("Output\ntokens"),
        Column::right("Measured\nfor"),
    ]
}

fn measurement_row(cell: &Cell) -> Vec<Slot> {
    let has_figures = match cell.status {
        CellStatus::Valid | CellStatus::Queued => true,
        CellStatus::OverCapacity | CellStatus::Failed => false,
    };
    let figure = |text: Option<String>, figure: Option<Figure>| -> Slot {
        match text.filter(|_| has_figures) {
            Some(text) => {
                let is_taken_away = figure.is_some_and(|figure| cell.is_taken_away(figure));
                Text::figure(text, is_taken_away).into()
            }
            None => Text::dim(format::NOTHING).into(),
        }
    };
    let total = words::total_figure(cell.phase);
    let ttft = words::ttft_figure(cell.phase);
    let latency = Figure::DecodeLatency;
    vec![
        Text::plain(format::context(cell.context_tokens)).into(),
        Text::plain(cell.concurrency.to_string()).into(),
        Text::plain(cell.status.title()).into(),
        figure(cell.total_tok_s.map(format::tok_s), Some(total)),
        figure(cell.per_request_tok_s.map(format::tok_s), Some(latency)),
        figure(cell.ttft_ms_p50().map(|_| words::ttft(cell)), Some(ttft)),
        figure(cell.tbt_ms_p50().map(format::tbt_ms), Some(latency)),
        figure(cell.average_active.map(format::one_decimal), None),
        figure(cell.completed.map(format::count), None),
        figure(cell.output_tokens.map(format::count), None),
        figure(cell.measured_s.map(format::seconds), None),
    ]
}

fn push_wrapped(text: &mut String, line: &str, width: usize) {
    for line in words::wrap(line, width) {
        text.push_str(&line);
        text.push('\n');
    }
}

#[cfg(test)]
mod tests;
