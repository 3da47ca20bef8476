//! Server-sent events, decoded from chunks of bytes split anywhere.
//!
//! Follows the [event stream format](https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream)
//! of the HTML standard, with two departures that a client of inference servers
//! needs: `id` belongs to the event that carried it instead of lasting, and an
//! event has a limit on its size.

use memchr::memchr2;

/// Largest event accepted, in bytes of its lines, unless
/// [`SseDecoder::with_limit`] says otherwise. A token takes a few hundred bytes;
/// the largest honest events are log-probabilities over a whole vocabulary.
pub const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// One dispatched event, borrowed from the chunk or from the decoder's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SseEvent<'a> {
    /// The `data:` lines, joined by a line feed. Bytes, because a server may
    /// send anything; JSON parsers check UTF-8 themselves.
    pub data: &'a [u8],
    /// The last `event:` line, if there was one.
    pub event: Option<&'a [u8]>,
    /// The last `id:` line of this event, if there was one.
    pub id: Option<&'a [u8]>,
    /// The last valid `retry:` line of this event, ms.
    pub retry_ms: Option<u64>,
}

/// Why a stream cannot be decoded further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SseError {
    /// One event (or comment line) is longer than the limit.
    #[error("one event of the stream is larger than the limit of {limit_bytes} bytes")]
    EventTooLarge {
        /// The limit that was reached, bytes.
        limit_bytes: usize,
    },
}

/// How a stream stood when its bytes ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEnd {
    /// Between events.
    Clean,
    /// In the middle of an event, which is discarded as the standard asks.
    HalfEvent {
        /// Bytes of the event's lines that had arrived.
        bytes: usize,
    },
}

/// Turns chunks of bytes into events.
///
/// A carriage return ends a line at once, without waiting to see whether a line
/// feed follows: an event must not be held back until the next bytes arrive.
///
/// ```
/// let mut decoder = wire::SseDecoder::new();
/// let mut seen = Vec::new();
/// decoder.feed(b": ping\n\ndata: a\n", |event| seen.push(event.data.to_vec()))?;
/// decoder.feed(b"data: b\n\n", |event| seen.push(event.data.to_vec()))?;
/// assert_eq!(seen, [b"a\nb"]);
/// # Ok::<(), wire::sse::SseError>(())
/// ```
#[derive(Debug, Clone)]
pub struct SseDecoder {
    limit_bytes: usize,
    /// The beginning of a line whose end has not arrived.
    line: Vec<u8>,
    event: EventBuffers,
    /// The last byte was a carriage return, so a line feed now ends nothing.
    after_cr: bool,
    bom: Bom,
    failed: Option<SseError>,
}

/// Where the optional UTF-8 byte order mark stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bom {
    /// No complete line yet: the first line may begin with it.
    Possible,
    Past,
}

/// What is kept of an event between its first line and its blank line.
#[derive(Debug, Clone, Default)]
struct EventBuffers {
    data: Vec<u8>,
    has_data: bool,
    event: Vec<u8>,
    has_event: bool,
    id: Vec<u8>,
    has_id: bool,
    retry_ms: Option<u64>,
    /// Bytes of lines so far, for the limit and for [`StreamEnd::HalfEvent`].
    bytes: usize,
}

impl Default for SseDecoder {
    fn default() -> Self {
        Self::new()
    }
}

impl SseDecoder {
    /// A decoder at the beginning of a stream, with [`MAX_EVENT_BYTES`].
    #[must_use]
    pub fn new() -> Self {
        Self::with_limit(MAX_EVENT_BYTES)
    }

    /// A decoder that refuses events of more than `limit_bytes` bytes.
    #[must_use]
    pub fn with_limit(limit_bytes: usize) -> Self {
        Self {
            limit_bytes,
            line: Vec::new(),
            event: EventBuffers::default(),
            after_cr: false,
            bom: Bom::Possible,
            failed: None,
        }
    }

    /// Decodes `chunk`, calling `on_event` for each event that it completes.
    ///
    /// An event that lies whole in `chunk` with one `data` line is borrowed from
    /// it; others go through a buffer that is kept and reused.
    ///
    /// # Errors
    ///
    /// [`SseError::EventTooLarge`], after the events before the large one were
    /// handed over. The decoder then stays failed.
    pub fn feed(
        &mut self,
        chunk: &[u8],
        mut on_event: impl FnMut(SseEvent<'_>),
    ) -> Result<(), SseError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let result = self.decode(chunk, &mut on_event);
        self.failed = result.err();
        result
    }

