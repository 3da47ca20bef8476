//! Servers behind TLS, and servers that close connections as they please.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::binary::{Said, folder, read, say};
use document::CellStatus;
use simulator::Simulator;
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

/// A proxy in front of `server` that speaks TLS with a certificate of its own
/// making; its port, and the certificate in a file.
async fn tls_proxy(server: SocketAddr, folder: &Path) -> (u16, PathBuf) {
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let ca = folder.join("ca.pem");
    std::fs::write(&ca, made.cert.pem()).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // A client that does not trust us goes away.
                let Ok(mut client) = acceptor.accept(client).await else {
                    return;
                };
                let mut server = TcpStream::connect(server).await.unwrap();
                copy_bidirectional(&mut client, &mut server).await.ok();
            });
        }
    });
    (port, ca)
}

async fn run(url: String, out: &Path, more: &[&str]) -> Said {
    let mut arguments = vec![
        "run".to_owned(),
        "--plain".to_owned(),
        "--url".to_owned(),
        url,
    ];
    arguments.extend(["--out".to_owned(), out.to_str().unwrap().to_owned()]);
    let plan = [
        "--contexts",
        "512",
        "--concurrency",
        "2",
        "--duration",
        "0.6",
        "--max-output",
        "60",
    ];
    arguments.extend(plan.iter().chain(more).map(|word| (*word).to_owned()));
    let said = move || say(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    tokio::task::spawn_blocking(said).await.unwrap()
}

fn assert_measured(said: &Said, out: &Path) {
    assert_eq!(said.status, 0, "{said:#?}");
    let document = read(out).unwrap();
    assert_eq!(document.cells.len(), 2);
    let is_valid = |cell: &document::Cell| cell.status == CellStatus::Valid;
    assert!(document.cells.iter().all(is_valid), "{document:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_nobody_vouches_for_is_refused_until_it_is_trusted() {
    let server = Simulator::start(common::server()).await.unwrap();
    let (folder, out) = folder();
    let (port, ca) = tls_proxy(server.addr(), folder.path()).await;
    let url = || format!("https://localhost:{port}");
    let said = run(url(), &out, &[]).await;
    let words = [
        "cannot reach https://localhost",
        "TLS",
        "certificate",
        "--ca",
        "--insecure",
    ];
    said.assert_refused(3, &words);
    assert!(!out.exists());

    let ca = ca.to_str().unwrap();
    assert_measured(&run(url(), &out, &["--ca", ca]).await, &out);
    let address = format!("https://127.0.0.1:{port}");
    assert_measured(&run(address, &out, &["--ca", ca, "--force"]).await, &out);
    assert_measured(&run(url(), &out, &["--insecure", "--force"]).await, &out);
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_wrong_scheme_is_said() {
    let server = Simulator::start(common::server()).await.unwrap();
    let (folder, out) = folder();
    let (port, _) = tls_proxy(server.addr(), folder.path()).await;
    let said = run(format!("http://127.0.0.1:{port}"), &out, &[]).await;
    said.assert_refused(3, &["cannot reach", "https://"]);
    let said = run(format!("https://{}", server.addr()), &out, &[]).await;
    said.assert_refused(3, &["cannot reach", "http://"]);
    server.stop().await;
}

/// A proxy that closes a connection after every answer: right after its last
/// byte, unannounced, as servers do whose keep-alive ran out.
async fn closing_proxy(server: SocketAddr, opened: Arc<AtomicUsize>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            opened.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(one_answer(client, server));
        }
    });
    address
}

async fn one_answer(mut client: TcpStream, server: SocketAddr) {
    let mut server = TcpStream::connect(server).await.unwrap();
    let (mut from_client, mut to_client) = client.split();
    let (mut from_server, mut to_server) = server.split();
    let requests = async {
        let mut buffer = [0; 16384];
        while let Ok(read @ 1..) = from_client.read(&mut buffer).await {
            to_server.write_all(&buffer[..read]).await.ok();
        }
    };
    let answer = async {
        let mut buffer = [0; 16384];
        let mut end = Vec::new();
        while let Ok(read @ 1..) = from_server.read(&mut buffer).await {
            to_client.write_all(&buffer[..read]).await.ok();
            end.extend_from_slice(&buffer[..read]);
            if end.ends_with(b"0\r\n\r\n") {
                return;
            }
            end.drain(..end.len().saturating_sub(8));
        }
    };
    tokio::select! {
        () = requests => {}
        () = answer => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_the_server_closes_between_requests_are_opened_again() {
    let server = Simulator::start(common::server()).await.unwrap();
    let opened = Arc::new(AtomicUsize::new(0));
    let address = closing_proxy(server.addr(), Arc::clone(&opened)).await;
    let (_folder, out) = folder();
    let said = run(format!("http://{address}"), &out, &[]).await;
    assert_measured(&said, &out);
    let document = read(&out).unwrap();
    let completed = document.cells[1].completed.unwrap();
    assert!(completed >= 2, "{document:#?}");
    // Each answer took a connection, and none of them broke.
    assert!(opened.load(Ordering::Relaxed) as u64 > completed);
    assert_eq!(document.cells[1].failed, Some(0));
    server.stop().await;
}
