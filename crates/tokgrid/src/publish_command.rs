//! `tokgrid publish run.json --to URL`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, LOCATION, RETRY_AFTER};
use serde_json::Value;
use sha2::{Digest, Sha256};
use site::SiteOptions;

use crate::kept_tokens::KeptTokens;
use crate::registry::{self, RegistryUrl};
use crate::{EXIT_SERVER, fail_with, terminal};

/// Publishes run documents on a registry
#[derive(Debug, clap::Args)]
pub struct PublishArgs {
    /// Run documents, as written by `tokgrid run --out`
    #[arg(value_name = "RUN.JSON", required = true)]
    documents: Vec<PathBuf>,
    /// The registry: a site that `tokgrid serve` serves
    #[arg(long, value_name = "URL", env = "TOKGRID_REGISTRY")]
    to: RegistryUrl,
    /// On whose behalf: an organization that you are a member of
    #[arg(long, value_name = "SLUG")]
    organization: Option<String>,
    /// Environment variable that holds a token; without it, the one of `tokgrid sign-in`
    #[arg(long, value_name = "VARIABLE", default_value = "TOKGRID_TOKEN")]
    token_from: String,
}

/// Checks all documents, then sends them, and says where each is.
///
/// # Errors
/// When a document is none, or there is no token.
pub async fn run(args: PublishArgs) -> anyhow::Result<ExitCode> {
    let mut documents = Vec::new();
    for path in &args.documents {
        documents.push((path, checked(path)?));
    }
    let token = token(&args)?;
    let client = registry::client()?;
    for (path, content) in documents {
        let upload = Upload {
            args: &args,
            token: &token,
            client: &client,
        };
        match upload.send(content).await {
            Ok(address) => terminal::print(&format!("{address}\n"))?,
            Err(error) => {
                let error = error.context(format!("{} is not published", path.display()));
                return Ok(fail_with(&error, EXIT_SERVER));
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A document's bytes, if the registry would take them.
fn checked(path: &Path) -> anyhow::Result<Vec<u8>> {
    let named = || path.display().to_string();
    let most = site::intake::MAX_DOCUMENT_BYTES;
    let about =
        std::fs::metadata(path).with_context(|| format!("{}: give a run document", named()))?;
    if about.is_dir() {
        bail!("{}: is a folder; give the run document in it", named());
    }
    if about.len() > most as u64 {
        bail!(
            "{}: has more than {most} bytes, which is the most a registry takes",
            named()
        );
    }
    let content = std::fs::read(path).with_context(|| format!("{}: cannot be read", named()))?;
    let options = SiteOptions::new("", |_| {
        Err("make a run document of it with `tokgrid import`".to_owned())
    });
    site::intake::read(&content, &options)
        .with_context(|| format!("{}: is no run document that can be published", named()))?;
    Ok(content)
}

fn token(args: &PublishArgs) -> anyhow::Result<String> {
    if let Ok(token) = std::env::var(&args.token_from)
        && !token.trim().is_empty()
    {
        return Ok(token.trim().to_owned());
    }
    let registry = args.to.as_str();
    KeptTokens::of_this_person()?
        .token(registry)?
        .with_context(|| {
            format!(
                "there is no token for {registry}: run `tokgrid sign-in {registry}`, or put one \
                 into the environment as {}",
                args.token_from
            )
        })
}

struct Upload<'run> {
    args: &'run PublishArgs,
    token: &'run str,
    client: &'run reqwest::Client,
}

impl Upload<'_> {
    /// Where the run is then.
    async fn send(&self, content: Vec<u8>) -> anyhow::Result<String> {
        let to = &self.args.to;
        // The same document is the same upload, however often it is sent.
        let key = format!("{:x}", Sha256::digest(&content));
        let mut request = self
            .client
            .post(to.at("/api/v1/runs"))
            .bearer_auth(self.token)
            .header(CONTENT_TYPE, "application/json")
            .header("Idempotency-Key", key)
            .body(content);
        if let Some(slug) = &self.args.organization {
            request = request.query(&[("organization", slug)]);
        }
        let response = registry::send(request)
            .await
            .with_context(|| format!("{} cannot be reached", to.as_str()))?;
        let status = response.status();
        if status.is_redirection() {
            let header = response.headers().get(LOCATION);
            let place = header
                .and_then(|place| place.to_str().ok())
                .unwrap_or("nowhere");
            bail!(
                "{} sends on to {place}: name that site with --to",
                to.as_str()
            );
        }
        let wait = response
            .headers()
            .get(RETRY_AFTER)
            .and_then(|wait| wait.to_str().ok())
            .map(str::to_owned);
        let answer = registry::json(response)
            .await
            .with_context(|| format!("the answer of {} broke off", to.as_str()))?;
        if status.is_success() {
            return address(&answer, to).with_context(|| {
                format!(
                    "{} answers {status} and names no run: is it a registry?",
                    to.as_str()
                )
            });
        }
        bail!("{}", refusal(to, status, wait.as_deref(), &answer))
    }
}

/// Where a run is that was taken.
fn address(answer: &Value, to: &RegistryUrl) -> Option<String> {
    if let Some(url) = answer["url"].as_str() {
        return Some(url.to_owned());
    }
    let id = answer["id"].as_str()?;
    Some(to.at(&format!("/runs/{id}")))
}

/// What a registry says of an upload that it does not take: each problem with its field.
fn refusal(to: &RegistryUrl, status: StatusCode, wait: Option<&str>, answer: &Value) -> String {
    let mut said = format!("{} refuses: {status}", to.as_str());
    for text in [&answer["detail"], &answer["title"]] {
        if let Some(text) = text.as_str().filter(|text| !said.contains(text)) {
            said.push_str(": ");
            said.push_str(text);
            break;
        }
    }
    for problem in answer["errors"].as_array().into_iter().flatten() {
        let field = problem["field"].as_str().unwrap_or("document");
        let detail = problem["detail"].as_str().unwrap_or_default();
        said.push_str(&format!("; {field}: {detail}"));
    }
    let hint = match status {
        StatusCode::UNAUTHORIZED => format!("; run `tokgrid sign-in {}`", to.as_str()),
        StatusCode::TOO_MANY_REQUESTS => {
            wait.map_or(String::new(), |wait| format!("; try again in {wait} s"))
        }
        _ => String::new(),
    };
    said + &hint
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn to() -> RegistryUrl {
        "https://a.example".parse().expect("reads")
    }

    #[test]
    fn a_refusal_names_each_field() {
        let answer = json!({
            "title": "The document is not taken", "status": 422, "detail": "2 problems",
            "errors": [
                {"field": "cells[3].ttft_ms.p50", "detail": "is less than 0"},
                {"detail": "has no cells"},
            ],
        });
        assert_eq!(
            refusal(&to(), StatusCode::UNPROCESSABLE_ENTITY, None, &answer),
            "https://a.example refuses: 422 Unprocessable Entity: 2 problems; \
             cells[3].ttft_ms.p50: is less than 0; document: has no cells"
        );
    }

    #[test]
    fn a_refusal_says_what_to_do() {
        let told = refusal(&to(), StatusCode::UNAUTHORIZED, None, &Value::Null);
        assert!(
            told.ends_with("run `tokgrid sign-in https://a.example`"),
            "{told}"
        );
        let told = refusal(
            &to(),
            StatusCode::TOO_MANY_REQUESTS,
            Some("7"),
            &Value::Null,
        );
        assert!(told.ends_with("try again in 7 s"), "{told}");
    }

    #[test]
    fn a_run_is_where_the_answer_says() {
        let with_url = json!({"id": "r", "url": "https://b.example/runs/r"});
        assert_eq!(
            address(&with_url, &to()).as_deref(),
            Some("https://b.example/runs/r")
        );
        let without = json!({"id": "r"});
        assert_eq!(
            address(&without, &to()).as_deref(),
            Some("https://a.example/runs/r")
        );
        assert_eq!(address(&Value::Null, &to()), None);
    }
}
