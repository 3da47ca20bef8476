//! `tokgrid sign-in` and `tokgrid publish` against the site and against worse ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command};

use common::binary::{Said, finish, tokgrid};
use reqwest::header::{COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use tempfile::TempDir;

/// Exit status of wrong use.
const WRONG: i32 = 2;
/// Exit status of a server that cannot be reached or refuses.
const SERVER: i32 = 3;
const PASSWORD: &str = "correct horse battery";

/// The binary at home in `folder`, without what the environment may bring along.
fn at_home(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = tokgrid(arguments);
    command
        .current_dir(folder)
        .env("HOME", folder)
        .env("XDG_CONFIG_HOME", folder.join("settings"))
        .env("NO_PROXY", "127.0.0.1")
        .env_remove("TOKGRID_TOKEN")
        .env_remove("TOKGRID_REGISTRY");
    command
}

/// An example run under another id.
fn run_file(folder: &Path, id: &str) -> PathBuf {
    let example = include_str!("../../../examples/runs/glm-5.3-flash-4x-rtx-pro-6000.json");
    let mut run: serde_json::Value = serde_json::from_str(example).unwrap();
    run["id"] = id.into();
    let path = folder.join(format!("{id}.json"));
    std::fs::write(&path, run.to_string()).unwrap();
    path
}

fn publish(folder: &Path, file: &Path, to: &str, more: &[&str], token: Option<&str>) -> Said {
    let mut arguments = vec!["publish", file.to_str().unwrap(), "--to", to];
    arguments.extend(more);
    let mut command = at_home(folder, &arguments);
    if let Some(token) = token {
        command.env("TOKGRID_TOKEN", token);
    }
    finish(command.spawn().unwrap())
}

/// A served site, ended with the test.
struct Served {
    child: Child,
    home: String,
    folder: TempDir,
    _said: BufReader<ChildStdout>,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    fn start() -> Served {
        let folder = tempfile::tempdir().unwrap();
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--db", "sqlite:site.db"];
        let mut child = at_home(folder.path(), &arguments).spawn().unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        said.read_line(&mut line).unwrap();
        let home = line
            .split_whitespace()
            .find(|word| word.starts_with("http://"));
        Served {
            child,
            home: home.unwrap_or_else(|| panic!("{line}")).to_owned(),
            folder,
            _said: said,
        }
    }
}

/// Somebody's browser on a served site.
struct Browser {
    client: reqwest::Client,
    home: String,
    cookie: String,
}

impl Browser {
    async fn signed_up(home: &str, name: &str) -> Browser {
        let mut browser = Browser {
            client: reqwest::Client::builder()
                .redirect(reqwest::redirect::Policy::none())
                .no_proxy()
                .build()
                .unwrap(),
            home: home.to_owned(),
            cookie: String::new(),
        };
        let form = [("name", name), ("password", PASSWORD), ("again", PASSWORD)];
        let answer = browser.post("/sign-up", &form).await;
        assert_eq!(answer.status(), 303);
        let cookie = answer.headers()[SET_COOKIE].to_str().unwrap();
        browser.cookie = cookie.split(';').next().unwrap().to_owned();
        browser
    }

    async fn post(&self, path: &str, form: &[(&str, &str)]) -> reqwest::Response {
        let request = self.client.post(format!("{}{path}", self.home)).form(form);
        let request = request
            .header(ORIGIN, &self.home)
            .header(COOKIE, &self.cookie);
        request.send().await.unwrap()
    }

    async fn get(&self, address: &str) -> (u16, String) {
        let request = self.client.get(address).header(COOKIE, &self.cookie);
        let answer = request.send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }
}

#[tokio::test]
async fn a_terminal_signs_in_and_publishes_for_an_organization() {
    let served = Served::start();
    let folder = served.folder.path();
    let home = served.home.as_str();
    let ada = Browser::signed_up(home, "ada").await;
    let made = ada
        .post(
            "/account/organizations",
            &[("title", "The Lab"), ("slug", "lab")],
        )
        .await;
    assert_eq!(made.headers()[LOCATION], "/account/organizations/lab");

    let mut terminal = at_home(folder, &["sign-in", home]).spawn().unwrap();
    let mut said = BufReader::new(terminal.stdout.take().unwrap());
    let (mut open, mut code) = (String::new(), String::new());
    said.read_line(&mut open).unwrap();
    said.read_line(&mut code).unwrap();
    let code = code.split_whitespace().last().unwrap();
    assert!(
        open.contains(&format!("{home}/device?user_code={code}")),
        "{open}"
    );
    let shown = ada.post("/device", &[("user_code", code)]).await;
    let shown = shown.text().await.unwrap();
    assert!(
        shown.contains("asks for a token of the account ada"),
        "{shown}"
    );
    let form = [("user_code", code), ("answer", "yes")];
    assert_eq!(ada.post("/device/answer", &form).await.status(), 200);
    let mut rest = String::new();
    said.read_to_string(&mut rest).unwrap();
    assert_eq!(terminal.wait().unwrap().code(), Some(0), "{rest}");
    let kept = folder.join("settings/tokgrid/tokens.json");
    assert!(rest.contains(kept.to_str().unwrap()), "{rest}");
    let text = std::fs::read_to_string(&kept).unwrap();
    assert!(text.contains(&format!("\"{home}\": \"tg_")), "{text}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&kept).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    let id = "019ad000-0000-7000-8000-000000000001";
    let file = run_file(folder, id);
    let organization = ["--organization", "lab"];
    for _ in 0..2 {
        let said = publish(folder, &file, home, &organization, None);
        assert_eq!(said.status, 0, "{said:#?}");
        assert_eq!(said.stdout, format!("{home}/runs/{id}\n"));
    }
    let (status, page) = ada.get(&format!("{home}/runs/{id}")).await;
    assert_eq!(status, 200);
    assert!(page.contains("The Lab"), "{page}");

    let file = run_file(folder, "019ad000-0000-7000-8000-000000000002");
    publish(folder, &file, home, &["--organization", "other"], None)
        .assert_refused(SERVER, &["is not published", "organization"]);
    publish(folder, &file, home, &[], Some("tg_wrong"))
        .assert_refused(SERVER, &["401", &format!("tokgrid sign-in {home}")]);
}

#[test]
fn nothing_is_sent_that_could_not_be_taken() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // Nothing listens there: an attempt to send would end with the other status.
    let to = "http://127.0.0.1:9";
    let wrong = folder.join("wrong.json");
    for (text, words) in [
        ("<p>", "this is a page"),
        (
            r#"{"schema":"tokgrid.run/1","id":"r","source":"measured","cells":[{}]}"#,
            "cells[0]",
        ),
    ] {
        std::fs::write(&wrong, text).unwrap();
        publish(folder, &wrong, to, &[], Some("tg_x"))
            .assert_refused(WRONG, &["wrong.json", words]);
    }
    publish(folder, &folder.join("absent.json"), to, &[], Some("tg_x"))
        .assert_refused(WRONG, &["absent.json"]);
    let file = run_file(folder, "019ad000-0000-7000-8000-000000000001");
    publish(folder, &file, to, &[], None).assert_refused(
        WRONG,
        &["there is no token", "tokgrid sign-in http://127.0.0.1:9"],
    );
    publish(folder, &file, "a.example", &[], Some("tg_x")).assert_refused(WRONG, &["--to"]);
    publish(folder, &file, to, &[], Some("tg_x")).assert_refused(SERVER, &["cannot be reached"]);
}

/// Takes a request whole.
fn request_of(stream: &mut TcpStream) -> String {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "{head}");
    }
    let lower = head.to_ascii_lowercase();
    let length = lower.split("content-length: ").nth(1).unwrap();
    let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    head + &String::from_utf8(body).unwrap()
}

