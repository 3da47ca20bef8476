use askama::Template;
use document::{Cell, CellStatus, Figure, Phase, RunDocument, format};

use super::grid::Grid;
use super::links::RunLinks;
use super::shown::{Shown, ttft};
use super::sort::{MeasurementColumn, Sort};
use super::words::status_sentences;
use crate::words::{Said, Words};

/// Names of the CSV's columns: those of the run document.
const CSV_HEADER: &str = "phase,context_tokens,concurrency,status,flags,total_tok_s,per_request_tok_s,ttft_ms_p50,tbt_ms_p50,average_active,completed,output_tokens,measured_s";

/// "All measurements": every cell, prefill first.
#[derive(Debug, Template)]
#[template(path = "run/measurements.html")]
pub struct Measurements {
    /// The page's words.
    pub words: Words,
    /// One for each column.
    pub heads: Vec<Head>,
    /// One for each cell.
    pub rows: Vec<Measurement>,
    /// The sentences of the statuses that occur.
    pub sentences: Option<Said>,
    /// Some total tok/s has a confidence interval.
    pub has_intervals: bool,
    /// The same for programs.
    pub files: Files,
}

/// A column's header.
#[derive(Debug)]
pub struct Head {
    /// What it is called.
    pub name: Said,
    /// Words, not figures.
    pub is_text: bool,
    /// What `aria-sort` says of the column the rows are sorted by.
    pub aria_sort: Option<&'static str>,
    /// Where the rows stand in this column's order, if there is such a page.
    pub href: Option<String>,
}

/// Where the measurements are for programs.
#[derive(Debug)]
pub enum Files {
    /// In the page: CSV, unrounded.
    Inside {
        /// The text.
        csv: String,
    },
    /// On the registry.
    Links {
        /// Address of the CSV.
        csv: String,
        /// Address of the run document.
        json: String,
    },
}

/// A cell's row.
#[derive(Debug)]
pub struct Measurement {
    /// `Prefill` or `Sustained decode`.
    pub phase: Said,
    /// `8K`.
    pub context: String,
    /// Requests at once.
    pub concurrency: u32,
    /// Class of the row; a valid cell's needs none.
    pub class: &'static str,
    /// The verdict.
    pub status: Said,
    /// Names of its flags.
    pub flags: Vec<Said>,
    /// Total tok/s.
    pub total: Shown,
    /// Half of total tok/s' 95 % confidence interval, in percent: `±0.4 %`.
    pub half_width: Option<String>,
    /// Per request tok/s to measured for, in the order of the columns.
    pub figures: [Shown; 7],
}

impl Measurements {
    /// In the order of the pages, with the CSV inside.
    pub(crate) fn with_csv_inside(grid: &Grid, words: Words) -> Measurements {
        let heads = MeasurementColumn::ALL.map(|column| Head {
            name: words.t(column.key()),
            is_text: column == MeasurementColumn::Status,
            aria_sort: None,
            href: None,
        });
        let files = Files::Inside { csv: csv(grid) };
        Measurements::of(grid, words, heads.into(), files, None)
    }

    /// In the order asked for, with links to the other orders and to the files.
    pub(crate) fn with_links(
        grid: &Grid,
        words: Words,
        links: &RunLinks,
        sort: Option<Sort>,
    ) -> Measurements {
        let heads = MeasurementColumn::ALL.map(|column| Head {
            name: words.t(column.key()),
            is_text: column == MeasurementColumn::Status,
            aria_sort: sort
                .filter(|sort| sort.column == column)
                .map(|sort| sort.direction.aria()),
            href: Some(href(&links.kept, Sort::next(column, sort))),
        });
        let files = Files::Links {
            csv: links.csv.clone(),
            json: links.json.clone(),
        };
        Measurements::of(grid, words, heads.into(), files, sort)
    }

