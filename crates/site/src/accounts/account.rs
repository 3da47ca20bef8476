use askama::Template;
use axum::extract::{Form as FormBody, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::Deserialize;
use store::{Membership, PageRequest, RunQuery, RunSummary};

use super::attempt::go_to;
use super::form::{Field, Form};
use super::here::Here;
use super::one_form::OneForm;
use super::{names, organizations, session, tokens};
use crate::frame::{Frame, PageError, Place, page, shown};
use crate::site::Site;
use crate::visitor::Visitor;
use crate::words::{Said, Words};

/// Runs that an account's page lists; the rest is behind a link.
const RUNS_LISTED: u32 = 50;

#[derive(Debug, Template)]
#[template(path = "accounts/account.html")]
struct AccountPage {
    frame: Frame,
    name: String,
    since: String,
    is_administrator: bool,
    oidc_issuer: Option<String>,
    runs: Vec<RunLine>,
    has_more_runs: bool,
    tokens: Vec<TokenLine>,
    sessions: Vec<SessionLine>,
    memberships: Vec<Membership>,
    token_form: Form,
    organization_form: Form,
    password_form: Option<Form>,
}

#[derive(Debug)]
struct RunLine {
    id: String,
    model: String,
    hardware: String,
    published: String,
    hidden: Option<String>,
}

#[derive(Debug)]
struct TokenLine {
    token_key: i64,
    name: String,
    scopes: String,
    created: String,
    used: String,
    expires: String,
}

#[derive(Debug)]
struct SessionLine {
    session_key: i64,
    browser: String,
    since: String,
    seen: String,
    is_this: bool,
}

/// Forms of the page that were sent with faults.
#[derive(Debug, Default)]
pub(super) struct Returned {
    pub(super) token: Option<Form>,
    pub(super) organization: Option<Form>,
    pub(super) password: Option<Form>,
}

/// `GET /account`
pub(super) async fn show(State(site): State<Site>, here: Here, visitor: Visitor) -> Response {
    shown(
        &site,
        &visitor,
        account_page(&site, &visitor, &here, Returned::default()),
    )
    .await
}

/// The account's page, with the forms that came back.
pub(super) async fn account_page(
    site: &Site,
    visitor: &Visitor,
    here: &Here,
    returned: Returned,
) -> Result<Response, PageError> {
    let words = visitor.words;
    let store = &site.store;
    let key = here.account.account_key;
    let now_ms = session::now_ms();
    let account = store
        .account_by_name(&here.account.name)
        .await?
        .ok_or(PageError::NotFound)?;
    let query = RunQuery {
        account: Some(account.name.clone()),
        with_hidden: true,
        ..RunQuery::default()
    };
    let request = PageRequest {
        limit: RUNS_LISTED,
        after: None,
    };
    let runs = store.runs(&query, &request).await?;
    let tokens = store.tokens(key).await?;
    let sessions = store.sessions(key, now_ms).await?;
    let faulty =
        returned.token.is_some() || returned.organization.is_some() || returned.password.is_some();
    let password_form = account.has_password.then(|| {
        returned
            .password
            .unwrap_or_else(|| password_form(words, None, None))
    });
    let shown = AccountPage {
        frame: Frame::new(site, visitor, Place::Account, words.t("account")),
        since: day(words, account.created_at_ms),
        name: account.name,
        is_administrator: account.is_administrator,
        oidc_issuer: account.oidc_issuer,
        has_more_runs: runs.next.is_some(),
        runs: runs
            .items
            .into_iter()
            .map(|run| run_line(words, run))
            .collect(),
        tokens: tokens
            .iter()
            .map(|token| token_line(words, token, now_ms))
            .collect(),
        sessions: sessions
            .into_iter()
            .map(|session| SessionLine {
                is_this: session.session_key == here.session_key,
                session_key: session.session_key,
                browser: session.browser,
                since: moment(words, session.created_at_ms),
                seen: moment(words, session.last_seen_at_ms),
            })
            .collect(),
        memberships: store.memberships(key).await?,
        token_form: returned.token.unwrap_or_else(|| tokens::token_form(words)),
        organization_form: returned
            .organization
            .unwrap_or_else(|| organizations::new_form(words, "", "")),
        password_form,
    };
    let status = if faulty {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::OK
    };
    Ok((status, page(&shown.frame, &shown)?).into_response())
}

fn run_line(words: Words, run: RunSummary) -> RunLine {
    RunLine {
        id: run.id,
        model: run.model.name,
        hardware: run.hardware.name,
        published: day(words, run.published_at_ms),
        hidden: run
            .hidden
            .map(|hidden| words.with("account-run-hidden", &[("reason", hidden.reason.into())])),
    }
}

fn token_line(words: Words, token: &store::Token, now_ms: i64) -> TokenLine {
    let may = [
        (token.may_read, "account-scope-read"),
        (token.may_publish, "account-scope-publish"),
    ];
    let scopes: Vec<Said> = may
        .into_iter()
        .filter(|(may, _)| *may)
        .map(|(_, key)| words.t(key))
        .collect();
    TokenLine {
        token_key: token.token_key,
        name: token.name.clone(),
        scopes: scopes.join(" · "),
        created: day(words, token.created_at_ms),
        used: match token.last_used_at_ms {
            Some(at_ms) => moment(words, at_ms),
            None => words.t("account-token-unused").into_owned(),
        },
        expires: match token.expires_at_ms {
            Some(at_ms) if at_ms <= now_ms => words.t("account-token-expired").into_owned(),
            Some(at_ms) => day(words, at_ms),
            None => words.t("account-token-stays").into_owned(),
        },
    }
}

/// A day, of ms since 1970.
pub(super) fn day(words: Words, at_ms: i64) -> String {
    words.date(Timestamp::from_millisecond(at_ms).unwrap_or_default())
}

fn moment(words: Words, at_ms: i64) -> String {
    words.moment(Timestamp::from_millisecond(at_ms).unwrap_or_default())
}

fn password_form(words: Words, old_fault: Option<Said>, new_fault: Option<Said>) -> Form {
    Form::new(
        "/account/password",
        words.t("account-password-change"),
        vec![
            Field::password("old", words.t("account-password-old"), "current-password")
                .fault(old_fault),
            Field::password("password", words.t("account-password-new"), "new-password")
                .hint(words.t("account-password-hint"))
                .fault(new_fault),
            Field::password("again", words.t("account-password-again"), "new-password"),
        ],
    )
}

/// What the form holds. No `Debug`: there are passwords in it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct NewPassword {
    old: String,
    password: String,
    again: String,
}

