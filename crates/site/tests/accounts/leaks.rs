use std::io::Write;
use std::sync::{Arc, Mutex};

use axum::http::{Request, StatusCode};
use testkit::on_both;
use tracing_subscriber::fmt::MakeWriter;

use crate::browser::{Browser, PASSWORD, open, site};

/// Keeps what is logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Log;

    fn make_writer(&self) -> Log {
        self.clone()
    }
}

#[tokio::test]
async fn no_secret_is_logged_at_any_level() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(log.clone())
        .finish();
    // For all threads: the database answers on others.
    tracing::subscriber::set_global_default(subscriber).unwrap();
    on_both(async |url| {
        let site = site(&open(&url).await);
        let ada = Browser::of(&site, "ada").await;
        let first = ada.cookies.borrow()["session"].clone();
        ada.sign_in("ada", "a wrong password").await;
        ada.sign_in("ada", PASSWORD).await;
        let token = ada.token("one").await;
        let bearer = format!("Bearer {token}");
        let run = r#"{"schema":"tokgrid.run/1","id":"r","source":"measured"}"#;
        let upload = Request::post("/api/v1/runs")
            .header("authorization", &bearer)
            .header("content-type", "application/json");
        ada.send(upload, run).await;
        let wrong = "Bearer tg_not-a-token-of-this-site";
        let refused = Request::get("/api/v1/runs/019ad000-0000-7000-8000-000000000001")
            .header("authorization", wrong);
        assert_eq!(ada.send(refused, "").await.status, StatusCode::UNAUTHORIZED);
        let form = [("client_id", "terminal"), ("scope", "read")];
        let device = ada.post("/api/device/code", &form).await.json();
        let new = "another long password";
        ada.post(
            "/account/password",
            &[("old", PASSWORD), ("password", new), ("again", new)],
        )
        .await;

        let said = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        // Every statement is logged at this level: that it is read here is no accident.
        assert!(said.contains("INSERT INTO sessions"), "{said}");
        for secret in [
            PASSWORD,
            "a wrong password",
            new,
            &token,
            &token[3..],
            "not-a-token-of-this-site",
            &first,
            &ada.cookies.borrow()["session"],
            device["device_code"].as_str().unwrap(),
            "$argon2id$",
        ] {
            assert!(!said.contains(secret), "{secret} is in the log");
        }
    })
    .await
    .unwrap();
}