fn answer(stream: &mut TcpStream, status: &str, body: &str) {
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{body}"
    )
    .unwrap();
}

#[test]
fn a_connection_that_breaks_is_tried_again_with_the_same_key() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("http://{}", listener.local_addr().unwrap());
    let registry = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            requests.push(request_of(&mut stream));
        }
        let (mut stream, _) = listener.accept().unwrap();
        requests.push(request_of(&mut stream));
        answer(
            &mut stream,
            "201 Created",
            r#"{"id":"r","url":"https://b.example/runs/r"}"#,
        );
        requests
    });
    let file = run_file(folder.path(), "019ad000-0000-7000-8000-000000000001");
    let said = publish(folder.path(), &file, &to, &[], Some("tg_x"));
    assert_eq!(said.status, 0, "{said:#?}");
    assert_eq!(said.stdout, "https://b.example/runs/r\n");
    let requests = registry.join().unwrap();
    let content = std::fs::read_to_string(&file).unwrap();
    let key = {
        use sha2::Digest;
        format!("idempotency-key: {:x}\r\n", sha2::Sha256::digest(&content))
    };
    for request in &requests {
        assert!(
            request.starts_with("POST /api/v1/runs HTTP/1.1\r\n"),
            "{request}"
        );
        assert!(
            request.contains("authorization: Bearer tg_x\r\n"),
            "{request}"
        );
        assert!(
            request.contains(&key) && request.ends_with(&content),
            "{request}"
        );
    }
}

#[test]
fn what_the_registry_says_of_fields_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        request_of(&mut stream);
        let body = r#"{"title":"Not taken","status":422,
            "errors":[{"field":"cells[3].total_tok_s","detail":"is less than 0\u001b[31m"}]}"#;
        answer(&mut stream, "422 Unprocessable Entity", body);
    });
    let file = run_file(folder.path(), "019ad000-0000-7000-8000-000000000001");
    let said = publish(folder.path(), &file, &to, &[], Some("tg_x"));
    said.assert_refused(
        SERVER,
        &["422", "Not taken", "cells[3].total_tok_s: is less than 0"],
    );
    assert!(!said.stderr.contains('\u{1b}'), "{said:#?}");
    assert!(!said.stderr.contains("tg_x"), "{said:#?}");
}

#[test]
fn a_token_does_not_follow_where_a_registry_sends_on_to() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        request_of(&mut stream);
        let status = "308 Permanent Redirect\r\nlocation: https://evil.example/api/v1/runs";
        answer(&mut stream, status, "");
    });
    let file = run_file(folder.path(), "019ad000-0000-7000-8000-000000000001");
    let said = publish(folder.path(), &file, &to, &[], Some("tg_x"));
    said.assert_refused(
        SERVER,
        &["sends on to https://evil.example/api/v1/runs", "--to"],
    );
}
