//! People of the site, without a browser: what its forms send, and its API.

use reqwest::header::{COOKIE, LOCATION, ORIGIN, SET_COOKIE};
use reqwest::redirect::Policy;
use serde_json::Value;

/// Of everybody.
pub const PASSWORD: &str = "correct horse battery staple";

/// A client that follows no redirect and knows no proxy.
pub fn client() -> reqwest::Client {
    let client = reqwest::Client::builder().no_proxy();
    client.redirect(Policy::none()).build().unwrap()
}

/// Somebody with an account, signed in.
#[derive(Debug, Clone)]
pub struct Person {
    site: String,
    pub name: String,
    /// What the browser would send along.
    pub cookie: String,
}

impl Person {
    /// Makes an account; the first one of a site is its administrator.
    pub async fn sign_up(site: &str, name: &str) -> Person {
        let mut person = Person {
            site: site.to_owned(),
            name: name.to_owned(),
            cookie: String::new(),
        };
        let form = [("name", name), ("password", PASSWORD), ("again", PASSWORD)];
        let response = person.submit("/sign-up", &form).await;
        assert_eq!(response.status(), 303, "{:?}", response.text().await);
        let cookies = response.headers().get_all(SET_COOKIE).iter();
        let cookies = cookies.map(|cookie| cookie.to_str().unwrap().split(';').next().unwrap());
        person.cookie = cookies.collect::<Vec<_>>().join("; ");
        person
    }

    /// Sends a form as the site's own page does.
    pub async fn submit(&self, path: &str, form: &[(&str, &str)]) -> reqwest::Response {
        let request = client()
            .post(format!("{}{path}", self.site))
            .header(ORIGIN, &self.site)
            .header(COOKIE, &self.cookie)
            .form(form);
        request.send().await.unwrap()
    }

    /// The same, for a form that leads to another page when all is well.
    pub async fn submit_well(&self, path: &str, form: &[(&str, &str)]) -> String {
        let response = self.submit(path, form).await;
        let to = response.headers().get(LOCATION).cloned();
        assert_eq!(
            response.status(),
            303,
            "{path}: {:?}",
            response.text().await
        );
        to.unwrap().to_str().unwrap().to_owned()
    }

    /// A new token that may do everything.
    pub async fn token(&self, name: &str) -> String {
        let form = [("token-name", name), ("read", "yes"), ("publish", "yes")];
        let page = self.submit("/account/tokens", &form).await;
        let page = page.text().await.unwrap();
        let from = page
            .find("tg_")
            .unwrap_or_else(|| panic!("no token in {page}"));
        page[from..].split('<').next().unwrap().to_owned()
    }
}

/// What the API says to an upload; an error where the connection breaks.
pub async fn upload(
    site: &str,
    token: &str,
    key: Option<&str>,
    document: String,
) -> reqwest::Result<(u16, Value)> {
    let mut request = client()
        .post(format!("{site}/api/v1/runs"))
        .bearer_auth(token)
        .header("content-type", "application/json")
        .body(document);
    if let Some(key) = key {
        request = request.header("idempotency-key", key);
    }
    let response = request.send().await?;
    let status = response.status().as_u16();
    let text = response.text().await?;
    Ok((
        status,
        serde_json::from_str(&text).unwrap_or(Value::String(text)),
    ))
}
