//! A registry as the terminal speaks to it.

use std::str::FromStr;
use std::time::Duration;

use anyhow::Context;
use reqwest::{Client, RequestBuilder, Response, Url};
use serde_json::Value;

/// How long a registry may take for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);
/// Waits before a request is sent again after a fault of the connection.
const RETRY_AFTER: [Duration; 3] = [
    Duration::from_millis(250),
    Duration::from_secs(1),
    Duration::from_secs(3),
];
/// Largest answer read.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// Where a registry is: without a slash at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryUrl(String);

impl FromStr for RegistryUrl {
    type Err = String;

    fn from_str(text: &str) -> Result<RegistryUrl, String> {
        let url = Url::parse(text).map_err(|error| error.to_string())?;
        let is_plain = url.username().is_empty() && url.password().is_none();
        let is_whole = url.query().is_none() && url.fragment().is_none();
        if !matches!(url.scheme(), "http" | "https") || !is_plain || !is_whole {
            return Err("write it as https://speed.example.org".to_owned());
        }
        Ok(RegistryUrl(url.as_str().trim_end_matches('/').to_owned()))
    }
}

impl RegistryUrl {
    /// As it is kept and shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address of `path` there.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}

/// The client. It follows no redirect: a token goes to nobody who was not named.
///
/// # Errors
/// When TLS cannot be set up.
pub fn client() -> anyhow::Result<Client> {
    Client::builder()
        .user_agent(concat!("tokgrid/", env!("CARGO_PKG_VERSION")))
        .redirect(reqwest::redirect::Policy::none())
        .timeout(ANSWER_TIMEOUT)
        .build()
        .context("no connection can be made")
}

/// Sends a request that does no harm when it arrives twice, and again after faults of
/// the connection.
///
/// # Errors
/// When the last attempt failed too.
pub async fn send(request: RequestBuilder) -> anyhow::Result<Response> {
    let mut waits = RETRY_AFTER.iter();
    loop {
        let attempt = request
            .try_clone()
            .context("the request can be sent only once")?;
        match (attempt.send().await, waits.next()) {
            (Ok(response), _) => return Ok(response),
            (Err(error), Some(wait)) if !error.is_builder() => tokio::time::sleep(*wait).await,
            (Err(error), _) => {
                // The address is told by whoever names the registry.
                return Err(error.without_url())
                    .with_context(|| format!("tried {} times", RETRY_AFTER.len() + 1));
            }
        }
    }
}

/// The JSON of an answer; `null` where it is none.
///
/// # Errors
/// When the connection breaks, or the answer is far too large.
pub async fn json(mut response: Response) -> anyhow::Result<Value> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        bytes.extend_from_slice(&chunk);
        anyhow::ensure!(bytes.len() <= MAX_ANSWER_BYTES, "the answer does not end");
    }
    Ok(serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_registry_is_a_web_address_without_secrets() {
        for (text, read) in [
            ("https://a.example/", "https://a.example"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
            ("https://a.example/speed/", "https://a.example/speed"),
        ] {
            assert_eq!(text.parse::<RegistryUrl>().expect("reads").as_str(), read);
        }
        for text in [
            "",
            "a.example",
            "ftp://a.example",
            "https://u:p@a.example",
            "https://a/?q",
        ] {
            assert!(text.parse::<RegistryUrl>().is_err(), "{text}");
        }
    }
}
