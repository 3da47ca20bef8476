//! Every kind of page, with an address of each.

use super::TestSite;
use super::http::get;
use super::site::{DEEPSEEK, GLM, page_of};

/// A page, and what its status must be.
#[derive(Debug, Clone)]
pub struct Page {
    pub path: String,
    pub status: u16,
}

/// Lists whose entries have pages of their own, below the list's address.
const LISTS: [&str; 3] = ["/models", "/hardware", "/organizations"];
/// Pages that anyone sees.
const PUBLIC: [&str; 13] = [
    "/",
    "/start",
    "/leaderboard",
    "/leaderboard?phase=prefill",
    "/leaderboard?model=nothing-is-called-this",
    "/models",
    "/organizations",
    "/runs",
    "/runs?q=nothing-is-called-this",
    "/hardware",
    "/api",
    "/sign-in",
    "/sign-up",
];

/// The pages that anyone sees on a site with the examples.
pub async fn public(site: &TestSite) -> Vec<Page> {
    let mut paths: Vec<String> = PUBLIC.iter().map(|path| (*path).to_owned()).collect();
    paths.push(page_of(DEEPSEEK));
    paths.push(format!("{}?sort=ttft_ms_p50&dir=desc", page_of(DEEPSEEK)));
    paths.push(page_of(GLM));
    for list in LISTS {
        paths.extend(first_entry(site, list).await);
    }
    let mut pages: Vec<Page> = paths
        .into_iter()
        .map(|path| Page { path, status: 200 })
        .collect();
    for (path, status) in [("/nothing", 404), ("/runs?bogus=1", 400)] {
        let path = path.to_owned();
        pages.push(Page { path, status });
    }
    pages
}

/// The address of the first entry of a list, where it has one.
async fn first_entry(site: &TestSite, list: &str) -> Option<String> {
    let answer = get(&site.at(list), "").await;
    assert_eq!(answer.status, 200, "{list}");
    let opening = format!("href=\"{list}/");
    let (_, rest) = answer.body.split_once(&opening)?;
    let (slug, _) = rest.split_once('"')?;
    Some(format!("{list}/{slug}"))
}

/// The pages of somebody who is signed in, looks after the site and belongs to the
/// organization `lab`.
pub fn signed_in() -> Vec<Page> {
    let run = page_of(DEEPSEEK);
    let paths = [
        "/account".to_owned(),
        "/account/organizations/lab".to_owned(),
        format!("/account{run}/delete"),
        "/device".to_owned(),
        "/moderation".to_owned(),
        format!("/moderation{run}/hide"),
        "/organizations/lab".to_owned(),
        "/publish".to_owned(),
        run,
    ];
    let pages = paths.into_iter().map(|path| Page { path, status: 200 });
    pages.collect()
}
