//! The site as a whole: what it is given and what all requests share.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use document::RunDocument;
use store::Store;

use crate::routes;

/// Reads another tool's result file as a run document, or says why it cannot, in
/// words for the person who uploads it.
pub type Importer = fn(&[u8]) -> Result<RunDocument, String>;

/// What the site is given.
#[derive(Debug, Clone)]
pub struct SiteOptions {
    /// Where people find the site, without a slash at the end:
    /// `https://speed.example.org`. Links in documents, cookies and sign-in by
    /// OpenID Connect use it.
    pub public_url: String,
    /// Reads other tools' files.
    pub importer: Importer,
}

/// What all requests share. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Site {
    /// The registry's database.
    pub store: Store,
    /// What the site was given.
    pub options: Arc<SiteOptions>,
}

impl Site {
    /// A site on `store`.
    #[must_use]
    pub fn new(store: Store, options: SiteOptions) -> Site {
        Site {
            store,
            options: Arc::new(options),
        }
    }

    /// Whether browsers reach the site by TLS, so that cookies need it.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.options.public_url.starts_with("https://")
    }

    /// All routes.
    #[must_use]
    pub fn router(self) -> Router {
        routes::router(self)
    }
}

/// Serves until `stop` is done; requests under way are answered first.
///
/// # Errors
/// When the socket breaks.
pub async fn serve(
    site: Site,
    listener: tokio::net::TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let service = site
        .router()
        .into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, service)
        .with_graceful_shutdown(stop)
        .await
}
