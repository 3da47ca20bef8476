//! A site on a database of its own, asked as a program would.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::num::NonZeroU32;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, Method, Request, StatusCode};
use document::RunDocument;
use serde_json::Value;
use sha2::{Digest, Sha256};
use site::{Limits, Site, SiteOptions};
use store::{Account, NewAccount, NewToken, Store};
use tower::ServiceExt;

/// The example runs.
pub const EXAMPLES: [&str; 2] = [
    include_str!("../../../../examples/runs/deepseek-v4.1-flash-4x-rtx-pro-6000.json"),
    include_str!("../../../../examples/runs/glm-5.3-flash-4x-rtx-pro-6000.json"),
];

/// An example run with something changed.
pub fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut document: Value = serde_json::from_str(EXAMPLES[0]).unwrap();
    change(&mut document);
    document.to_string()
}

/// An example run of another id.
pub fn numbered(number: u32) -> String {
    changed(|run| run["id"] = format!("00000000-0000-4000-8000-{number:012}").into())
}

/// The id of a document.
pub fn id_of(text: &str) -> String {
    let run: Value = serde_json::from_str(text).unwrap();
    run["id"].as_str().unwrap().to_owned()
}

/// A site and its database.
pub struct World {
    router: Router,
    pub store: Store,
    _folder: tempfile::TempDir,
}

/// An answer, read.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    /// Asserts a problem document of this status, and returns it.
    #[track_caller]
    pub fn problem(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.text());
        assert_eq!(self.header("content-type"), "application/problem+json");
        let problem = self.json();
        assert_eq!(problem["status"], status);
        assert!(
            problem["title"].is_string() && problem["detail"].is_string(),
            "{problem}"
        );
        problem
    }
}

/// Knows no other tool.
fn importer(_: &[u8]) -> Result<RunDocument, String> {
    Err("no result file that is known".to_owned())
}

impl World {
    /// Without a run.
    pub async fn empty() -> World {
        let plenty = NonZeroU32::new(1_000_000).unwrap();
        World::limited(Limits {
            requests_per_minute: plenty,
            uploads_per_hour: plenty,
            ..Limits::default()
        })
        .await
    }

    /// Without a run, and with these limits.
    pub async fn limited(limits: Limits) -> World {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("site.db").display());
        let store = Store::open(&url.parse().unwrap()).await.unwrap();
        let options = SiteOptions {
            limits,
            ..SiteOptions::new("http://site.test", importer)
        };
        World {
            router: Site::new(store.clone(), options).router(),
            store,
            _folder: folder,
        }
    }

    /// With the example runs, published by `ada`, the administrator.
    pub async fn with_examples() -> (World, String) {
        let world = World::empty().await;
        let token = world.token("ada", true).await;
        for text in EXAMPLES {
            let answer = world.publish(&token, text).await;
            assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.text());
        }
        (world, token)
    }

    /// A new account's token; the first account is the administrator.
    pub async fn token(&self, name: &str, may_publish: bool) -> String {
        let account = self.account(name).await;
        let token = format!("tg_{name}");
        let hash = Sha256::digest(token.as_bytes());
        let sha256: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        let is_new = self
            .store
            .create_token(NewToken {
                account_key: account.account_key,
                sha256: &sha256,
                name: "test",
                may_read: true,
                may_publish,
                now_ms: 0,
                expires_at_ms: None,
            })
            .await
            .unwrap();
        assert!(is_new);
        token
    }

    async fn account(&self, name: &str) -> Account {
        let new = NewAccount {
            name,
            password_hash: None,
            oidc: None,
            created_at_ms: 0,
        };
        self.store.create_account(new).await.unwrap().unwrap()
    }

    pub async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: to_bytes(body, usize::MAX).await.unwrap().to_vec(),
        }
    }

    pub async fn get(&self, address: &str) -> Answer {
        self.get_with(address, &[]).await
    }

    pub async fn get_with(&self, address: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask(Method::GET, address, headers, Vec::new()).await
    }

    pub async fn ask(
        &self,
        method: Method,
        address: &str,
        headers: &[(&str, &str)],
        body: Vec<u8>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(address);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.send(request.body(Body::from(body)).unwrap()).await
    }

    pub async fn publish(&self, token: &str, text: &str) -> Answer {
        self.publish_with(token, text.as_bytes().to_vec(), &[])
            .await
    }

    pub async fn publish_with(&self, token: &str, body: Vec<u8>, more: &[(&str, &str)]) -> Answer {
        self.post("/api/v1/runs", Some(token), body, more).await
    }

    pub async fn post(
        &self,
        address: &str,
        token: Option<&str>,
        body: Vec<u8>,
        more: &[(&str, &str)],
    ) -> Answer {
        let bearer = token.map(|token| format!("Bearer {token}"));
        let mut headers = vec![(CONTENT_TYPE.as_str(), "application/json")];
        headers.extend(
            bearer
                .as_deref()
                .map(|bearer| (AUTHORIZATION.as_str(), bearer)),
        );
        headers.extend_from_slice(more);
        self.ask(Method::POST, address, &headers, body).await
    }

    pub async fn delete(&self, token: &str, id: &str) -> Answer {
        let bearer = format!("Bearer {token}");
        let address = format!("/api/v1/runs/{id}");
        self.ask(
            Method::DELETE,
            &address,
            &[("authorization", &bearer)],
            Vec::new(),
        )
        .await
    }
}
