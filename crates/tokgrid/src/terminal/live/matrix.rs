//! The matrix as it fills in: rows are contexts, columns requests at once.

use std::ops::Range;

use document::{Cell, CellKey, CellStatus, Phase, format};
use load::Stage;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};

use super::super::heat::Scale;
use super::super::state::State;
use super::super::words;
use super::draw::Look;

/// Columns of the row labels (`Context`, `1019K`).
const LABEL_WIDTH: usize = 7;
/// Narrowest and widest slot: a gap and the figure.
const SLOT_WIDTH: Range<usize> = 8..12;
/// A slot that has room for every usual figure with its mark.
const COMFORTABLE_SLOT_WIDTH: usize = 10;
/// Lines above the rows.
const HEADER_LINES: usize = 2;
/// Tallest row: tok/s, TTFT, an empty line.
const MAX_ROW_LINES: usize = 3;

/// The columns of one matrix, and what of it is in sight.
struct Shape {
    contexts: Vec<u64>,
    concurrencies: Vec<u32>,
    has_prefill: bool,
    rows: Range<usize>,
    columns: Range<usize>,
    slot_width: usize,
    row_lines: usize,
}

/// Columns the matrix takes when it is not squeezed.
pub(super) fn comfortable_width(state: &State) -> usize {
    let slots = state.concurrencies().len() + usize::from(state.has_prefill());
    LABEL_WIDTH + slots * COMFORTABLE_SLOT_WIDTH
}

/// Lines the matrix takes of the `room` there is.
pub(super) fn height(state: &State, room: usize, look: Look) -> usize {
    let rows = state.contexts().len();
    let wanted = HEADER_LINES + rows * row_lines(rows, room, look) + 1;
    wanted.min(room)
}

/// The tallest rows that leave all of them in sight. Two lines without a gap
/// are told apart by their backgrounds only, so without heat they are not used.
fn row_lines(rows: usize, room: usize, look: Look) -> usize {
    let fits = |lines: &usize| HEADER_LINES + rows * lines < room;
    let choices: &[usize] = if look.heat {
        &[MAX_ROW_LINES, 2]
    } else {
        &[MAX_ROW_LINES]
    };
    choices.iter().copied().find(fits).unwrap_or(1)
}

/// The matrix in at most `width` columns and `height` lines.
pub(super) fn lines(state: &State, width: usize, height: usize, look: Look) -> Vec<Line<'static>> {
    let shape = Shape::new(state, width, height, look);
    if shape.contexts.is_empty() {
        return Vec::new();
    }
    let scale = Scale::of(
        state
            .finished()
            .filter(|cell| cell.phase == Phase::Decode)
            .filter_map(words::total),
    );
    let mut lines = shape.header();
    for context_tokens in &shape.contexts[shape.rows.clone()] {
        lines.extend(shape.row(state, *context_tokens, scale, look));
    }
    let is_all_in_sight = shape.rows.len() == shape.contexts.len();
    if is_all_in_sight && lines.len() < height {
        lines.push(legend(state, width));
    }
    lines.truncate(height);
    lines
}

/// What stands over the decode columns: the longest that fits.
const DECODE_TITLES: [&str; 3] = [
    "  Sustained decode: total tok/s by requests at once",
    "  Decode: total tok/s",
    "  Decode",
];

impl Shape {
    fn new(state: &State, width: usize, height: usize, look: Look) -> Shape {
        let contexts = state.contexts();
        let concurrencies = state.concurrencies();
        let has_prefill = state.has_prefill();
        let slots = concurrencies.len() + usize::from(has_prefill);
        let room = width.saturating_sub(LABEL_WIDTH);
        let slot_width = (room / slots.max(1)).clamp(SLOT_WIDTH.start, SLOT_WIDTH.end - 1);
        let columns_fit = (room / slot_width).saturating_sub(usize::from(has_prefill));
        let row_lines = row_lines(contexts.len(), height, look);
        let rows_fit = height.saturating_sub(HEADER_LINES) / row_lines;
        let focus_row = state
            .focus
            .and_then(|key| contexts.iter().position(|c| *c == key.context_tokens));
        let focus_column = state
            .focus
            .filter(|key| key.phase == Phase::Decode)
            .and_then(|key| concurrencies.iter().position(|c| *c == key.concurrency));
        Shape {
            rows: in_sight(contexts.len(), rows_fit, focus_row),
            columns: in_sight(concurrencies.len(), columns_fit, focus_column),
            contexts,
            concurrencies,
            has_prefill,
            slot_width,
            row_lines,
        }
    }

