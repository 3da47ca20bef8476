//! The binary as a person runs it.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use document::RunDocument;

/// A command that takes longer than this hangs.
const HANGS_AFTER: Duration = Duration::from_secs(90);

/// What a command said and how it ended.
#[derive(Debug)]
pub struct Said {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    /// Fails unless the command ended with `status` and said all of `words`.
    pub fn assert_refused(&self, status: i32, words: &[&str]) {
        assert_eq!(self.status, status, "{self:#?}");
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is not in {self:#?}");
        }
        assert!(!self.stderr.contains("panicked"), "{self:#?}");
    }

    fn of(output: Output) -> Said {
        Said {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// The binary, without what the environment may bring along.
pub fn tokgrid(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tokgrid"));
    command
        .args(arguments)
        .env_remove("TOKGRID_API_KEY")
        .env_remove("TOKGRID_SIM_API_KEY")
        .env("http_proxy", "http://127.0.0.1:9")
        .env("HTTP_PROXY", "http://127.0.0.1:9")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the binary to its end.
pub fn say(arguments: &[&str]) -> Said {
    finish(tokgrid(arguments).spawn().unwrap())
}

/// Waits for a command; one that hangs is killed, and a failure.
pub fn finish(mut child: Child) -> Said {
    let pid = child.id();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let stdout = std::thread::spawn(move || whole(stdout));
    let stderr = std::thread::spawn(move || whole(stderr));
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > HANGS_AFTER {
            child.kill().unwrap();
            panic!("process {pid} hangs: {}", stderr.join().unwrap());
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    Said::of(Output {
        status,
        stdout: stdout.join().unwrap().into_bytes(),
        stderr: stderr.join().unwrap().into_bytes(),
    })
}

fn whole(from: Option<impl Read>) -> String {
    let mut text = String::new();
    if let Some(mut from) = from {
        from.read_to_string(&mut text).unwrap();
    }
    text
}

/// `tokgrid sim` in a process of its own, ended when dropped.
pub struct SimProcess {
    child: Child,
    pub url: String,
    pub address: String,
}

impl SimProcess {
    /// A flat engine at `address`, port 0 for a free one.
    pub fn start(address: &str, more: &[&str]) -> SimProcess {
        let mut arguments = vec!["sim", "--flat", "20,4,1", "--listen", address];
        arguments.extend(more);
        let mut child = tokgrid(&arguments).spawn().unwrap();
        let mut greeting = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut greeting).unwrap();
        let from = greeting
            .find("http://")
            .unwrap_or_else(|| panic!("{greeting}"));
        let url = greeting[from..]
            .split([',', ' '])
            .next()
            .unwrap()
            .to_owned();
        let address = url.trim_start_matches("http://").to_owned();
        // Whoever prints into a closed pipe would fail.
        std::thread::spawn(move || whole(Some(lines)));
        SimProcess {
            child,
            url,
            address,
        }
    }

    /// Sends a signal by its name: `KILL`, `STOP`, `CONT`.
    pub fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }
}

impl Drop for SimProcess {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Sends a signal to a process that the test has started.
pub fn signal(pid: u32, name: &str) {
    let sent = Command::new("kill")
        .args([&format!("-{name}"), &pid.to_string()])
        .status()
        .unwrap();
    assert!(sent.success());
}

/// Waits until the document has so many cells.
pub fn wait_for_cells(out: &Path, cells: usize) {
    let begun = Instant::now();
    while read(out).is_none_or(|document| document.cells.len() < cells) {
        assert!(
            begun.elapsed() < HANGS_AFTER,
            "{} never has {cells} cells",
            out.display()
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The document, where there is one yet.
pub fn read(out: &Path) -> Option<RunDocument> {
    RunDocument::from_json(&std::fs::read(out).ok()?).ok()
}

/// A folder of the test's own and the document in it.
pub fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run.json");
    (folder, out)
}
