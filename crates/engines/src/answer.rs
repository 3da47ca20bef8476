//! Requests to make and the replies to them, without a socket.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use wire::prometheus::Exposition;

/// A `GET` worth trying.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProbeRequest {
    /// The path, from the server's root.
    pub path: &'static str,
    /// Without a reply to this one there is nothing to measure; the others only
    /// tell more.
    pub is_required: bool,
}

/// A `POST` with a JSON body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostRequest {
    /// The path, from the server's root, with its query.
    pub path: String,
    /// The JSON body.
    pub body: Vec<u8>,
}

/// What a server replied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The `content-type` header.
    pub content_type: Option<String>,
    /// The body, decoded from any transfer or content encoding.
    pub body: Vec<u8>,
}

/// Replies by path. A path that got none, because the connection failed or
/// nobody asked, is absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers(BTreeMap<String, Answer>);

impl Answer {
    /// A reply of status 200.
    #[must_use]
    pub fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, body)
    }

    /// A reply without a content type.
    #[must_use]
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            content_type: None,
            body: body.into(),
        }
    }

    /// Whether the status says success.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Whether a web page came, by its header or its beginning.
    #[must_use]
    pub fn is_html(&self) -> bool {
        let declared = self.content_type.as_deref().unwrap_or_default();
        declared
            .trim_start()
            .to_ascii_lowercase()
            .starts_with("text/html")
            || wire::prometheus::looks_like_html(&self.text())
    }

    /// What the reply says, in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        wire::error_body::sentence(&self.body)
    }

    pub(crate) fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }
}

impl Answers {
    /// Nothing asked yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Keeps the reply to a path.
    pub fn insert(&mut self, path: impl Into<String>, answer: Answer) {
        self.0.insert(path.into(), answer);
    }

    /// The reply to a path.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Answer> {
        self.0.get(path)
    }

    /// The JSON of a successful reply, if it has that shape.
    pub(crate) fn json<T: DeserializeOwned>(&self, path: &str) -> Option<T> {
        let answer = self.get(path).filter(|answer| answer.is_success())?;
        serde_json::from_slice(&answer.body).ok()
    }

    /// The text of a successful reply.
    pub(crate) fn success_text(&self, path: &str) -> Option<Cow<'_, str>> {
        self.get(path)
            .filter(|answer| answer.is_success())
            .map(Answer::text)
    }

    /// Why there are no metrics at a path, `None` if there are.
    pub(crate) fn why_no_metrics(&self, path: &str) -> Option<String> {
        let Some(answer) = self.get(path) else {
            return Some(format!("GET {path} got no reply"));
        };
        if !answer.is_success() {
            return Some(format!(
                "GET {path} answered {}: {}",
                answer.status,
                answer.sentence()
            ));
        }
        match Exposition::read(&answer.text()) {
            Ok(read) if read.samples.is_empty() => Some(format!("GET {path} answered no metrics")),
            Ok(_) => None,
            Err(error) => Some(format!("GET {path}: {error}")),
        }
    }
}

impl<P: Into<String>> FromIterator<(P, Answer)> for Answers {
    fn from_iter<I: IntoIterator<Item = (P, Answer)>>(answers: I) -> Self {
        Self(
            answers
                .into_iter()
                .map(|(path, answer)| (path.into(), answer))
                .collect(),
        )
    }
}
