//! Every address that the site itself names is there.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::json;

use crate::common::people::Person;
use crate::harness::http::{self, Answer};
use crate::harness::{Browser, TestSite};

/// Pages that are looked at; the whole site has fewer, for an address is looked at
/// [`ALIKE_MAX`] times with the same parameters.
const PAGES_MAX: usize = 400;
/// Addresses that differ only in the values of their parameters.
const ALIKE_MAX: usize = 3;
/// What a page names: links, files, forms that ask and can be sent empty, and the names of its own parts.
const NAMED: &str = "
    const page = new DOMParser().parseFromString(arguments[0], 'text/html');
    const all = (css, of) => [...page.querySelectorAll(css)].map(of);
    return {
        links: all('a[href], link[href]', e => e.getAttribute('href'))
            .concat(all('img[src]', e => e.getAttribute('src')))
            .concat(all('form[method=get]:not(:has([required]))', e => e.getAttribute('action'))),
        parts: all('[id]', e => e.id),
    };";

/// A link: where it stands and where it leads.
struct Link {
    from: String,
    to: url::Url,
}

/// Walks the site from a path, as somebody with these cookies; what is wrong.
pub async fn dead_links(site: &TestSite, browser: &Browser, from: &str, cookies: &str) -> Walk {
    let start = url::Url::parse(&site.at(from)).unwrap();
    // A page whose rules allow a script of the test's to read HTML.
    browser.open("about:blank").await;
    let mut walk = Walk::default();
    let mut queue = VecDeque::from([Link {
        from: "the test".to_owned(),
        to: start.clone(),
    }]);
    while let Some(Link { from, to }) = queue.pop_front() {
        let mut address = to.clone();
        address.set_fragment(None);
        if to.origin() != start.origin() || !walk.is_due(&address) {
            walk.check_part(&from, &to);
            continue;
        }
        let answer = http::get(address.as_str(), cookies).await;
        walk.note(&from, &to, &answer);
        if answer.is_page() {
            let named = browser.eval_with(NAMED, vec![json!(answer.body)]).await;
            let strings = |what: &str| -> Vec<String> {
                let values = named[what].as_array().unwrap().iter();
                values
                    .map(|value| value.as_str().unwrap().to_owned())
                    .collect()
            };
            walk.parts
                .insert(address.to_string(), strings("parts").into_iter().collect());
            for link in strings("links") {
                let to = address.join(&link).unwrap();
                let from = address.to_string();
                queue.push_back(Link { from, to });
            }
        }
        walk.check_part(&from, &to);
    }
    walk
}

/// What a walk has seen.
#[derive(Default)]
pub struct Walk {
    seen: BTreeSet<String>,
    alike: BTreeMap<String, usize>,
    parts: BTreeMap<String, BTreeSet<String>>,
    pub wrong: Vec<String>,
}

impl Walk {
    /// Paths that were looked at.
    pub fn paths(&self) -> BTreeSet<String> {
        let urls = self.seen.iter().map(|url| url::Url::parse(url).unwrap());
        urls.map(|url| url.path().to_owned()).collect()
    }

    fn is_due(&mut self, address: &url::Url) -> bool {
        if self.seen.contains(address.as_str()) {
            return false;
        }
        let names: BTreeSet<String> = address
            .query_pairs()
            .map(|(name, _)| name.into_owned())
            .collect();
        let kind = format!("{} {names:?}", address.path());
        let alike = self.alike.entry(kind).or_default();
        *alike += 1;
        if *alike > ALIKE_MAX {
            return false;
        }
        self.seen.insert(address.to_string());
        assert!(
            self.seen.len() <= PAGES_MAX,
            "the site has no end: {:#?}",
            self.seen
        );
        true
    }

    fn note(&mut self, from: &str, to: &url::Url, answer: &Answer) {
        let is_fine = answer.status == 200 || (300..400).contains(&answer.status);
        if !is_fine {
            self.wrong
                .push(format!("{from} leads to {to}: {}", answer.status));
        }
    }

    /// A link to a part of a page that is known leads to a part that is there.
    fn check_part(&mut self, from: &str, to: &url::Url) {
        let Some(part) = to.fragment().filter(|part| !part.is_empty()) else {
            return;
        };
        let mut address = to.clone();
        address.set_fragment(None);
        if let Some(parts) = self.parts.get(address.as_str())
            && !parts.contains(part)
        {
            self.wrong
                .push(format!("{from} leads to {to}: the page has no such part"));
        }
    }
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn no_link_of_the_site_is_dead() {
    let site = TestSite::with_examples().await;
    let browser = Browser::start().await;
    let walk = dead_links(&site, &browser, "/", "").await;
    assert!(walk.wrong.is_empty(), "{}", walk.wrong.join("\n"));
    let paths = walk.paths();
    assert!(paths.len() > 20, "hardly anything is linked: {paths:#?}");
    browser.close().await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn no_link_is_dead_for_somebody_who_is_signed_in() {
    let site = TestSite::with_examples().await;
    let browser = Browser::start().await;
    let ada = Person::sign_up(site.url(), "ada").await;
    let walk = dead_links(&site, &browser, "/account", &ada.cookie).await;
    assert!(walk.wrong.is_empty(), "{}", walk.wrong.join("\n"));
    assert!(walk.paths().contains("/moderation"));
    browser.close().await;
}

#[tokio::test]
#[ignore = "needs chromedriver: scripts/test browser"]
async fn no_link_of_a_site_without_runs_is_dead() {
    let site = TestSite::empty();
    let browser = Browser::start().await;
    let walk = dead_links(&site, &browser, "/", "").await;
    assert!(walk.wrong.is_empty(), "{}", walk.wrong.join("\n"));
    browser.close().await;
}
