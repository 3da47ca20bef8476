//! A table laid out for a terminal: columns as wide as their contents, and
//! where they do not fit beside each other, several tables with the same key
//! columns. (Lines of one slot need styles of their own, and tables have to
//! break between columns: why this is no table crate.)

use ratatui::crossterm::style::{Attribute, Color, ContentStyle, StyledContent};

use super::super::heat::Step;
use super::super::words;

/// Columns between two columns of a table.
const GAP: usize = 2;

/// Whether and how texts are styled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Paint {
    /// Escape sequences may be written.
    pub(super) colour: bool,
}

impl Paint {
    /// The text, in a style where styles may be written.
    pub(super) fn apply(self, text: &str, style: ContentStyle) -> String {
        if self.colour && style != ContentStyle::default() && !text.is_empty() {
            StyledContent::new(style, text).to_string()
        } else {
            text.to_owned()
        }
    }

    /// A heading.
    pub(super) fn bold(self, text: &str) -> String {
        self.apply(text, with(ContentStyle::default(), Attribute::Bold))
    }

    /// What stands back.
    pub(super) fn dim(self, text: &str) -> String {
        self.apply(text, with(ContentStyle::default(), Attribute::Dim))
    }
}

fn with(mut style: ContentStyle, attribute: Attribute) -> ContentStyle {
    style.attributes.set(attribute);
    style
}

/// Where a column's texts stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Align {
    /// Words.
    Left,
    /// Figures.
    Right,
}

/// A column's head.
#[derive(Debug, Clone)]
pub(super) struct Column {
    /// Its name, one text a line.
    pub(super) header: Vec<String>,
    /// Where its texts stand.
    pub(super) align: Align,
}

impl Column {
    /// A column of figures; `\n` breaks its name.
    pub(super) fn right(header: &str) -> Column {
        Column {
            header: header.lines().map(str::to_owned).collect(),
            align: Align::Right,
        }
    }

    /// A column of words.
    pub(super) fn left(header: &str) -> Column {
        Column {
            align: Align::Left,
            ..Column::right(header)
        }
    }
}

/// One line within a slot.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    text: String,
    is_dim: bool,
    is_struck: bool,
}

impl Text {
    /// A plain text.
    pub(super) fn plain(text: impl Into<String>) -> Text {
        Text {
            text: text.into(),
            ..Text::default()
        }
    }

    /// A text that stands back.
    pub(super) fn dim(text: impl Into<String>) -> Text {
        Text {
            is_dim: true,
            ..Text::plain(text)
        }
    }

    /// A figure; where a flag takes it away, struck and marked.
    pub(super) fn figure(text: impl Into<String>, is_taken_away: bool) -> Text {
        let mut text = Text::plain(text);
        if is_taken_away {
            text.text.push_str(words::TAKEN_AWAY);
            text.is_struck = true;
        }
        text
    }

    fn style(&self, heat: Option<Step>) -> ContentStyle {
        let mut style = ContentStyle::default();
        match heat {
            Some(step) => {
                style.foreground_color = Some(Color::AnsiValue(step.text));
                style.background_color = Some(Color::AnsiValue(step.background));
            }
            None if self.is_dim => style = with(style, Attribute::Dim),
            None => {}
        }
        if self.is_struck {
            style = with(style, Attribute::CrossedOut);
        }
        style
    }
}

/// Where a row and a column meet.
#[derive(Debug, Clone, Default)]
pub(super) struct Slot {
    /// Its lines, from the top.
    pub(super) lines: Vec<Text>,
    /// Its step of the heat map.
    pub(super) heat: Option<Step>,
}

impl From<Text> for Slot {
    fn from(text: Text) -> Slot {
        Slot {
            lines: vec![text],
            heat: None,
        }
    }
}

/// A table.
#[derive(Debug)]
pub(super) struct Grid {
    /// All columns.
    pub(super) columns: Vec<Column>,
    /// How many of them, from the left, name a row.
    pub(super) key_columns: usize,
    /// Each as long as `columns`.
    pub(super) rows: Vec<Vec<Slot>>,
    /// An empty line between rows.
    pub(super) is_spaced: bool,
}

