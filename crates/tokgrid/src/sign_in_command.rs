//! `tokgrid sign-in URL`: a token for this terminal, approved in a browser (RFC 8628).

use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::Value;

use crate::kept_tokens::KeptTokens;
use crate::registry::{self, RegistryUrl};
use crate::{EXIT_SERVER, fail_with, terminal};

/// What OAuth calls the grant.
const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// Seconds between two polls where the registry names none (RFC 8628, 3.2).
const POLL_INTERVAL_S: u64 = 5;
/// Seconds more where the registry says `slow_down` (RFC 8628, 3.5).
const SLOW_DOWN_S: u64 = 5;
/// Longest that is waited for an answer, whatever the registry says.
const WAIT_MAX_S: u64 = 60 * 60;

/// Signs this terminal in to a registry, by a code that you confirm in a browser
#[derive(Debug, clap::Args)]
pub struct SignInArgs {
    /// The registry: a site that `tokgrid serve` serves
    #[arg(value_name = "URL")]
    registry: RegistryUrl,
}

/// Asks, shows the code, waits, and keeps the token.
///
/// # Errors
/// When the token cannot be kept.
pub async fn run(args: SignInArgs) -> anyhow::Result<ExitCode> {
    let kept = KeptTokens::of_this_person()?;
    match fetch(&args.registry).await {
        Ok(token) => {
            kept.keep(args.registry.as_str(), &token)?;
            terminal::print(&format!(
                "Signed in. The token is in {}\n",
                kept.path().display()
            ))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(error) => Ok(fail_with(&error, EXIT_SERVER)),
    }
}

async fn fetch(registry: &RegistryUrl) -> anyhow::Result<String> {
    let client = registry::client()?;
    let name = registry.as_str();
    let host = sysinfo::System::host_name().unwrap_or_default();
    let this = format!("tokgrid on {}", host.chars().take(60).collect::<String>());
    let form = [("client_id", this.trim()), ("scope", "read publish")];
    let request = client.post(registry.at("/api/device/code")).form(&form);
    let response = registry::send(request)
        .await
        .with_context(|| format!("{name} cannot be reached"))?;
    let status = response.status();
    let asked = registry::json(response).await?;
    let text = |field: &str| asked[field].as_str();
    let (Some(code), Some(user_code), Some(page)) = (
        text("device_code"),
        text("user_code"),
        text("verification_uri"),
    ) else {
        bail!("{name} gives no code: {status}{}", why(&asked));
    };
    terminal::print(&format!(
        "Open {}\nand confirm the code {user_code}\n",
        text("verification_uri_complete").unwrap_or(page)
    ))?;
    let mut interval_s = asked["interval"].as_u64().unwrap_or(POLL_INTERVAL_S);
    let wait_s = asked["expires_in"]
        .as_u64()
        .unwrap_or(WAIT_MAX_S)
        .min(WAIT_MAX_S);
    let until = Instant::now() + Duration::from_secs(wait_s);
    let form = [("grant_type", GRANT), ("device_code", code)];
    while Instant::now() < until {
        tokio::time::sleep(Duration::from_secs(interval_s)).await;
        // Not sent again after a fault: what fetches the token works once.
        let request = client.post(registry.at("/api/device/token")).form(&form);
        let answer = match request.send().await {
            Ok(response) => registry::json(response).await?,
            Err(_) => {
                interval_s += SLOW_DOWN_S;
                continue;
            }
        };
        if let Some(token) = answer["access_token"].as_str() {
            return Ok(token.to_owned());
        }
        match answer["error"].as_str() {
            Some("authorization_pending") => {}
            Some("slow_down") => interval_s += SLOW_DOWN_S,
            Some("access_denied") => bail!("{name} refuses: it was denied{}", why(&answer)),
            Some("expired_token") => bail!("the code {user_code} is too old: sign in again"),
            _ => bail!("{name} gives no token{}", why(&answer)),
        }
    }
    bail!("nobody confirmed the code {user_code} in time: sign in again")
}

/// What an answer says besides its error.
fn why(answer: &Value) -> String {
    ["error_description", "detail", "error"]
        .iter()
        .find_map(|field| answer[*field].as_str())
        .map_or(String::new(), |said| format!(": {said}"))
}
