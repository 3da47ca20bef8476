//! Short requests: probes, metrics, tokenizing. One kept connection.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, HOST, HeaderValue};
use http::{Method, Request};
use http_body_util::Full;

use crate::clock::RunClock;
use crate::connection::{ConnectError, Connection};
use crate::target::Target;

/// The largest answer kept: a million token ids take about 8 MB.
const MAX_ANSWER_BYTES: usize = 128 << 20;

/// What a server answered to a short request.
#[derive(Debug, Clone)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// `Content-Type`, empty where absent.
    pub content_type: String,
    /// The body, whole.
    pub body: Bytes,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Not connected.
    #[error(transparent)]
    Connect(#[from] ConnectError),
    /// The exchange broke off.
    #[error("{}", broke_words(.0))]
    Broke(#[from] hyper::Error),
    /// No answer.
    #[error("no answer within {0:?}")]
    Silent(Duration),
    /// Larger than anything we ask for.
    #[error("the answer is larger than {} MiB", MAX_ANSWER_BYTES >> 20)]
    TooLarge,
}

fn broke_words(error: &hyper::Error) -> String {
    if error.is_parse() {
        format!(
            "what answers does not speak HTTP ({error}): is the address https:// rather than http://?"
        )
    } else {
        format!("the connection broke off: {error}")
    }
}

/// Sends short requests to one server.
pub struct Client {
    target: Target,
    addresses: Vec<SocketAddr>,
    clock: RunClock,
    kept: Option<Connection>,
}

impl Client {
    /// A client; connects on first use.
    #[must_use]
    pub fn new(target: Target, addresses: Vec<SocketAddr>, clock: RunClock) -> Client {
        Client {
            target,
            addresses,
            clock,
            kept: None,
        }
    }

    /// `GET path`.
    pub async fn get(&mut self, path: &str, patience: Duration) -> Result<Answer, ClientError> {
        self.exchange(Method::GET, path, Bytes::new(), patience)
            .await
    }

    /// `POST path` with a JSON body.
    pub async fn post(
        &mut self,
        path: &str,
        body: Bytes,
        patience: Duration,
    ) -> Result<Answer, ClientError> {
        self.exchange(Method::POST, path, body, patience).await
    }

    async fn exchange(
        &mut self,
        method: Method,
        path: &str,
        body: Bytes,
        patience: Duration,
    ) -> Result<Answer, ClientError> {
        let attempt = self.exchange_once(method.clone(), path, body.clone());
        match tokio::time::timeout(patience, attempt).await {
            Err(_) => {
                self.kept = None;
                Err(ClientError::Silent(patience))
            }
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err((ClientError::Broke(_), true))) => {
                // A kept connection that the server closed in the meantime.
                let again = self.exchange_once(method, path, body);
                match tokio::time::timeout(patience, again).await {
                    Ok(result) => result.map_err(|(error, _)| error),
                    Err(_) => {
                        self.kept = None;
                        Err(ClientError::Silent(patience))
                    }
                }
            }
            Ok(Err((error, _))) => Err(error),
        }
    }

    /// One attempt; an error says whether it happened on a kept connection.
    async fn exchange_once(
        &mut self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<Answer, (ClientError, bool)> {
        let kept = match self.kept.take() {
            Some(mut connection) => connection.is_ready().await.then_some(connection),
            None => None,
        };
        let was_kept = kept.is_some();
        let mut connection = match kept {
            Some(connection) => connection,
            None => Connection::open(&self.target, &self.addresses, self.clock)
                .await
                .map_err(|error| (error.into(), false))?,
        };
        let request = request(&self.target, method, path, body);
        let response = connection
            .send(request)
            .await
            .map_err(|error| (error.into(), was_kept))?;
        let (head, mut incoming) = response.into_parts();
        let mut whole = BytesMut::new();
        while let Some(frame) = connection.frame(&mut incoming).await {
            let frame = frame.map_err(|error| (error.into(), was_kept))?;
            if let Ok(data) = frame.into_data() {
                if whole.len() + data.len() > MAX_ANSWER_BYTES {
                    return Err((ClientError::TooLarge, was_kept));
                }
                whole.extend_from_slice(&data);
            }
        }
        self.kept = Some(connection);
        let content_type = head.headers.get(CONTENT_TYPE).and_then(|v| v.to_str().ok());
        Ok(Answer {
            status: head.status.as_u16(),
            content_type: content_type.unwrap_or_default().to_owned(),
            body: whole.freeze(),
        })
    }
}

/// A request with the headers that every request of ours has.
pub(crate) fn request(
    target: &Target,
    method: Method,
    path: &str,
    body: Bytes,
) -> Request<Full<Bytes>> {
    let is_post = method == Method::POST;
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = method;
    // A path that came from a checked URL and our own constants is always a URI.
    *request.uri_mut() = format!("{}{path}", target.root).parse().unwrap_or_default();
    let headers = request.headers_mut();
    if let Ok(host) = HeaderValue::from_str(&target.authority()) {
        headers.insert(HOST, host);
    }
    headers.insert(
        http::header::USER_AGENT,
        HeaderValue::from_static(USER_AGENT),
    );
    if is_post {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    headers.extend(target.headers.clone());
    request
}

const USER_AGENT: &str = concat!("tokgrid/", env!("CARGO_PKG_VERSION"));
