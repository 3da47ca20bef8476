//! A browser that keeps cookies, follows nothing and says where it is.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroU32;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};
use document::RunDocument;
use site::{Limits, Site, SiteOptions};
use store::{NewRun, Store};
use tower::ServiceExt;

/// Where the site of these tests is.
pub const HOME: &str = "http://site.example";
/// A password that may be used.
pub const PASSWORD: &str = "correct horse battery";

/// What came back.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    /// Where it sends the browser.
    pub fn location(&self) -> &str {
        self.headers["location"].to_str().unwrap()
    }

    pub fn cookies(&self) -> Vec<&str> {
        let cookies = self.headers.get_all("set-cookie").iter();
        cookies.map(|cookie| cookie.to_str().unwrap()).collect()
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text).unwrap()
    }
}

/// A browser.
pub struct Browser {
    pub site: Router,
    pub cookies: RefCell<BTreeMap<String, String>>,
    /// What it says of where a form was: `None` for a program.
    pub origin: Option<&'static str>,
}

pub async fn open(url: &str) -> Store {
    Store::open(&url.parse().unwrap()).await.unwrap()
}

/// A site that lets tests do as much as they need.
pub fn options(home: &str) -> SiteOptions {
    let many = NonZeroU32::new(100_000).unwrap();
    SiteOptions {
        limits: Limits {
            requests_per_minute: many,
            uploads_per_hour: many,
            sign_ins_per_hour: many,
            sign_ins_per_name_per_hour: many,
        },
        ..SiteOptions::new(home, |_| Err("nothing is imported here".to_owned()))
    }
}

pub fn site(store: &Store) -> Router {
    Site::new(store.clone(), options(HOME)).router()
}

impl Browser {
    pub fn new(site: &Router) -> Browser {
        Browser {
            site: site.clone(),
            cookies: RefCell::default(),
            origin: Some(HOME),
        }
    }

    /// A browser whose owner has just signed up.
    pub async fn of(site: &Router, name: &str) -> Browser {
        let browser = Browser::new(site);
        let answer = browser.sign_up(name).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
        browser
    }

    pub async fn sign_up(&self, name: &str) -> Answer {
        let form = [("name", name), ("password", PASSWORD), ("again", PASSWORD)];
        self.post("/sign-up", &form).await
    }

    pub async fn sign_in(&self, name: &str, password: &str) -> Answer {
        self.post("/sign-in", &[("name", name), ("password", password)])
            .await
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.send(Request::get(path), "").await
    }

    pub async fn post(&self, path: &str, form: &[(&str, &str)]) -> Answer {
        let body = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(form)
            .finish();
        let request =
            Request::post(path).header("content-type", "application/x-www-form-urlencoded");
        self.send(request, &body).await
    }

    pub async fn send(&self, request: axum::http::request::Builder, body: &str) -> Answer {
        let mut request = request.header("host", "site.example");
        let sent = self.cookies.borrow().clone();
        if !sent.is_empty() {
            let sent: Vec<String> = sent.iter().map(|(n, v)| format!("{n}={v}")).collect();
            request = request.header("cookie", sent.join("; "));
        }
        if let Some(origin) = self.origin {
            request = request.header("origin", origin);
        }
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let response = self.site.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, usize::MAX).await.unwrap();
        let answer = Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        };
        for cookie in answer.cookies() {
            let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
            if cookie.contains("Max-Age=0") {
                self.cookies.borrow_mut().remove(name);
            } else {
                let pair = (name.to_owned(), value.to_owned());
                self.cookies.borrow_mut().extend([pair]);
            }
        }
        answer
    }

    /// Makes a token that may do everything.
    pub async fn token(&self, name: &str) -> String {
        let form = [("token-name", name), ("read", "yes"), ("publish", "yes")];
        let answer = self.post("/account/tokens", &form).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text);
        token_in(&answer.text).unwrap()
    }
}

/// The token that a text holds.
pub fn token_in(text: &str) -> Option<String> {
    let at = text
        .match_indices("tg_")
        .find(|(at, _)| text[at + 3..].starts_with(|c: char| c.is_ascii_hexdigit()))?;
    let rest = &text[at.0..];
    let end = rest
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    Some(rest[..end].to_owned())
}

/// Puts a run into the registry.
pub async fn publish(store: &Store, id: &str, account_key: i64) {
    let json = serde_json::json!({
        "schema": "tokgrid.run/1", "id": id, "source": "measured",
        "model": {"id": "org/Model-1"}, "engine": {"name": "vllm"},
        "hardware": {"gpu": "RTX PRO 6000", "gpu_count": 4}, "cells": [],
    });
    let content = json.to_string();
    let document = RunDocument::from_json(content.as_bytes()).unwrap();
    store
        .publish(NewRun {
            content: content.as_bytes(),
            document: &document,
            account_key: Some(account_key),
            organization_key: None,
            idempotency_key: None,
            published_at_ms: 1_760_000_000_000,
        })
        .await
        .unwrap();
}

pub async fn key_of(store: &Store, name: &str) -> i64 {
    let account = store.account_by_name(name).await.unwrap().unwrap();
    account.account_key
}
