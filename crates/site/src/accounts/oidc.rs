use std::time::Duration;

use axum::Extension;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use axum_extra::extract::cookie::{Cookie, CookieJar, SameSite};
use openidconnect::core::{
    CoreAuthenticationFlow, CoreClient, CoreIdTokenClaims, CoreProviderMetadata,
};
use openidconnect::{
    AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndpointMaybeSet, EndpointNotSet,
    EndpointSet, IssuerUrl, Nonce, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope,
};
use serde::Deserialize;
use store::{NewAccount, OidcRequest, StoreError};

use super::attempt::{NotTried, go_to_with};
use super::secret::Secret;
use super::sign_in::Next;
use super::{names, session};
use crate::frame::{self, PageError, shown};
use crate::security::Network;
use crate::site::{OidcOptions, Site};
use crate::visitor::Visitor;

/// How long somebody may be at the provider: 10 minutes.
const SIGN_IN_S: i64 = 10 * 60;
/// How long the provider may take for an answer.
const PROVIDER_TIMEOUT: Duration = Duration::from_secs(10);
/// Accounts whose names differ by a number only.
const NAMES_TRIED_MAX: u32 = 100;

type Client = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;

/// Why somebody is not signed in by the provider.
#[derive(Debug, thiserror::Error)]
enum OidcError {
    /// None is configured.
    #[error("no OpenID provider is configured")]
    NotConfigured,
    /// It cannot be reached, or says what cannot be understood.
    #[error("the OpenID provider failed: {0}")]
    Provider(String),
    /// What came back is not what was asked for.
    #[error("the sign-in was not accepted: {0}")]
    NotAccepted(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn provider_failed(error: impl std::error::Error) -> OidcError {
    OidcError::Provider(with_causes(&error))
}

fn not_accepted(error: impl std::error::Error) -> OidcError {
    OidcError::NotAccepted(with_causes(&error))
}

fn with_causes(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {}", with_causes(cause)),
        None => error.to_string(),
    }
}

impl OidcError {
    /// The page that says it; details are for the log.
    fn answer(self, site: &Site, visitor: &Visitor) -> Result<Response, PageError> {
        let (status, why) = match self {
            OidcError::NotConfigured => return Err(PageError::NotFound),
            OidcError::Store(error) => return Err(error.into()),
            OidcError::Provider(_) => (StatusCode::BAD_GATEWAY, "account-openid-failed"),
            OidcError::NotAccepted(_) => (StatusCode::BAD_REQUEST, "account-openid-refused"),
        };
        tracing::warn!(error = %self, "nobody was signed in");
        let words = visitor.words;
        let why = words.t(why).into_owned();
        Ok(frame::trouble(
            site,
            visitor,
            status,
            words.t("account-openid-trouble"),
            why,
        ))
    }
}

/// The client that asks the provider. It follows no redirect: an address that answers
/// with another one is not the provider that was configured.
fn http() -> Result<openidconnect::reqwest::Client, OidcError> {
    openidconnect::reqwest::Client::builder()
        .redirect(openidconnect::reqwest::redirect::Policy::none())
        .timeout(PROVIDER_TIMEOUT)
        .build()
        .map_err(provider_failed)
}

/// Asks the provider for its addresses and keys: each time, for keys are changed.
async fn client(site: &Site, http: &openidconnect::reqwest::Client) -> Result<Client, OidcError> {
    let OidcOptions {
        issuer,
        client_id,
        client_secret,
    } = site.options.oidc.clone().ok_or(OidcError::NotConfigured)?;
    let issuer = IssuerUrl::new(issuer).map_err(provider_failed)?;
    let metadata = CoreProviderMetadata::discover_async(issuer, http)
        .await
        .map_err(provider_failed)?;
    let back = format!("{}/sign-in/openid/callback", site.options.public_url);
    let back = RedirectUrl::new(back).map_err(provider_failed)?;
    let secret = ClientSecret::new(client_secret);
    Ok(
        CoreClient::from_provider_metadata(metadata, ClientId::new(client_id), Some(secret))
            .set_redirect_uri(back),
    )
}

fn state_cookie(site: &Site, value: String, kept_s: i64) -> Cookie<'static> {
    let name = if site.is_https() {
        "__Host-openid"
    } else {
        "openid"
    };
    Cookie::build((name, value))
        .path("/")
        .http_only(true)
        .same_site(SameSite::Lax)
        .secure(site.is_https())
        .max_age(cookie::time::Duration::seconds(kept_s))
        .build()
}

/// `GET /sign-in/openid`: on to the provider.
pub(super) async fn start(
    State(site): State<Site>,
    visitor: Visitor,
    Extension(network): Extension<Network>,
    Query(next): Query<Next>,
) -> Response {
    shown(&site, &visitor, async {
        if let Err(limit) = site.gates.attempt(network) {
            return Ok(too_many(&site, &visitor, limit));
        }
        match leave(&site, &next).await {
            Ok(response) => Ok(response),
            Err(error) => error.answer(&site, &visitor),
        }
    })
    .await
}

fn too_many(site: &Site, visitor: &Visitor, limit: crate::security::TooMany) -> Response {
    let words = visitor.words;
    let why = NotTried::from(limit).words(words);
    let title = words.t("trouble-too-many");
    let status = StatusCode::TOO_MANY_REQUESTS;
    let mut response = frame::trouble(site, visitor, status, title, why);
    limit.tell(response.headers_mut());
    response
}

