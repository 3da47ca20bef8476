//! Where the parts of the live view stand, and the parts around the matrix.

use std::collections::VecDeque;

use document::format;
use load::Tick;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols;
use ratatui::text::{Line, Span, Text};

use super::super::state::State;
use super::super::words;
use super::matrix;

/// The one accent colour; of middle lightness, so it shows on dark and on light.
const ACCENT: Color = Color::Indexed(68);
/// Fewest lines with a matrix, with gaps, and with everything spread out.
const MATRIX_FROM_LINES: usize = 10;
const GAPS_FROM_LINES: usize = 20;
const ROOMY_FROM_LINES: usize = 34;
/// Fewest columns for the cell and the log to stand beside the matrix.
const SIDE_WIDTH: usize = 44;
/// Columns between the two.
const SIDE_GAP: usize = 3;
/// Lines of the current cell, spread out and dense.
const ROOMY_CELL_LINES: usize = 6;
const DENSE_CELL_LINES: usize = 3;
/// Widest sparkline and widest bar, columns.
const SPARKLINE_WIDTH: usize = 30;
const BAR_WIDTH: usize = 60;
/// Narrowest bar that says anything, columns.
const MIN_BAR_WIDTH: usize = 8;

/// What the terminal can show.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    /// Colours, and so a heat map.
    pub(super) heat: bool,
}

impl Look {
    fn accent(self) -> Style {
        if self.heat {
            Style::new().fg(ACCENT)
        } else {
            Style::new()
        }
    }
}

/// All that a drawing depends on, but the size.
pub(super) struct View<'a> {
    /// The run so far.
    pub(super) state: &'a State,
    /// Now, s since the run started.
    pub(super) now_s: f64,
    /// What the terminal can show.
    pub(super) look: Look,
    /// A person has asked for the run to stop.
    pub(super) is_stopping: bool,
}

/// Draws the view into the whole of the terminal.
pub(super) fn draw(frame: &mut Frame, view: &View) {
    let area = frame.area();
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    if height < MATRIX_FROM_LINES {
        render(frame, area, view.tiny(width));
        return;
    }
    let top = Rect { height: 2, ..area };
    let body = Rect {
        y: area.y + 2,
        height: area.height - 3,
        ..area
    };
    let bottom = Rect {
        y: area.bottom() - 1,
        height: 1,
        ..area
    };
    render(frame, top, vec![view.title(width), view.progress(width)]);
    let side_width = width.saturating_sub(matrix::comfortable_width(view.state) + SIDE_GAP);
    if side_width >= SIDE_WIDTH && !view.state.contexts().is_empty() {
        view.side_by_side(frame, body);
    } else {
        render(frame, body, view.stacked(width, usize::from(body.height)));
    }
    render(frame, bottom, vec![view.footer(width)]);
}

fn render(frame: &mut Frame, area: Rect, lines: Vec<Line>) {
    frame.render_widget(Text::from(lines), area);
}

