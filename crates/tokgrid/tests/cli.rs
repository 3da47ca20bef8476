//! What the commands print, write and make of what they wrote.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;

use common::binary::{Said, SimProcess, finish, folder, read, say, tokgrid};
use document::{CellStatus, RunDocument};
use serde_json::Value;

fn arguments<'a>(url: &'a str, out: &'a Path, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["run", "--url", url, "--out", out.to_str().unwrap()];
    arguments.extend(["--contexts", "512", "--concurrency", "2"]);
    arguments.extend(["--duration", "0.6", "--max-output", "80"]);
    arguments.extend(more);
    arguments
}

fn run(url: &str, out: &Path, more: &[&str]) -> Said {
    say(&arguments(url, out, more))
}

fn assert_valid(out: &Path) {
    let document = read(out).unwrap();
    assert_eq!(document.cells.len(), 2);
    let is_valid = |cell: &document::Cell| cell.status == CellStatus::Valid;
    assert!(document.cells.iter().all(is_valid), "{document:#?}");
}

#[test]
fn with_json_every_line_of_stdout_is_an_event() {
    let server = SimProcess::start("127.0.0.1:0", &[]);
    let (folder, out) = folder();
    let report = folder.path().join("report.html");
    let report = report.to_str().unwrap();
    let said = run(&server.url, &out, &["--json", "--report", report]);
    assert_eq!(said.status, 0, "{said:#?}");
    assert_eq!(said.stderr, "");
    let events: Vec<String> = said
        .stdout
        .lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line).unwrap();
            value["event"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(events.first().unwrap(), "detected");
    assert_eq!(events.last().unwrap(), "finished");
    let count = |name: &str| events.iter().filter(|event| *event == name).count();
    assert_eq!((count("planned"), count("cell_finished")), (1, 2));
    assert!(count("tick") > 0);
    assert!(Path::new(report).exists());
}

#[test]
fn with_json_what_goes_wrong_is_said_on_stderr_only() {
    let (_folder, out) = folder();
    let said = run("http://127.0.0.1:9", &out, &["--json"]);
    assert_eq!((said.status, said.stdout.as_str()), (3, ""));
    assert!(said.stderr.starts_with("error: cannot reach"), "{said:#?}");
    let server = SimProcess::start("127.0.0.1:0", &["--fault", "status-500:skip=1"]);
    let said = run(&server.url, &out, &["--json"]);
    assert_eq!(said.status, 1);
    for line in said.stdout.lines() {
        assert!(serde_json::from_str::<Value>(line).unwrap()["event"].is_string());
    }
}

#[test]
fn piped_output_is_calm() {
    let server = SimProcess::start("127.0.0.1:0", &[]);
    let (_folder, out) = folder();
    let said = run(&server.url, &out, &[]);
    assert_eq!(said.status, 0, "{said:#?}");
    for text in [&said.stdout, &said.stderr] {
        assert!(!text.contains('\u{1b}') && !text.contains('\r'), "{text:?}");
    }
    assert!(said.stderr.lines().count() < 10, "{said:#?}");
    assert!(said.stdout.contains("Run document:"), "{said:#?}");
}

#[test]
fn whoever_stops_reading_does_not_stop_the_run() {
    let server = SimProcess::start("127.0.0.1:0", &[]);
    for mode in ["--json", "--plain"] {
        let (_folder, out) = folder();
        let mut run = tokgrid(&arguments(&server.url, &out, &[mode]))
            .spawn()
            .unwrap();
        drop(run.stdout.take());
        drop(run.stderr.take());
        let said = finish(run);
        assert_eq!(said.status, 0, "{mode}: {said:#?}");
        assert_valid(&out);
    }
}

