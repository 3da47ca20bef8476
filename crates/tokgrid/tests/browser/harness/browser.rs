//! A browser as tests use it. Whatever a page complains about in the console, such as
//! what its Content-Security-Policy stopped, fails the test.

use std::time::Duration;

use fantoccini::actions::{InputSource, KeyAction, KeyActions};
use fantoccini::elements::Element;
use fantoccini::key::Key;
use fantoccini::wd::TimeoutConfiguration;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

use super::driver::{Driver, OwnCommand, capabilities};

/// A page that takes longer hangs; a script of axe's on a long page takes its time.
const HANGS_AFTER: Duration = Duration::from_secs(60);
/// How often it is asked whether another page has come.
const POLLED_EVERY: Duration = Duration::from_millis(10);
/// Width of a small phone, CSS pixels.
pub const NARROW: u32 = 360;
/// Width of a usual screen, CSS pixels.
pub const WIDE: u32 = 1280;
const HEIGHT: u32 = 800;

/// One browser with a profile of its own.
pub struct Browser {
    client: Client,
    _driver: Driver,
    _profile: tempfile::TempDir,
}

/// Which colours the reader prefers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    Light,
    Dark,
}

impl Browser {
    /// A fresh browser of somebody who reads English.
    pub async fn start() -> Browser {
        Browser::start_in("en-US").await
    }

