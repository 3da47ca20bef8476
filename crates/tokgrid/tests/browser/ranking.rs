//! The leaderboard, filtered and shared.

use crate::harness::{Browser, TestSite};

const ROWS: &str = "main table tbody tr";

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn a_filtered_leaderboard_is_the_same_for_whoever_opens_its_link() {
    let site = TestSite::with_examples().await;
    let browser = Browser::start().await;
    browser.open(&site.at("/leaderboard")).await;
    let all = browser.texts(ROWS).await;
    browser.fill("form.filter [name=model]", "GLM").await;
    browser
        .choose("form.filter [name=metric]", "per_request")
        .await;
    browser.click("form.filter button").await;
    let filtered = browser.texts(ROWS).await;
    assert!(!filtered.is_empty() && filtered != all, "{filtered:#?}");
    assert!(
        filtered.iter().all(|row| row.contains("GLM")),
        "{filtered:#?}"
    );
    let link = browser.address().await;
    let query = link.query().unwrap();
    assert!(
        query.contains("model=") && query.contains("metric=per_request"),
        "{query}"
    );
    browser.close().await;

    let somebody_else = Browser::start().await;
    somebody_else.open(link.as_str()).await;
    assert_eq!(somebody_else.texts(ROWS).await, filtered);
    // The form shows what the address asks for.
    let shown = somebody_else.find("form.filter [name=metric]").await;
    assert_eq!(shown.prop("value").await.unwrap().unwrap(), "per_request");
    somebody_else.close().await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn a_row_of_the_leaderboard_leads_to_the_cell_that_it_ranks() {
    let site = TestSite::with_examples().await;
    let browser = Browser::start().await;
    browser.open(&site.at("/leaderboard")).await;
    let figure = browser.text("main table tbody tr td b").await;
    browser.click("main table tbody tr a[href^='/runs/']").await;
    assert!(browser.path().await.starts_with("/runs/"));
    let page = browser.text("main").await;
    assert!(
        page.contains(&figure),
        "{figure} is not on the page of its run"
    );
    browser.close().await;
}