/// `POST /account/password`
pub(super) async fn change_password(
    State(site): State<Site>,
    here: Here,
    visitor: Visitor,
    axum::Extension(network): axum::Extension<crate::security::Network>,
    FormBody(input): FormBody<NewPassword>,
) -> Response {
    let words = visitor.words;
    shown(&site, &visitor, async {
        let name = &here.account.name;
        let returned = |form| Returned {
            password: Some(form),
            ..Returned::default()
        };
        let fault = names::password_fault(words, &input.password, &input.again);
        if fault.is_some() {
            let form = returned(password_form(words, None, fault));
            return account_page(&site, &visitor, &here, form).await;
        }
        if let Err(limit) = site.gates.sign_in(network, name) {
            let mut response = limit_page(&site, &visitor, &limit);
            limit.tell(response.headers_mut());
            return Ok(response);
        }
        let hash = site.store.password_hash(name).await?;
        let right = site.hasher.is_right(input.old, hash).await;
        match right {
            Ok(true) => {}
            Ok(false) => {
                let form = password_form(words, Some(words.t("account-password-wrong")), None);
                return account_page(&site, &visitor, &here, returned(form)).await;
            }
            Err(error) => return Ok(busy(&site, &visitor, &error)),
        }
        let hash = match site.hasher.hash(input.password).await {
            Ok(hash) => hash,
            Err(error) => return Ok(busy(&site, &visitor, &error)),
        };
        site.store
            .set_password(here.account.account_key, &hash, &here.sha256)
            .await?;
        Ok(go_to("/account"))
    })
    .await
}

fn limit_page(site: &Site, visitor: &Visitor, limit: &crate::security::TooMany) -> Response {
    let words = visitor.words;
    let why = words.with(
        "account-too-many-attempts",
        &[("seconds", limit.retry_after_s.into())],
    );
    let title = words.t("trouble-too-many");
    crate::frame::trouble(site, visitor, StatusCode::TOO_MANY_REQUESTS, title, why)
}

fn busy(site: &Site, visitor: &Visitor, error: &super::password::HashError) -> Response {
    tracing::warn!(%error, "no password was checked");
    let why = visitor.words.t("account-busy").into_owned();
    let title = visitor.words.t("trouble-too-many");
    crate::frame::trouble(site, visitor, StatusCode::SERVICE_UNAVAILABLE, title, why)
}

/// `POST /account/sessions/{key}/end`
pub(super) async fn end_session(
    State(site): State<Site>,
    here: Here,
    visitor: Visitor,
    Path(session_key): Path<i64>,
) -> Response {
    shown(&site, &visitor, async {
        let key = here.account.account_key;
        if !site.store.end_session(key, session_key).await? {
            return Err(PageError::NotFound);
        }
        Ok(go_to("/account#sessions"))
    })
    .await
}

/// `GET /account/runs/{id}/delete`
pub(super) async fn confirm_delete(
    State(site): State<Site>,
    here: Here,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Response {
    let words = visitor.words;
    shown(&site, &visitor, async {
        let run = own_run(&site, &here, &id).await?;
        let action = format!("/account/runs/{id}/delete");
        let form = Form::new(action, words.t("account-run-delete"), Vec::new());
        OneForm::new(&site, &visitor, words.t("account-run-delete-title"), form)
            .line(words.with(
                "account-run-delete-why",
                &[
                    ("model", run.model.name.into()),
                    ("hardware", run.hardware.name.into()),
                    ("id", id.as_str().into()),
                ],
            ))
            .link("/account", words.t("account-back"))
            .answer()
    })
    .await
}

/// `POST /account/runs/{id}/delete`
pub(super) async fn delete(
    State(site): State<Site>,
    here: Here,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Response {
    shown(&site, &visitor, async {
        own_run(&site, &here, &id).await?;
        site.store.delete_run(&id).await?;
        Ok(go_to("/account#runs"))
    })
    .await
}

async fn own_run(site: &Site, here: &Here, id: &str) -> Result<store::StoredRun, PageError> {
    let run = site.store.run(id).await?.ok_or(PageError::NotFound)?;
    if run.account.as_deref() == Some(here.account.name.as_str()) {
        Ok(run)
    } else {
        Err(PageError::NotFound)
    }
}
