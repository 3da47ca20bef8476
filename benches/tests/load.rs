//! What the load generator measures and refuses.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use benches::load::{Connection, Pace, Target, run};

/// Answers every request on every connection, each by what `answer` makes of its path.
fn server(answer: fn(&str) -> Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            thread::spawn(move || serve(&stream, answer));
        }
    });
    address
}

fn serve(mut stream: &TcpStream, answer: fn(&str) -> Vec<u8>) {
    let mut lines = BufReader::new(stream).lines();
    while let Some(Ok(line)) = lines.next() {
        let path = line.split(' ').nth(1).unwrap_or_default().to_owned();
        while lines
            .next()
            .is_some_and(|line| !line.unwrap_or_default().is_empty())
        {}
        if stream.write_all(&answer(&path)).is_err() {
            return;
        }
    }
}

fn page(status: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

fn target(path: &str, class: usize) -> Target {
    Target {
        path: path.to_owned(),
        class,
        holds: Some("cell".to_owned()),
        lacks: None,
    }
}

fn pace(rate_per_s: f64, connections: usize) -> Pace {
    Pace {
        rate_per_s,
        duration: Duration::from_millis(200),
        connections,
    }
}

#[test]
fn every_request_is_sent_once_and_counted_in_its_class() {
    let address = server(|path| page("200 OK", &format!("cell of {path}")));
    let targets = [target("/a", 0), target("/b", 0), target("/c", 1)];
    let measured = run(address, &targets, pace(300.0, 4)).unwrap();
    assert_eq!((measured.wrong, measured.unsent), (0, 0));
    let counts: Vec<u64> = measured
        .latencies_us
        .iter()
        .map(|class| class.len())
        .collect();
    assert_eq!(counts, [40, 20]);
    assert_eq!(measured.body_bytes_mean(), "cell of /a".len() as u64);
    assert_eq!(measured.all_us().unwrap().len(), measured.answered());
}

#[test]
fn answers_that_are_wrong_are_not_measured_but_counted_and_shown() {
    let address = server(|path| match path {
        "/error" => page("500 Internal Server Error", "cell"),
        "/limited" => page("429 Too Many Requests", "cell"),
        "/other" => page("200 OK", "something else"),
        "/broken" => b"HTTP/1.1 200 OK\r\n\r\ncell".to_vec(),
        _ => page("200 OK", ""),
    });
    for (path, why) in [
        ("/error", "answered 500"),
        ("/limited", "answered 429"),
        ("/other", "has no cell"),
        ("/broken", "without a content-length"),
        ("/empty", "answered nothing"),
    ] {
        let measured = run(address, &[target(path, 0)], pace(20.0, 1)).unwrap();
        assert_eq!((measured.answered(), measured.wrong), (0, 4), "{path}");
        assert!(
            measured.wrong_shown[0].contains(why),
            "{:?}",
            measured.wrong_shown
        );
    }
}

#[test]
fn what_must_not_be_there_is_an_objection() {
    let address = server(|_| page("200 OK", "a cell that nobody asked for"));
    let target = Target {
        lacks: Some("cell"),
        holds: None,
        ..target("/", 0)
    };
    let mut connection = Connection::open(address).unwrap();
    let answer = connection.get("/").unwrap();
    assert!(
        target
            .objection(&answer)
            .unwrap()
            .contains("nothing matches")
    );
}

#[test]
fn a_latency_begins_when_the_request_was_due() {
    // One connection and answers that take 20 ms, asked for every 5 ms: each request
    // is sent 15 ms later after it was due than the one before.
    let address = server(|_| {
        let until = std::time::Instant::now() + Duration::from_millis(20);
        while std::time::Instant::now() < until {
            std::hint::spin_loop();
        }
        page("200 OK", "cell")
    });
    let measured = run(address, &[target("/", 0)], pace(200.0, 1)).unwrap();
    assert!(!measured.is_sustained());
    let last_ms = measured.all_us().unwrap().max() as f64 / 1e3;
    assert!(last_ms >= 150.0, "{last_ms} ms");
}

#[test]
fn an_answer_longer_than_the_buffer_is_read_whole() {
    let address = server(|_| page("200 OK", &"cell ".repeat(200_000)));
    let mut connection = Connection::open(address).unwrap();
    for _ in 0..2 {
        assert_eq!(connection.get("/").unwrap().body.len(), 1_000_000);
    }
}
