//! `tokgrid serve`: the registry site.

use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use site::{Site, SiteOptions};
use store::{DatabaseUrl, Store};
use tokio::net::TcpListener;

use crate::terminal;

/// Serves the site of runs: pages, leaderboard, API
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address to listen on
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    #[command(flatten)]
    database: DatabaseArgs,
    /// Where people find the site, for links, cookies and sign-in [default: http:// and the address]
    #[arg(long, value_name = "URL", env = "TOKGRID_PUBLIC_URL")]
    public_url: Option<String>,
}

/// Where runs are kept.
#[derive(Debug, Clone, Args)]
pub struct DatabaseArgs {
    /// sqlite:PATH or postgres://USER@HOST/NAME
    #[arg(
        long = "db",
        value_name = "URL",
        env = "TOKGRID_DB",
        hide_env_values = true,
        default_value = "sqlite:tokgrid.db"
    )]
    db: DatabaseUrl,
}

impl DatabaseArgs {
    /// Opens it.
    ///
    /// # Errors
    /// When it cannot be reached or brought to this version.
    pub async fn open(&self) -> anyhow::Result<Store> {
        Store::open(&self.db).await.context("cannot open the database")
    }
}

/// Serves until Ctrl-C.
///
/// # Errors
/// When the database cannot be opened or the address is taken.
pub async fn run(args: ServeArgs) -> anyhow::Result<ExitCode> {
    let store = args.database.open().await?;
    serve(store, args.listen, args.public_url).await?;
    Ok(ExitCode::SUCCESS)
}

/// Serves `store` on an address until Ctrl-C, and says where.
///
/// # Errors
/// When the address is taken.
pub async fn serve(
    store: Store,
    listen: SocketAddr,
    public_url: Option<String>,
) -> anyhow::Result<()> {
    let listener = TcpListener::bind(listen)
        .await
        .with_context(|| format!("cannot listen on {listen}"))?;
    let address = listener.local_addr()?;
    let public_url = public_url.unwrap_or_else(|| format!("http://{address}"));
    terminal::print(&format!("The site is at {public_url} (Ctrl-C stops it)\n"))?;
    let site = Site::new(
        store,
        SiteOptions::new(public_url.trim_end_matches('/'), |bytes| {
            convert::import(bytes).map_err(|error| error.to_string())
        }),
    );
    let stop = async {
        // Without a way to hear Ctrl-C the process can still be ended.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    site::serve(site, listener, stop)
        .await
        .context("the site stopped")
}
