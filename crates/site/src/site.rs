//! The site as a whole: what it is given and what all requests share.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use document::RunDocument;
use store::Store;

use crate::accounts::Hasher;
use crate::routes;
use crate::security::{Gates, Limits};

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
    /// Whether people can make accounts with a name and a password.
    pub sign_up: bool,
    /// The OpenID provider that people can sign in with.
    pub oidc: Option<OidcOptions>,
    /// Whether a proxy in front says in `X-Forwarded-For` whose request it is.
    pub trust_forwarded_for: bool,
    /// How much is answered in a time.
    pub limits: Limits,
}

/// An OpenID provider, and the site's registration there.
#[derive(Clone)]
pub struct OidcOptions {
    /// Its address, as its discovery document says it.
    pub issuer: String,
    /// The site's name there.
    pub client_id: String,
    /// The site's secret there.
    pub client_secret: String,
}

impl std::fmt::Debug for OidcOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OidcOptions")
            .field("issuer", &self.issuer)
            .field("client_id", &self.client_id)
            .finish_non_exhaustive()
    }
}

impl SiteOptions {
    /// A site at `public_url` where people can sign up, without an OpenID provider
    /// or a proxy, and with the usual limits.
    #[must_use]
    pub fn new(public_url: impl Into<String>, importer: Importer) -> SiteOptions {
        SiteOptions {
            public_url: public_url.into(),
            importer,
            sign_up: true,
            oidc: None,
            trust_forwarded_for: false,
            limits: Limits::default(),
        }
    }
}

/// What all requests share. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Site {
    /// The registry's database.
    pub store: Store,
    /// What the site was given.
    pub options: Arc<SiteOptions>,
    /// What requests count towards.
    pub(crate) gates: Arc<Gates>,
    /// Computes and checks password hashes, a few at once.
    pub(crate) hasher: Hasher,
}

impl Site {
    /// A site on `store`.
    #[must_use]
    pub fn new(store: Store, options: SiteOptions) -> Site {
        Site {
            store,
            gates: Arc::new(Gates::new(&options.limits)),
            hasher: Hasher::default(),
            options: Arc::new(options),
        }
    }

    /// Whether browsers reach the site by TLS, so that cookies need it.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.options.public_url.starts_with("https://")
    }

    /// All routes.
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
