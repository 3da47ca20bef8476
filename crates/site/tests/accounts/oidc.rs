use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use axum::extract::{Form, State};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use openidconnect::core::{
    CoreEdDsaPrivateSigningKey, CoreIdToken, CoreIdTokenClaims, CoreJsonWebKeySet,
    CoreJwsSigningAlgorithm,
};
use openidconnect::{JsonWebKeyId, PrivateSigningKey};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use site::{OidcOptions, Site, SiteOptions};
use store::Store;
use testkit::on_both;

use crate::browser::{Answer, Browser, HOME, open, options};

/// What the provider says of the person, and how it lies.
#[derive(Debug, Default, Clone)]
struct Person {
    name: &'static str,
    subject: &'static str,
    /// Claims of the ID token that are not what they should be.
    lies: Vec<(&'static str, Value)>,
    /// Signed with a key that the provider does not have.
    is_forged: bool,
}

#[derive(Default)]
struct Provider {
    issuer: String,
    person: Person,
    /// What the site asked for: nonce and PKCE challenge.
    asked: Option<(String, String)>,
}

type Shared = Arc<Mutex<Provider>>;

fn key(pem: &str) -> CoreEdDsaPrivateSigningKey {
    CoreEdDsaPrivateSigningKey::from_ed25519_pem(pem, Some(JsonWebKeyId::new("k".to_owned())))
        .unwrap()
}

fn new_pem() -> String {
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
    pair.serialize_pem()
}

/// A small OpenID provider on this machine.
async fn provider() -> Shared {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let issuer = format!("http://{}", listener.local_addr().unwrap());
    let shared = Shared::default();
    shared.lock().unwrap().issuer = issuer.clone();
    let pem = new_pem();
    let public = key(&pem).as_verification_key();
    let keys = serde_json::to_value(CoreJsonWebKeySet::new(vec![public])).unwrap();
    let discovery = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "jwks_uri": format!("{issuer}/keys"),
        "response_types_supported": ["code"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["EdDSA"],
    });
    let router = Router::new()
        .route(
            "/.well-known/openid-configuration",
            get(async move || Json(discovery)),
        )
        .route("/keys", get(async move || Json(keys)))
        .route(
            "/token",
            post(async move |state, headers, form| token(state, headers, form, &pem)),
        )
        .with_state(Arc::clone(&shared));
    tokio::spawn(async move { axum::serve(listener, router).await });
    shared
}

fn token(
    State(provider): State<Shared>,
    headers: HeaderMap,
    Form(form): Form<HashMap<String, String>>,
    pem: &str,
) -> (StatusCode, Json<Value>) {
    let mut provider = provider.lock().unwrap();
    let basic = format!("Basic {}", STANDARD.encode("tokgrid:secret-of-the-client"));
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(&form["code_verifier"]));
    let asked = provider.asked.take();
    let is_right = form["code"] == "the code" && headers["authorization"] == basic.as_str();
    let Some((nonce, _)) = asked.filter(|(_, asked)| *asked == challenge && is_right) else {
        let error = json!({ "error": "invalid_grant" });
        return (StatusCode::BAD_REQUEST, Json(error));
    };
    let person = provider.person.clone();
    let now_s = jiff::Timestamp::now().as_second();
    let mut claims = json!({
        "iss": provider.issuer,
        "aud": ["tokgrid"],
        "sub": person.subject,
        "preferred_username": person.name,
        "nonce": nonce,
        "iat": now_s,
        "exp": now_s + 300,
    });
    for (claim, lie) in person.lies {
        claims[claim] = lie;
    }
    let claims: CoreIdTokenClaims = serde_json::from_value(claims).unwrap();
    let key = if person.is_forged {
        key(&new_pem())
    } else {
        key(pem)
    };
    let token = CoreIdToken::new(claims, &key, CoreJwsSigningAlgorithm::EdDsa, None, None).unwrap();
    let body = json!({
        "access_token": "of no use here",
        "token_type": "Bearer",
        "id_token": token.to_string(),
    });
    (StatusCode::OK, Json(body))
}

fn site_with(store: &Store, provider: &Shared) -> Router {
    let oidc = OidcOptions {
        issuer: provider.lock().unwrap().issuer.clone(),
        client_id: "tokgrid".to_owned(),
        client_secret: "secret-of-the-client".to_owned(),
    };
    let options = SiteOptions {
        oidc: Some(oidc),
        ..options(HOME)
    };
    Site::new(store.clone(), options).router()
}

/// Goes to the provider and comes back with what `change` makes of the state.
async fn sign_in(
    browser: &Browser,
    provider: &Shared,
    person: Person,
    change: impl FnOnce(String) -> String,
) -> Answer {
    let left = browser.get("/sign-in/openid?next=/runs").await;
    assert_eq!(left.status, StatusCode::SEE_OTHER, "{}", left.text);
    let (address, query) = left.location().split_once('?').unwrap();
    let query: HashMap<String, String> = form_urlencoded::parse(query.as_bytes())
        .into_owned()
        .collect();
    assert_eq!(query["code_challenge_method"], "S256");
    assert_eq!(
        query["redirect_uri"],
        format!("{HOME}/sign-in/openid/callback")
    );
    assert!(query["scope"].split(' ').any(|scope| scope == "openid"));
    {
        let mut provider = provider.lock().unwrap();
        assert_eq!(address, format!("{}/authorize", provider.issuer));
        provider.person = person;
        provider.asked = Some((query["nonce"].clone(), query["code_challenge"].clone()));
    }
    let state = change(query["state"].clone());
    let back = form_urlencoded::Serializer::new(String::new())
        .append_pair("code", "the code")
        .append_pair("state", &state)
        .finish();
    browser
        .get(&format!("/sign-in/openid/callback?{back}"))
        .await
}

