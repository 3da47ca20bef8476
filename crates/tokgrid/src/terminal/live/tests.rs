//! The view drawn into a buffer, at many sizes.

use std::time::Duration;

use load::{Progress, Server};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;
use tokio::sync::{mpsc, watch};

use super::super::interrupt::Interrupt;
use super::super::scripted;
use super::super::state::State;
use super::draw::{self, Look, View};
use super::{show, take_key};

fn state(events: Vec<Progress>) -> State {
    let mut state = State::default();
    for event in events {
        state.apply(event);
    }
    state
}

fn drawn(state: &State, width: u16, height: u16, heat: bool) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let view = View {
        state,
        now_s: state.at_s,
        look: Look { heat },
        is_stopping: false,
    };
    terminal.draw(|frame| draw::draw(frame, &view)).unwrap();
    terminal
}

fn text(state: &State, width: u16, height: u16) -> String {
    let terminal = drawn(state, width, height, false);
    let buffer = terminal.backend().buffer();
    let symbols: Vec<&str> = buffer.content().iter().map(|cell| cell.symbol()).collect();
    let lines = symbols.chunks(usize::from(width));
    let lines = lines.map(|line| line.concat().trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// Mid-run: the 33rd cell (64K × 16) goes on.
fn midway() -> State {
    state(scripted::until(32))
}

#[test]
fn the_view_on_80_columns_and_24_lines() {
    insta::assert_snapshot!(text(&midway(), 80, 24));
}

#[test]
fn the_view_on_60_columns_and_15_lines() {
    insta::assert_snapshot!(text(&midway(), 60, 15));
}

#[test]
fn the_view_on_120_columns_and_50_lines() {
    insta::assert_snapshot!(text(&midway(), 120, 50));
}

#[test]
fn the_view_on_200_columns_and_50_lines() {
    insta::assert_snapshot!(text(&midway(), 200, 50));
}

#[test]
fn the_view_before_and_after_the_run() {
    insta::assert_snapshot!("before", text(&State::default(), 80, 15));
    insta::assert_snapshot!("after", text(&state(scripted::run()), 80, 24));
}

#[test]
fn no_size_and_no_order_of_events_makes_it_panic() {
    let mut backwards = scripted::until(30);
    backwards.reverse();
    let mut wide = scripted::until(3);
    wide.push(Progress::Detected(Server {
        url: "http://host/\x1b[2J".to_owned(),
        engine: String::new(),
        version: None,
        model: "通义千问-极速版-🚀-e\u{301}".repeat(9),
        max_model_len: None,
        max_num_seqs: None,
        kv_cache_tokens: None,
    }));
    let none = vec![Progress::Planned {
        cells: Vec::new(),
        kept: Vec::new(),
        estimated_s: f64::NAN,
    }];
    for events in [Vec::new(), none, backwards, wide, scripted::until(32)] {
        let state = state(events);
        for width in [0, 1, 2, 9, 10, 15, 40, 60, 80, 120, 200, 400] {
            for height in [0, 1, 3, 9, 10, 11, 15, 24, 50, 100] {
                drawn(&state, width, height, width % 2 == 0);
            }
        }
    }
}

#[test]
fn the_current_cell_is_in_sight_on_every_size_with_a_matrix() {
    for done in 0..scripted::cells().len() {
        let state = state(scripted::until(done));
        for (width, height) in [(40, 12), (60, 15), (80, 24), (120, 15), (200, 50)] {
            let text = text(&state, width, height);
            assert!(
                text.contains('▸'),
                "cell {done} at {width} × {height}:\n{text}"
            );
        }
    }
}

#[test]
fn statuses_are_said_without_colour() {
    let text = text(&state(scripted::run()), 80, 24);
    for mark in ["1,199q", "over", "fail", "721.9†"] {
        assert!(text.contains(mark), "{mark} in\n{text}");
    }
}

#[test]
fn without_colour_no_cell_has_one() {
    let terminal = drawn(&midway(), 120, 50, false);
    let cells = terminal.backend().buffer().content();
    assert!(
        cells
            .iter()
            .all(|c| c.fg == Color::Reset && c.bg == Color::Reset)
    );
    let terminal = drawn(&midway(), 120, 50, true);
    let cells = terminal.backend().buffer().content();
    assert!(cells.iter().any(|c| c.bg != Color::Reset));
}

#[test]
fn q_and_ctrl_c_ask_the_run_to_stop_and_other_keys_do_not() {
    let press = |code, modifiers| Event::Key(KeyEvent::new(code, modifiers));
    let asks = |event: Event| {
        let (cancel, cancelled) = watch::channel(false);
        take_key(&event, &Interrupt::new(cancel));
        *cancelled.borrow()
    };
    assert!(asks(press(KeyCode::Char('q'), KeyModifiers::NONE)));
    assert!(asks(press(KeyCode::Char('c'), KeyModifiers::CONTROL)));
    assert!(!asks(press(KeyCode::Char('c'), KeyModifiers::NONE)));
    assert!(!asks(press(KeyCode::Enter, KeyModifiers::NONE)));
    assert!(!asks(Event::Resize(10, 3)));
}

/// To look at: `cargo test -p tokgrid -- --ignored --nocapture played_to`
#[test]
#[ignore = "plays a run to the terminal for a person to look at"]
fn a_run_played_to_this_terminal() {
    let (cancel, cancelled) = watch::channel(false);
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let player = std::thread::spawn(move || {
        for event in scripted::run() {
            let pause_ms = if matches!(event, Progress::Tick(_)) {
                60
            } else {
                1
            };
            std::thread::sleep(Duration::from_millis(pause_ms));
            if *cancelled.borrow() || sender.send(event).is_err() {
                break;
            }
        }
    });
    show(&mut receiver, &Interrupt::new(cancel));
    player.join().unwrap();
    let tables = super::super::tables::render(
        &scripted::document(),
        super::super::width(),
        super::super::has_colour(),
    );
    super::super::print(&tables).unwrap();
}