impl View<'_> {
    /// Too few lines for a matrix: what matters most first.
    fn tiny(&self, width: usize) -> Vec<Line<'static>> {
        let mut lines = vec![self.progress(width)];
        lines.extend(self.dense_cell(width));
        lines.push(self.footer(width));
        lines.extend(self.log(width, 1));
        lines.push(self.title(width));
        lines
    }

    fn stacked(&self, width: usize, height: usize) -> Vec<Line<'static>> {
        let has_gaps = height + 3 >= GAPS_FROM_LINES;
        let is_roomy = height + 3 >= ROOMY_FROM_LINES;
        let gap = usize::from(has_gaps);
        let (cell_lines, fewest_log_lines) = match (is_roomy, has_gaps) {
            (true, _) => (ROOMY_CELL_LINES, 6),
            (false, true) => (DENSE_CELL_LINES, 3),
            (false, false) => (DENSE_CELL_LINES, 1),
        };
        let room = height.saturating_sub(cell_lines + 3 * gap);
        let matrix_room = room.saturating_sub(fewest_log_lines);
        let matrix_height = matrix::height(self.state, matrix_room, self.look);

        let mut lines = vec![Line::default(); gap];
        let top = lines.len();
        lines.extend(matrix::lines(self.state, width, matrix_height, self.look));
        lines.resize(top + matrix_height, Line::default());
        lines.extend(vec![Line::default(); gap]);
        if is_roomy {
            lines.extend(self.roomy_cell(width));
        } else {
            lines.extend(self.dense_cell(width));
        }
        lines.extend(vec![Line::default(); gap]);
        lines.extend(self.log(width, room - matrix_height));
        lines
    }

    fn side_by_side(&self, frame: &mut Frame, body: Rect) {
        let gap = u16::from(usize::from(body.height) + 3 >= GAPS_FROM_LINES);
        let body = Rect {
            y: body.y + gap,
            height: body.height - gap,
            ..body
        };
        let (width, height) = (usize::from(body.width), usize::from(body.height));
        let left = matrix::comfortable_width(self.state);
        let matrix_height = matrix::height(self.state, height, self.look);
        let lines = matrix::lines(self.state, left, matrix_height, self.look);
        render(frame, body, lines);

        let offset = left + SIDE_GAP;
        let side_width = width - offset;
        let mut lines = self.roomy_cell(side_width);
        lines.push(Line::default());
        let log_lines = height.saturating_sub(lines.len());
        lines.extend(self.log(side_width, log_lines));
        let side = Rect {
            // A terminal's width is a u16, and `offset` is less.
            x: body.x + offset as u16,
            width: side_width as u16,
            ..body
        };
        render(frame, side, lines);
    }

    fn title(&self, width: usize) -> Line<'static> {
        let Some(server) = &self.state.server else {
            return Line::from("tokgrid · looking at the server");
        };
        let version = server.version.as_deref().unwrap_or_default();
        let engine = format!("{} {version}", server.engine);
        let rest = format!(" · {} · {}", engine.trim_end(), server.url);
        // The model's name is what a person looks for: it is clipped last.
        let model = words::clip(&server.model, width);
        let rest = words::clip(&rest, width - words::columns(&model));
        Line::from(vec![
            Span::styled(model, Modifier::BOLD),
            Span::styled(rest, Modifier::DIM),
        ])
    }

    fn progress(&self, width: usize) -> Line<'static> {
        let (done, of) = self.state.progress();
        let clock = words::clock(self.now_s);
        if of == 0 {
            return Line::from(clock);
        }
        let mut text = format!("{done} of {} · {clock}", words::plural(of, "cell"));
        if let Some(left_s) = self.state.left_s.filter(|_| !self.state.is_finished) {
            let left_s = left_s - (self.now_s - self.state.at_s);
            text.push_str(&format!(" · about {} left", words::about(left_s.max(0.0))));
        }
        let share = done as f64 / of as f64;
        let mut line = self.bar(share, width.saturating_sub(words::columns(&text) + 2));
        if !line.is_empty() {
            line.push(Span::raw("  "));
        }
        line.push(Span::raw(text));
        Line::from(line)
    }

    /// A bar of at most `width` columns, or none where it would say nothing.
    fn bar(&self, share: f64, width: usize) -> Vec<Span<'static>> {
        if width < MIN_BAR_WIDTH {
            return Vec::new();
        }
        let width = width.min(BAR_WIDTH);
        // `as` turns what is no number into 0.
        let full = ((share * width as f64).round() as usize).min(width);
        vec![
            Span::styled("━".repeat(full), self.look.accent()),
            Span::styled("─".repeat(width - full), Modifier::DIM),
        ]
    }

    /// The cell and its stage, and how far its window is.
    fn cell_title(&self, width: usize) -> Line<'static> {
        let Some(key) = self.state.current else {
            let text = match (self.state.is_finished, self.state.focus) {
                (true, _) => "Finished",
                (false, Some(_)) => "Between cells",
                (false, None) => "Getting ready",
            };
            return Line::styled(text, Modifier::BOLD);
        };
        let mut text = words::cell(key);
        if let Some(stage) = self.state.stage {
            text.push_str(&format!(" · {}", stage.title()));
        }
        let tick = self.state.tick.as_ref();
        let measured = tick.and_then(|tick| Some((tick.measured_s?, tick.window_s)));
        let mut bar = Vec::new();
        if let Some((measured_s, window_s)) = measured {
            let so_far = format::one_decimal(measured_s);
            text.push_str(&format!(" {so_far} of {}", format::seconds(window_s)));
            let room = width.saturating_sub(words::columns(&text) + 2);
            bar = self.bar(measured_s / window_s, room.min(SPARKLINE_WIDTH));
        }
        let mut line = vec![Span::styled(text, Modifier::BOLD), Span::raw("  ")];
        line.extend(bar);
        Line::from(line)
    }

    fn dense_cell(&self, width: usize) -> Vec<Line<'static>> {
        let mut lines = vec![self.cell_title(width)];
        if let Some(tick) = &self.state.tick {
            let tok_s = format::or_nothing(tick.tok_s, format::tok_s);
            let ttft = format::or_nothing(tick.ttft_ms_p50, format::ttft_ms);
            let streams = words::plural(tick.open_streams as usize, "stream");
            let flowing = tick.flowing_streams;
            let head = format!("{flowing} of {streams} flowing · {tok_s} tok/s ");
            let tail = format!(" · TTFT {ttft}");
            let used = words::columns(&head) + words::columns(&tail);
            let recent = sparkline(&self.state.recent_tok_s, width.saturating_sub(used));
            lines.push(Line::from(vec![
                Span::raw(head),
                Span::styled(recent, self.look.accent()),
                Span::raw(tail),
            ]));
            let server = server(tick).unwrap_or_else(|| format::NOTHING.to_owned());
            let kv = format::or_nothing(tick.kv_used, percent);
            lines.push(Line::from(format!("Server: {server} · KV cache {kv}")));
        }
        lines.resize(DENSE_CELL_LINES, Line::default());
        lines
    }

    fn roomy_cell(&self, width: usize) -> Vec<Line<'static>> {
        let mut lines = vec![self.cell_title(width)];
        if let Some(tick) = &self.state.tick {
            let label = |text: &str| Span::styled(format!("{text:<10}"), Modifier::DIM);
            let tok_s = format::or_nothing(tick.tok_s, format::tok_s);
            let room = width.saturating_sub(10 + 9);
            let streams = format!(
                "{} open, {} flowing",
                tick.open_streams, tick.flowing_streams
            );
            lines.push(Line::from(vec![label("Streams"), Span::raw(streams)]));
            lines.push(Line::from(vec![
                label("tok/s"),
                Span::styled(format!("{tok_s:<9}"), Modifier::BOLD),
                Span::styled(
                    sparkline(&self.state.recent_tok_s, room),
                    self.look.accent(),
                ),
            ]));
            let ttft = format::or_nothing(tick.ttft_ms_p50, format::ttft_ms);
            lines.push(Line::from(vec![
                label("TTFT"),
                Span::raw(format!("{ttft}, median so far")),
            ]));
            let server = server(tick).unwrap_or_else(|| format::NOTHING.to_owned());
            lines.push(Line::from(vec![label("Server"), Span::raw(server)]));
            let kv = format::or_nothing(tick.kv_used, percent);
            let mut line = vec![label("KV cache"), Span::raw(format!("{kv:<9}"))];
            line.extend(self.bar(tick.kv_used.unwrap_or(0.0), room.min(SPARKLINE_WIDTH)));
            lines.push(Line::from(line));
        }
        lines.resize(ROOMY_CELL_LINES, Line::default());
        lines
    }

    /// The last lines of the event log, the newest at the bottom.
    fn log(&self, width: usize, height: usize) -> Vec<Line<'static>> {
        let log = &self.state.log;
        log.iter()
            .skip(log.len().saturating_sub(height))
            .map(|line| {
                let clock = format!("{:>7}  ", words::clock(line.at_s));
                let text = words::clip(&line.text, width.saturating_sub(clock.len()));
                Line::from(vec![Span::styled(clock, Modifier::DIM), Span::raw(text)])
            })
            .collect()
    }

    fn footer(&self, width: usize) -> Line<'static> {
        if self.is_stopping {
            let text = "Stopping; what is measured is kept. Ctrl-C again leaves at once.";
            return Line::styled(words::clip(text, width), Modifier::BOLD);
        }
        let text = "Ctrl-C or q: stop and keep what is measured";
        Line::styled(words::clip(text, width), Modifier::DIM)
    }
}

