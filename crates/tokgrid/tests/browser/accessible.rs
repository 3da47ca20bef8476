//! Nobody is kept out: axe-core, narrow screens, the keyboard.

use fantoccini::key::Key;

use crate::harness::axe::{self, grave_faults};
use crate::harness::pages::{self, Page};
use crate::harness::site::DEEPSEEK;
use crate::harness::{Browser, NARROW, Scheme, TestSite, WIDE};
use crate::people::{make_token, sign_up};

const LANGUAGES: [&str; 2] = ["en", "zh-CN"];

async fn open(browser: &Browser, site: &TestSite, page: &Page, language: &str) {
    let separator = if page.path.contains('?') { '&' } else { '?' };
    let url = site.at(&format!("{}{separator}lang={language}", page.path));
    if page.status == 200 {
        browser.open(&url).await;
    } else {
        browser.open_trouble(&url).await;
    }
}

/// A site with the examples, and a browser signed in to an account that has a run, an
/// organization and a token.
async fn as_somebody() -> (TestSite, Browser) {
    let site = TestSite::empty();
    let browser = Browser::start().await;
    sign_up(&browser, &site, "ada").await;
    browser.open(&site.at("/publish")).await;
    let run = site.file("run.json", DEEPSEEK);
    browser.choose_file("input[type=file]", &run).await;
    browser.click("main form button[value=publish]").await;
    browser.open(&site.at("/account")).await;
    browser.fill("#slug", "lab").await;
    browser.fill("#title", "The Laboratory").await;
    browser
        .click("form[action='/account/organizations'] button")
        .await;
    (site, browser)
}

async fn no_page_has_a_grave_fault(width: u32, scheme: Scheme) {
    let script = axe::script();
    let mut faults = Vec::new();
    let site = TestSite::with_examples().await;
    let browser = Browser::start().await;
    let pages = pages::public(&site).await;
    browser.width(width).await;
    browser.prefer(scheme).await;
    for page in &pages {
        find_faults(&browser, &site, page, &script, &mut faults).await;
    }
    browser.close().await;
    let (site, browser) = as_somebody().await;
    browser.width(width).await;
    browser.prefer(scheme).await;
    for page in pages::signed_in() {
        find_faults(&browser, &site, &page, &script, &mut faults).await;
    }
    browser.open(&site.at("/account")).await;
    make_token(&browser, &site).await;
    let found = grave_faults(&browser, &script).await;
    faults.extend(found.iter().map(|fault| format!("a new token: {fault}")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    browser.close().await;
}

async fn find_faults(
    browser: &Browser,
    site: &TestSite,
    page: &Page,
    script: &str,
    faults: &mut Vec<String>,
) {
    for language in LANGUAGES {
        open(browser, site, page, language).await;
        for fault in grave_faults(browser, script).await {
            faults.push(format!("{} in {language}: {fault}", page.path));
        }
    }
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn no_page_has_a_grave_fault_wide_and_light() {
    no_page_has_a_grave_fault(WIDE, Scheme::Light).await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn no_page_has_a_grave_fault_wide_and_dark() {
    no_page_has_a_grave_fault(WIDE, Scheme::Dark).await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn no_page_has_a_grave_fault_narrow_and_light() {
    no_page_has_a_grave_fault(NARROW, Scheme::Light).await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn no_page_has_a_grave_fault_narrow_and_dark() {
    no_page_has_a_grave_fault(NARROW, Scheme::Dark).await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn axe_finds_a_fault_that_is_there() {
    let site = TestSite::empty();
    let browser = Browser::start().await;
    browser.open(&site.at("/start")).await;
    browser
        .eval(
            "document.querySelector('main').innerHTML = '<input><h1>Hardly to be read</h1>';
             Object.assign(document.querySelector('h1').style, { color: '#eee', background: '#fff' })",
        )
        .await;
    let faults = grave_faults(&browser, &axe::script()).await.join("\n");
    assert!(faults.contains("color-contrast"), "{faults}");
    assert!(faults.contains("\"label\""), "{faults}");
    browser.close().await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn no_page_scrolls_sideways_on_a_phone() {
    let mut wide = Vec::new();
    let site = TestSite::with_examples().await;
    let browser = Browser::start().await;
    browser.width(NARROW).await;
    for page in pages::public(&site).await {
        find_width(&browser, &site, &page, &mut wide).await;
    }
    browser.close().await;
    let (site, browser) = as_somebody().await;
    browser.width(NARROW).await;
    for page in pages::signed_in() {
        find_width(&browser, &site, &page, &mut wide).await;
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
    browser.close().await;
}

async fn find_width(browser: &Browser, site: &TestSite, page: &Page, wide: &mut Vec<String>) {
    for language in LANGUAGES {
        open(browser, site, page, language).await;
        let widths = browser
            .eval("return [document.scrollingElement.scrollWidth, innerWidth]")
            .await;
        let (content, window) = (widths[0].as_u64().unwrap(), widths[1].as_u64().unwrap());
        assert_eq!(window, u64::from(NARROW), "a page widened the window");
        if content > window {
            let widest = widest_elements(browser).await;
            wide.push(format!(
                "{} in {language}: {content} px: {widest}",
                page.path
            ));
        }
    }
}

/// What reaches beyond the right edge outside a table that scrolls by itself.
async fn widest_elements(browser: &Browser) -> String {
    let script = "return [...document.querySelectorAll('body *')]
        .filter(e => e.getBoundingClientRect().right > innerWidth && !e.closest('.scroll, pre, nav'))
        .slice(0, 5).map(e => e.tagName + '.' + e.className + ' ' + e.textContent.slice(0, 40))";
    browser.eval(script).await.to_string()
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn the_first_thing_that_the_keyboard_reaches_skips_the_menu() {
    let site = TestSite::with_examples().await;
    let browser = Browser::start().await;
    browser.open(&site.at("/runs")).await;
    browser.press(Key::Tab).await;
    assert_eq!(
        browser
            .eval("return document.activeElement.className")
            .await,
        "skip"
    );
    browser.press(Key::Enter).await;
    browser.press(Key::Tab).await;
    let is_inside = "return document.querySelector('main').contains(document.activeElement)";
    assert_eq!(browser.eval(is_inside).await, true);
    browser.close().await;
}
