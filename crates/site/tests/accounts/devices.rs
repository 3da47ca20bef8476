use axum::Router;
use axum::http::StatusCode;
use testkit::on_both;

use crate::browser::{Answer, Browser, key_of, open, site};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

fn terminal(site: &Router) -> Browser {
    Browser {
        origin: None,
        ..Browser::new(site)
    }
}

/// Device code and user code.
async fn ask(terminal: &Browser) -> (String, String) {
    let form = [("client_id", "tokgrid on bench"), ("scope", "publish")];
    let answer = terminal.post("/api/device/code", &form).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
    let said = answer.json();
    assert_eq!(said["verification_uri"], "http://site.example/device");
    assert_eq!(
        (&said["expires_in"], &said["interval"]),
        (&900.into(), &5.into())
    );
    let text = |name: &str| said[name].as_str().unwrap().to_owned();
    (text("device_code"), text("user_code"))
}

async fn poll(terminal: &Browser, code: &str) -> Answer {
    let form = [("grant_type", GRANT), ("device_code", code)];
    terminal.post("/api/device/token", &form).await
}

#[tokio::test]
async fn a_terminal_gets_its_token_once_after_its_owner_approved() {
    on_both(async |url| {
        let store = open(&url).await;
        let site = site(&store);
        let (ada, terminal) = (Browser::of(&site, "ada").await, terminal(&site));
        let (code, user_code) = ask(&terminal).await;
        let pending = poll(&terminal, &code).await;
        assert_eq!(pending.status, StatusCode::BAD_REQUEST);
        assert_eq!(pending.json()["error"], "authorization_pending");
        assert_eq!(poll(&terminal, &code).await.json()["error"], "slow_down");

        let link = ada.get(&format!("/device?user_code={user_code}")).await;
        assert!(link.text.contains(&user_code) && !link.text.contains("tokgrid on bench"));
        let typed = user_code.replace('-', " ").to_lowercase();
        let page = ada.post("/device", &[("user_code", &typed)]).await;
        assert!(
            page.text
                .contains("“tokgrid on bench” asks for a token of the account ada")
        );
        assert!(
            page.text.contains("Publish and delete runs"),
            "{}",
            page.text
        );
        assert!(
            !page.text.contains("Read what this account sees"),
            "{}",
            page.text
        );
        let form = [("user_code", user_code.as_str()), ("answer", "yes")];
        assert_eq!(
            ada.post("/device/answer", &form).await.status,
            StatusCode::OK
        );

        let got = poll(&terminal, &code).await;
        assert_eq!(
            (got.status, &got.json()["token_type"]),
            (StatusCode::OK, &"Bearer".into())
        );
        assert_eq!(got.headers["cache-control"], "no-store");
        assert!(
            got.json()["access_token"]
                .as_str()
                .unwrap()
                .starts_with("tg_")
        );
        let kept = store.tokens(key_of(&store, "ada").await).await.unwrap();
        assert_eq!(kept.len(), 1);
        assert!(kept[0].may_publish && !kept[0].may_read);
        assert_eq!(
            poll(&terminal, &code).await.json()["error"],
            "expired_token"
        );
        let again = ada.post("/device/answer", &form).await;
        assert_eq!(again.status, StatusCode::UNPROCESSABLE_ENTITY);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_terminal_that_is_refused_unknown_or_late_gets_none() {
    on_both(async |url| {
        let store = open(&url).await;
        let site = site(&store);
        let (ada, terminal) = (Browser::of(&site, "ada").await, terminal(&site));
        let (code, user_code) = ask(&terminal).await;
        let form = [("user_code", user_code.as_str()), ("answer", "no")];
        assert_eq!(
            ada.post("/device/answer", &form).await.status,
            StatusCode::OK
        );
        assert_eq!(
            poll(&terminal, &code).await.json()["error"],
            "access_denied"
        );
        assert_eq!(
            poll(&terminal, "nothing").await.json()["error"],
            "expired_token"
        );

        let late = store::NewDeviceRequest {
            sha256: "hash",
            user_code: "BCDFGHJK",
            client: "late",
            may_read: true,
            may_publish: false,
            interval_s: 5,
            now_ms: 1_000,
            expires_at_ms: 2_000,
        };
        assert!(store.open_device_request(late).await.unwrap());
        assert!(
            store
                .device_request("BCDFGHJK", 1_999)
                .await
                .unwrap()
                .is_some()
        );
        let page = ada.post("/device", &[("user_code", "BCDF-GHJK")]).await;
        assert!(
            page.text.contains("No terminal waits with this code."),
            "{}",
            page.text
        );
        let expired = store
            .poll_device_request("hash", "token", 2_000)
            .await
            .unwrap();
        assert_eq!(expired, store::DevicePoll::Expired);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn what_is_no_device_request_is_told_why() {
    on_both(async |url| {
        let terminal = terminal(&site(&open(&url).await));
        for (form, error) in [
            (vec![("scope", "publish")], "invalid_request"),
            (vec![("client_id", "x")], "invalid_scope"),
            (
                vec![("client_id", "x"), ("scope", "publish everything")],
                "invalid_scope",
            ),
        ] {
            let answer = terminal.post("/api/device/code", &form).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST);
            assert_eq!(answer.json()["error"], error);
        }
        let answer = terminal
            .post("/api/device/token", &[("grant_type", "password")])
            .await;
        assert_eq!(answer.json()["error"], "unsupported_grant_type");
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn two_polls_at_once_get_one_token() {
    on_both(async |url| {
        let store = open(&url).await;
        let site = site(&store);
        let (ada, terminal) = (Browser::of(&site, "ada").await, terminal(&site));
        let (code, user_code) = ask(&terminal).await;
        let form = [("user_code", user_code.as_str()), ("answer", "yes")];
        ada.post("/device/answer", &form).await;
        let (one, other) =
            futures_util::future::join(poll(&terminal, &code), poll(&terminal, &code)).await;
        let mut statuses = [one.status.as_u16(), other.status.as_u16()];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 400]);
        let tokens = store.tokens(key_of(&store, "ada").await).await.unwrap();
        assert_eq!(tokens.len(), 1);
    })
    .await
    .unwrap();
}
