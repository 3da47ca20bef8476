//! The tables as text.

use document::{Flag, FlagName};

use super::super::scripted;
use super::*;

fn widest(text: &str) -> usize {
    text.lines().map(words::columns).max().unwrap_or(0)
}

#[test]
fn tables_of_a_wide_terminal() {
    insta::assert_snapshot!(render(&scripted::document(), 160, false));
}

#[test]
fn tables_of_a_narrow_terminal() {
    insta::assert_snapshot!(render(&scripted::document(), 60, false));
}

#[test]
fn tables_stay_within_the_width() {
    for width in [60, 80, 100, 120, 200] {
        let text = render(&scripted::document(), width, false);
        assert!(widest(&text) <= width, "{} at {width}", widest(&text));
    }
}

#[test]
fn without_colour_there_is_no_escape_sequence() {
    let run = scripted::document();
    assert!(!render(&run, 100, false).contains('\x1b'));
    assert!(render(&run, 100, true).contains('\x1b'));
}

#[test]
fn nothing_is_lost_to_a_very_narrow_terminal() {
    let text = render(&scripted::document(), 3, false);
    for figure in ["1,198.5", "31,277 ms", "Over", "queued"] {
        assert!(text.contains(figure), "{figure}");
    }
}

#[test]
fn a_figure_taken_away_is_struck_and_marked_with_its_flag_below() {
    let run = scripted::document();
    let plain = render(&run, 120, false);
    assert!(plain.contains("721.9†"));
    assert!(plain.contains("† unsteady: takes away total tok/s"));
    assert!(plain.contains("Sustained decode 64K × 16: tok/s fell from 780 to 640"));
    let struck = render(&run, 120, true);
    assert!(struck.contains("\x1b[9m"), "crossed out");
}

#[test]
fn what_a_server_says_cannot_move_the_cursor() {
    let mut run = scripted::document();
    run.model.id = Some("evil\x1b[2Jmodel".to_owned());
    run.cells[1].status = CellStatus::Failed;
    run.cells[1].reason = Some("\x1b]0;title\x07 gone\r\nfar".to_owned());
    run.cells[2].flags.push(Flag {
        name: FlagName::Preempted,
        evidence: "\x1b[31m3 preemptions".to_owned(),
    });
    let text = render(&run, 100, false);
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
}

#[test]
fn a_remark_made_on_many_cells_is_written_once() {
    let mut run = scripted::document();
    for cell in &mut run.cells[..5] {
        cell.remarks
            .push("the engine's own prefill time differs by 12 %".to_owned());
    }
    let text = render(&run, 160, false);
    let line = "  Prefill 8K, Sustained decode 8K × 1 and 3 other cells: the engine's own";
    assert!(text.contains(line), "{text}");
    assert_eq!(text.matches("differs by 12 %").count(), 1);
}

#[test]
fn an_empty_run_says_so() {
    let mut run = scripted::document();
    run.cells.clear();
    run.hardware = document::Hardware::default();
    insta::assert_snapshot!(render(&run, 80, false));
}

#[test]
fn cells_that_an_interrupted_run_did_not_reach_stay_empty() {
    let mut run = scripted::document();
    run.finished_at = None;
    run.cells.truncate(3);
    run.settings.contexts = vec![8192, 16384];
    run.settings.concurrency = vec![1, 2, 4];
    insta::assert_snapshot!(render(&run, 80, false));
}