fn ada() -> Person {
    Person {
        name: "Ada Lovelace",
        subject: "1815",
        ..Person::default()
    }
}

#[tokio::test]
async fn who_comes_from_the_provider_has_one_account() {
    on_both(async |url| {
        let store = open(&url).await;
        let provider = provider().await;
        let site = site_with(&store, &provider);
        let browser = Browser::new(&site);
        let page = browser.get("/sign-in").await;
        assert!(
            page.text.contains("Sign in with OpenID Connect"),
            "{}",
            page.text
        );
        for _ in 0..2 {
            let browser = Browser::new(&site);
            let answer = sign_in(&browser, &provider, ada(), |state| state).await;
            assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
            assert_eq!(answer.location(), "/runs");
            let page = browser.get("/account").await;
            assert!(page.text.contains("<h1>ada-lovelace</h1>"), "{}", page.text);
        }
        // Another person of the same name is another account, not hers.
        let other = Person {
            subject: "1816",
            ..ada()
        };
        let browser = Browser::new(&site);
        sign_in(&browser, &provider, other, |state| state).await;
        let page = browser.get("/account").await;
        assert!(
            page.text.contains("<h1>ada-lovelace-2</h1>"),
            "{}",
            page.text
        );
        let account = store
            .account_by_name("ada-lovelace")
            .await
            .unwrap()
            .unwrap();
        assert!(account.is_administrator && !account.has_password);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn an_account_with_a_password_is_not_taken_over_by_its_name() {
    on_both(async |url| {
        let store = open(&url).await;
        let provider = provider().await;
        let site = site_with(&store, &provider);
        Browser::of(&site, "ada-lovelace").await;
        let browser = Browser::new(&site);
        sign_in(&browser, &provider, ada(), |state| state).await;
        let page = browser.get("/account").await;
        assert!(
            page.text.contains("<h1>ada-lovelace-2</h1>"),
            "{}",
            page.text
        );
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_token_that_is_not_for_this_sign_in_is_refused() {
    on_both(async |url| {
        let store = open(&url).await;
        let provider = provider().await;
        let site = site_with(&store, &provider);
        let lies = [
            ("nonce", json!("another nonce")),
            ("aud", json!(["another client"])),
            ("iss", json!("http://another.example")),
            ("exp", json!(1_000_000_000)),
        ];
        let mut people: Vec<Person> = lies
            .into_iter()
            .map(|lie| Person {
                lies: vec![lie],
                ..ada()
            })
            .collect();
        people.push(Person {
            is_forged: true,
            ..ada()
        });
        for person in people {
            let browser = Browser::new(&site);
            let told = format!("{person:?}");
            let answer = sign_in(&browser, &provider, person, |state| state).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{told}");
            assert!(answer.text.contains("You are not signed in"), "{told}");
            assert!(!browser.cookies.borrow().contains_key("session"), "{told}");
        }
        assert!(
            store
                .account_by_name("ada-lovelace")
                .await
                .unwrap()
                .is_none()
        );
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_state_is_of_one_browser_and_used_once() {
    on_both(async |url| {
        let store = open(&url).await;
        let provider = provider().await;
        let site = site_with(&store, &provider);
        for wrong in ["", "another state"] {
            let browser = Browser::new(&site);
            let answer = sign_in(&browser, &provider, ada(), |_| wrong.to_owned()).await;
            assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{wrong}");
        }
        // An attacker's way back, opened in the victim's browser.
        let (attacker, victim) = (Browser::new(&site), Browser::new(&site));
        let mut way = String::new();
        let answer = sign_in(&attacker, &provider, ada(), |state| {
            way.clone_from(&state);
            state
        })
        .await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
        let way = format!("/sign-in/openid/callback?code=the+code&state={way}");
        assert_eq!(victim.get(&way).await.status, StatusCode::BAD_REQUEST);
        assert!(victim.cookies.borrow().is_empty());
        assert_eq!(attacker.get(&way).await.status, StatusCode::BAD_REQUEST);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_provider_that_is_not_there_is_told() {
    on_both(async |url| {
        let store = open(&url).await;
        let oidc = OidcOptions {
            // Nothing listens there, and nothing may.
            issuer: "http://127.0.0.1:1".to_owned(),
            client_id: "tokgrid".to_owned(),
            client_secret: "s".to_owned(),
        };
        let options = SiteOptions {
            oidc: Some(oidc),
            ..options(HOME)
        };
        let browser = Browser::new(&Site::new(store, options).router());
        let answer = browser.get("/sign-in/openid").await;
        assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
        assert!(
            answer.text.contains("could not be asked"),
            "{}",
            answer.text
        );
    })
    .await
    .unwrap();
}
