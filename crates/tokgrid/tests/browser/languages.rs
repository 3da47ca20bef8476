//! English and 简体中文.

use site::words::{Language, Words};

use crate::harness::site::{DEEPSEEK, page_of};
use crate::harness::{Browser, TestSite};

const CHINESE: Language = Language::SimplifiedChinese;

async fn language(browser: &Browser) -> String {
    browser.attribute("html", "lang").await.unwrap()
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn a_chosen_language_stays_and_the_address_overrules_it() {
    let site = TestSite::with_examples().await;
    let browser = Browser::start().await;
    browser.open(&site.at("/runs")).await;
    assert_eq!(language(&browser).await, "en");
    browser.follow(CHINESE.name()).await;
    assert_eq!(browser.path().await, "/runs", "the page is the same one");
    assert_eq!(language(&browser).await, CHINESE.code());
    let words = Words::of(CHINESE);
    assert_eq!(browser.text("h1").await, words.t("menu-runs"));

    // Remembered, without anything in the address.
    browser.follow(&words.t("menu-hardware")).await;
    assert_eq!(browser.address().await.query(), None);
    assert_eq!(language(&browser).await, CHINESE.code());

    browser.open(&site.at("/leaderboard?lang=en")).await;
    assert_eq!(language(&browser).await, "en");
    assert_eq!(browser.text("h1").await, "Leaderboard");
    browser.close().await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn a_browser_that_asks_for_chinese_is_answered_in_it_with_its_dates() {
    let site = TestSite::with_examples().await;
    let browser = Browser::start_in("zh-CN").await;
    let words = Words::of(CHINESE);
    browser.open(&site.at(&page_of(DEEPSEEK))).await;
    assert_eq!(language(&browser).await, CHINESE.code());
    assert_eq!(
        browser.text("#measurements h2").await,
        words.t("run-measurements")
    );
    assert_eq!(
        browser.text("#decode h2").await,
        words.t("run-phase-decode")
    );
    let cells = browser.texts("#decode tbody tr:first-of-type td").await;
    assert_eq!(cells[7], words.t("run-status-over-capacity"));
    browser.open(&site.at("/runs")).await;
    let published = browser.text("main table tbody tr td:last-of-type").await;
    assert!(
        published.contains('年') && published.contains('日'),
        "{published}"
    );
    browser.close().await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn what_is_not_there_is_said_in_the_readers_language() {
    let site = TestSite::empty();
    let browser = Browser::start_in("zh-CN").await;
    browser.open_trouble(&site.at("/nothing")).await;
    let words = Words::of(CHINESE);
    assert_eq!(browser.text("h1").await, words.t("trouble-not-found"));
    assert_eq!(
        browser.text("main p").await,
        words.t("trouble-not-found-why")
    );
    browser.close().await;
}
