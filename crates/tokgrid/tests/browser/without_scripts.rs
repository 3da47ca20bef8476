//! Everything works where scripts do not run.

use crate::harness::site::{DEEPSEEK, page_of};
use crate::harness::{Browser, TestSite};
use crate::people::sign_up;

const PAGE_WITH_SCRIPT: &str =
    "data:text/html,<title>off</title><script>document.title='on'</script>";

async fn start() -> Browser {
    let browser = Browser::start().await;
    browser.open(PAGE_WITH_SCRIPT).await;
    assert_eq!(browser.title().await, "on");
    browser.without_scripts().await;
    browser.open(PAGE_WITH_SCRIPT).await;
    assert_eq!(browser.title().await, "off");
    browser
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn runs_are_read_and_sorted_without_scripts() {
    let site = TestSite::with_examples().await;
    let browser = start().await;
    browser.open(&site.at(&page_of(DEEPSEEK))).await;
    assert_eq!(browser.texts("#measurements tbody tr").await.len(), 64);
    browser.follow("TTFT").await;
    assert!(browser.address().await.query().unwrap().contains("sort="));
    assert!(browser.has("#measurements th[aria-sort]").await);
    browser.close().await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn lists_are_filtered_without_scripts() {
    let site = TestSite::with_examples().await;
    let browser = start().await;
    browser.open(&site.at("/runs")).await;
    assert_eq!(browser.texts("main tbody tr").await.len(), 2);
    browser.fill("form.filter [name=q]", "DeepSeek").await;
    browser.click("form.filter button").await;
    let rows = browser.texts("main tbody tr").await;
    assert_eq!(rows.len(), 1);
    assert!(rows[0].contains("DeepSeek-V4.1-Flash-1017"), "{rows:?}");
    browser.close().await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn accounts_are_made_without_scripts() {
    let site = TestSite::empty();
    let browser = start().await;
    sign_up(&browser, &site, "ada").await;
    browser.fill("#token-name", "laptop").await;
    browser.click("form[action='/account/tokens'] button").await;
    assert!(browser.text("main pre code").await.starts_with("tg_"));
    browser.close().await;
}
