//! What a person or a program sees of a run while it goes on, and the tables
//! at its end.
//!
//! Every way of showing runs on a thread of its own: a terminal that does not
//! read (Ctrl-S, a slow connection) must not hold up the measurement.

// Output is this module's job; it is the only place of the binary that prints.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod heat;
mod interrupt;
mod json;
mod live;
mod plain;
#[cfg(test)]
mod scripted;
mod state;
pub(crate) mod tables;
mod words;

use std::io::{self, IsTerminal, Write};

use anyhow::Context;
use load::Progress;
use ratatui::crossterm;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::watch;

use interrupt::Interrupt;

/// Width of tables where there is no terminal to measure, columns.
const WIDTH_WITHOUT_TERMINAL: usize = 120;
/// Colours a terminal must have for the heat map.
const HEAT_COLOURS: u16 = 256;

/// How a run is shown while it goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A view of the whole matrix that fills in.
    Live,
    /// A line for each thing that happened, on stderr.
    Plain,
    /// One JSON object for each event, on stdout.
    Json,
}

impl Mode {
    /// `--json` wins, then `--plain`; without either a terminal that can move
    /// its cursor gets the live view.
    pub(crate) fn choose(plain: bool, json: bool) -> Mode {
        Mode::decide(plain, json, io::stdout().is_terminal() && is_capable())
    }

    fn decide(plain: bool, json: bool, capable: bool) -> Mode {
        match (json, plain, capable) {
            (true, _, _) => Mode::Json,
            (false, true, _) | (false, false, false) => Mode::Plain,
            (false, false, true) => Mode::Live,
        }
    }
}

/// Whether `TERM` names a terminal that can do more than print.
fn is_capable() -> bool {
    if cfg!(windows) {
        return true;
    }
    std::env::var("TERM").is_ok_and(|term| !term.is_empty() && term != "dumb")
}

/// Whether stdout may carry colours: a capable terminal, and no `NO_COLOR`.
pub(crate) fn has_colour() -> bool {
    io::stdout().is_terminal()
        && is_capable()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && crossterm::style::available_color_count() >= HEAT_COLOURS
}

/// Columns of the terminal on stdout, or a fixed number where there is none.
pub(crate) fn width() -> usize {
    if !io::stdout().is_terminal() {
        return WIDTH_WITHOUT_TERMINAL;
    }
    match crossterm::terminal::size() {
        Ok((columns, _)) if columns > 0 => usize::from(columns),
        Ok(_) | Err(_) => WIDTH_WITHOUT_TERMINAL,
    }
}

/// Writes to stdout. A reader that went away (`| head`) is no error.
///
/// # Errors
/// When stdout cannot be written for another reason, such as a full disk.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// Shows a run until its events end.
///
/// Ctrl-C (as a key or a signal), SIGTERM and, in the live view, `q` set
/// `cancel` to true; a second Ctrl-C restores the terminal and ends the program
/// at once. This goes on after the function has returned, as long as the
/// runtime lives.
///
/// # Errors
/// When the thread that shows cannot be started or broke down. A screen that
/// goes away is no error: the run goes on in plain lines.
pub(crate) async fn show(
    mode: Mode,
    mut events: UnboundedReceiver<Progress>,
    cancel: watch::Sender<bool>,
) -> anyhow::Result<()> {
    let interrupt = Interrupt::new(cancel);
    tokio::spawn(interrupt.clone().watch_signals());
    tokio::task::spawn_blocking(move || match mode {
        Mode::Live => live::show(&mut events, &interrupt),
        Mode::Plain => plain::show(&mut events),
        Mode::Json => json::show(&mut events),
    })
    .await
    .context("the thread that shows the run broke down")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_wins_over_plain_and_a_dumb_terminal_gets_plain_lines() {
        assert_eq!(Mode::decide(true, true, true), Mode::Json);
        assert_eq!(Mode::decide(false, true, false), Mode::Json);
        assert_eq!(Mode::decide(true, false, true), Mode::Plain);
        assert_eq!(Mode::decide(false, false, false), Mode::Plain);
        assert_eq!(Mode::decide(false, false, true), Mode::Live);
    }
}
