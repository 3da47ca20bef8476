use askama::Template;
use document::{Cell, CellStatus, Figure, format};

use super::grid::Grid;
use super::heat::Scale;
use super::shown::{Shown, trusted_per_request_tok_s, trusted_total_tok_s, ttft};
use super::words::{TTFT_SENTENCE, status_sentences};

/// Width of the column of contexts, px.
const HEAD_WIDTH_PX: usize = 76;
/// Width in which `106,315 ms TTFT` and `Requests queued` stand in one line, px.
const COLUMN_WIDTH_PX: usize = 106;

/// A heat map: rows are contexts, columns requests at once.
#[derive(Debug, Template)]
#[template(path = "run/heat_map.html")]
pub struct HeatMap {
    /// Anchor of the section.
    pub id: &'static str,
    /// Heading.
    pub title: &'static str,
    /// The line under the heading.
    pub lead: &'static str,
    /// What the table is, for those who do not see it.
    pub caption: &'static str,
    /// Requests at once.
    pub columns: Vec<String>,
    /// Width under which the table scrolls inside itself, px.
    pub min_width_px: usize,
    /// One for each context.
    pub rows: Vec<HeatRow>,
    /// The colours' ends.
    pub legend: Option<Legend>,
    /// Paragraphs under the map.
    pub sentences: Vec<String>,
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
        class: String,
        /// The figure.
        figure: Shown,
        /// Words under it, where so: `Requests queued`, names of flags.
        words: Vec<String>,
        /// The small figure.
        small: Option<Shown>,
    },
    /// Has none: `Over capacity`, `Failed`, `not measured`.
    Blank {
        /// Class of the pattern.
        class: &'static str,
        /// What it is.
        words: &'static str,
        /// Why, where known.
        why: Option<String>,
    },
}

/// The ends of the colour scale.
#[derive(Debug)]
pub struct Legend {
    /// Figure of the palest colour.
    pub low: String,
    /// Figure of the deepest colour.
    pub high: String,
    /// Colour steps.
    pub steps: Vec<u32>,
}

/// What differs between the maps.
struct Kind {
    figure: Figure,
    /// The figure a cell shows, not struck.
    trusted: fn(&Cell) -> Option<f64>,
    /// The figure a cell shows, whatever it is worth.
    written: fn(&Cell) -> Option<f64>,
    small: fn(&Grid, &Cell) -> Option<Shown>,
}

/// "Sustained decode": total tok/s and TTFT.
pub(crate) fn total(grid: &Grid) -> Option<HeatMap> {
    let kind = Kind {
        figure: Figure::DecodeTotal,
        trusted: trusted_total_tok_s,
        written: |cell| cell.total_tok_s,
        small: |_, cell| {
            ttft(cell).map(|text| Shown::of(cell, Figure::Ttft, Some(format!("{text} TTFT"))))
        },
    };
    let sentences = [
        status_sentences(grid.decode_cells()),
        Some(TTFT_SENTENCE.to_owned()),
        censored_sentence(grid),
        taken_away_sentence(grid),
    ];
    Some(HeatMap {
        id: "decode",
        title: "Sustained decode",
        lead: "total tok/s · rows are context length, columns are simultaneous requests",
        caption: "Total output tok/s by context length and simultaneous requests, with TTFT under each figure",
        sentences: sentences.into_iter().flatten().collect(),
        ..map(grid, &kind)?
    })
}

/// tok/s of one request, and how total tok/s scales with requests.
pub(crate) fn per_request(grid: &Grid) -> Option<HeatMap> {
    grid.decode_cells().find_map(trusted_per_request_tok_s)?;
    let kind = Kind {
        figure: Figure::DecodeLatency,
        trusted: trusted_per_request_tok_s,
        written: |cell| cell.per_request_tok_s,
        small: scaling,
    };
    let scales = grid
        .decode_cells()
        .any(|cell| cell.concurrency > 1 && scaling(grid, cell).is_some());
    let about_scaling = scales.then(|| {
        "Scaling is total tok/s ÷ (requests at once × total tok/s of one request at the same context): 100 % would be perfect.".to_owned()
    });
    Some(HeatMap {
        id: "per-request",
        title: "Per request",
        lead: "median tok/s of one request · rows are context length, columns are simultaneous requests",
        caption: "Output tok/s of one request by context length and simultaneous requests, with scaling efficiency under each figure",
        sentences: about_scaling.into_iter().collect(),
        ..map(grid, &kind)?
    })
}