    fn header(&self) -> Vec<Line<'static>> {
        let mut above = " ".repeat(LABEL_WIDTH);
        let mut below = format!("{:>LABEL_WIDTH$}", "Context");
        let width = self.slot_width;
        if self.has_prefill {
            above.push_str(&format!("{:>width$}", "Prefill"));
            below.push_str(&format!("{:>width$}", "tok/s"));
        }
        for concurrency in &self.concurrencies[self.columns.clone()] {
            below.push_str(&format!("{concurrency:>width$}"));
        }
        let columns = hidden("columns", &self.columns, self.concurrencies.len());
        let rows = hidden("rows", &self.rows, self.contexts.len());
        let is_all_in_sight = columns.is_none() && rows.is_none();
        if !self.concurrencies.is_empty() {
            // What is out of sight has to be said even where room is short.
            let room = if is_all_in_sight {
                below.len() - above.len()
            } else {
                0
            };
            let title = DECODE_TITLES.iter().find(|title| title.len() <= room);
            above.push_str(title.unwrap_or(&DECODE_TITLES[DECODE_TITLES.len() - 1]));
        }
        for text in [columns, rows].into_iter().flatten() {
            above.push_str(&format!(" · {text}"));
        }
        vec![
            Line::styled(above, Modifier::DIM),
            Line::styled(below, Modifier::BOLD),
        ]
    }

    fn row(
        &self,
        state: &State,
        context_tokens: u64,
        scale: Scale,
        look: Look,
    ) -> Vec<Line<'static>> {
        let label = format::context(context_tokens);
        let mut figures = vec![Span::styled(
            format!("{label:>LABEL_WIDTH$}"),
            Modifier::BOLD,
        )];
        let mut latencies = vec![Span::raw(" ".repeat(LABEL_WIDTH))];
        let prefill = self.has_prefill.then_some((Phase::Prefill, 1));
        let decode = self.concurrencies[self.columns.clone()]
            .iter()
            .map(|concurrency| (Phase::Decode, *concurrency));
        for (phase, concurrency) in prefill.into_iter().chain(decode) {
            let key = CellKey {
                phase,
                context_tokens,
                concurrency,
            };
            let slot = Slot::new(state, key, self.slot_width - 1, scale, look);
            let width = self.slot_width - 1;
            figures.push(Span::raw(" "));
            figures.push(Span::styled(format!("{:>width$}", slot.figure), slot.style));
            latencies.push(Span::raw(" "));
            latencies.push(Span::styled(
                format!("{:>width$}", slot.latency),
                slot.style,
            ));
        }
        let lines = [Line::from(figures), Line::from(latencies), Line::default()];
        lines.into_iter().take(self.row_lines).collect()
    }
}

/// What stands at one place: a figure or a mark, below it TTFT.
struct Slot {
    figure: String,
    latency: String,
    style: Style,
}

impl Slot {
    fn new(state: &State, key: CellKey, width: usize, scale: Scale, look: Look) -> Slot {
        if state.current == Some(key) {
            return Slot::current(state, width);
        }
        match state.cell(key) {
            Some(cell) => Slot::finished(cell, width, scale, look),
            None if state.is_planned(key) => Slot {
                figure: "·".to_owned(),
                latency: String::new(),
                style: Style::new().add_modifier(Modifier::DIM),
            },
            None => Slot {
                figure: String::new(),
                latency: String::new(),
                style: Style::new(),
            },
        }
    }

