//! Accounts: signing up, tokens, the terminal, publishing, moderation.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;

use crate::common::binary::{Said, finish, tokgrid};
use crate::common::people::PASSWORD;
use crate::harness::site::{DEEPSEEK, GLM, again, id_of, page_of};
use crate::harness::{Browser, TestSite, http};

/// Fills in the form for a new account.
pub async fn sign_up(browser: &Browser, site: &TestSite, name: &str) {
    browser.open(&site.at("/sign-up")).await;
    browser.fill("#name", name).await;
    browser.fill("#password", PASSWORD).await;
    browser.fill("#again", PASSWORD).await;
    browser.click("form[action='/sign-up'] button").await;
    assert_eq!(browser.path().await, "/account");
    assert_eq!(browser.text("h1").await, name);
}

/// Makes a token on the account's page; the page shows it.
pub async fn make_token(browser: &Browser, site: &TestSite) -> String {
    browser.open(&site.at("/account")).await;
    browser.fill("#token-name", "laptop").await;
    browser.click("form[action='/account/tokens'] button").await;
    let token = browser.text("main pre code").await;
    assert!(token.starts_with("tg_"), "{token}");
    token
}

/// The binary with a home of its own, for a site that no proxy stands before.
fn terminal(site: &TestSite, arguments: &[&str]) -> Command {
    let home = site.folder.path();
    let mut command = tokgrid(arguments);
    command
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home.join("config"))
        .env_remove("http_proxy")
        .env_remove("HTTP_PROXY")
        .env_remove("TOKGRID_TOKEN");
    command
}

