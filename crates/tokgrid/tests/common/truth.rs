//! The server's own account of a run, laid over the client's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use document::{Cell, CellSamples};
use simulator::{RequestTruth, Simulator};

/// How far a figure may lie from the truth. Machines that run tests are busy; a
/// wrong figure is wrong by far more than this.
const ALLOWED_SHARE: f64 = 0.06;

/// What the server truly did, on its own clock.
pub struct Truth {
    pub requests: Vec<RequestTruth>,
    origin_unix_us: u64,
}

impl Truth {
    pub fn of(server: &Simulator) -> Truth {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        Truth {
            origin_unix_us: unix.as_micros() as u64 - server.clock().now_us(),
            requests: server.truth(),
        }
    }

    /// A moment of the cell's clock on the server's, µs.
    pub fn on_server_us(&self, samples: &CellSamples, at_us: u64) -> i64 {
        let shift = samples.clock_origin_unix_us.unwrap() as i64 - self.origin_unix_us as i64;
        at_us as i64 + shift
    }

    /// Tokens a second that the server handed over inside the cell's window.
    pub fn tok_s(&self, samples: &CellSamples) -> f64 {
        let window = samples.window.unwrap();
        let inside = self.on_server_us(samples, window.open_us.0)
            ..self.on_server_us(samples, window.close_us.0);
        let tokens: u32 = self
            .requests
            .iter()
            .flat_map(|request| &request.events)
            .filter(|(at_us, _)| inside.contains(&(*at_us as i64)))
            .map(|(_, tokens)| tokens)
            .sum();
        f64::from(tokens) / window.length_s()
    }

    /// Fails unless the cell's total is what the server handed over.
    pub fn check(&self, what: &str, cell: &Cell, samples: &CellSamples) {
        let truth = self.tok_s(samples);
        let total = cell
            .total_tok_s
            .unwrap_or_else(|| panic!("{what}: no total: {cell:?}"));
        let error = total / truth - 1.0;
        assert!(
            error.abs() < ALLOWED_SHARE,
            "{what}: {total} tok/s, and the server handed over {truth}"
        );
    }
}

/// A request of another client, open as long as what is returned lives.
pub async fn somebody_else(address: std::net::SocketAddr) -> tokio::net::TcpStream {
    use tokio::io::AsyncWriteExt;
    let body = r#"{"model":"flat","prompt":"Good morning","max_tokens":5000,"ignore_eos":true,"stream":true}"#;
    let head = format!(
        "POST /v1/completions HTTP/1.1\r\nhost: other\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(body.as_bytes()).await.unwrap();
    stream
}
