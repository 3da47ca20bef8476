//! chromedriver in a process of its own, and commands that WebDriver does not name.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use fantoccini::wd::WebDriverCompatibleCommand;
use serde_json::{Value, json};

/// Ports that chromedriver tries.
const TRIES: usize = 5;
/// Chromium, as root, in a container, without anything that asks the network.
const FLAGS: [&str; 10] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-proxy-server",
];

/// chromedriver and its browser, in a process group of their own that is killed when
/// this is dropped: a browser outlives a driver that is killed alone.
pub struct Driver {
    child: Child,
    pub url: String,
}

impl Driver {
    /// Starts it on a free port.
    pub fn start() -> Driver {
        let tried = (0..TRIES).find_map(|_| Driver::try_start());
        tried.expect("chromedriver says no port")
    }

    /// It takes the same port of IPv4 and of IPv6, and ends where one is not free.
    fn try_start() -> Option<Driver> {
        let mut child = Command::new("chromedriver")
            .arg("--port=0")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("chromedriver does not start: `scripts/test browser` installs it");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        let Some(port) = port else {
            child.wait().unwrap();
            return None;
        };
        // Whoever prints into a closed pipe would fail.
        std::thread::spawn(move || lines.map_while(Result::ok).count());
        let url = format!("http://127.0.0.1:{port}");
        Some(Driver { child, url })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        let mut kill = Command::new("kill");
        kill.args(["-KILL", "--", &group]).status().ok();
        self.child.wait().ok();
    }
}

/// What the browser is asked to be.
pub fn capabilities(profile: &std::path::Path, language: &str) -> fantoccini::wd::Capabilities {
    let mut flags: Vec<String> = FLAGS.iter().map(|flag| (*flag).to_owned()).collect();
    flags.push(format!("--user-data-dir={}", profile.display()));
    flags.push(format!("--lang={language}"));
    let wanted = json!({
        "browserName": "chrome",
        "goog:chromeOptions": {
            "args": flags,
            "prefs": { "intl.accept_languages": language },
        },
        "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
    });
    let Value::Object(wanted) = wanted else {
        unreachable!("an object is written above");
    };
    wanted
}

/// A command of chromedriver's own: a path below the session and what is sent there.
#[derive(Debug)]
pub struct OwnCommand {
    pub path: &'static str,
    pub body: Value,
}

impl WebDriverCompatibleCommand for OwnCommand {
    fn endpoint(
        &self,
        base_url: &url::Url,
        session_id: Option<&str>,
    ) -> Result<url::Url, url::ParseError> {
        let session = session_id.expect("the session is open");
        base_url.join(&format!("session/{session}/{}", self.path))
    }

    fn method_and_body(&self, _request_url: &url::Url) -> (http::Method, Option<String>) {
        (http::Method::POST, Some(self.body.to_string()))
    }
}
