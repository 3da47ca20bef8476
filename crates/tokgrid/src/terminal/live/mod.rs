//! The live view: the whole matrix filling in, on the terminal's second
//! screen. What stood on the first screen stands there again afterwards.
//!
//! It runs beside the measurement, so it looks at keys and events eight times
//! a second and draws only when something changed.

mod draw;
mod matrix;
#[cfg(test)]
mod tests;

use std::io::{self, BufWriter, Stdout, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use load::Progress;
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::{cursor, execute, terminal};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::mpsc::error::TryRecvError;

use super::interrupt::Interrupt;
use super::plain;
use super::state::State;
use draw::Look;

/// Shortest time between two drawings.
const FRAME: Duration = Duration::from_millis(125);
/// Longest time between two drawings: the clock goes on when nothing happens.
const IDLE_FRAME: Duration = Duration::from_secs(1);
/// Bytes gathered before they are written: one drawing, one write.
const SCREEN_BUFFER_BYTES: usize = 64 * 1024;

/// Whether the second screen is shown. One terminal, so one flag: the panic
/// hook has no other way to know.
static SCREEN_IS_HELD: AtomicBool = AtomicBool::new(false);

/// Shows a run until its events end. When the screen is lost (a panic gave it
/// back, or the terminal is gone) the rest comes in plain lines.
pub(super) fn show(events: &mut UnboundedReceiver<Progress>, interrupt: &Interrupt) {
    let mut state = State::default();
    let ended = show_on_screen(events, interrupt, &mut state);
    release_screen();
    write_notes(&state);
    match ended {
        Ok(Ended::Events) => {}
        Ok(Ended::ScreenTaken) => plain::show(events),
        Err(error) => {
            let _ = writeln!(
                io::stderr(),
                "The live view broke off ({error}); the run goes on in plain lines."
            );
            plain::show(events);
        }
    }
}

/// Why the live view ended.
enum Ended {
    /// The run is over.
    Events,
    /// Something else gave the screen back.
    ScreenTaken,
}

fn show_on_screen(
    events: &mut UnboundedReceiver<Progress>,
    interrupt: &Interrupt,
    state: &mut State,
) -> io::Result<Ended> {
    let look = Look {
        heat: super::has_colour(),
    };
    let mut screen = hold_screen()?;
    let mut last_event = Instant::now();
    let mut last_drawn: Option<Instant> = None;
    let mut is_changed = true;
    loop {
        let is_due = last_drawn.is_none_or(|at| {
            let since = at.elapsed();
            since >= IDLE_FRAME || (is_changed && since >= FRAME)
        });
        if is_due {
            if !SCREEN_IS_HELD.load(Ordering::SeqCst) {
                return Ok(Ended::ScreenTaken);
            }
            let view = draw::View {
                state,
                now_s: state.at_s + last_event.elapsed().as_secs_f64(),
                look,
                is_stopping: interrupt.is_requested(),
            };
            screen.draw(|frame| draw::draw(frame, &view))?;
            last_drawn = Some(Instant::now());
            is_changed = false;
        }
        if event::poll(FRAME)? {
            is_changed |= take_key(&event::read()?, interrupt);
        }
        loop {
            match events.try_recv() {
                Ok(event) => {
                    state.apply(event);
                    last_event = Instant::now();
                    is_changed = true;
                }
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Ok(Ended::Events),
            }
        }
    }
}

/// Acts on a key; tells whether the view has to be drawn again.
fn take_key(event: &Event, interrupt: &Interrupt) -> bool {
    match event {
        Event::Key(key) if key.kind == KeyEventKind::Press => {
            if is_ctrl_c(key) {
                interrupt.stop_or_exit();
            } else if matches!(key.code, KeyCode::Char('q' | 'Q')) {
                interrupt.stop();
            }
            true
        }
        Event::Resize(..) => true,
        Event::Key(_)
        | Event::FocusGained
        | Event::FocusLost
        | Event::Mouse(_)
        | Event::Paste(_) => false,
    }
}

/// In raw mode Ctrl-C is a key and no signal.
fn is_ctrl_c(key: &KeyEvent) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && matches!(key.code, KeyCode::Char('c' | 'C'))
}

fn hold_screen() -> io::Result<Terminal<CrosstermBackend<BufWriter<Stdout>>>> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let earlier = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            // Otherwise the message would be lost with the second screen.
            release_screen();
            earlier(panic);
        }));
    });
    SCREEN_IS_HELD.store(true, Ordering::SeqCst);
    terminal::enable_raw_mode()?;
    let mut out = BufWriter::with_capacity(SCREEN_BUFFER_BYTES, io::stdout());
    execute!(out, terminal::EnterAlternateScreen, cursor::Hide)?;
    Terminal::new(CrosstermBackend::new(out))
}

/// Gives the terminal back as it was. Any number of times, from any thread.
pub(super) fn release_screen() {
    if SCREEN_IS_HELD.swap(false, Ordering::SeqCst) {
        // Each step is tried though another failed; there is nobody to tell.
        let _ = execute!(io::stdout(), terminal::LeaveAlternateScreen, cursor::Show);
        let _ = terminal::disable_raw_mode();
    }
}

/// What the run said, left on the first screen; its figures are in the tables.
fn write_notes(state: &State) {
    let mut err = io::stderr().lock();
    for line in state.log.iter().filter(|line| line.is_note) {
        let _ = plain::note(line.at_s, &line.text, &mut err);
    }
}
