use axum::http::{Request, StatusCode};
use store::NewToken;
use testkit::on_both;

use crate::browser::{Browser, key_of, open, publish, site};

/// A run that anybody may read.
const RUN: &str = "019ad000-0000-7000-8000-000000000001";

#[tokio::test]
async fn a_token_is_shown_once_and_kept_as_a_hash() {
    on_both(async |url| {
        let store = open(&url).await;
        let ada = Browser::of(&site(&store), "ada").await;
        let token = ada.token("bench machine").await;
        assert_eq!(token.len(), 3 + 64, "{token}");
        let page = ada.get("/account").await;
        assert!(page.text.contains("bench machine"));
        assert!(!page.text.contains(&token) && !page.text.contains(&token[3..20]));
        let digits = sha256(&token);
        assert!(!page.text.contains(&digits));
        let (account, kept) = store.token(&digits).await.unwrap().unwrap();
        assert_eq!(
            (account.name.as_str(), kept.name.as_str()),
            ("ada", "bench machine")
        );
        // Whoever reads the database finds nothing to sign in with.
        let dump = serde_json::to_string(&format!("{:?}", store.tokens(account.account_key).await));
        assert!(!dump.unwrap().contains(&token));
        assert!(store.token(&token).await.unwrap().is_none());
    })
    .await
    .unwrap();
}

fn sha256(text: &str) -> String {
    use sha2::Digest;
    format!("{:x}", sha2::Sha256::digest(text))
}

async fn status_with(browser: &Browser, authorization: &str) -> (StatusCode, String) {
    let request =
        Request::get(format!("/api/v1/runs/{RUN}")).header("authorization", authorization);
    let answer = browser.send(request, "").await;
    let challenge = answer.headers.get("www-authenticate");
    (
        answer.status,
        challenge.map_or(String::new(), |value| value.to_str().unwrap().to_owned()),
    )
}

#[tokio::test]
async fn a_token_that_is_wrong_revoked_or_expired_lets_nobody_in() {
    on_both(async |url| {
        let store = open(&url).await;
        let site = site(&store);
        let ada = Browser::of(&site, "ada").await;
        let program = Browser::new(&site);
        publish(&store, RUN, key_of(&store, "ada").await).await;
        let token = ada.token("one").await;
        assert_eq!(
            status_with(&program, &format!("Bearer {token}")).await.0,
            StatusCode::OK
        );

        let key = key_of(&store, "ada").await;
        let tokens = store.tokens(key).await.unwrap();
        assert!(tokens[0].last_used_at_ms.is_some());
        let revoke = format!("/account/tokens/{}/revoke", tokens[0].token_key);
        let eve = Browser::of(&site, "eve").await;
        assert_eq!(eve.post(&revoke, &[]).await.status, StatusCode::NOT_FOUND);
        assert_eq!(
            status_with(&program, &format!("Bearer {token}")).await.0,
            StatusCode::OK
        );
        assert_eq!(ada.post(&revoke, &[]).await.status, StatusCode::SEE_OTHER);

        let expired = format!("tg_{}", "e".repeat(64));
        store
            .create_token(NewToken {
                account_key: key,
                sha256: &sha256(&expired),
                name: "old",
                may_read: true,
                may_publish: true,
                now_ms: 1,
                expires_at_ms: Some(2),
            })
            .await
            .unwrap();
        for wrong in [
            format!("Bearer {token}"),
            format!("Bearer {expired}"),
            format!("Bearer tg_{}", "0".repeat(64)),
            "Bearer something".to_owned(),
            "Bearer".to_owned(),
            token.clone(),
        ] {
            let (status, challenge) = status_with(&program, &wrong).await;
            assert_eq!(status, StatusCode::UNAUTHORIZED, "{wrong}");
            assert!(
                challenge.starts_with("Bearer error="),
                "{wrong}: {challenge}"
            );
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_token_opens_no_page() {
    on_both(async |url| {
        let site = site(&open(&url).await);
        let ada = Browser::of(&site, "ada").await;
        let token = ada.token("one").await;
        let program = Browser::new(&site);
        let bearer = format!("Bearer {token}");
        let request = Request::get("/account").header("authorization", &bearer);
        let answer = program.send(request, "").await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        let request = Request::post("/account/tokens")
            .header("authorization", &bearer)
            .header("content-type", "application/x-www-form-urlencoded");
        let answer = program.send(request, "token-name=more&publish=yes").await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        assert!(!ada.get("/account").await.text.contains("more"));
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn the_form_says_what_is_wrong_with_it() {
    on_both(async |url| {
        let ada = Browser::of(&site(&open(&url).await), "ada").await;
        for (name, days, publish, fault) in [
            ("", "", "publish", "Use 1 to 80 visible characters"),
            (
                "a\u{202e}b",
                "",
                "publish",
                "Use 1 to 80 visible characters",
            ),
            ("x", "0", "publish", "Use a whole number from 1 to 3650"),
            (
                "x",
                "99999999999999999999",
                "publish",
                "Use a whole number from 1 to 3650",
            ),
            ("x", "", "nothing", "Tick what the token may do."),
        ] {
            let form = [("token-name", name), ("token-days", days), (publish, "yes")];
            let answer = ada.post("/account/tokens", &form).await;
            assert_eq!(
                answer.status,
                StatusCode::UNPROCESSABLE_ENTITY,
                "{name} {days}"
            );
            assert!(answer.text.contains(fault), "{fault}: {}", answer.text);
        }
    })
    .await
    .unwrap();
}
