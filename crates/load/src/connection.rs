//! One HTTP/1.1 connection, driven by the task that uses it, with the time of
//! each read and write beside it.
//!
//! The driver of hyper is polled by the reading task itself rather than spawned:
//! a byte is stamped, parsed and judged without a switch of tasks in between.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use document::Micros;
use http_body::{Body, Frame};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use crate::clock::RunClock;
use crate::target::Target;

/// A server that does not complete a connection in this time is not there.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Nobody listens, or the way there is closed.
    #[error("{}", io_words(.0))]
    Socket(io::Error),
    /// No answer to the attempt.
    #[error("no answer within {} s", CONNECT_TIMEOUT.as_secs())]
    Silent,
    /// TLS failed.
    #[error("TLS failed: {0} ({advice})", advice = tls_advice(.0))]
    Tls(io::Error),
    /// Not an HTTP server.
    #[error("the HTTP connection failed: {0}")]
    Http(#[from] hyper::Error),
}

fn io_words(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::ConnectionRefused {
        "connection refused: nothing listens there".to_owned()
    } else {
        error.to_string()
    }
}

/// What to do about a TLS error.
fn tls_advice(error: &io::Error) -> &'static str {
    use tokio_rustls::rustls::Error;
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(Error::InvalidMessage(_)) => {
            "what answers does not speak TLS: is the address http:// rather than https://?"
        }
        Some(_) | None => {
            "trust a private certificate with --ca FILE, or skip the check with --insecure"
        }
    }
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

type Driver = http1::Connection<TokioIo<Box<dyn Stream>>, Full<Bytes>>;

/// When bytes last went out and came in.
#[derive(Debug, Default)]
struct Stamps {
    read_us: AtomicU64,
    written_us: AtomicU64,
}

/// An open connection.
pub struct Connection {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: Option<Pin<Box<Driver>>>,
    stamps: Arc<Stamps>,
    /// When connecting began.
    pub began_us: Micros,
    /// When the connection stood, TLS included.
    pub stood_us: Micros,
}

impl Connection {
    /// Connects to the first address that answers.
    ///
    /// # Errors
    /// [`ConnectError`] of the last address tried.
    pub async fn open(
        target: &Target,
        addresses: &[SocketAddr],
        clock: RunClock,
    ) -> Result<Connection, ConnectError> {
        let began_us = clock.now();
        let stamps = Arc::new(Stamps::default());
        let tcp = dial(addresses).await?;
        tcp.set_nodelay(true).map_err(ConnectError::Socket)?;
        let stamped = StampedIo {
            tcp,
            clock,
            stamps: Arc::clone(&stamps),
        };
        let stream: Box<dyn Stream> = match &target.tls {
            None => Box::new(stamped),
            Some((connector, name)) => {
                let handshake = connector.connect(name.clone(), stamped);
                let tls = tokio::time::timeout(CONNECT_TIMEOUT, handshake)
                    .await
                    .map_err(|_| ConnectError::Silent)?;
                Box::new(tls.map_err(ConnectError::Tls)?)
            }
        };
        let (sender, driver) = http1::handshake(TokioIo::new(stream)).await?;
        Ok(Connection {
            sender,
            driver: Some(Box::pin(driver)),
            stamps,
            began_us,
            stood_us: clock.now(),
        })
    }

    /// Arrival of the bytes read last.
    #[must_use]
    pub fn read_us(&self) -> Micros {
        Micros(self.stamps.read_us.load(Ordering::Relaxed))
    }

    /// When bytes were written last.
    #[must_use]
    pub fn written_us(&self) -> Micros {
        Micros(self.stamps.written_us.load(Ordering::Relaxed))
    }

    /// Whether this connection has carried an answer before.
    #[must_use]
    pub fn has_answered(&self) -> bool {
        self.read_us() > Micros(0)
    }

    /// Sends a request and waits for the head of its answer.
    pub async fn send(
        &mut self,
        request: http::Request<Full<Bytes>>,
    ) -> Result<http::Response<Incoming>, hyper::Error> {
        let mut answer = Box::pin(self.sender.send_request(request));
        let driver = &mut self.driver;
        std::future::poll_fn(|context| {
            drive(driver, context);
            answer.as_mut().poll(context)
        })
        .await
    }

    /// The next frame of an answer; `None` at its end.
    pub async fn frame(
        &mut self,
        body: &mut Incoming,
    ) -> Option<Result<Frame<Bytes>, hyper::Error>> {
        std::future::poll_fn(|context| {
            drive(&mut self.driver, context);
            Pin::new(&mut *body).poll_frame(context)
        })
        .await
    }

    /// Whether the connection can take another request. Notices a server that
    /// closed it in the meantime.
    pub async fn is_ready(&mut self) -> bool {
        let mut ready = Box::pin(self.sender.ready());
        let driver = &mut self.driver;
        std::future::poll_fn(|context| {
            drive(driver, context);
            match (ready.as_mut().poll(context), driver.is_some()) {
                (Poll::Ready(result), is_open) => Poll::Ready(result.is_ok() && is_open),
                (Poll::Pending, true) => Poll::Pending,
                (Poll::Pending, false) => Poll::Ready(false),
            }
        })
        .await
    }
}

/// Polls the driver; a finished one is dropped. Its error reaches whoever waits
/// for the answer or its body.
fn drive(driver: &mut Option<Pin<Box<Driver>>>, context: &mut Context<'_>) {
    if let Some(running) = driver
        && running.as_mut().poll(context).is_ready()
    {
        *driver = None;
    }
}

async fn dial(addresses: &[SocketAddr]) -> Result<TcpStream, ConnectError> {
    let mut last = ConnectError::Silent;
    for address in addresses {
        match tokio::time::timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await {
            Ok(Ok(tcp)) => return Ok(tcp),
            Ok(Err(error)) => last = ConnectError::Socket(error),
            Err(_) => last = ConnectError::Silent,
        }
    }
    Err(last)
}

/// A socket that notes when it is read and written: below TLS and HTTP, where
/// the kernel's own receive time belongs too.
struct StampedIo {
    tcp: TcpStream,
    clock: RunClock,
    stamps: Arc<Stamps>,
}

impl AsyncRead for StampedIo {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.tcp).poll_read(context, buffer);
        if buffer.filled().len() > before {
            self.stamps
                .read_us
                .store(self.clock.now().0, Ordering::Relaxed);
        }
        result
    }
}

impl AsyncWrite for StampedIo {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.tcp).poll_write(context, bytes);
        if matches!(result, Poll::Ready(Ok(_))) {
            self.stamps
                .written_us
                .store(self.clock.now().0, Ordering::Relaxed);
        }
        result
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.tcp).poll_write_vectored(context, slices);
        if matches!(result, Poll::Ready(Ok(_))) {
            self.stamps
                .written_us
                .store(self.clock.now().0, Ordering::Relaxed);
        }
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }
}