    /// The cell that is measured: inverse video and an arrow.
    fn current(state: &State, width: usize) -> Slot {
        let tick = state.tick.as_ref();
        let tok_s = tick.and_then(|tick| tick.tok_s);
        Slot {
            figure: match tok_s {
                Some(tok_s) => fit(tok_s, "▸", "", width),
                None => format!("▸{}", stage_mark(state.stage)),
            },
            latency: tick
                .and_then(|tick| tick.ttft_ms_p50)
                .map_or_else(String::new, |ms| latency(format::ttft_ms(ms), width)),
            style: Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD),
        }
    }

    fn finished(cell: &Cell, width: usize, scale: Scale, look: Look) -> Slot {
        let mark = match cell.status {
            CellStatus::Queued => "q",
            CellStatus::Valid | CellStatus::OverCapacity | CellStatus::Failed => "",
        };
        let is_taken_away = cell.is_taken_away(words::total_figure(cell.phase));
        let taken_away = if is_taken_away { words::TAKEN_AWAY } else { "" };
        match cell.status {
            CellStatus::OverCapacity => Slot {
                figure: "over".to_owned(),
                latency: String::new(),
                style: Style::new().add_modifier(Modifier::DIM),
            },
            CellStatus::Failed => Slot {
                figure: "fail".to_owned(),
                latency: String::new(),
                style: Style::new().add_modifier(Modifier::BOLD | Modifier::UNDERLINED),
            },
            CellStatus::Valid | CellStatus::Queued => Slot {
                figure: cell.total_tok_s.map_or_else(
                    || format::NOTHING.to_owned(),
                    |tok_s| fit(tok_s, "", &format!("{mark}{taken_away}"), width),
                ),
                latency: latency(words::ttft(cell), width),
                style: heat_style(cell, scale, look),
            },
        }
    }
}

/// Prefill has a scale of its own, so it stays without heat.
fn heat_style(cell: &Cell, scale: Scale, look: Look) -> Style {
    let step = match cell.phase {
        Phase::Decode if look.heat => cell.total_tok_s.and_then(|tok_s| scale.step(tok_s)),
        Phase::Decode | Phase::Prefill => None,
    };
    step.map_or_else(Style::new, |step| {
        Style::new()
            .fg(Color::Indexed(step.text))
            .bg(Color::Indexed(step.background))
    })
}

/// tok/s with its marks, without the decimal where the slot is too narrow for it.
fn fit(tok_s: f64, before: &str, after: &str, width: usize) -> String {
    let full = format!("{before}{}{after}", format::tok_s(tok_s));
    if words::columns(&full) <= width {
        full
    } else {
        format!("{before}{}{after}", format::tok_s_chart(tok_s))
    }
}

/// A TTFT, without the space before its unit where the slot is too narrow for it.
fn latency(text: String, width: usize) -> String {
    if words::columns(&text) <= width {
        text
    } else {
        words::clip(&text.replace(' ', ""), width)
    }
}

/// A short word for the slot of the current cell.
fn stage_mark(stage: Option<Stage>) -> &'static str {
    match stage {
        None => "",
        Some(Stage::Draining) => "drain",
        Some(Stage::Scouting) => "cold",
        Some(Stage::Warming) => "warm",
        Some(Stage::Starting) => "start",
        Some(Stage::Measuring) => "…",
    }
}

/// Of `count` rows or columns those in sight when `fit` do, the focus among them.
fn in_sight(count: usize, fit: usize, focus: Option<usize>) -> Range<usize> {
    let fit = fit.min(count);
    let start = focus.unwrap_or(0).saturating_sub(fit / 2).min(count - fit);
    start..start + fit
}

/// `columns 3–7 of 8`, or nothing when all are in sight.
fn hidden(noun: &str, in_sight: &Range<usize>, count: usize) -> Option<String> {
    (in_sight.len() < count)
        .then(|| format!("{noun} {}–{} of {count}", in_sight.start + 1, in_sight.end))
}

/// The marks that occur, explained.
fn legend(state: &State, width: usize) -> Line<'static> {
    let occurs = |status| state.finished().any(|cell| cell.status == status);
    let is_taken_away = |cell: &Cell| cell.is_taken_away(words::total_figure(cell.phase));
    let marks = [
        (state.current.is_some(), "▸ now"),
        (occurs(CellStatus::Queued), "q queued"),
        (occurs(CellStatus::OverCapacity), "over: over capacity"),
        (occurs(CellStatus::Failed), "fail: failed"),
        (state.finished().any(is_taken_away), "† flagged"),
    ];
    let present: Vec<&str> = marks
        .iter()
        .filter(|(occurs, _)| *occurs)
        .map(|(_, text)| *text)
        .collect();
    let text = present.join(" · ");
    let indent = width
        .saturating_sub(words::columns(&text))
        .min(LABEL_WIDTH + 2);
    Line::styled(format!("{:indent$}{text}", ""), Modifier::DIM)
}
