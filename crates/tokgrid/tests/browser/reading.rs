//! Reading a run.

use crate::harness::site::{DEEPSEEK, id_of, page_of};
use crate::harness::{Browser, TestSite, http};

/// Bytes of a run's page, its stylesheet and its icon together.
const PAGE_WEIGHT_MAX: usize = 150_000;

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn a_run_is_found_from_the_first_page_and_read() {
    let site = TestSite::with_examples().await;
    let browser = Browser::start().await;
    browser.open(&site.at("/")).await;
    browser.follow("Matrix runs").await;
    let link = format!("main a[href*='{}']", id_of(DEEPSEEK));
    browser.click(&link).await;
    assert_eq!(browser.path().await, page_of(DEEPSEEK));
    assert_eq!(
        squeezed(&browser.text("h1").await),
        "DeepSeek-V4.1-Flash-1017 on RTX PRO 6000 Blackwell Server Edition 96GB ×4"
    );
    assert_eq!(
        browser.texts(".lead li b").await,
        [
            "153.7 tok/s",
            "1,198.5 tok/s",
            "19.3K tok/s",
            "34 valid cells"
        ]
    );
    let cells = browser.texts("#decode tbody tr:first-of-type td").await;
    assert_eq!(cells.len(), 8);
    assert_eq!(squeezed(&cells[6]), "1,198.5 827 ms TTFT");
    assert_eq!(cells[7], "Over capacity");
    let command = browser.text("#launch pre").await;
    assert!(command.starts_with("env VLLM_ENGINE_READY_TIMEOUT_S=3600"));
    assert!(command.contains("--api-key <redacted>"));
    assert!(browser.text("#launch p").await.starts_with("Reconstructed"));
    browser.close().await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn measurements_are_sorted_by_a_click_and_the_address_says_so() {
    let site = TestSite::with_examples().await;
    let browser = Browser::start().await;
    browser.open(&site.at(&page_of(DEEPSEEK))).await;
    browser.follow("Total tok/s").await;
    assert!(browser.address().await.query().unwrap().contains("sort="));
    let sorted = totals(&browser).await;
    let is_sorted = sorted.is_sorted() || sorted.is_sorted_by(|a, b| a >= b);
    assert!(is_sorted && sorted.len() > 30, "{sorted:?}");
    let head = browser
        .attribute("#measurements th[aria-sort]", "aria-sort")
        .await
        .unwrap();
    browser.follow("Total tok/s").await;
    let other_way = totals(&browser).await;
    assert_eq!(
        other_way,
        sorted.iter().rev().copied().collect::<Vec<f64>>()
    );
    let turned = browser
        .attribute("#measurements th[aria-sort]", "aria-sort")
        .await
        .unwrap();
    assert_ne!(head, turned);
    // Whoever opens the address sees the same.
    let address = browser.address().await;
    browser.close().await;
    let somebody_else = Browser::start().await;
    somebody_else.open(address.as_str()).await;
    assert_eq!(totals(&somebody_else).await, other_way);
    somebody_else.close().await;
}

/// The column of totals, as far as there are figures.
async fn totals(browser: &Browser) -> Vec<f64> {
    let script = "return [...document.querySelectorAll('#measurements tbody tr')]
        .map(row => row.cells[4].firstChild.textContent.trim())";
    let texts = browser.eval(script).await;
    let texts = texts
        .as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap());
    texts.filter(|text| *text != "—").map(number).collect()
}

/// `18.5K` and `1,037.5` as numbers.
fn number(text: &str) -> f64 {
    let plain = text.replace(',', "");
    match plain.strip_suffix('K') {
        Some(thousands) => thousands.parse::<f64>().unwrap() * 1000.0,
        None => plain
            .parse()
            .unwrap_or_else(|_| panic!("{text:?} is no figure")),
    }
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn the_links_beside_the_measurements_give_csv_and_json() {
    let site = TestSite::with_examples().await;
    let browser = Browser::start().await;
    browser.open(&site.at(&page_of(DEEPSEEK))).await;
    let links = "return [...document.querySelectorAll('#measurements p a')].map(a => [a.textContent, a.href])";
    let links = browser.eval(links).await;
    let of = |name: &str| {
        let mut links = links.as_array().unwrap().iter();
        let link = links.find(|link| link[0] == name);
        link.unwrap_or_else(|| panic!("no {name} in {links:?}"))[1]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let csv = http::get(&of("CSV"), "").await;
    assert_eq!(csv.status, 200);
    assert!(
        csv.content_type.starts_with("text/csv"),
        "{}",
        csv.content_type
    );
    assert!(
        csv.body.starts_with("phase,context_tokens,concurrency,"),
        "{}",
        csv.body
    );
    assert!(csv.body.contains("8192,64,Valid,,1198.5,"), "{}", csv.body);
    let json = http::get(&of("JSON"), "").await;
    assert_eq!(json.status, 200);
    assert!(json.content_type.starts_with("application/json"));
    let document: serde_json::Value = serde_json::from_str(&json.body).unwrap();
    assert_eq!(document["id"], id_of(DEEPSEEK));
    browser.close().await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn a_run_page_asks_for_one_stylesheet_and_the_icon_and_is_light() {
    let site = TestSite::with_examples().await;
    let browser = Browser::start().await;
    browser.requests().await;
    let page = site.at(&page_of(DEEPSEEK));
    browser.open(&page).await;
    let mut asked = browser.requests().await;
    asked.sort();
    asked.dedup();
    let mut allowed = [page.clone(), site.at("/style.css"), site.at("/favicon.svg")];
    allowed.sort();
    assert!(
        asked.contains(&page) && asked.contains(&site.at("/style.css")),
        "{asked:?}"
    );
    assert!(asked.iter().all(|url| allowed.contains(url)), "{asked:?}");
    let mut weight = 0;
    for url in &allowed {
        weight += http::get(url, "").await.body.len();
    }
    assert!(weight < PAGE_WEIGHT_MAX, "{weight} bytes");
    browser.close().await;
}

/// Text with every run of blanks as one.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
