//! Wrong use and servers that are none: what was tried, what came back, what to do.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;

use common::binary::{Said, SimProcess, folder, read, say, tokgrid};

/// Exit status of wrong use.
const WRONG: i32 = 2;
/// Exit status of a server that cannot be reached or refuses.
const SERVER: i32 = 3;

fn run(url: &str, out: &Path, more: &[&str]) -> Said {
    let mut arguments = vec![
        "run",
        "--plain",
        "--url",
        url,
        "--out",
        out.to_str().unwrap(),
    ];
    if !more.contains(&"--contexts") {
        arguments.extend(["--contexts", "512"]);
    }
    if !more.contains(&"--duration") {
        arguments.extend(["--duration", "0.5"]);
    }
    if !more.contains(&"--concurrency") {
        arguments.extend(["--concurrency", "1"]);
    }
    if !more.contains(&"--max-output") {
        arguments.extend(["--max-output", "64"]);
    }
    arguments.extend(more);
    say(&arguments)
}

#[test]
fn a_plan_that_cannot_be_is_refused_before_the_server_is_asked() {
    // Nobody listens here, and nobody is asked.
    let url = "http://127.0.0.1:9";
    let cases: [(&[&str], &[&str]); 21] = [
        (
            &["--contexts", "8x"],
            &["`8x` is not a context length", "8k"],
        ),
        (&["--contexts", "0"], &["not a context length"]),
        (&["--contexts", "-8k"], &["unexpected argument"]),
        (&["--contexts", "8k,,16k"], &["not a context length"]),
        (&["--contexts", ""], &["not a context length"]),
        (
            &["--contexts", "99999999999999999999999"],
            &["not a context length"],
        ),
        (
            &["--concurrency", "0"],
            &["concurrency 0 is not possible", "from 1"],
        ),
        (
            &["--concurrency", "1,0,2"],
            &["concurrency 0 is not possible"],
        ),
        (&["--concurrency", "many"], &["--concurrency", "many"]),
        (&["--concurrency", "70000"], &["70000", "65536"]),
        (
            &["--duration", "soon"],
            &["`soon` is no length of time", "30s"],
        ),
        (&["--duration", "-5s"], &["unexpected argument"]),
        (
            &["--duration", "0"],
            &["a window of 0 s is not possible", "0.5s"],
        ),
        (&["--duration", "nan"], &["no length of time"]),
        (&["--duration", "5h"], &["18000 s is not possible"]),
        (&["--max-output", "1"], &["at least 2 tokens"]),
        (&["--max-output", "18446744073709551615"], &["--max-output"]),
        (&["--prefill-samples", "0"], &["--prefill-samples"]),
        (&["--first-token-timeout", "0"], &["--first-token-timeout"]),
        (&["--stall-timeout", "0s"], &["--stall-timeout"]),
        (&["--resume", "--force"], &["cannot be used with"]),
    ];
    for (given, words) in cases {
        let (_folder, out) = folder();
        let more: Vec<&str> = given.to_vec();
        let said = run(url, &out, &more);
        said.assert_refused(WRONG, words);
        assert_eq!(said.stdout, "", "{given:?}");
        assert!(!out.exists(), "{given:?}");
    }
}

