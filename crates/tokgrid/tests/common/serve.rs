//! `tokgrid serve` in a process of its own.

use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::sync::{Arc, Mutex};

use super::binary::{Said, finish, tokgrid};

/// The site, killed when dropped.
pub struct ServeProcess {
    child: Child,
    /// Where it is, without a slash at the end.
    pub url: String,
    log: Arc<Mutex<String>>,
}

impl ServeProcess {
    /// Serves a database on a free port.
    pub fn start(database: &str) -> ServeProcess {
        ServeProcess::start_with(database, &[])
    }

    /// The same, with more arguments.
    pub fn start_with(database: &str, more: &[&str]) -> ServeProcess {
        let mut arguments = vec!["serve", "--listen", "127.0.0.1:0", "--db", database];
        arguments.extend(more);
        let mut child = tokgrid(&arguments).spawn().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        // Whoever logs into a full pipe would stand still.
        keep(child.stderr.take().unwrap(), &log);
        let mut greeting = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        lines.read_line(&mut greeting).unwrap();
        let Some(from) = greeting.find("http://") else {
            child.kill().ok();
            child.wait().unwrap();
            panic!("serve says {greeting:?}, {:?}", log.lock().unwrap());
        };
        let url = greeting[from..].split_whitespace().next().unwrap();
        let url = url.to_owned();
        keep(lines, &log);
        ServeProcess { child, url, log }
    }

    /// What `serve` says where it cannot.
    pub fn refused(database: &str) -> Said {
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--db", database];
        finish(tokgrid(&arguments).spawn().unwrap())
    }

    /// The address of a path.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// Ends it as a power cut would: SIGKILL, no last words.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// What it printed and logged so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
        if std::thread::panicking() {
            // Shown by the test runner where the test fails.
            #[allow(clippy::print_stderr)]
            let () = eprintln!("tokgrid serve said:\n{}", self.log.lock().unwrap());
        }
    }
}

fn keep(from: impl Read + Send + 'static, log: &Arc<Mutex<String>>) {
    let log = Arc::clone(log);
    std::thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            let mut log = log.lock().unwrap();
            log.push_str(&line);
            log.push('\n');
        }
    });
}