#[test]
fn judging_again_gives_the_same_figures_and_finds_what_was_changed() {
    let server = SimProcess::start("127.0.0.1:0", &[]);
    let (folder, out) = folder();
    assert_eq!(run(&server.url, &out, &[]).status, 0);
    let path = out.to_str().unwrap();
    let said = say(&["rejudge", path]);
    assert_eq!(said.status, 0, "{said:#?}");
    assert!(
        said.stdout
            .contains("2 cells judged again: every figure is the same")
    );

    let honest = read(&out).unwrap();
    let write = |document: &RunDocument| {
        std::fs::write(&out, serde_json::to_vec(document).unwrap()).unwrap();
    };
    let mut better = honest.clone();
    better.cells[1].total_tok_s = better.cells[1].total_tok_s.map(|total| total * 1.1);
    write(&better);
    let said = say(&["rejudge", path]);
    assert_eq!(said.status, 1, "{said:#?}");
    assert!(
        said.stdout
            .contains("1 differ:\n  decode 512 × 2: total_tok_s "),
        "{said:#?}"
    );
    let mut more = honest.clone();
    more.cells[1].concurrency = 4;
    write(&more);
    say(&["rejudge", path]).assert_refused(2, &["no samples of decode 512 × 4"]);
    let mut cleaner = honest.clone();
    cleaner.cells[0].status = CellStatus::Failed;
    write(&cleaner);
    assert_eq!(say(&["rejudge", path]).status, 1);
    write(&better);
    assert_eq!(say(&["rejudge", "--write", path]).status, 0);
    assert_eq!(read(&out).unwrap().cells, honest.cells);

    write(&honest);
    let samples = folder.path().join("run.samples.zst");
    let bytes = std::fs::read(&samples).unwrap();
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 1;
    std::fs::write(&samples, flipped).unwrap();
    say(&["rejudge", path]).assert_refused(2, &["run.samples.zst", "SHA-256 differs"]);
    std::fs::write(&samples, &bytes[..bytes.len() - 5]).unwrap();
    say(&["rejudge", path]).assert_refused(2, &["run.samples.zst", "does not belong"]);
    std::fs::remove_file(&samples).unwrap();
    say(&["rejudge", path]).assert_refused(2, &["cannot read", "run.samples.zst"]);
    // What lies beyond was being written when a run was cut off.
    let more = [bytes.as_slice(), b"half a frame"].concat();
    std::fs::write(&samples, more).unwrap();
    assert_eq!(say(&["rejudge", path]).status, 0);
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_said_and_what_was_measured_before_is_kept() {
    let server = SimProcess::start("127.0.0.1:0", &[]);
    let (_folder, out) = folder();
    // Files of this process end at 8 KiB: the first samples fit, later ones do not.
    let line = "ulimit -f 8; trap '' XFSZ; exec \"$0\" \"$@\"";
    let binary = env!("CARGO_BIN_EXE_tokgrid");
    let arguments = arguments(&server.url, &out, &["--plain", "--prefill-samples", "100"]);
    let child = std::process::Command::new("bash")
        .args(["-c", line, binary])
        .args(&arguments)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let said = finish(child);
    said.assert_refused(1, &["cannot write", "What was measured before is kept"]);
    let kept = read(&out).unwrap();
    assert!((1..6).contains(&kept.cells.len()), "{}", kept.cells.len());
    let again = say(&["rejudge", out.to_str().unwrap()]);
    assert_eq!(again.status, 0, "{again:#?}");
}

#[test]
fn ipv6_is_spoken_where_there_is_any() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let server = SimProcess::start("[::1]:0", &[]);
    let (_folder, out) = folder();
    let said = run(&server.url, &out, &["--plain"]);
    assert_eq!(said.status, 0, "{said:#?}");
    assert_valid(&out);
}

#[test]
fn the_address_may_end_in_v1_and_the_other_route_works_too() {
    let server = SimProcess::start("127.0.0.1:0", &[]);
    let (_folder, out) = folder();
    let url = format!("{}/v1/", server.url);
    let said = run(
        &url,
        &out,
        &["--plain", "--api", "completions", "--header", "X-Who: me"],
    );
    assert_eq!(said.status, 0, "{said:#?}");
    assert_valid(&out);
}

#[test]
fn the_largest_seed_is_one_that_servers_take() {
    let server = SimProcess::start("127.0.0.1:0", &[]);
    let (_folder, out) = folder();
    let seed = u64::MAX.to_string();
    let said = run(
        &server.url,
        &out,
        &["--plain", "--seed", &seed, "--stream-seeds"],
    );
    assert_eq!(said.status, 0, "{said:#?}");
    assert_valid(&out);
    assert_eq!(read(&out).unwrap().settings.seed, Some(u64::MAX));
}