async fn leave(site: &Site, next: &Next) -> Result<Response, OidcError> {
    let client = client(site, &http()?).await?;
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let state = Secret::random("");
    let nonce = Secret::random("");
    let (in_url, of_token) = (state.clone(), nonce.clone());
    let (address, _, _) = client
        .authorize_url(
            CoreAuthenticationFlow::AuthorizationCode,
            move || CsrfToken::new(in_url.reveal().to_owned()),
            move || Nonce::new(of_token.reveal().to_owned()),
        )
        .add_scope(Scope::new("profile".to_owned()))
        .set_pkce_challenge(challenge)
        .url();
    let request = OidcRequest {
        nonce: nonce.reveal().to_owned(),
        pkce_verifier: verifier.into_secret(),
        next: next.path().to_owned(),
    };
    let now_ms = session::now_ms();
    site.store
        .open_oidc_request(&state.sha256(), &request, now_ms, now_ms + SIGN_IN_S * 1000)
        .await?;
    let cookie = state_cookie(site, state.reveal().to_owned(), SIGN_IN_S);
    Ok(go_to_with(address.as_str(), &cookie))
}

/// What the provider sends back. No `Debug`: the code is a secret.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Back {
    code: String,
    state: String,
    error: String,
}

/// `GET /sign-in/openid/callback`
pub(super) async fn finish(
    State(site): State<Site>,
    visitor: Visitor,
    Extension(network): Extension<Network>,
    headers: HeaderMap,
    Query(back): Query<Back>,
) -> Response {
    shown(&site, &visitor, async {
        if let Err(limit) = site.gates.attempt(network) {
            return Ok(too_many(&site, &visitor, limit));
        }
        match come_back(&site, &headers, back).await {
            Ok(response) => Ok(response),
            Err(error) => error.answer(&site, &visitor),
        }
    })
    .await
}

async fn come_back(site: &Site, headers: &HeaderMap, back: Back) -> Result<Response, OidcError> {
    let refused = |why: &str| OidcError::NotAccepted(why.to_owned());
    let name = state_cookie(site, String::new(), 0).name().to_owned();
    let cookies = CookieJar::from_headers(headers);
    let in_browser = cookies.get(&name).map(Cookie::value).unwrap_or_default();
    // Who sends somebody else here with a code of their own would sign them in as themselves.
    if back.state.is_empty() || in_browser != back.state {
        return Err(refused("the state is not the one this browser left with"));
    }
    let state = Secret::shown(&back.state);
    let request = site
        .store
        .take_oidc_request(&state.sha256(), session::now_ms())
        .await?
        .ok_or_else(|| refused("the state was used, or is too old"))?;
    if back.code.is_empty() {
        return Err(refused(&format!(
            "the provider says `{}`",
            back.error.escape_debug()
        )));
    }
    let claims = claims(site, &request, back.code).await?;
    let account = account_of(site, &claims).await?;
    let mut response = go_to_with(
        names::local_path(&request.next).unwrap_or("/account"),
        &session::start(site, account.account_key, headers).await?,
    );
    let used = state_cookie(site, String::new(), 0).to_string();
    if let Ok(used) = used.parse() {
        response
            .headers_mut()
            .append(axum::http::header::SET_COOKIE, used);
    }
    Ok(response)
}

/// Redeems the code and checks the ID token: signature, issuer, audience, time, nonce.
async fn claims(
    site: &Site,
    request: &OidcRequest,
    code: String,
) -> Result<CoreIdTokenClaims, OidcError> {
    use openidconnect::TokenResponse as _;

    let http = http()?;
    let client = client(site, &http).await?;
    let response = client
        .exchange_code(AuthorizationCode::new(code))
        .map_err(provider_failed)?
        .set_pkce_verifier(PkceCodeVerifier::new(request.pkce_verifier.clone()))
        .request_async(&http)
        .await
        .map_err(not_accepted)?;
    let token = response
        .id_token()
        .ok_or_else(|| OidcError::NotAccepted("there is no ID token".to_owned()))?;
    token
        .claims(
            &client.id_token_verifier(),
            &Nonce::new(request.nonce.clone()),
        )
        .cloned()
        .map_err(not_accepted)
}

/// The account of a person at the provider; made where there is none. Only issuer and
/// subject say who somebody is: names and addresses there can be anybody's.
async fn account_of(site: &Site, claims: &CoreIdTokenClaims) -> Result<store::Account, OidcError> {
    let (issuer, subject) = (claims.issuer().as_str(), claims.subject().as_str());
    if let Some(account) = site.store.account_by_oidc(issuer, subject).await? {
        return Ok(account);
    }
    let name = claims.preferred_username().map(|name| name.as_str());
    let name = names::handle_like(name.unwrap_or_default());
    for number in 1..=NAMES_TRIED_MAX {
        let name = match number {
            1 => name.clone(),
            number => format!("{name}-{number}"),
        };
        let made = site
            .store
            .create_account(NewAccount {
                name: &name,
                password_hash: None,
                oidc: Some((issuer, subject)),
                created_at_ms: session::now_ms(),
            })
            .await?;
        if let Some(account) = made {
            return Ok(account);
        }
        // The other page of somebody who came twice at once.
        if let Some(account) = site.store.account_by_oidc(issuer, subject).await? {
            return Ok(account);
        }
    }
    Err(OidcError::NotAccepted(format!(
        "all names like `{name}` are taken"
    )))
}
