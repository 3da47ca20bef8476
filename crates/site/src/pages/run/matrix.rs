use askama::Template;
use document::{Cell, CellStatus, Figure, Phase, format};

use super::grid::Grid;
use super::heat::{CLASSES, Scale};
use super::shown::{Shown, trusted_per_request_tok_s, trusted_total_tok_s, ttft};
use super::words::status_sentences;
use crate::words::{Form, Said, Words};

/// A heat map: rows are contexts, columns requests at once.
#[derive(Debug, Template)]
#[template(path = "run/heat_map.html")]
pub struct HeatMap {
    /// The page's words.
    pub words: Words,
    /// Anchor of the section.
    pub id: &'static str,
    /// Heading.
    pub title: Said,
    /// The line under the heading.
    pub lead: Said,
    /// What the table is, for those who do not see it.
    pub caption: Said,
    /// Requests at once.
    pub columns: Vec<String>,
    /// One for each context.
    pub rows: Vec<HeatRow>,
    /// The colours' ends.
    pub legend: Option<Legend>,
    /// Paragraphs under the map.
    pub sentences: Vec<Said>,
}

/// A context's cells.
#[derive(Debug)]
pub struct HeatRow {
    /// `8K`.
    pub context: String,
    /// One for each column.
    pub cells: Vec<HeatCell>,
}

/// A cell of a heat map.
#[derive(Debug)]
pub enum HeatCell {
    /// Has a figure.
    Measured {
        /// Class of the colour; `plain` for a figure that is not compared.
        class: &'static str,
        /// Its requests queued.
        is_queued: bool,
        /// The figure.
        figure: Shown,
        /// Words under it, where so: `Requests queued`, names of flags.
        words: Vec<Said>,
        /// The small figure.
        small: Option<Shown>,
    },
    /// Has none: `Over capacity`, `Failed`, `not measured`.
    Blank {
        /// Class of the pattern.
        class: &'static str,
        /// What it is.
        words: Said,
    },
}

/// The ends of the colour scale.
#[derive(Debug)]
pub struct Legend {
    /// Figure of the palest colour.
    pub low: String,
    /// Figure of the deepest colour.
    pub high: String,
    /// Classes of the colours, pale to deep.
    pub steps: &'static [&'static str],
}

/// What differs between the maps.
struct Kind {
    id: &'static str,
    title: Said,
    lead: Said,
    caption: Said,
    figure: Figure,
    /// The figure a cell shows, not struck.
    trusted: fn(&Cell) -> Option<f64>,
    /// The figure a cell shows, whatever it is worth.
    written: fn(&Cell) -> Option<f64>,
    small: Small,
}

/// The small figure under a figure.
enum Small {
    /// TTFT, and what it is called.
    Ttft(Said),
    /// How total tok/s scales with requests.
    Scaling(Form),
}

impl Small {
    fn of(&self, grid: &Grid, cell: &Cell) -> Option<Shown> {
        match self {
            Small::Ttft(name) => ttft(cell).map(|mut text| {
                text.push(' ');
                text.push_str(name);
                Shown::of(cell, Figure::Ttft, Some(text))
            }),
            Small::Scaling(form) => scaling_percent(grid, cell).map(|percent| Shown {
                text: form.fill(&[&format::count(percent.round() as u64)]).into(),
                is_struck: false,
            }),
        }
    }
}

/// "Sustained decode": total tok/s and TTFT.
pub(crate) fn total(grid: &Grid, words: Words) -> Option<HeatMap> {
    let kind = Kind {
        id: "decode",
        title: words.phase(Phase::Decode),
        lead: words.t("run-decode-lead"),
        caption: words.t("run-decode-caption"),
        figure: Figure::DecodeTotal,
        trusted: trusted_total_tok_s,
        written: |cell| cell.total_tok_s,
        small: Small::Ttft(words.t("run-ttft")),
    };
    let sentences = [
        status_sentences(words, grid.decode_cells()),
        Some(words.t("run-ttft-sentence")),
        is_some_ttft_censored(grid).then(|| words.t("run-censored-sentence")),
        is_some_figure_struck(grid).then(|| words.t("run-struck-sentence")),
    ];
    map(grid, kind, sentences.into_iter().flatten().collect(), words)
}