    /// A fresh browser of somebody who reads `language`.
    pub async fn start_in(language: &str) -> Browser {
        let profile = tempfile::tempdir().unwrap();
        let driver = Driver::start();
        let client = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities(profile.path(), language))
            .connect(&driver.url)
            .await
            .expect("chromium does not start: `scripts/test browser` installs it");
        let timeouts =
            TimeoutConfiguration::new(Some(HANGS_AFTER), Some(HANGS_AFTER), Some(Duration::ZERO));
        client.update_timeouts(timeouts).await.unwrap();
        let browser = Browser {
            client,
            _driver: driver,
            _profile: profile,
        };
        browser.width(WIDE).await;
        browser
    }

    /// Opens an address and fails where the page complains.
    pub async fn open(&self, url: &str) {
        self.client.goto(url).await.unwrap();
        self.assert_quiet().await;
    }

    /// Opens an address whose page says that something is wrong: the browser notes
    /// the status in the console.
    pub async fn open_trouble(&self, url: &str) {
        self.client.goto(url).await.unwrap();
        self.assert_only_status().await;
    }

    async fn assert_only_status(&self) {
        let complaints = self.complaints().await;
        let is_status = |line: &String| line.contains("the server responded with a status of");
        assert!(complaints.iter().all(is_status), "{complaints:#?}");
    }

    /// Fails where a page has complained since the last time.
    pub async fn assert_quiet(&self) {
        let complaints = self.complaints().await;
        let here = self.address().await;
        assert!(complaints.is_empty(), "{here} complains: {complaints:#?}");
    }

    async fn complaints(&self) -> Vec<String> {
        let lines = self.log("browser").await;
        let lines = lines.iter().filter(|line| line["level"] != "DEBUG");
        lines.map(|line| line["message"].to_string()).collect()
    }

    /// Addresses that were asked for since the last time.
    pub async fn requests(&self) -> Vec<String> {
        let mut asked = Vec::new();
        for line in self.log("performance").await {
            let event: Value = serde_json::from_str(line["message"].as_str().unwrap()).unwrap();
            let event = &event["message"];
            if event["method"] == "Network.requestWillBeSent" {
                asked.push(
                    event["params"]["request"]["url"]
                        .as_str()
                        .unwrap()
                        .to_owned(),
                );
            }
        }
        asked
    }

    async fn log(&self, kind: &str) -> Vec<Value> {
        let lines = self.own("se/log", json!({ "type": kind })).await;
        lines.as_array().unwrap().clone()
    }

    /// A command of the Chrome DevTools Protocol.
    pub async fn devtools(&self, command: &str, parameters: Value) -> Value {
        let body = json!({ "cmd": command, "params": parameters });
        self.own("goog/cdp/execute", body).await
    }

    async fn own(&self, path: &'static str, body: Value) -> Value {
        let command = OwnCommand { path, body };
        self.client.issue_cmd(command).await.unwrap()
    }

    /// Makes the page so wide, CSS pixels.
    pub async fn width(&self, width: u32) {
        let metrics = json!({
            "width": width, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": false,
        });
        self.devtools("Emulation.setDeviceMetricsOverride", metrics)
            .await;
    }

    /// Prefers a colour scheme.
    pub async fn prefer(&self, scheme: Scheme) {
        let value = match scheme {
            Scheme::Light => "light",
            Scheme::Dark => "dark",
        };
        let feature = json!({ "name": "prefers-color-scheme", "value": value });
        self.devtools(
            "Emulation.setEmulatedMedia",
            json!({ "features": [feature] }),
        )
        .await;
    }

    /// Turns the scripts of pages off; the driver's own go on.
    pub async fn without_scripts(&self) {
        self.devtools(
            "Emulation.setScriptExecutionDisabled",
            json!({ "value": true }),
        )
        .await;
    }

    /// What a script of the test's returns.
    pub async fn eval(&self, script: &str) -> Value {
        self.eval_with(script, Vec::new()).await
    }

    /// The same, with arguments.
    pub async fn eval_with(&self, script: &str, arguments: Vec<Value>) -> Value {
        self.client.execute(script, arguments).await.unwrap()
    }

    /// What a script of the test's hands to its last argument.
    pub async fn eval_later(&self, script: &str) -> Value {
        self.client.execute_async(script, Vec::new()).await.unwrap()
    }

    /// The address that is shown.
    pub async fn address(&self) -> url::Url {
        self.client.current_url().await.unwrap()
    }

    /// The path that is shown.
    pub async fn path(&self) -> String {
        self.address().await.path().to_owned()
    }

    /// The page's title.
    pub async fn title(&self) -> String {
        self.client.title().await.unwrap()
    }

    /// The page's HTML as it stands.
    pub async fn source(&self) -> String {
        self.client.source().await.unwrap()
    }

    /// The first element that a CSS selector names.
    pub async fn find(&self, css: &str) -> Element {
        match self.client.find(Locator::Css(css)).await {
            Ok(element) => element,
            Err(error) => {
                let page = self.text("body").await;
                panic!("{css}: {error} on {}:\n{page}", self.address().await)
            }
        }
    }

    /// Whether there is one.
    pub async fn has(&self, css: &str) -> bool {
        !self
            .client
            .find_all(Locator::Css(css))
            .await
            .unwrap()
            .is_empty()
    }

    /// What the first element says, as a reader sees it.
    pub async fn text(&self, css: &str) -> String {
        let element = self.client.find(Locator::Css(css)).await;
        element
            .unwrap_or_else(|error| panic!("{css}: {error}"))
            .text()
            .await
            .unwrap()
    }

    /// What each of them says.
    pub async fn texts(&self, css: &str) -> Vec<String> {
        let mut texts = Vec::new();
        for element in self.client.find_all(Locator::Css(css)).await.unwrap() {
            texts.push(element.text().await.unwrap());
        }
        texts
    }

    /// An attribute of the first element.
    pub async fn attribute(&self, css: &str, name: &str) -> Option<String> {
        self.find(css).await.attr(name).await.unwrap()
    }

    /// Clicks what leads to another page, and fails where that page complains.
    pub async fn click(&self, css: &str) {
        self.leave(self.find(css).await).await;
        self.assert_quiet().await;
    }

    /// Clicks and waits until the page that was shown is gone and another one is whole.
    async fn leave(&self, by: Element) {
        self.eval("document.isLeft = true").await;
        by.click().await.unwrap();
        let is_there = "return !document.isLeft && document.readyState === 'complete'";
        let wait = async {
            // Between two pages there is none to ask.
            while self.client.execute(is_there, Vec::new()).await.ok() != Some(json!(true)) {
                tokio::time::sleep(POLLED_EVERY).await;
            }
        };
        let came = tokio::time::timeout(HANGS_AFTER, wait).await;
        came.expect("a click leads nowhere");
    }

    /// Clicks a button whose answer says that something is wrong.
    pub async fn submit_to_trouble(&self, css: &str) {
        self.leave(self.find(css).await).await;
        self.assert_only_status().await;
    }

    /// Follows the first link with exactly this text.
    pub async fn follow(&self, text: &str) {
        let link = self.client.find(Locator::LinkText(text)).await;
        let link = link.unwrap_or_else(|error| panic!("link {text:?}: {error}"));
        self.leave(link).await;
        self.assert_quiet().await;
    }

    /// Types into an empty field.
    pub async fn fill(&self, css: &str, text: &str) {
        let field = self.find(css).await;
        field.clear().await.unwrap();
        field.send_keys(text).await.unwrap();
    }

    /// Presses a key where the focus is.
    pub async fn press(&self, key: Key) {
        let keys = KeyActions::new("keyboard".to_owned())
            .then(KeyAction::Down { value: key.into() })
            .then(KeyAction::Up { value: key.into() });
        self.client.perform_actions(keys).await.unwrap();
    }

    /// Chooses a file to send.
    pub async fn choose_file(&self, css: &str, path: &std::path::Path) {
        let field = self.find(css).await;
        field.send_keys(path.to_str().unwrap()).await.unwrap();
    }

    /// Chooses an option by its value.
    pub async fn choose(&self, css: &str, value: &str) {
        self.find(css).await.select_by_value(value).await.unwrap();
    }

    /// Closes it in good order.
    pub async fn close(self) {
        self.client.close().await.unwrap();
    }
}
