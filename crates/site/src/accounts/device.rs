use axum::Extension;
use axum::extract::{Form as FormBody, Query, State};
use axum::http::StatusCode;
use axum::http::header::CACHE_CONTROL;
use axum::response::{IntoResponse, Json, Response};
use rand::seq::IndexedRandom;
use serde::Deserialize;
use serde_json::json;
use store::{DevicePoll, NewDeviceRequest};

use super::attempt::NotTried;
use super::caller::TOKEN_PREFIX;
use super::form::{Field, Form};
use super::here::Here;
use super::one_form::OneForm;
use super::secret::Secret;
use super::{Scope, names, session};
use crate::frame::{self, PageError, shown};
use crate::security::Network;
use crate::site::Site;
use crate::visitor::Visitor;
use crate::words::Words;

/// How long a terminal may ask: 15 minutes.
const DEVICE_REQUEST_S: i64 = 15 * 60;
/// How long a terminal waits between two polls.
const POLL_INTERVAL_S: i64 = 5;
/// Letters of a user code: none that makes a word or looks like another (RFC 8628,
/// 6.1). Eight of them are 34 bits, and guessing is counted as attempts to sign in are.
const USER_CODE_LETTERS: &[u8] = b"BCDFGHJKLMNPQRSTVWXZ";
const USER_CODE_CHARS: usize = 8;
/// What OAuth calls the grant.
const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// An OAuth error.
fn refused(status: StatusCode, error: &str, why: &str) -> Response {
    let body = json!({ "error": error, "error_description": why });
    (status, [(CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

fn broken(error: &store::StoreError) -> Response {
    tracing::error!(%error, "a terminal could not be signed in");
    refused(
        StatusCode::INTERNAL_SERVER_ERROR,
        "server_error",
        "the fault is ours; try again in a moment",
    )
}

/// What a terminal sends to be let in.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct CodeRequest {
    client_id: String,
    scope: String,
}

/// `POST /api/device/code`
pub(super) async fn code(
    State(site): State<Site>,
    Extension(network): Extension<Network>,
    FormBody(input): FormBody<CodeRequest>,
) -> Response {
    let Some(client) = names::title(&input.client_id) else {
        let why = "client_id: what the terminal calls itself, 1 to 80 characters";
        return refused(StatusCode::BAD_REQUEST, "invalid_request", why);
    };
    let scopes: Option<Vec<Scope>> = input
        .scope
        .split_whitespace()
        .map(Scope::from_name)
        .collect();
    let scopes = match scopes {
        Some(scopes) if !scopes.is_empty() => scopes,
        Some(_) | None => {
            let why = "scope: read, publish, or both, separated by a space";
            return refused(StatusCode::BAD_REQUEST, "invalid_scope", why);
        }
    };
    if let Err(limit) = site.gates.attempt(network) {
        let why = limit.to_string();
        let mut response = refused(StatusCode::TOO_MANY_REQUESTS, "slow_down", &why);
        limit.tell(response.headers_mut());
        return response;
    }
    let secret = Secret::random("");
    let user_code = random_user_code();
    let sha256 = secret.sha256();
    let now_ms = session::now_ms();
    let kept = site.store.open_device_request(NewDeviceRequest {
        sha256: &sha256,
        user_code: &user_code,
        client: &client,
        may_read: scopes.contains(&Scope::Read),
        may_publish: scopes.contains(&Scope::Publish),
        interval_s: POLL_INTERVAL_S,
        now_ms,
        expires_at_ms: now_ms + DEVICE_REQUEST_S * 1000,
    });
    match kept.await {
        Ok(true) => {}
        Ok(false) => {
            let why = "too many terminals ask at this moment";
            return refused(
                StatusCode::SERVICE_UNAVAILABLE,
                "temporarily_unavailable",
                why,
            );
        }
        Err(error) => return broken(&error),
    }
    let page = format!("{}/device", site.options.public_url);
    let user_code = with_hyphen(&user_code);
    let body = json!({
        "device_code": secret.reveal(),
        "user_code": user_code,
        "verification_uri": page,
        "verification_uri_complete": format!("{page}?user_code={user_code}"),
        "expires_in": DEVICE_REQUEST_S,
        "interval": POLL_INTERVAL_S,
    });
    ([(CACHE_CONTROL, "no-store")], Json(body)).into_response()
}

/// What a terminal sends to fetch its token.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct TokenRequest {
    grant_type: String,
    device_code: String,
}

/// `POST /api/device/token`
pub(super) async fn token(
    State(site): State<Site>,
    FormBody(input): FormBody<TokenRequest>,
) -> Response {
    if input.grant_type != GRANT {
        let why = format!("grant_type: {GRANT}");
        return refused(StatusCode::BAD_REQUEST, "unsupported_grant_type", &why);
    }
    let sha256 = Secret::shown(&input.device_code).sha256();
    let token = Secret::random(TOKEN_PREFIX);
    let poll = site
        .store
        .poll_device_request(&sha256, &token.sha256(), session::now_ms())
        .await;
    let (error, why) = match poll {
        Ok(DevicePoll::Approved) => {
            let body = json!({ "access_token": token.reveal(), "token_type": "Bearer" });
            return ([(CACHE_CONTROL, "no-store")], Json(body)).into_response();
        }
        Ok(DevicePoll::Pending) => ("authorization_pending", "nobody has answered yet"),
        Ok(DevicePoll::SlowDown) => ("slow_down", "wait 5 seconds longer between two polls"),
        Ok(DevicePoll::Denied) => ("access_denied", "the terminal was refused"),
        Ok(DevicePoll::Expired) => ("expired_token", "the code is too old, or was used"),
        Ok(DevicePoll::TooManyTokens) => (
            "access_denied",
            "the account has as many tokens as it may have: revoke one on its page",
        ),
        Err(error) => return broken(&error),
    };
    refused(StatusCode::BAD_REQUEST, error, why)
}

fn random_user_code() -> String {
    let mut random = rand::rng();
    (0..USER_CODE_CHARS)
        .filter_map(|_| USER_CODE_LETTERS.choose(&mut random))
        .map(|letter| char::from(*letter))
        .collect()
}

/// As people read and type it: `BCDF-GHJK`.
fn with_hyphen(code: &str) -> String {
    let (left, right) = code.split_at(code.len() / 2);
    format!("{left}-{right}")
}

/// As it is kept, whatever people put between the letters.
fn plain(code: &str) -> String {
    code.chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_uppercase())
        .take(USER_CODE_CHARS + 1)
        .collect()
}

/// What the forms hold.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Input {
    user_code: String,
    answer: String,
}