    /// Tells whether half an event was left when the bytes ended.
    #[must_use]
    pub fn finish(self) -> StreamEnd {
        // A comment cut short takes nothing away.
        let comment = self.line.first() == Some(&b':');
        let line_bytes = if comment { 0 } else { self.line.len() };
        match self.event.bytes + line_bytes {
            0 => StreamEnd::Clean,
            bytes => StreamEnd::HalfEvent { bytes },
        }
    }

    fn decode(
        &mut self,
        chunk: &[u8],
        on_event: &mut impl FnMut(SseEvent<'_>),
    ) -> Result<(), SseError> {
        let mut rest = chunk;
        // Data that is still in `chunk` and was not copied yet.
        let mut borrowed: Option<&[u8]> = None;
        while !rest.is_empty() {
            if self.after_cr {
                self.after_cr = false;
                if let Some(after) = rest.strip_prefix(b"\n") {
                    rest = after;
                    continue;
                }
            }
            let Some(end) = memchr2(b'\n', b'\r', rest) else {
                self.line.extend_from_slice(rest);
                self.check_limit(self.line.len())?;
                break;
            };
            let (line, after) = (&rest[..end], &rest[end + 1..]);
            self.after_cr = rest[end] == b'\r';
            rest = after;
            self.check_limit(self.line.len() + line.len())?;
            if self.line.is_empty() {
                let line = self.without_bom(line);
                self.event.line(line, &mut borrowed, on_event);
            } else {
                self.line.extend_from_slice(line);
                let carried = std::mem::take(&mut self.line);
                let whole = self.without_bom(&carried);
                // The carried line does not outlive this turn: data goes to the buffer.
                self.event.keep(&mut borrowed);
                let mut of_line = None;
                self.event.line(whole, &mut of_line, on_event);
                self.event.keep(&mut of_line);
                self.line = carried;
                self.line.clear();
            }
        }
        self.event.keep(&mut borrowed);
        Ok(())
    }

    fn without_bom<'l>(&mut self, line: &'l [u8]) -> &'l [u8] {
        if self.bom == Bom::Past {
            return line;
        }
        self.bom = Bom::Past;
        line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line)
    }

    fn check_limit(&self, line_bytes: usize) -> Result<(), SseError> {
        if self.event.bytes + line_bytes > self.limit_bytes {
            return Err(SseError::EventTooLarge {
                limit_bytes: self.limit_bytes,
            });
        }
        Ok(())
    }
}

impl EventBuffers {
    /// Copies data that is about to outlive its chunk.
    fn keep(&mut self, borrowed: &mut Option<&[u8]>) {
        if let Some(data) = borrowed.take() {
            self.data.extend_from_slice(data);
        }
    }

    /// Takes in one whole line; `borrowed` holds the event's data while it is
    /// one line that lies in the chunk.
    fn line<'c>(
        &mut self,
        line: &'c [u8],
        borrowed: &mut Option<&'c [u8]>,
        on_event: &mut impl FnMut(SseEvent<'_>),
    ) {
        if line.is_empty() {
            self.dispatch(borrowed.take(), on_event);
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(0) => return,
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        self.bytes += line.len();
        match field {
            b"data" if !self.has_data => {
                self.has_data = true;
                *borrowed = Some(value);
            }
            b"data" => {
                self.keep(borrowed);
                self.data.push(b'\n');
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.has_event = true;
                replace(&mut self.event, value);
            }
            b"id" if !value.contains(&0) => {
                self.has_id = true;
                replace(&mut self.id, value);
            }
            b"retry" => self.retry_ms = digits(value).or(self.retry_ms),
            // The standard: any other field is ignored.
            _ => {}
        }
    }

    /// The blank line: hands the event over, if it had data, and starts anew.
    fn dispatch(&mut self, borrowed: Option<&[u8]>, on_event: &mut impl FnMut(SseEvent<'_>)) {
        if self.has_data {
            on_event(SseEvent {
                data: borrowed.unwrap_or(&self.data),
                event: self.has_event.then_some(self.event.as_slice()),
                id: self.has_id.then_some(self.id.as_slice()),
                retry_ms: self.retry_ms,
            });
        }
        self.data.clear();
        self.has_data = false;
        self.has_event = false;
        self.has_id = false;
        self.retry_ms = None;
        self.bytes = 0;
    }
}

fn replace(buffer: &mut Vec<u8>, value: &[u8]) {
    buffer.clear();
    buffer.extend_from_slice(value);
}

/// A `retry` value: ASCII digits only, as the standard asks.
fn digits(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(value).ok()?.parse().ok()
}
