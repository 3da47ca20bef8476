//! Runs that are cut short, by the server or by a person, and gone on with.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(unix)]

mod common;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use common::binary::{
    Said, SimProcess, finish, folder, read, say, signal, tokgrid, wait_for_cells,
};
use document::{CellStatus, RunDocument};

/// Six cells: prefill and two of decode, at two contexts.
const PLAN: [&str; 10] = [
    "--contexts",
    "512,1k",
    "--concurrency",
    "1,2",
    "--duration",
    "0.8",
    "--max-output",
    "100",
    "--plain",
    "--out",
];
const CELLS: usize = 6;

fn arguments<'a>(url: &'a str, out: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["run", "--url", url];
    arguments.extend(PLAN);
    arguments.push(out.to_str().unwrap());
    arguments.extend(more);
    arguments
}

fn start(url: &str, out: &Path) -> Child {
    tokgrid(&arguments(url, out, &[])).spawn().unwrap()
}

fn resume(url: &str, out: &Path) -> Said {
    say(&arguments(url, out, &["--resume"]))
}

/// The run has all cells, each once, all measured, and its samples give the same.
fn assert_complete(out: &Path) -> RunDocument {
    let document = read(out).unwrap();
    let keys: BTreeSet<_> = document.cells.iter().map(|cell| cell.key()).collect();
    assert_eq!((document.cells.len(), keys.len()), (CELLS, CELLS));
    let is_valid = |cell: &document::Cell| cell.status == CellStatus::Valid;
    assert!(document.cells.iter().all(is_valid), "{document:#?}");
    assert!(document.finished_at.is_some());
    let again = say(&["rejudge", out.to_str().unwrap()]);
    assert_eq!(again.status, 0, "{again:#?}");
    assert!(
        again.stdout.contains("every figure is the same"),
        "{again:#?}"
    );
    document
}

#[test]
fn a_killed_server_ends_the_run_within_ten_seconds_and_resume_finishes_it() {
    let server = SimProcess::start("127.0.0.1:0", &[]);
    let (_folder, out) = folder();
    let run = start(&server.url, &out);
    wait_for_cells(&out, 2);
    let kept = read(&out).unwrap().cells[0].clone();
    let killed = Instant::now();
    server.signal("KILL");
    let said = finish(run);
    assert!(killed.elapsed() < Duration::from_secs(10), "{said:#?}");
    let words = [
        "does not answer any more",
        "--resume",
        out.to_str().unwrap(),
    ];
    said.assert_refused(1, &words);
    let document = read(&out).unwrap();
    assert!((2..CELLS).contains(&document.cells.len()));
    assert_eq!(document.finished_at, None);
    assert_eq!(say(&["rejudge", out.to_str().unwrap()]).status, 0);

    let (address, url) = (server.address.clone(), server.url.clone());
    drop(server);
    let _again = SimProcess::start(&address, &[]);
    let said = resume(&url, &out);
    assert_eq!(said.status, 0, "{said:#?}");
    assert!(
        said.stderr.contains("kept from the earlier run"),
        "{said:#?}"
    );
    let document = assert_complete(&out);
    assert_eq!(
        document.cells[0], kept,
        "what was measured is not measured again"
    );
}

#[test]
fn a_server_that_hangs_is_gone_within_ten_seconds_too() {
    let server = SimProcess::start("127.0.0.1:0", &[]);
    let (_folder, out) = folder();
    let run = start(&server.url, &out);
    wait_for_cells(&out, 2);
    let stopped = Instant::now();
    server.signal("STOP");
    let said = finish(run);
    // A busy machine is given two seconds more.
    assert!(stopped.elapsed() < Duration::from_secs(12), "{said:#?}");
    said.assert_refused(
        1,
        &["does not answer any more: no answer within", "--resume"],
    );
    assert!(read(&out).unwrap().cells.len() >= 2);
    server.signal("CONT");
    let said = resume(&server.url, &out);
    assert_eq!(said.status, 0, "{said:#?}");
    assert_complete(&out);
}