#[test]
fn files_that_are_missing_or_no_good_are_named() {
    let url = "http://127.0.0.1:9";
    let (folder, out) = folder();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let unknown = file("unknown.toml", "window = 5\n");
    let typed = file("typed.toml", "concurrency = \"four\"\n");
    let short = file("short.txt", "One sentence.\n");
    let key = file("key", "two\nlines");
    let pem = file("ca.pem", "no certificate");
    let absent = folder.path().join("absent").to_str().unwrap().to_owned();
    let secure = "https://127.0.0.1:9";
    let cases: [(&str, &[&str], &[&str]); 9] = [
        (
            url,
            &["--plan", &absent],
            &["cannot read", "absent", "No such file"],
        ),
        (
            url,
            &["--plan", &unknown],
            &[
                "unknown.toml is not a plan",
                "unknown field `window`",
                "window_s",
            ],
        ),
        (
            url,
            &["--plan", &typed],
            &["typed.toml is not a plan", "four"],
        ),
        (
            url,
            &["--prompt-file", &short],
            &["cannot make prompts", "short.txt"],
        ),
        (
            url,
            &["--api-key-file", &absent],
            &["cannot read", "absent"],
        ),
        (url, &["--api-key-file", &key], &["API key"]),
        (url, &["--launch-file", &absent], &["cannot read", "absent"]),
        (secure, &["--ca", &absent], &["CA file", "absent"]),
        (secure, &["--ca", &pem], &["CA file", "no PEM certificate"]),
    ];
    for (url, given, words) in cases {
        let said = run(url, &out, given);
        said.assert_refused(WRONG, words);
        assert!(!out.exists(), "{given:?}");
    }
}

#[test]
fn places_that_cannot_be_written_are_found_before_anything_is_measured() {
    let server = SimProcess::start("127.0.0.1:0", &[]);
    let (folder, out) = folder();
    let nowhere = folder.path().join("no/such/folder/run.json");
    run(&server.url, &nowhere, &[]).assert_refused(WRONG, &["is no folder", "--out"]);
    run(&server.url, folder.path(), &[]).assert_refused(WRONG, &["is a folder"]);
    run(&server.url, folder.path(), &["--force"]).assert_refused(WRONG, &["is a folder"]);
    let report = folder.path().join("no/such/report.html");
    let report = report.to_str().unwrap();
    let said = run(&server.url, &out, &["--report", report]);
    said.assert_refused(WRONG, &["report.html", "--report"]);
    assert!(!out.exists(), "nothing was measured");
    let same = out.to_str().unwrap();
    let said = run(&server.url, &out, &["--report", same]);
    said.assert_refused(WRONG, &["--report", "--out"]);
}

#[test]
fn addresses_that_are_none_are_refused_with_one_that_is() {
    let (_folder, out) = folder();
    for url in [
        "ftp://127.0.0.1",
        "http://",
        "127.0.0.1:8000:9",
        "http://user:hunter22@127.0.0.1:9",
    ] {
        let said = run(url, &out, &[]);
        said.assert_refused(
            WRONG,
            &["is not a server's address", "http://localhost:8000"],
        );
        assert!(!said.stderr.contains("hunter22"));
    }
}

#[test]
fn nobody_there_is_said_with_the_address() {
    let (_folder, out) = folder();
    let said = run("http://127.0.0.1:9", &out, &[]);
    said.assert_refused(
        SERVER,
        &["cannot reach http://127.0.0.1:9", "refused", "--url"],
    );
    let said = run("http://nobody.invalid:8000", &out, &[]);
    said.assert_refused(SERVER, &["cannot find", "nobody.invalid", "--url"]);
    assert!(!out.exists());
}

#[test]
fn what_does_not_fit_the_model_is_refused_with_what_would() {
    let server = SimProcess::start("127.0.0.1:0", &["--max-model-len", "8192"]);
    let (_folder, out) = folder();
    let said = run(&server.url, &out, &["--contexts", "8k"]);
    said.assert_refused(WRONG, &["8K", "8192", "the largest is"]);
    let said = run(&server.url, &out, &["--max-output", "9000"]);
    said.assert_refused(WRONG, &["8192", "--max-output"]);
    let said = run(&server.url, &out, &["--prefill-contexts", "16k"]);
    said.assert_refused(WRONG, &["16K", "8192"]);
    let said = run(&server.url, &out, &["--model", "other"]);
    said.assert_refused(WRONG, &["no model \"other\"", "it serves flat"]);
    assert!(!out.exists());
}

