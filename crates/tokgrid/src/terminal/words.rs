//! Small texts that the live view, the plain lines and the tables share.

use document::{Cell, CellKey, CellStatus, Figure, Phase, format};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Stands beside a figure that a flag takes away.
pub(super) const TAKEN_AWAY: &str = "†";

/// Seconds in a minute and in an hour.
const MINUTE_S: f64 = 60.0;
const HOUR_S: f64 = 3600.0;

/// The phase's name on the pages.
pub(super) fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Prefill => "Prefill",
        Phase::Decode => "Sustained decode",
    }
}

/// `Prefill 8K`, `Sustained decode 8K × 16`.
pub(super) fn cell(key: CellKey) -> String {
    format!("{} {}", phase(key.phase), place(key))
}

/// `8K`, `8K × 16`.
pub(super) fn place(key: CellKey) -> String {
    let context = format::context(key.context_tokens);
    match key.phase {
        Phase::Prefill => context,
        Phase::Decode => format!("{context} × {}", key.concurrency),
    }
}

/// The figure a flag would have to take away to take away the cell's tok/s.
pub(super) fn total_figure(phase: Phase) -> Figure {
    match phase {
        Phase::Prefill => Figure::Prefill,
        Phase::Decode => Figure::DecodeTotal,
    }
}

/// The same for its TTFT.
pub(super) fn ttft_figure(phase: Phase) -> Figure {
    match phase {
        Phase::Prefill => Figure::Prefill,
        Phase::Decode => Figure::Ttft,
    }
}

/// Median TTFT as it is shown: `298 ms`, `≥ 298 ms` where requests still waited.
pub(super) fn ttft(cell: &Cell) -> String {
    let bound = if cell.ttft_censored == Some(true) {
        "≥ "
    } else {
        ""
    };
    match (cell.status, cell.ttft_ms_p50()) {
        (CellStatus::Failed | CellStatus::OverCapacity, _) | (_, None) => {
            format::NOTHING.to_owned()
        }
        (CellStatus::Valid | CellStatus::Queued, Some(ms)) => {
            format!("{bound}{}", format::ttft_ms(ms))
        }
    }
}

/// The tok/s of a cell that may show one.
pub(super) fn total(cell: &Cell) -> Option<f64> {
    match cell.status {
        CellStatus::Valid | CellStatus::Queued => cell.total_tok_s,
        CellStatus::Failed | CellStatus::OverCapacity => None,
    }
}

/// A clock's reading: `0:42`, `12:07`, `1:02:03`.
pub(super) fn clock(seconds: f64) -> String {
    // `as` turns what is negative or no number into 0.
    let whole = seconds.round() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 {
        format!("{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{minutes}:{seconds:02}")
    }
}

/// A guess at a duration, no finer than it deserves: `40 s`, `7 min`, `1 h 20 min`.
pub(super) fn about(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "unknown".to_owned();
    }
    if seconds < MINUTE_S {
        return format!("{} s", seconds.max(0.0).ceil() as u64);
    }
    let minutes = (seconds / MINUTE_S).round() as u64;
    if seconds < HOUR_S && minutes < 60 {
        return format!("{minutes} min");
    }
    match (minutes / 60, minutes % 60) {
        (hours, 0) => format!("{hours} h"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// `one cell`, `12 cells`.
pub(super) fn plural(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{} {noun}s", format::count(count as u64))
    }
}

/// The text on one line and without control characters: what a server says of
/// itself must not move the cursor.
pub(super) fn one_line(text: &str) -> String {
    let calm: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    calm.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Columns a text takes on a terminal.
pub(super) fn columns(text: &str) -> usize {
    text.width()
}

/// The text, or as much of it as fits with `…` at its end.
pub(super) fn clip(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut clipped = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        used += wide;
        clipped.push(c);
    }
    if width > 0 {
        clipped.push('…');
    }
    clipped
}

/// The words on lines of at most `width` columns; a longer word is broken.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_whitespace() {
        let needed = columns(word) + usize::from(used > 0);
        if used > 0 && used + needed > width {
            lines.push(String::new());
            used = 0;
        }
        if let (Some(line), true) = (lines.last_mut(), used > 0) {
            line.push(' ');
            used += 1;
        }
        for c in word.chars() {
            let wide = c.width().unwrap_or(0);
            if used > 0 && used + wide > width {
                lines.push(String::new());
                used = 0;
            }
            if let Some(line) = lines.last_mut() {
                line.push(c);
            }
            used += wide;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_no_finer_than_they_deserve() {
        assert_eq!(about(-3.0), "0 s");
        assert_eq!(about(41.2), "42 s");
        assert_eq!(about(430.0), "7 min");
        assert_eq!(about(3_590.0), "1 h");
        assert_eq!(about(4_800.0), "1 h 20 min");
        assert_eq!(about(f64::NAN), "unknown");
        assert_eq!(clock(42.4), "0:42");
        assert_eq!(clock(3_723.0), "1:02:03");
        assert_eq!(clock(f64::NAN), "0:00");
    }

    #[test]
    fn what_a_server_says_cannot_move_the_cursor() {
        assert_eq!(one_line("a\x1b[2Jb\r\n c"), "a [2Jb c");
    }

    #[test]
    fn wide_characters_count_as_two_columns() {
        assert_eq!(clip("通义千问", 8), "通义千问");
        assert_eq!(clip("通义千问", 7), "通义千…");
        assert_eq!(clip("通义千问", 6), "通义…");
        assert_eq!(clip("abc", 0), "");
    }

    #[test]
    fn wrapped_lines_hold_every_word() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("", 3), [""]);
    }
}