fn map(grid: &Grid, kind: &Kind) -> Option<HeatMap> {
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
                Some(cell) => heat_cell(grid, cell, kind, scale),
                None => HeatCell::Blank {
                    class: "missing",
                    words: "not measured",
                    why: None,
                },
            })
            .collect(),
    };
    Some(HeatMap {
        id: "",
        title: "",
        lead: "",
        caption: "",
        min_width_px: HEAD_WIDTH_PX + COLUMN_WIDTH_PX * grid.concurrency.len(),
        columns: grid.concurrency.iter().map(u32::to_string).collect(),
        rows: grid.contexts.iter().map(row).collect(),
        legend: scale.map(|scale| Legend {
            low: format::tok_s(scale.low),
            high: format::tok_s(scale.high),
            steps: Scale::steps(),
        }),
        sentences: Vec::new(),
    })
}

fn heat_cell(grid: &Grid, cell: &Cell, kind: &Kind, scale: Option<Scale>) -> HeatCell {
    let blank = |class| HeatCell::Blank {
        class,
        words: cell.status.title(),
        why: cell.reason.clone(),
    };
    let mut words = Vec::new();
    match cell.status {
        CellStatus::OverCapacity => return blank("over"),
        CellStatus::Failed => return blank("failed"),
        CellStatus::Queued => words.push(cell.status.title().to_owned()),
        CellStatus::Valid => {}
    }
    let step = scale.zip((kind.trusted)(cell)).map_or_else(
        || "plain".to_owned(),
        |(scale, tok_s)| format!("h{}", scale.step(tok_s)),
    );
    let figure = Shown::of(cell, kind.figure, (kind.written)(cell).map(format::tok_s));
    let small = (kind.small)(grid, cell);
    let names_of_takers = cell
        .flags
        .iter()
        .map(|flag| flag.name)
        .filter(|name| {
            figure.is_struck && name.takes_away(kind.figure)
                || small.as_ref().is_some_and(|small| small.is_struck)
                    && name.takes_away(Figure::Ttft)
        })
        .map(|name| name.as_str().to_owned());
    words.extend(names_of_takers);
    HeatCell::Measured {
        class: match cell.status {
            CellStatus::Queued => format!("{step} queued"),
            CellStatus::Valid | CellStatus::OverCapacity | CellStatus::Failed => step,
        },
        figure,
        words,
        small,
    }
}

/// Total tok/s ÷ (requests × total tok/s of one request), in percent.
fn scaling(grid: &Grid, cell: &Cell) -> Option<Shown> {
    let alone = trusted_total_tok_s(grid.decode_at(cell.context_tokens, 1)?)?;
    let percent = trusted_total_tok_s(cell)? / (alone * f64::from(cell.concurrency)) * 100.0;
    Some(Shown {
        text: format!("{percent:.0} % scaling"),
        is_struck: false,
    })
}

fn censored_sentence(grid: &Grid) -> Option<String> {
    grid.decode_cells()
        .any(|cell| cell.ttft_censored == Some(true) && cell.ttft_ms_p50().is_some())
        .then(|| {
            "≥: requests still waited for their first token when the window closed, so TTFT is a lower bound.".to_owned()
        })
}

fn taken_away_sentence(grid: &Grid) -> Option<String> {
    grid.cells()
        .any(|cell| {
            [
                Figure::DecodeTotal,
                Figure::DecodeLatency,
                Figure::Ttft,
                Figure::Prefill,
            ]
            .into_iter()
            .any(|figure| cell.is_taken_away(figure))
        })
        .then(|| {
            "A figure struck through is taken away by the flag named: it was measured and is not to be relied on.".to_owned()
        })
}