#[test]
fn a_document_is_not_overwritten_unasked() {
    let server = SimProcess::start("127.0.0.1:0", &[]);
    let (folder, out) = folder();
    let said = run(&server.url, &out, &["--resume"]);
    said.assert_refused(WRONG, &["nothing to resume"]);
    std::fs::write(&out, "a letter").unwrap();
    let said = run(&server.url, &out, &[]);
    said.assert_refused(WRONG, &["exists already", "--resume", "--out", "--force"]);
    let said = run(&server.url, &out, &["--resume"]);
    said.assert_refused(WRONG, &["nothing to resume"]);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "a letter");
    let said = run(&server.url, &out, &["--force"]);
    assert_eq!(said.status, 0, "{said:#?}");
    assert!(read(&out).is_some());
    drop(folder);
}

#[test]
fn a_key_that_is_wanted_is_asked_for_and_never_shown() {
    const KEY: &str = "sk-very-secret-4711";
    let server = SimProcess::start("127.0.0.1:0", &["--api-key", KEY]);
    let (folder, out) = folder();
    let said = run(&server.url, &out, &[]);
    said.assert_refused(SERVER, &["401", "--api-key"]);
    let said = run(&server.url, &out, &["--api-key", "sk-wrong-key-1234"]);
    said.assert_refused(SERVER, &["401", "--api-key"]);
    assert!(!said.stderr.contains("sk-wrong"), "{said:#?}");
    let report = folder.path().join("report.html");
    let launch = format!("serve --auth {KEY} --api-key {KEY}");
    let given = [
        "--api-key",
        KEY,
        "--report",
        report.to_str().unwrap(),
        "--launch-command",
        &launch,
    ];
    let said = run(&server.url, &out, &given);
    assert_eq!(said.status, 0, "{said:#?}");
    assert_nowhere(KEY, &said, folder.path());
}

/// Neither in what was said nor in any file that was written.
fn assert_nowhere(secret: &str, said: &Said, folder: &Path) {
    assert!(!said.stdout.contains(secret), "{said:#?}");
    assert!(!said.stderr.contains(secret), "{said:#?}");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let mut bytes = std::fs::read(&path).unwrap();
        if path.extension().is_some_and(|e| e == "zst") {
            bytes = zstd::decode_all(&bytes[..]).unwrap();
        }
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains(secret), "{} has the key", path.display());
    }
}

/// Answers every request with what `answer` makes of it; the address.
fn answering(answer: impl Fn(&str) -> String + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = Vec::new();
            let mut buffer = [0; 65536];
            // Requests of these tests come in one piece or are not looked at further.
            if let Ok(read) = stream.read(&mut buffer) {
                request.extend_from_slice(&buffer[..read]);
            }
            let text = String::from_utf8_lossy(&request).into_owned();
            stream.write_all(answer(&text).as_bytes()).ok();
        }
    });
    format!("http://{address}")
}