/// `GET /device`: asks for the code, also where the address holds it, so that nobody
/// is led to a confirmation by a link alone.
pub(super) async fn form(
    State(site): State<Site>,
    _here: Here,
    visitor: Visitor,
    Query(input): Query<Input>,
) -> Response {
    shown(&site, &visitor, async {
        code_page(&site, &visitor, &input.user_code, None).answer()
    })
    .await
}

fn code_page(site: &Site, visitor: &Visitor, code: &str, fault: Option<String>) -> OneForm {
    let words = visitor.words;
    let field = Field::text("user_code", words.t("account-device-code"), code, 16)
        .hint(words.t("account-device-code-hint"));
    let mut form = Form::new("/device", words.t("account-device-next"), vec![field]);
    form.fault = fault;
    OneForm::new(site, visitor, words.t("account-device"), form).line(words.t("account-device-why"))
}

/// `POST /device`: shows what is asked for.
pub(super) async fn confirm(
    State(site): State<Site>,
    here: Here,
    visitor: Visitor,
    Extension(network): Extension<Network>,
    FormBody(input): FormBody<Input>,
) -> Response {
    let words = visitor.words;
    shown(&site, &visitor, async {
        if let Err(limit) = site.gates.attempt(network) {
            let not_tried = NotTried::from(limit);
            let fault = Some(not_tried.words(words));
            return not_tried.answer(code_page(&site, &visitor, &input.user_code, fault));
        }
        let code = plain(&input.user_code);
        let Some(asked) = site.store.device_request(&code, session::now_ms()).await? else {
            let fault = Some(words.t("account-device-unknown").into_owned());
            return code_page(&site, &visitor, &input.user_code, fault).answer();
        };
        let page = |answer: &'static str, key| {
            let mut form = Form::new("/device/answer", words.t(key), Vec::new());
            form.hidden = vec![("user_code", code.clone()), ("answer", answer.to_owned())];
            form
        };
        let yes = page("yes", "account-device-approve");
        let no = page("no", "account-device-deny");
        confirm_page(&site, &visitor, &here, &asked, [yes, no]).answer()
    })
    .await
}

fn confirm_page(
    site: &Site,
    visitor: &Visitor,
    here: &Here,
    asked: &store::DeviceRequest,
    [yes, no]: [Form; 2],
) -> OneForm {
    let words: Words = visitor.words;
    let mut page = OneForm::new(site, visitor, words.t("account-device"), yes).line(words.with(
        "account-device-asks",
        &[
            ("client", asked.client.as_str().into()),
            ("name", here.account.name.as_str().into()),
        ],
    ));
    let may = [
        (asked.may_read, "account-scope-read"),
        (asked.may_publish, "account-scope-publish"),
    ];
    for (_, key) in may.into_iter().filter(|(may, _)| *may) {
        page = page.line(format!("• {}", words.t(key)));
    }
    page.line(words.t("account-device-warning")).second(no)
}

/// `POST /device/answer`
pub(super) async fn answer(
    State(site): State<Site>,
    here: Here,
    visitor: Visitor,
    Extension(network): Extension<Network>,
    FormBody(input): FormBody<Input>,
) -> Response {
    let words = visitor.words;
    shown(&site, &visitor, async {
        if let Err(limit) = site.gates.attempt(network) {
            let not_tried = NotTried::from(limit);
            let fault = Some(not_tried.words(words));
            return not_tried.answer(code_page(&site, &visitor, "", fault));
        }
        let approved = match input.answer.as_str() {
            "yes" => true,
            "no" => false,
            other => {
                return Err(PageError::BadRequest(format!(
                    "answer: yes or no, not {other}"
                )));
            }
        };
        let code = plain(&input.user_code);
        let key = here.account.account_key;
        let answered = site
            .store
            .answer_device_request(&code, key, approved, session::now_ms())
            .await?;
        if !answered {
            let fault = Some(words.t("account-device-unknown").into_owned());
            return code_page(&site, &visitor, "", fault).answer();
        }
        let (title, why) = if approved {
            ("account-device-approved", "account-device-approved-why")
        } else {
            ("account-device-denied", "account-device-denied-why")
        };
        let (title, why) = (words.t(title), words.t(why).into_owned());
        Ok(frame::trouble(&site, &visitor, StatusCode::OK, title, why))
    })
    .await
}