/// tok/s of one request, and how total tok/s scales with requests.
pub(crate) fn per_request(grid: &Grid, words: Words) -> Option<HeatMap> {
    grid.decode_cells().find_map(trusted_per_request_tok_s)?;
    let kind = Kind {
        id: "per-request",
        title: words.t("run-per-request"),
        lead: words.t("run-per-request-lead"),
        caption: words.t("run-per-request-caption"),
        figure: Figure::DecodeLatency,
        trusted: trusted_per_request_tok_s,
        written: |cell| cell.per_request_tok_s,
        small: Small::Scaling(words.form("run-scaling", &["percent"])),
    };
    let scales = grid
        .decode_cells()
        .any(|cell| cell.concurrency > 1 && scaling_percent(grid, cell).is_some());
    let about_scaling = scales.then(|| words.t("run-scaling-sentence"));
    map(grid, kind, about_scaling.into_iter().collect(), words)
}

fn map(grid: &Grid, kind: Kind, sentences: Vec<Said>, words: Words) -> Option<HeatMap> {
    if grid.contexts.is_empty() || grid.concurrency.is_empty() {
        return None;
    }
    let scale = Scale::of(grid.decode_cells().filter_map(kind.trusted));
    let row = |context: &u64| HeatRow {
        context: format::context(*context),
        cells: grid
            .concurrency
            .iter()
            .map(|concurrency| match grid.decode_at(*context, *concurrency) {
                Some(cell) => heat_cell(grid, cell, &kind, scale, words),
                None => HeatCell::Blank {
                    class: "missing",
                    words: words.t("run-not-measured"),
                },
            })
            .collect(),
    };
    Some(HeatMap {
        words,
        id: kind.id,
        columns: grid.concurrency.iter().map(u32::to_string).collect(),
        rows: grid.contexts.iter().map(row).collect(),
        legend: scale.map(|scale| Legend {
            low: format::tok_s(scale.low),
            high: format::tok_s(scale.high),
            steps: &CLASSES,
        }),
        sentences,
        title: kind.title,
        lead: kind.lead,
        caption: kind.caption,
    })
}

fn heat_cell(
    grid: &Grid,
    cell: &Cell,
    kind: &Kind,
    scale: Option<Scale>,
    words: Words,
) -> HeatCell {
    let blank = |class| HeatCell::Blank {
        class,
        words: words.status(cell.status),
    };
    let mut said = Vec::new();
    let is_queued = match cell.status {
        CellStatus::OverCapacity => return blank("over"),
        CellStatus::Failed => return blank("failed"),
        CellStatus::Queued => {
            said.push(words.status(cell.status));
            true
        }
        CellStatus::Valid => false,
    };
    let figure = Shown::of(cell, kind.figure, (kind.written)(cell).map(format::tok_s));
    let small = kind.small.of(grid, cell);
    let names_of_takers = cell
        .flags
        .iter()
        .map(|flag| flag.name)
        .filter(|name| {
            figure.is_struck && name.takes_away(kind.figure)
                || small.as_ref().is_some_and(|small| small.is_struck)
                    && name.takes_away(Figure::Ttft)
        })
        .map(|name| words.flag(name));
    said.extend(names_of_takers);
    HeatCell::Measured {
        class: scale
            .zip((kind.trusted)(cell))
            .map_or("plain", |(scale, tok_s)| scale.class(tok_s)),
        is_queued,
        figure,
        words: said,
        small,
    }
}

/// Total tok/s ÷ (requests × total tok/s of one request), in percent.
fn scaling_percent(grid: &Grid, cell: &Cell) -> Option<f64> {
    let alone = trusted_total_tok_s(grid.decode_at(cell.context_tokens, 1)?)?;
    Some(trusted_total_tok_s(cell)? / (alone * f64::from(cell.concurrency)) * 100.0)
}

fn is_some_ttft_censored(grid: &Grid) -> bool {
    grid.decode_cells()
        .any(|cell| cell.ttft_censored == Some(true) && cell.ttft_ms_p50().is_some())
}

fn is_some_figure_struck(grid: &Grid) -> bool {
    const FIGURES: [Figure; 4] = [
        Figure::DecodeTotal,
        Figure::DecodeLatency,
        Figure::Ttft,
        Figure::Prefill,
    ];
    grid.cells()
        .any(|cell| FIGURES.into_iter().any(|figure| cell.is_taken_away(figure)))
}