fn http(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

#[test]
fn a_server_that_quotes_the_key_does_not_make_us_show_it() {
    const KEY: &str = "sk-quoted-secret-0815";
    let quote = |request: &str| -> String {
        let line = request
            .lines()
            .find(|l| l.to_ascii_lowercase().starts_with("authorization"));
        line.unwrap_or("no key").to_owned()
    };
    let refused = answering(move |request| {
        let padding = "x".repeat(280);
        http(
            "403 Forbidden",
            "application/json",
            &format!(r#"{{"error":"{padding} {}"}}"#, quote(request)),
        )
    });
    let page = answering(move |request| {
        http(
            "200 OK",
            "text/html",
            &format!("<html><title>{}</title></html>", quote(request)),
        )
    });
    let text = answering(move |request| http("200 OK", "text/plain", &quote(request)));
    let models = r#"{"object":"list","data":[{"id":"m","object":"model","owned_by":"x"}]}"#;
    let generating = answering(move |request| {
        if request.starts_with("GET /v1/models") {
            http("200 OK", "application/json", models)
        } else if request.starts_with("GET") {
            http("404 Not Found", "text/plain", "nothing")
        } else {
            http(
                "400 Bad Request",
                "application/json",
                &format!(r#"{{"error":{{"message":"{}"}}}}"#, quote(request)),
            )
        }
    });
    let streaming = answering(move |request| {
        if request.starts_with("GET /v1/models") {
            http("200 OK", "application/json", models)
        } else if request.starts_with("GET") {
            http("404 Not Found", "text/plain", "nothing")
        } else {
            http(
                "200 OK",
                "text/event-stream",
                &format!("data: you sent {}\n\n", quote(request)),
            )
        }
    });
    for url in [refused, page, text, generating, streaming] {
        let (folder, out) = folder();
        let said = run(&url, &out, &["--api-key", KEY]);
        assert_eq!(said.status, SERVER, "{said:#?}");
        assert_nowhere(KEY, &said, folder.path());
        assert!(!said.stderr.contains("sk-quoted"), "{said:#?}");
        assert!(!out.exists(), "nothing was measured");
    }
}

#[test]
fn answers_that_are_no_models_are_quoted_with_what_to_do() {
    let cases: [(String, &[&str]); 6] = [
        (
            http("200 OK", "text/html", "<html><title>Welcome</title></html>"),
            &["web site", "Welcome"],
        ),
        (
            http("200 OK", "application/json", "{}"),
            &["no OpenAI-compatible server"],
        ),
        (
            http("200 OK", "application/json", r#"{"data":[]}"#),
            &["lists no model"],
        ),
        (
            http("404 Not Found", "text/plain", "nope"),
            &["404", "nope", "in front of /v1"],
        ),
        (
            http(
                "503 Service Unavailable",
                "application/json",
                r#"{"error":"Loading model"}"#,
            ),
            &["not ready yet", "Loading model"],
        ),
        (
            "SSH-2.0-OpenSSH_9.9\r\n".to_owned(),
            &["cannot reach", "HTTP"],
        ),
    ];
    for (answer, words) in cases {
        let url = answering(move |_| answer.clone());
        let (_folder, out) = folder();
        run(&url, &out, &[]).assert_refused(SERVER, words);
        assert!(!out.exists());
    }
}

#[test]
fn the_other_commands_name_the_file_that_is_no_good() {
    let (folder, out) = folder();
    let absent = out.to_str().unwrap();
    say(&["report", absent]).assert_refused(WRONG, &["no such file", absent]);
    say(&["rejudge", absent]).assert_refused(WRONG, &["no such file", absent]);
    std::fs::write(&out, "{}").unwrap();
    say(&["report", absent]).assert_refused(WRONG, &[absent]);
    say(&["rejudge", absent]).assert_refused(WRONG, &[absent]);
    say(&["sim", "--preset", "nothing"]).assert_refused(WRONG, &["glm-5.3-flash"]);
    say(&["sim", "--flat", "1,2"]).assert_refused(WRONG, &["three numbers"]);
    say(&["sim", "--flat", "1,2,3", "--fault", "explode"])
        .assert_refused(WRONG, &["die-mid-stream"]);
    say(&["sim", "--like", absent]).assert_refused(WRONG, &[absent]);
    say(&["run"]).assert_refused(WRONG, &["--url"]);
    say(&["measure"]).assert_refused(WRONG, &["measure"]);
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let inside = file.join("demo");
    say(&["demo", "--out", inside.to_str().unwrap()])
        .assert_refused(WRONG, &["cannot make the folder"]);
    let mut no_key = tokgrid(&["run", "--url", "http://127.0.0.1:9"]);
    no_key.env("TOKGRID_API_KEY", "sk-from-the-environment");
    let said = common::binary::finish(no_key.spawn().unwrap());
    assert!(!said.stderr.contains("sk-from"), "{said:#?}");
}
