//! `tokgrid serve`: the registry site.

use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::{Context, bail};
use clap::Args;
use site::{Site, SiteOptions};
use store::{DatabaseUrl, Store};
use tokio::net::TcpListener;

use crate::serve_options::{SiteArgs, start_log};
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
    #[command(flatten)]
    site: SiteArgs,
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
        Store::open(&self.db)
            .await
            .with_context(|| format!("cannot open the database {}", self.db))
    }

    /// Opens one that is there: what is only read is not made.
    ///
    /// # Errors
    /// When there is no such file; as [`DatabaseArgs::open`].
    pub async fn open_existing(&self) -> anyhow::Result<Store> {
        if self.db.file().is_some_and(|file| !file.exists()) {
            bail!("there is no database {}: name yours with --db", self.db);
        }
        self.open().await
    }
}

/// Serves until Ctrl-C.
///
/// # Errors
/// When the database cannot be opened or the address is taken.
pub async fn run(args: ServeArgs) -> anyhow::Result<ExitCode> {
    start_log()?;
    let store = args.database.open().await?;
    let listener = listen(args.listen).await?;
    let public_url = match args.public_url {
        Some(url) => url,
        None => address(&listener)?,
    };
    let mut options = options(&public_url);
    args.site.apply(&mut options)?;
    serve(Site::new(store, options), listener).await?;
    Ok(ExitCode::SUCCESS)
}

/// Takes an address.
///
/// # Errors
/// When it is taken or not of this machine.
pub async fn listen(address: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(address)
        .await
        .with_context(|| format!("cannot listen on {address}: give another address with --listen"))
}

/// Where a site on `listener` is found from this machine.
///
/// # Errors
/// When the socket does not know its own address.
pub fn address(listener: &TcpListener) -> anyhow::Result<String> {
    Ok(format!("http://{}", listener.local_addr()?))
}

/// The site on `store`.
pub fn site(store: Store, public_url: &str) -> Site {
    Site::new(store, options(public_url))
}

/// The usual options of a site at `public_url`.
fn options(public_url: &str) -> SiteOptions {
    SiteOptions::new(public_url.trim_end_matches('/'), |bytes| {
        convert::import(bytes).map_err(|error| error.to_string())
    })
}

/// Serves until Ctrl-C, and says where.
///
/// # Errors
/// When the socket breaks.
pub async fn serve(site: Site, listener: TcpListener) -> anyhow::Result<()> {
    terminal::print(&format!(
        "The site is at {} (Ctrl-C stops it)\n",
        site.options.public_url
    ))?;
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