#[test]
fn a_server_without_metrics_that_hangs_is_gone_as_well() {
    let server = SimProcess::start("127.0.0.1:0", &["--fault", "html-metrics"]);
    let (_folder, out) = folder();
    let out_given = out.to_str().unwrap();
    let long = ["--contexts", "1k", "--concurrency", "2", "--duration", "60"];
    let mut arguments = vec!["run", "--plain", "--url", &server.url, "--out", out_given];
    arguments.extend(long);
    let run = tokgrid(&arguments).spawn().unwrap();
    wait_for_cells(&out, 1);
    std::thread::sleep(Duration::from_secs(1));
    let stopped = Instant::now();
    server.signal("STOP");
    let said = finish(run);
    said.assert_refused(1, &["does not answer any more"]);
    assert!(stopped.elapsed() < Duration::from_secs(60), "{said:#?}");
    server.signal("CONT");
}

#[test]
fn ctrl_c_keeps_everything_measured_and_resume_goes_on() {
    let server = SimProcess::start("127.0.0.1:0", &[]);
    let (_folder, out) = folder();
    let run = start(&server.url, &out);
    wait_for_cells(&out, 3);
    let pressed = Instant::now();
    signal(run.id(), "INT");
    let said = finish(run);
    assert!(pressed.elapsed() < Duration::from_secs(5), "{said:#?}");
    assert_eq!(said.status, 1, "{said:#?}");
    assert!(
        said.stderr.contains("what was measured until then is kept"),
        "{said:#?}"
    );
    let before = read(&out).unwrap();
    assert!((3..CELLS).contains(&before.cells.len()));

    let said = resume(&server.url, &out);
    assert_eq!(said.status, 0, "{said:#?}");
    let document = assert_complete(&out);
    assert_eq!(document.id, before.id);
    assert_eq!(document.cells[..3], before.cells[..3]);

    // Nothing is left to do: nothing is measured, and nothing is wrong.
    let begun = Instant::now();
    let said = resume(&server.url, &out);
    assert_eq!(said.status, 0, "{said:#?}");
    assert!(begun.elapsed() < Duration::from_secs(3), "{said:#?}");
    assert_eq!(assert_complete(&out).cells, document.cells);
}

#[test]
fn a_failed_cell_is_measured_again_and_stands_once() {
    let faulty = SimProcess::start("127.0.0.1:0", &["--fault", "die-mid-stream:after=9,skip=5"]);
    let (_folder, out) = folder();
    let said = finish(start(&faulty.url, &out));
    assert_eq!(said.status, 1, "{said:#?}");
    assert!(
        said.stderr.contains("Failed: a stream broke off"),
        "{said:#?}"
    );
    assert_eq!(read(&out).unwrap().cells.len(), CELLS);
    let (address, url) = (faulty.address.clone(), faulty.url.clone());
    drop(faulty);
    let _good = SimProcess::start(&address, &[]);
    let said = resume(&url, &out);
    assert_eq!(said.status, 0, "{said:#?}");
    assert_complete(&out);
}

#[test]
fn ctrl_c_before_the_first_cell_leaves_a_document_to_go_on_with() {
    let server = SimProcess::start("127.0.0.1:0", &["--fault", "never-answer"]);
    let (_folder, out) = folder();
    let run = start(&server.url, &out);
    wait_for_cells(&out, 0);
    signal(run.id(), "INT");
    let said = finish(run);
    assert_eq!(said.status, 1, "{said:#?}");
    let document = read(&out).unwrap();
    assert_eq!(document.cells, []);
    assert_eq!(say(&["rejudge", out.to_str().unwrap()]).status, 0);
}

#[test]
fn resume_refuses_other_settings_and_lists_them() {
    let server = SimProcess::start("127.0.0.1:0", &[]);
    let (_folder, out) = folder();
    let run = start(&server.url, &out);
    wait_for_cells(&out, 1);
    signal(run.id(), "INT");
    finish(run);
    let before = std::fs::read(&out).unwrap();
    let out = out.to_str().unwrap();
    let url = server.url.as_str();
    let other = [
        "--contexts",
        "512,1k",
        "--concurrency",
        "1,4",
        "--max-output",
        "50",
        "--seed",
        "7",
    ];
    let mut arguments = vec!["run", "--url", url, "--resume", "--out", out];
    arguments.extend(other);
    let said = say(&arguments);
    let words = [
        "concurrency: [1,2] there, [1,4] here",
        "max_output_tokens: 100",
        "seed",
        "window_s",
    ];
    said.assert_refused(2, &words);
    assert_eq!(std::fs::read(out).unwrap(), before);
}
