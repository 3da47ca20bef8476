use askama::Template;
use document::{Cell, CellStatus, Figure, format};

use super::grid::Grid;
use super::shown::{Shown, ttft};
use super::words::status_sentences;

/// Names of the CSV's columns: those of the run document.
const CSV_HEADER: &str = "phase,context_tokens,concurrency,status,flags,total_tok_s,per_request_tok_s,ttft_ms_p50,tbt_ms_p50,average_active,completed,output_tokens,measured_s";

/// "All measurements": every cell, prefill first.
#[derive(Debug, Template)]
#[template(path = "run/measurements.html")]
pub struct Measurements {
    /// One for each cell.
    pub rows: Vec<Measurement>,
    /// The sentences of the statuses that occur.
    pub sentences: Option<String>,
    /// The same as CSV, unrounded.
    pub csv: String,
}

/// A cell's row.
#[derive(Debug)]
pub struct Measurement {
    /// `Prefill` or `Sustained decode`.
    pub phase: &'static str,
    /// `8K`.
    pub context: String,
    /// Requests at once.
    pub concurrency: String,
    /// Class of the row.
    pub class: &'static str,
    /// The verdict.
    pub status: &'static str,
    /// Names of its flags.
    pub flags: Vec<&'static str>,
    /// Total tok/s to measured for, in the order of the columns.
    pub figures: [Shown; 8],
}

impl Measurements {
    pub(crate) fn of(grid: &Grid) -> Measurements {
        let csv_lines = grid.cells().map(csv_line);
        Measurements {
            rows: grid.cells().map(row).collect(),
            sentences: status_sentences(grid.cells()),
            csv: std::iter::once(CSV_HEADER.to_owned())
                .chain(csv_lines)
                .map(|line| line + "\n")
                .collect(),
        }
    }
}

fn row(cell: &Cell) -> Measurement {
    Measurement {
        phase: cell.phase.title(),
        context: format::context(cell.context_tokens),
        concurrency: cell.concurrency.to_string(),
        class: match cell.status {
            CellStatus::Valid => "valid",
            CellStatus::Queued => "queued",
            CellStatus::OverCapacity => "over",
            CellStatus::Failed => "failed",
        },
        status: cell.status.title(),
        flags: cell.flags.iter().map(|flag| flag.name.as_str()).collect(),
        figures: figures(cell),
    }
}

fn figures(cell: &Cell) -> [Shown; 8] {
    use document::Phase;
    let (total, latency, ttft_figure) = match cell.phase {
        Phase::Prefill => (Figure::Prefill, Figure::Prefill, Figure::Prefill),
        Phase::Decode => (Figure::DecodeTotal, Figure::DecodeLatency, Figure::Ttft),
    };
    // What no flag takes away by itself goes when everything else of the cell goes.
    let rest = [total, latency, ttft_figure]
        .into_iter()
        .find(|figure| !cell.is_taken_away(*figure))
        .unwrap_or(total);
    let shown = |figure, text| Shown::of(cell, figure, text);
    [
        shown(total, cell.total_tok_s.map(format::tok_s)),
        shown(latency, cell.per_request_tok_s.map(format::tok_s)),
        shown(ttft_figure, ttft(cell)),
        shown(latency, cell.tbt_ms_p50().map(format::tbt_ms)),
        shown(rest, cell.average_active.map(format::one_decimal)),
        shown(rest, cell.completed.map(format::count)),
        shown(total, cell.output_tokens.map(format::count)),
        shown(rest, cell.measured_s.map(format::seconds)),
    ]
}

/// Figures, status and names of flags only: nothing a spreadsheet could run.
fn csv_line(cell: &Cell) -> String {
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let count = |value: Option<u64>| value.map_or_else(String::new, |value| value.to_string());
    let flags: Vec<&str> = cell.flags.iter().map(|flag| flag.name.as_str()).collect();
    [
        cell.phase.title().to_owned(),
        cell.context_tokens.to_string(),
        cell.concurrency.to_string(),
        cell.status.title().to_owned(),
        flags.join(" "),
        number(cell.total_tok_s),
        number(cell.per_request_tok_s),
        number(cell.ttft_ms_p50()),
        number(cell.tbt_ms_p50()),
        number(cell.average_active),
        count(cell.completed),
        count(cell.output_tokens),
        number(cell.measured_s),
    ]
    .join(",")
}