impl Grid {
    /// The table in at most `width` columns, as far as a key and one other
    /// column fit at all.
    pub(super) fn render(&self, width: usize, paint: Paint) -> String {
        let widths: Vec<usize> = (0..self.columns.len()).map(|at| self.width(at)).collect();
        let mut parts = Vec::new();
        for shown in self.split(&widths, width) {
            parts.push(self.part(&shown, &widths, paint));
        }
        parts.join("\n")
    }

    /// Leaves out columns in which every row says only `nothing`.
    pub(super) fn leave_out_columns_of(&mut self, nothing: &str) {
        let says_nothing = |slot: &Slot| slot.lines.iter().all(|line| line.text == nothing);
        for at in (self.key_columns..self.columns.len()).rev() {
            let mut slots = self.rows.iter().filter_map(|row| row.get(at));
            if slots.all(says_nothing) {
                self.columns.remove(at);
                for row in &mut self.rows {
                    row.remove(at);
                }
            }
        }
    }

    fn width(&self, at: usize) -> usize {
        let head = self.columns[at]
            .header
            .iter()
            .map(|text| words::columns(text));
        let slots = self.rows.iter().filter_map(|row| row.get(at));
        let body = slots.flat_map(|slot| slot.lines.iter().map(|line| words::columns(&line.text)));
        head.chain(body).max().unwrap_or(0)
    }

    /// Which columns stand in each of the tables this one is broken into.
    fn split(&self, widths: &[usize], width: usize) -> Vec<Vec<usize>> {
        let keys: Vec<usize> = (0..self.key_columns).collect();
        let keys_width: usize = keys.iter().map(|at| widths[*at] + GAP).sum();
        let mut parts = Vec::new();
        let mut shown = keys.clone();
        let mut used = keys_width;
        for (at, column_width) in widths.iter().enumerate().skip(self.key_columns) {
            if used + column_width > width && shown.len() > keys.len() {
                parts.push(std::mem::replace(&mut shown, keys.clone()));
                used = keys_width;
            }
            shown.push(at);
            used += column_width + GAP;
        }
        parts.push(shown);
        parts
    }

    fn part(&self, shown: &[usize], widths: &[usize], paint: Paint) -> String {
        let mut text = String::new();
        let head_lines = shown.iter().map(|at| self.columns[*at].header.len());
        let head_lines = head_lines.max().unwrap_or(0);
        for line in 0..head_lines {
            let slots = shown.iter().map(|at| {
                let column = &self.columns[*at];
                // Short names stand at the bottom, next to their figures.
                let skipped = head_lines - column.header.len();
                let name = line
                    .checked_sub(skipped)
                    .and_then(|at| column.header.get(at));
                paint.dim(&pad(
                    name.map_or("", String::as_str),
                    widths[*at],
                    column.align,
                ))
            });
            push_line(&mut text, slots);
        }
        for (number, row) in self.rows.iter().enumerate() {
            if self.is_spaced && number > 0 {
                text.push('\n');
            }
            let lines = shown.iter().filter_map(|at| row.get(*at));
            let lines = lines.map(|slot| slot.lines.len()).max().unwrap_or(0);
            for line in 0..lines {
                let slots = shown.iter().filter_map(|at| {
                    let slot = row.get(*at)?;
                    let empty = Text::default();
                    let piece = slot.lines.get(line).unwrap_or(&empty);
                    let padded = pad(&piece.text, widths[*at], self.columns[*at].align);
                    Some(paint.apply(&padded, piece.style(slot.heat)))
                });
                push_line(&mut text, slots);
            }
        }
        text
    }
}

fn push_line(text: &mut String, slots: impl Iterator<Item = String>) {
    let line = slots.collect::<Vec<_>>().join(&" ".repeat(GAP));
    text.push_str(line.trim_end());
    text.push('\n');
}

fn pad(text: &str, width: usize, align: Align) -> String {
    let space = " ".repeat(width.saturating_sub(words::columns(text)));
    match align {
        Align::Left => format!("{text}{space}"),
        Align::Right => format!("{space}{text}"),
    }
}
