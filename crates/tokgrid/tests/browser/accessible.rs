//! Nobody is kept out: axe-core, narrow screens, the keyboard.

use fantoccini::key::Key;

use crate::harness::axe::{self, grave_faults};
use crate::harness::pages::{self, Page};
use crate::harness::{Browser, NARROW, Scheme, TestSite, WIDE};

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

async fn no_page_has_a_grave_fault(width: u32, scheme: Scheme) {
    let site = TestSite::with_examples().await;
    let browser = Browser::start().await;
    let script = axe::script();
    browser.width(width).await;
    browser.prefer(scheme).await;
    let mut faults = Vec::new();
    for page in pages::public(&site).await {
        for language in LANGUAGES {
            open(&browser, &site, &page, language).await;
            for fault in grave_faults(&browser, &script).await {
                faults.push(format!("{} in {language}: {fault}", page.path));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    browser.close().await;
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
        .eval("document.querySelector('main').innerHTML = '<input><h1 style=\"color:#eee;background:#fff\">x</h1>'")
        .await;
    let faults = grave_faults(&browser, &axe::script()).await.join("\n");
    assert!(faults.contains("color-contrast"), "{faults}");
    assert!(faults.contains("\"label\""), "{faults}");
    browser.close().await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn no_page_scrolls_sideways_on_a_phone() {
    let site = TestSite::with_examples().await;
    let browser = Browser::start().await;
    browser.width(NARROW).await;
    let mut wide = Vec::new();
    for page in pages::public(&site).await {
        for language in LANGUAGES {
            open(&browser, &site, &page, language).await;
            let widths = browser
                .eval("return [document.scrollingElement.scrollWidth, innerWidth]")
                .await;
            let (content, window) = (widths[0].as_u64().unwrap(), widths[1].as_u64().unwrap());
            assert_eq!(window, u64::from(NARROW), "a page widened the window");
            if content > window {
                let widest = widest_elements(&browser).await;
                wide.push(format!(
                    "{} in {language}: {content} px: {widest}",
                    page.path
                ));
            }
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
    browser.close().await;
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