/// `16 running, 0 waiting`; `None` where the server tells neither.
fn server(tick: &Tick) -> Option<String> {
    let say = |count: Option<f64>, what| count.map(|count| format!("{count:.0} {what}"));
    let told = [say(tick.running, "running"), say(tick.waiting, "waiting")];
    let told: Vec<String> = told.into_iter().flatten().collect();
    (!told.is_empty()).then(|| told.join(", "))
}

/// `45 %`.
fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// The latest readings as bars between nothing and the largest of them.
fn sparkline(recent: &VecDeque<f64>, width: usize) -> String {
    const LEVELS: [&str; 8] = [
        symbols::bar::ONE_EIGHTH,
        symbols::bar::ONE_QUARTER,
        symbols::bar::THREE_EIGHTHS,
        symbols::bar::HALF,
        symbols::bar::FIVE_EIGHTHS,
        symbols::bar::THREE_QUARTERS,
        symbols::bar::SEVEN_EIGHTHS,
        symbols::bar::FULL,
    ];
    let shown = recent.len().min(width).min(SPARKLINE_WIDTH);
    let latest = recent.iter().skip(recent.len() - shown);
    let largest = latest.clone().copied().fold(0.0, f64::max);
    latest
        .map(|tok_s| {
            let share = if largest > 0.0 { tok_s / largest } else { 0.0 };
            LEVELS[((share * 7.0).round() as usize).min(7)]
        })
        .collect()
}