/// `tokgrid publish`, with a token where there is one.
fn publish(site: &TestSite, run: &Path, token: Option<&str>) -> Said {
    let mut command = terminal(
        site,
        &["publish", run.to_str().unwrap(), "--to", site.url()],
    );
    if let Some(token) = token {
        command.env("TOKGRID_TOKEN", token);
    }
    finish(command.spawn().unwrap())
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn a_new_account_makes_a_token_and_publishes_from_the_terminal() {
    let site = TestSite::empty();
    let browser = Browser::start().await;
    sign_up(&browser, &site, "ada").await;
    let token = make_token(&browser, &site).await;
    // It is shown once: neither the account's page nor going back shows it again.
    browser.open(&site.at("/account")).await;
    assert!(browser.text("main").await.contains("laptop"));
    assert!(!browser.source().await.contains(&token));

    let run = site.file("run.json", DEEPSEEK);
    let said = publish(&site, &run, Some(&token));
    assert_eq!(said.status, 0, "{said:#?}");
    let page = site.at(&page_of(DEEPSEEK));
    assert!(said.stdout.contains(&page), "{said:#?}");
    assert!(
        !format!("{said:?}").contains(&token),
        "the token is printed"
    );
    browser.open(&page).await;
    assert!(
        browser
            .text("h1")
            .await
            .starts_with("DeepSeek-V4.1-Flash-1017")
    );
    browser.open(&site.at("/account")).await;
    assert!(
        browser
            .has(&format!("main a[href='{}']", page_of(DEEPSEEK)))
            .await
    );

    // Sent again it is the same run.
    let said = publish(&site, &run, Some(&token));
    assert_eq!(said.status, 0, "{said:#?}");
    assert!(said.stdout.contains(&page), "{said:#?}");
    browser.open(&site.at("/runs")).await;
    assert_eq!(browser.texts("main tbody tr").await.len(), 1);

    // A revoked token publishes nothing.
    browser.open(&site.at("/account")).await;
    browser.click("form[action$='/revoke'] button").await;
    let other = site.file("other.json", GLM);
    let said = publish(&site, &other, Some(&token));
    assert_ne!(said.status, 0);
    assert!(said.stderr.contains("token"), "{said:#?}");
    browser.close().await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn a_terminal_is_signed_in_by_its_code_in_the_browser() {
    let site = TestSite::empty();
    let browser = Browser::start().await;
    sign_up(&browser, &site, "ada").await;
    let mut terminal = terminal(&site, &["sign-in", site.url()]).spawn().unwrap();
    let mut lines = BufReader::new(terminal.stdout.take().unwrap()).lines();
    let mut printed = String::new();
    let code = loop {
        let line = lines.next().expect("no code is printed").unwrap();
        printed.push_str(&line);
        if let Some(code) = line.split_whitespace().find_map(user_code) {
            break code;
        }
    };
    assert!(printed.contains("/device"), "{printed}");
    browser.open(&site.at("/device")).await;
    browser.fill("#user_code", &code).await;
    browser.click("form[action='/device'] button").await;
    assert!(browser.text("main").await.contains("ada"));
    browser.click("form[action='/device/answer'] button").await;
    let said = finish(terminal);
    assert_eq!(said.status, 0, "{said:#?}");

    let run = site.file("run.json", DEEPSEEK);
    let said = publish(&site, &run, None);
    assert_eq!(said.status, 0, "{said:#?}");
    browser.open(&site.at(&page_of(DEEPSEEK))).await;
    browser.close().await;
}

/// `BCDF-GHJK`, where a word is or ends with it.
fn user_code(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let word = word.rsplit('=').next()?;
    let (left, right) = word.split_once('-')?;
    let is_half = |half: &str| half.len() == 4 && half.chars().all(|c| c.is_ascii_uppercase());
    (is_half(left) && is_half(right)).then(|| word.to_owned())
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn a_run_is_published_by_the_form_once_it_was_checked() {
    let site = TestSite::empty();
    let browser = Browser::start().await;
    sign_up(&browser, &site, "ada").await;
    browser.open(&site.at("/publish")).await;
    let broken = site.file("broken.json", "{\"schema\": \"tokgrid.run/1\"}");
    browser.choose_file("input[type=file]", &broken).await;
    browser
        .submit_to_trouble("main form button[value=publish]")
        .await;
    assert!(
        browser.has("[role=alert]").await,
        "{}",
        browser.text("main").await
    );

    let run = site.file("run.json", DEEPSEEK);
    browser.open(&site.at("/publish")).await;
    browser.choose_file("input[type=file]", &run).await;
    browser.click("main form button[value=check]").await;
    let found = browser.text("main").await;
    assert!(found.contains("DeepSeek-V4.1-Flash-1017"), "{found}");
    assert_eq!(
        http::get(&site.at(&page_of(DEEPSEEK)), "").await.status,
        404
    );

    browser.choose_file("input[type=file]", &run).await;
    browser.click("main form button[value=publish]").await;
    assert_eq!(browser.path().await, page_of(DEEPSEEK));
    assert!(
        browser
            .text("h1")
            .await
            .starts_with("DeepSeek-V4.1-Flash-1017")
    );
    browser.close().await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn a_hidden_run_is_for_its_author_alone_who_reads_the_reason() {
    const SECOND: &str = "00000000-0000-4000-8000-000000000002";
    const REASON: &str = "The figures are of another machine";
    let site = TestSite::empty();
    let administrator = Browser::start().await;
    sign_up(&administrator, &site, "grace").await;
    let author = Browser::start().await;
    sign_up(&author, &site, "ada").await;
    let token = make_token(&author, &site).await;
    for (name, run) in [
        ("one.json", DEEPSEEK.to_owned()),
        ("two.json", again(GLM, SECOND)),
    ] {
        let said = publish(&site, &site.file(name, &run), Some(&token));
        assert_eq!(said.status, 0, "{said:#?}");
    }
    let page = page_of(DEEPSEEK);
    administrator.open(&site.at(&page)).await;
    let hide = format!("/moderation{page}/hide");
    administrator.click(&format!("a[href='{hide}']")).await;
    administrator.fill("#reason", REASON).await;
    administrator.click("main form button").await;
    assert!(administrator.text("main").await.contains(REASON));

    // To everybody else it is as if it were not there.
    assert_eq!(http::get(&site.at(&page), "").await.status, 404);
    let api = format!("/api/v1/runs/{}", id_of(DEEPSEEK));
    assert_eq!(http::get(&site.at(&api), "").await.status, 404);
    for list in ["/runs", "/leaderboard", "/models"] {
        let body = http::get(&site.at(list), "").await.body;
        assert!(!body.contains("DeepSeek"), "{list} shows it");
    }
    author.open(&site.at(&page)).await;
    assert!(author.text("main").await.contains(REASON));
    author.open(&site.at("/account")).await;
    assert!(
        author.text("main").await.contains(REASON),
        "{}",
        author.text("main").await
    );

    administrator.open(&site.at("/moderation")).await;
    administrator.click("form[action$='/show'] button").await;
    assert_eq!(http::get(&site.at(&page), "").await.status, 200);
    administrator.close().await;
    author.close().await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn who_signs_out_has_to_sign_in_again() {
    let site = TestSite::empty();
    let browser = Browser::start().await;
    sign_up(&browser, &site, "ada").await;
    browser.click("form[action='/sign-out'] button").await;
    browser.open(&site.at("/account")).await;
    assert_eq!(browser.path().await, "/sign-in");
    browser.fill("#name", "ada").await;
    browser.fill("#password", "not the password").await;
    browser
        .submit_to_trouble("form[action='/sign-in'] button")
        .await;
    assert!(
        browser.has("[role=alert]").await,
        "{}",
        browser.text("main").await
    );
    browser.fill("#password", PASSWORD).await;
    browser.click("form[action='/sign-in'] button").await;
    assert_eq!(browser.path().await, "/account");
    browser.close().await;
}
