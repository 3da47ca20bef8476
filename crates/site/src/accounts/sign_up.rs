use axum::Extension;
use axum::extract::{Form as FormBody, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde::Deserialize;
use store::NewAccount;

use super::attempt::{NotTried, go_to_with};
use super::form::{Field, Form, name_field};
use super::one_form::OneForm;
use super::sign_in::Next;
use super::{names, session};
use crate::frame::{self, shown};
use crate::security::Network;
use crate::site::Site;
use crate::visitor::Visitor;
use crate::words::Said;

/// What the form holds. No `Debug`: there is a password in it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Input {
    name: String,
    password: String,
    again: String,
    #[serde(flatten)]
    next: Next,
}

/// What is wrong with the form's lines.
#[derive(Debug, Default)]
struct Faults {
    name: Option<Said>,
    password: Option<Said>,
    whole: Option<String>,
}

/// `GET /sign-up`
pub(super) async fn form(
    State(site): State<Site>,
    visitor: Visitor,
    Query(next): Query<Next>,
) -> Response {
    shown(&site, &visitor, async {
        if !site.options.sign_up {
            return Ok(closed(&site, &visitor));
        }
        sign_up_page(&site, &visitor, "", &next, Faults::default()).answer()
    })
    .await
}

/// Accounts are made elsewhere.
fn closed(site: &Site, visitor: &Visitor) -> Response {
    let words = visitor.words;
    let why = words.t("account-sign-up-closed-why").into_owned();
    let title = words.t("account-sign-up-closed");
    frame::trouble(site, visitor, StatusCode::FORBIDDEN, title, why)
}

fn sign_up_page(
    site: &Site,
    visitor: &Visitor,
    name: &str,
    next: &Next,
    faults: Faults,
) -> OneForm {
    let words = visitor.words;
    let fields = vec![
        name_field(words, name)
            .hint(words.t("account-name-hint"))
            .fault(faults.name),
        Field::password("password", words.t("account-password"), "new-password")
            .hint(words.t("account-password-hint"))
            .fault(faults.password),
        Field::password("again", words.t("account-password-again"), "new-password"),
    ];
    let mut form = Form::new("/sign-up", words.t("account-sign-up"), fields);
    form.hidden.push(("next", next.path().to_owned()));
    form.fault = faults.whole;
    OneForm::new(site, visitor, words.t("account-sign-up"), form)
        .line(words.t("account-sign-up-why"))
        .link("/sign-in", words.t("account-sign-in"))
}

/// `POST /sign-up`
pub(super) async fn sign_up(
    State(site): State<Site>,
    visitor: Visitor,
    Extension(network): Extension<Network>,
    headers: HeaderMap,
    FormBody(input): FormBody<Input>,
) -> Response {
    let words = visitor.words;
    shown(&site, &visitor, async {
        if !site.options.sign_up {
            return Ok(closed(&site, &visitor));
        }
        let next = &input.next;
        let page = |faults| sign_up_page(&site, &visitor, &input.name, next, faults);
        let not_tried = |error: NotTried| {
            let whole = Some(error.words(words));
            error.answer(page(Faults {
                whole,
                ..Faults::default()
            }))
        };
        let name = names::handle(&input.name);
        let fault = names::password_fault(words, &input.password, &input.again);
        let (Some(name), None) = (&name, &fault) else {
            return page(Faults {
                name: name.is_none().then(|| words.t("account-name-unfit")),
                password: fault,
                whole: None,
            })
            .answer();
        };
        if let Err(limit) = site.gates.attempt(network) {
            return not_tried(limit.into());
        }
        let hash = match site.hasher.hash(input.password).await {
            Ok(hash) => hash,
            Err(error) => return not_tried(error.into()),
        };
        let new = NewAccount {
            name,
            password_hash: Some(&hash),
            oidc: None,
            created_at_ms: session::now_ms(),
        };
        let Some(account) = site.store.create_account(new).await? else {
            return page(Faults {
                name: Some(words.t("account-name-taken")),
                ..Faults::default()
            })
            .answer();
        };
        let cookie = session::start(&site, account.account_key, &headers).await?;
        Ok(go_to_with(next.path(), &cookie))
    })
    .await
}
