//! The command as a whole, small.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::path::Path;
use std::process::{Command, Output};

const RUNS: &str = "200";

fn registry(folder: &Path, more: &[&str]) -> Output {
    let own = Path::new(env!("CARGO_BIN_EXE_tokgrid-benches"));
    let mut command = Command::new(own);
    command
        .args([
            "registry",
            "--runs",
            RUNS,
            "--seconds",
            "1",
            "--listing-rate",
            "30",
        ])
        .args(["--run-rate", "50", "--database"])
        .arg(folder.join("registry.db"))
        .args(more);
    // Tests of the workspace have built it; else the command builds it.
    let server = own.with_file_name(format!("tokgrid{}", std::env::consts::EXE_SUFFIX));
    if server.is_file() {
        command.arg("--server").arg(server);
    }
    command.output().unwrap()
}

#[test]
fn one_command_fills_serves_measures_and_tells() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("tables.md");
    let output = registry(folder.path(), &["--out", out.to_str().unwrap()]);
    let errors = String::from_utf8_lossy(&output.stderr);
    // Whether an unoptimised site on a busy machine is fast enough is not the question.
    assert!(matches!(output.status.code(), Some(0 | 1)), "{errors}");
    assert!(errors.contains("200 runs are there"), "{errors}");
    let tables = std::fs::read_to_string(out).unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.starts_with(&tables), "{told}");
    let has_row = |start: &[&str]| {
        tables.lines().any(|line| {
            let cells: Vec<&str> = line.split('|').skip(1).map(str::trim).collect();
            cells.starts_with(start)
        })
    };
    for page in [
        "leaderboard",
        "list of runs",
        "model",
        "API leaderboard",
        "API list of runs",
    ] {
        for filters in ["all", "common", "rare", "empty"] {
            assert!(has_row(&[page, filters]), "{page} {filters}:\n{tables}");
        }
    }
    assert!(has_row(&["run", "", "50", "50"]), "{tables}");
    assert!(has_row(&["memory of the site (VmHWM)"]), "{tables}");
    let other_seed = registry(folder.path(), &["--seed", "2"]);
    assert_eq!(other_seed.status.code(), Some(2));
    let errors = String::from_utf8_lossy(&other_seed.stderr);
    assert!(errors.contains("not filled with this seed"), "{errors}");
}
