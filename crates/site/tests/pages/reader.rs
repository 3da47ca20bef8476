//! Reading the site as a browser without JavaScript does.

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use scraper::{ElementRef, Html, Selector};
use sha2::{Digest as _, Sha256};
use store::{NewAccount, NewSession};
use tower::ServiceExt as _;

use crate::world::World;

/// More than any page.
const MOST_BYTES: usize = 10 << 20;

/// How long a browser stays signed in.
const SESSION_MS: i64 = 3_600_000;

/// An answer.
pub struct Reply {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
    html: Html,
}

impl World {
    /// Gets a page, in English.
    pub async fn get(&self, path: &str) -> Reply {
        self.get_with(path, &[("accept-language", "en")]).await
    }

    /// Gets a page with these headers.
    pub async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Reply {
        let mut request = Request::get(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::empty()).expect("a request");
        let response = self.site.clone().router().oneshot(request).await;
        let (parts, body) = response.expect("an answer").into_parts();
        let bytes = to_bytes(body, MOST_BYTES).await.expect("a body");
        let text = String::from_utf8(bytes.to_vec()).expect("UTF-8");
        Reply {
            status: parts.status,
            headers: parts.headers,
            html: Html::parse_document(&text),
            text,
        }
    }

    /// Makes an account.
    pub async fn account(&self, name: &str) -> i64 {
        let new = NewAccount {
            name,
            password_hash: None,
            oidc: None,
            created_at_ms: 1,
        };
        let made = self.site.store.create_account(new).await;
        made.expect("a database").expect("a new name").account_key
    }

    /// Gets a page in the browser of this account, or of nobody.
    pub async fn get_as(&self, path: &str, account_key: Option<i64>) -> Reply {
        let Some(account_key) = account_key else {
            return self.get(path).await;
        };
        let secret = format!("secret-of-{account_key}");
        let now_ms = jiff::Timestamp::now().as_millisecond();
        let session = NewSession {
            account_key,
            sha256: &format!("{:x}", Sha256::digest(&secret)),
            browser: "test",
            now_ms,
            expires_at_ms: now_ms + SESSION_MS,
        };
        // The second time it is there already.
        let _ = self.site.store.open_session(session).await;
        self.get_with(path, &[("cookie", &format!("session={secret}"))])
            .await
    }

    /// Gets a page that is there.
    pub async fn page(&self, path: &str) -> Reply {
        let reply = self.get(path).await;
        assert_eq!(reply.status, StatusCode::OK, "{path}: {}", reply.text);
        reply
    }
}

impl Reply {
    pub fn header(&self, name: &str) -> &str {
        let value = self
            .headers
            .get(name)
            .unwrap_or_else(|| panic!("no {name}"));
        value.to_str().expect("text")
    }

    pub fn all(&self, css: &str) -> Vec<ElementRef<'_>> {
        self.html.select(&selector(css)).collect()
    }

    /// Words of everything that a selector finds.
    pub fn words(&self, css: &str) -> Vec<String> {
        self.all(css).into_iter().map(words).collect()
    }

    /// Words of the page's body.
    pub fn body(&self) -> String {
        self.words("main").concat()
    }

    /// Rows of the first table below `css`, each by the headers of its columns.
    pub fn rows(&self, css: &str) -> Vec<Row> {
        let Some(table) = self.all(&format!("{css} table")).into_iter().next() else {
            return Vec::new();
        };
        let heads: Vec<String> = table.select(&selector("thead th")).map(words).collect();
        let cells = selector("td, th");
        let row = |row: ElementRef| {
            let found = row.select(&cells).map(words);
            heads.iter().cloned().zip(found).collect()
        };
        table
            .select(&selector("tbody tr"))
            .map(row)
            .map(Row)
            .collect()
    }

    /// Where the links that a selector finds lead.
    pub fn links(&self, css: &str) -> Vec<String> {
        self.all(css)
            .into_iter()
            .filter_map(|link| link.attr("href"))
            .map(str::to_owned)
            .collect()
    }
}

/// A table's row.
#[derive(Debug, Clone, PartialEq)]
pub struct Row(Vec<(String, String)>);

impl Row {
    /// What stands below a header.
    pub fn of(&self, head: &str) -> &str {
        let cell = self.0.iter().find(|(name, _)| name == head);
        let (_, cell) = cell.unwrap_or_else(|| panic!("no column {head} in {:?}", self.0));
        cell
    }
}

fn selector(css: &str) -> Selector {
    Selector::parse(css).expect("a selector")
}

fn words(element: ElementRef<'_>) -> String {
    let text: String = element.text().collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
