//! The site without a browser.

use crate::common::people::client;

/// An answer, as far as tests look at it.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub content_type: String,
    pub body: String,
}

impl Answer {
    /// Whether a browser shows it as a page.
    pub fn is_page(&self) -> bool {
        self.content_type.starts_with("text/html")
    }
}

/// What is at an address, for whoever has these cookies.
pub async fn get(url: &str, cookies: &str) -> Answer {
    let request = client().get(url).header("cookie", cookies);
    let response = request.send().await.unwrap();
    let content_type = response.headers().get("content-type");
    Answer {
        status: response.status().as_u16(),
        content_type: content_type
            .map_or("", |kind| kind.to_str().unwrap())
            .to_owned(),
        body: response.text().await.unwrap(),
    }
}