    fn of(
        grid: &Grid,
        words: Words,
        heads: Vec<Head>,
        files: Files,
        sort: Option<Sort>,
    ) -> Measurements {
        let mut cells: Vec<&Cell> = grid.cells().collect();
        if let Some(sort) = sort {
            sort.apply(&mut cells);
        }
        let nouns = Nouns::of(words);
        let rows: Vec<Measurement> = cells.into_iter().map(|cell| row(cell, &nouns)).collect();
        Measurements {
            words,
            heads,
            sentences: status_sentences(words, grid.cells()),
            has_intervals: rows.iter().any(|row| row.half_width.is_some()),
            rows,
            files,
        }
    }
}

/// The address of this page in another order.
fn href(kept: &str, sort: Option<Sort>) -> String {
    let and = if kept.is_empty() { "" } else { "&" };
    match sort {
        Some(Sort { column, direction }) if direction == column.first_direction() => {
            format!("?{kept}{and}sort={}#measurements", column.name())
        }
        Some(Sort { column, direction }) => format!(
            "?{kept}{and}sort={}&dir={}#measurements",
            column.name(),
            direction.name()
        ),
        None => format!("?{kept}#measurements"),
    }
}

/// What every row says, looked up once.
struct Nouns {
    words: Words,
    prefill: Said,
    decode: Said,
    valid: Said,
}

impl Nouns {
    fn of(words: Words) -> Nouns {
        Nouns {
            words,
            prefill: words.phase(Phase::Prefill),
            decode: words.phase(Phase::Decode),
            valid: words.status(CellStatus::Valid),
        }
    }

    fn phase(&self, phase: Phase) -> Said {
        match phase {
            Phase::Prefill => self.prefill.clone(),
            Phase::Decode => self.decode.clone(),
        }
    }

    fn status(&self, status: CellStatus) -> Said {
        match status {
            CellStatus::Valid => self.valid.clone(),
            CellStatus::Queued | CellStatus::OverCapacity | CellStatus::Failed => {
                self.words.status(status)
            }
        }
    }
}

fn row(cell: &Cell, nouns: &Nouns) -> Measurement {
    let (total, figures) = figures(cell);
    Measurement {
        phase: nouns.phase(cell.phase),
        context: format::context(cell.context_tokens),
        concurrency: cell.concurrency,
        class: match cell.status {
            CellStatus::Valid => "",
            CellStatus::Queued => "queued",
            CellStatus::OverCapacity => "over",
            CellStatus::Failed => "failed",
        },
        status: nouns.status(cell.status),
        flags: cell
            .flags
            .iter()
            .map(|flag| nouns.words.flag(flag.name))
            .collect(),
        half_width: half_width(cell),
        total,
        figures,
    }
}

fn figures(cell: &Cell) -> (Shown, [Shown; 7]) {
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
    (
        shown(total, cell.total_tok_s.map(format::tok_s)),
        [
            shown(latency, cell.per_request_tok_s.map(format::tok_s)),
            shown(ttft_figure, ttft(cell)),
            shown(latency, cell.tbt_ms_p50().map(format::tbt_ms)),
            shown(rest, cell.average_active.map(format::one_decimal)),
            shown(rest, cell.completed.map(format::count)),
            shown(total, cell.output_tokens.map(format::count)),
            shown(rest, cell.measured_s.map(format::seconds)),
        ],
    )
}

/// How far total tok/s may be off to either side, in percent of it.
fn half_width(cell: &Cell) -> Option<String> {
    let total = cell.total_tok_s.filter(|total| *total > 0.0)?;
    let [low, high] = cell
        .total_tok_s_ci95
        .filter(|_| cell.status.has_figures())?;
    let share = (total - low).max(high - total) / total;
    share
        .is_finite()
        .then(|| format!("±{} %", format::one_decimal(share * 100.0)))
}

/// Every cell of a run as CSV, unrounded.
#[must_use]
pub fn measurements_csv(run: &RunDocument) -> String {
    csv(&Grid::of(run))
}

fn csv(grid: &Grid) -> String {
    let csv_lines = grid.cells().map(csv_line);
    std::iter::once(CSV_HEADER.to_owned())
        .chain(csv_lines)
        .map(|line| line + "\n")
        .collect()
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
