use axum::http::StatusCode;
use futures_util::future::join_all;
use site::Site;
use store::NewAccount;
use testkit::on_both;

use crate::browser::{Browser, HOME, PASSWORD, key_of, open, options, site};

#[tokio::test]
async fn people_sign_up_out_and_in_again() {
    on_both(async |url| {
        let site = site(&open(&url).await);
        let ada = Browser::of(&site, "Ada").await;
        let page = ada.get("/account").await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(page.text.contains("<h1>ada</h1>"), "{}", page.text);
        assert_eq!(page.headers["cache-control"], "no-store");

        let answer = ada.post("/sign-out", &[]).await;
        assert_eq!(
            (answer.status, answer.location()),
            (StatusCode::SEE_OTHER, "/")
        );
        let answer = ada.get("/account").await;
        assert_eq!(answer.location(), "/sign-in?next=%2Faccount");

        let answer = ada.sign_in(" ADA ", PASSWORD).await;
        assert_eq!(
            (answer.status, answer.location()),
            (StatusCode::SEE_OTHER, "/account")
        );
        assert_eq!(ada.get("/account").await.status, StatusCode::OK);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_session_begins_with_a_secret_the_browser_did_not_bring() {
    on_both(async |url| {
        let site = site(&open(&url).await);
        Browser::of(&site, "ada").await;
        // The attacker's own session, and a secret that was never one.
        let attacker = Browser::of(&site, "eve").await;
        let of_attacker = attacker.cookies.borrow()["session"].clone();
        for planted in [of_attacker, "0".repeat(64)] {
            let victim = Browser::new(&site);
            let cookie = ("session".to_owned(), planted.clone());
            victim.cookies.borrow_mut().extend([cookie]);
            assert_eq!(
                victim.sign_in("ada", PASSWORD).await.status,
                StatusCode::SEE_OTHER
            );
            assert_ne!(victim.cookies.borrow()["session"], planted);
            let attacker = Browser::new(&site);
            attacker
                .cookies
                .borrow_mut()
                .extend([("session".to_owned(), planted)]);
            let page = attacker.get("/account").await;
            assert!(!page.text.contains("<h1>ada</h1>"), "{}", page.text);
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn the_cookie_is_for_this_site_and_no_script() {
    on_both(async |url| {
        let store = open(&url).await;
        let plain = Browser::new(&site(&store)).sign_up("ada").await;
        let [cookie] = plain.cookies()[..] else {
            panic!("{:?}", plain.cookies())
        };
        for part in [
            "session=",
            "HttpOnly",
            "SameSite=Lax",
            "Path=/",
            "Max-Age=2592000",
        ] {
            assert!(cookie.contains(part), "{cookie}");
        }
        let home = "https://site.example";
        let site = Site::new(store, options(home)).router();
        let browser = Browser {
            origin: Some(home),
            ..Browser::new(&site)
        };
        let answer = browser.sign_in("ada", PASSWORD).await;
        let [cookie] = answer.cookies()[..] else {
            panic!("{:?}", answer.cookies())
        };
        assert!(cookie.starts_with("__Host-session="), "{cookie}");
        assert!(
            cookie.contains("Secure") && !cookie.contains("Domain"),
            "{cookie}"
        );
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn sessions_are_listed_and_ended_from_another_one() {
    on_both(async |url| {
        let store = open(&url).await;
        let site = site(&store);
        let here = Browser::of(&site, "ada").await;
        let there = Browser::new(&site);
        there.sign_in("ada", PASSWORD).await;
        let stranger = Browser::of(&site, "eve").await;

        let sessions = store
            .sessions(key_of(&store, "ada").await, 0)
            .await
            .unwrap();
        assert_eq!(sessions.len(), 2);
        let end = format!("/account/sessions/{}/end", sessions[0].session_key);
        assert!(here.get("/account").await.text.contains(&end));
        assert_eq!(stranger.post(&end, &[]).await.status, StatusCode::NOT_FOUND);
        assert_eq!(there.get("/account").await.status, StatusCode::OK);
        assert_eq!(here.post(&end, &[]).await.status, StatusCode::SEE_OTHER);
        assert_eq!(there.get("/account").await.status, StatusCode::SEE_OTHER);
        assert_eq!(here.get("/account").await.status, StatusCode::OK);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_session_that_is_too_old_is_none() {
    on_both(async |url| {
        let store = open(&url).await;
        Browser::of(&site(&store), "ada").await;
        let account_key = key_of(&store, "ada").await;
        let new = store::NewSession {
            account_key,
            sha256: "of a secret",
            browser: "",
            now_ms: 1_000,
            expires_at_ms: 2_000,
        };
        store.open_session(new).await.unwrap();
        assert!(store.session("of a secret", 1_999).await.unwrap().is_some());
        assert!(store.session("of a secret", 2_000).await.unwrap().is_none());
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_new_password_ends_the_other_sessions() {
    on_both(async |url| {
        let site = site(&open(&url).await);
        let here = Browser::of(&site, "ada").await;
        let there = Browser::new(&site);
        there.sign_in("ada", PASSWORD).await;
        let new = "another long password";
        let form = |old| [("old", old), ("password", new), ("again", new)];
        let wrong = here
            .post("/account/password", &form("not the password"))
            .await;
        assert_eq!(wrong.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(
            wrong.text.contains("This is not the password."),
            "{}",
            wrong.text
        );
        assert_eq!(there.get("/account").await.status, StatusCode::OK);

        let right = here.post("/account/password", &form(PASSWORD)).await;
        assert_eq!(right.status, StatusCode::SEE_OTHER, "{}", right.text);
        assert_eq!(there.get("/account").await.status, StatusCode::SEE_OTHER);
        assert_eq!(here.get("/account").await.status, StatusCode::OK);
        let old = there.sign_in("ada", PASSWORD).await;
        assert_eq!(old.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(
            there.sign_in("ada", new).await.status,
            StatusCode::SEE_OTHER
        );
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_wrong_password_and_an_unknown_name_get_one_answer() {
    on_both(async |url| {
        let site = site(&open(&url).await);
        Browser::of(&site, "ada").await;
        let browser = Browser::new(&site);
        let mut said = Vec::new();
        for name in ["ada", "eve"] {
            let answer = browser.sign_in(name, "not the password").await;
            assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
            assert!(answer.cookies().is_empty());
            said.push(answer.text.replace(name, "NAME"));
        }
        assert_eq!(said[0], said[1]);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn of_many_first_accounts_one_is_the_administrator() {
    on_both(async |url| {
        let mut stores = Vec::new();
        for _ in 0..4 {
            stores.push(open(&url).await);
        }
        let names: Vec<String> = (0..16).map(|number| format!("person-{number}")).collect();
        let made = join_all(names.iter().enumerate().map(|(number, name)| {
            stores[number % stores.len()].create_account(NewAccount {
                name,
                password_hash: Some("$argon2id$…"),
                oidc: None,
                created_at_ms: 1,
            })
        }))
        .await;
        let made: Vec<_> = made
            .into_iter()
            .map(|account| account.unwrap().unwrap())
            .collect();
        assert_eq!(made.len(), 16);
        let administrators = made.iter().filter(|account| account.is_administrator);
        assert_eq!(administrators.count(), 1);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_name_is_taken_once_and_is_plain() {
    on_both(async |url| {
        let store = open(&url).await;
        let site = site(&store);
        Browser::of(&site, "ada").await;
        let browser = Browser::new(&site);
        let taken = browser.sign_up("ADA").await;
        assert_eq!(taken.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert!(taken.text.contains("This name is taken."), "{}", taken.text);
        for name in [
            "аda",
            "ａda",
            "ada\u{200d}",
            "a",
            "-ada",
            "ada lovelace",
            "<b>",
        ] {
            let answer = browser.sign_up(name).await;
            assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{name:?}");
            assert!(answer.text.contains("Use 2 to 39 letters"), "{name:?}");
            assert!(!answer.text.contains("<b>\""), "{}", answer.text);
        }
        for (password, again, fault) in [
            ("short", "short", "Use at least 10 characters."),
            (PASSWORD, "other", "The two passwords differ."),
            (
                &"x".repeat(257),
                &"x".repeat(257),
                "Use at most 256 characters.",
            ),
        ] {
            let form = [("name", "eve"), ("password", password), ("again", again)];
            let answer = browser.post("/sign-up", &form).await;
            assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
            assert!(answer.text.contains(fault), "{}", answer.text);
            assert!(!answer.text.contains(password), "it is sent back");
        }
        assert!(store.account_by_name("eve").await.unwrap().is_none());
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_site_that_is_closed_makes_no_accounts() {
    on_both(async |url| {
        let store = open(&url).await;
        let closed = site::SiteOptions {
            sign_up: false,
            ..options(HOME)
        };
        let browser = Browser::new(&Site::new(store.clone(), closed).router());
        assert_eq!(browser.get("/sign-up").await.status, StatusCode::FORBIDDEN);
        assert_eq!(browser.sign_up("ada").await.status, StatusCode::FORBIDDEN);
        assert!(store.account_by_name("ada").await.unwrap().is_none());
        assert!(!browser.get("/sign-in").await.text.contains("/sign-up"));
    })
    .await
    .unwrap();
}
