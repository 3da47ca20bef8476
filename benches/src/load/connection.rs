//! One connection that is kept: a request out, the whole answer in. Blocking, so that
//! what is measured is the server and not a scheduler here.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::{Context, bail};

/// Longest wait for bytes.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// The buffer to begin with, bytes; it grows with the answers.
const BUFFER_BYTES: usize = 256 * 1024;
/// Longest answer that is read, bytes.
const ANSWER_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Header fields of an answer.
const HEADERS_MAX: usize = 64;

/// An answer, whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer<'connection> {
    /// The status.
    pub status: u16,
    /// The body, as it came.
    pub body: &'connection [u8],
}

/// A connection to the site.
#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    host: String,
    request: Vec<u8>,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// When nobody listens.
    pub fn open(address: SocketAddr) -> anyhow::Result<Connection> {
        let stream =
            TcpStream::connect(address).with_context(|| format!("cannot reach {address}"))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(READ_TIMEOUT))?;
        Ok(Connection {
            stream,
            host: address.to_string(),
            request: Vec::new(),
            buffer: vec![0; BUFFER_BYTES],
        })
    }

    /// Asks for a page, uncompressed, and reads all of it.
    ///
    /// # Errors
    /// When the connection breaks or what comes is no answer with a known length.
    pub fn get(&mut self, path: &str) -> anyhow::Result<Answer<'_>> {
        self.request.clear();
        write!(
            self.request,
            "GET {path} HTTP/1.1\r\nhost: {}\r\naccept-language: en\r\n\r\n",
            self.host
        )?;
        self.stream.write_all(&self.request)?;
        let mut filled = 0;
        loop {
            filled += self.read_more(filled)?;
            let Some(head) = Head::read(&self.buffer[..filled])? else {
                continue;
            };
            let whole = head.bytes + head.body_bytes;
            if whole > self.buffer.len() {
                anyhow::ensure!(whole <= ANSWER_BYTES_MAX, "an answer of {whole} bytes");
                self.buffer.resize(whole, 0);
            }
            self.stream
                .read_exact(&mut self.buffer[filled.min(whole)..whole])?;
            anyhow::ensure!(filled <= whole, "bytes after the answer");
            return Ok(Answer {
                status: head.status,
                body: &self.buffer[head.bytes..whole],
            });
        }
    }

    fn read_more(&mut self, filled: usize) -> anyhow::Result<usize> {
        anyhow::ensure!(filled < self.buffer.len(), "a head without an end");
        let read = self.stream.read(&mut self.buffer[filled..])?;
        if read == 0 {
            bail!("the server closed the connection");
        }
        Ok(read)
    }
}

/// What the head of an answer says.
struct Head {
    status: u16,
    bytes: usize,
    body_bytes: usize,
}

impl Head {
    /// `None` while it is not all there.
    fn read(buffer: &[u8]) -> anyhow::Result<Option<Head>> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(bytes) = response.parse(buffer)? else {
            return Ok(None);
        };
        let length = response
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case("content-length"))
            .and_then(|header| std::str::from_utf8(header.value).ok()?.parse().ok());
        Ok(Some(Head {
            status: response.code.context("an answer without a status")?,
            bytes,
            body_bytes: length.context("an answer without a content-length")?,
        }))
    }
}
