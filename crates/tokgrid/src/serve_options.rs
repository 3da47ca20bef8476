//! What `tokgrid serve` takes beyond address and database: accounts, limits, log.

use std::num::NonZeroU32;

use anyhow::bail;
use clap::Args;
use site::{OidcOptions, SiteOptions};
use tracing_subscriber::EnvFilter;

/// Names what is logged: `warn`, `info`, `site=debug`.
const LOG_VARIABLE: &str = "TOKGRID_LOG";
/// Logged where nothing is named.
const LOG_DEFAULT: &str = "warn";
/// The secret at the OpenID provider: not a flag, which everybody on the machine reads.
const OIDC_SECRET_VARIABLE: &str = "TOKGRID_OIDC_CLIENT_SECRET";

/// Who gets accounts, and how much is answered.
#[derive(Debug, Clone, Args)]
pub struct SiteArgs {
    /// Makes no accounts with a password; who comes from the OpenID provider gets one
    #[arg(long)]
    no_sign_up: bool,
    /// OpenID provider to sign in with; its secret is in TOKGRID_OIDC_CLIENT_SECRET
    #[arg(
        long,
        value_name = "URL",
        env = "TOKGRID_OIDC_ISSUER",
        requires = "oidc_client_id"
    )]
    oidc_issuer: Option<String>,
    /// The site's name at the OpenID provider
    #[arg(
        long,
        value_name = "ID",
        env = "TOKGRID_OIDC_CLIENT_ID",
        requires = "oidc_issuer"
    )]
    oidc_client_id: Option<String>,
    /// Believes the last entry of X-Forwarded-For: only behind a proxy that sets it
    #[arg(long)]
    trust_forwarded_for: bool,
    /// Requests of one address, and of one account, in a minute [default: 600]
    #[arg(long, value_name = "N")]
    requests_per_minute: Option<NonZeroU32>,
    /// Uploads of one account, and from one address, in an hour [default: 240]
    #[arg(long, value_name = "N")]
    uploads_per_hour: Option<NonZeroU32>,
}

impl SiteArgs {
    /// Puts them into the site's options.
    ///
    /// # Errors
    /// When an OpenID provider is named and the secret is not.
    pub fn apply(self, options: &mut SiteOptions) -> anyhow::Result<()> {
        options.sign_up = !self.no_sign_up;
        options.trust_forwarded_for = self.trust_forwarded_for;
        if let Some(limit) = self.requests_per_minute {
            options.limits.requests_per_minute = limit;
        }
        if let Some(limit) = self.uploads_per_hour {
            options.limits.uploads_per_hour = limit;
        }
        if let (Some(issuer), Some(client_id)) = (self.oidc_issuer, self.oidc_client_id) {
            let Ok(client_secret) = std::env::var(OIDC_SECRET_VARIABLE) else {
                bail!("put the secret of {client_id} at {issuer} into {OIDC_SECRET_VARIABLE}");
            };
            options.oidc = Some(OidcOptions {
                issuer,
                client_id,
                client_secret,
            });
        }
        Ok(())
    }
}

/// Logs to stderr what `TOKGRID_LOG` names, warnings and errors by default.
///
/// # Errors
/// When it names what cannot be understood.
pub fn start_log() -> anyhow::Result<()> {
    let wanted = std::env::var(LOG_VARIABLE).unwrap_or_else(|_| LOG_DEFAULT.to_owned());
    let Ok(filter) = EnvFilter::builder().parse(&wanted) else {
        bail!("{LOG_VARIABLE}: `{wanted}` is no level: write error, warn, info, debug or trace");
    };
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
    Ok(())
}
