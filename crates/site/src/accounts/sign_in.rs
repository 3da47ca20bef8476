use axum::Extension;
use axum::extract::{Form as FormBody, Query, State};
use axum::http::HeaderMap;
use axum::response::Response;
use serde::Deserialize;

use super::attempt::{NotTried, go_to, go_to_with};
use super::form::{Field, Form, name_field};
use super::here::Here;
use super::one_form::OneForm;
use super::{names, session};
use crate::frame::{PageError, shown};
use crate::security::Network;
use crate::site::Site;
use crate::visitor::Visitor;

/// Where people go who were on their way to nowhere.
const HOME: &str = "/account";

/// Where to go then.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Next {
    #[serde(default)]
    next: String,
}

impl Next {
    /// A path of this site.
    pub(super) fn path(&self) -> &str {
        names::local_path(&self.next).unwrap_or(HOME)
    }
}

/// What the form holds. No `Debug`: there is a password in it.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Input {
    name: String,
    password: String,
    next: String,
}

/// `GET /sign-in`
pub(super) async fn form(
    State(site): State<Site>,
    visitor: Visitor,
    Query(next): Query<Next>,
) -> Response {
    shown(&site, &visitor, async {
        if visitor.account.is_some() {
            return Ok(go_to(next.path()));
        }
        sign_in_page(&site, &visitor, "", &next, None).answer()
    })
    .await
}

fn sign_in_page(
    site: &Site,
    visitor: &Visitor,
    name: &str,
    next: &Next,
    fault: Option<String>,
) -> OneForm {
    let words = visitor.words;
    let password = words.t("account-password");
    let mut form = Form::new(
        "/sign-in",
        words.t("account-sign-in"),
        vec![
            name_field(words, name),
            Field::password("password", password, "current-password"),
        ],
    );
    form.hidden.push(("next", next.path().to_owned()));
    form.fault = fault;
    let query = form_urlencoded::Serializer::new(String::new())
        .append_pair("next", next.path())
        .finish();
    let mut page = OneForm::new(site, visitor, words.t("account-sign-in"), form);
    if site.options.oidc.is_some() {
        page = page.link(
            format!("/sign-in/openid?{query}"),
            words.t("account-sign-in-openid"),
        );
    }
    if site.options.sign_up {
        page = page.link(format!("/sign-up?{query}"), words.t("account-sign-up"));
    }
    page
}

/// `POST /sign-in`
pub(super) async fn sign_in(
    State(site): State<Site>,
    visitor: Visitor,
    Extension(network): Extension<Network>,
    headers: HeaderMap,
    FormBody(input): FormBody<Input>,
) -> Response {
    shown(&site, &visitor, async {
        let next = Next { next: input.next };
        let account = match check(&site, network, &input.name, input.password).await? {
            Ok(account) => account,
            Err(not_tried) => {
                let fault = not_tried.words(visitor.words);
                let page = sign_in_page(&site, &visitor, &input.name, &next, Some(fault));
                return not_tried.answer(page);
            }
        };
        let Some(account) = account else {
            let fault = visitor.words.t("account-sign-in-wrong").into_owned();
            return sign_in_page(&site, &visitor, &input.name, &next, Some(fault)).answer();
        };
        let cookie = session::start(&site, account.account_key, &headers).await?;
        Ok(go_to_with(next.path(), &cookie))
    })
    .await
}

/// The account, if the password is its own. Whether there is such an account cannot be
/// told from the answer or its time.
async fn check(
    site: &Site,
    network: Network,
    name: &str,
    password: String,
) -> Result<Result<Option<store::Account>, NotTried>, PageError> {
    let name = names::handle(name);
    let counted = name.as_deref().unwrap_or_default();
    if let Err(limit) = site.gates.sign_in(network, counted) {
        return Ok(Err(limit.into()));
    }
    let account = site.store.account_by_name(counted).await?;
    let hash = site.store.password_hash(counted).await?;
    let can_be = password.chars().count() <= names::PASSWORD_CHARS_MAX;
    let password = if can_be { password } else { String::new() };
    Ok(match site.hasher.is_right(password, hash).await {
        Ok(right) => Ok(account.filter(|_| right)),
        Err(error) => Err(error.into()),
    })
}

/// `POST /sign-out`
pub(super) async fn sign_out(State(site): State<Site>, visitor: Visitor, here: Here) -> Response {
    shown(&site, &visitor, async {
        site.store
            .end_session(here.account.account_key, here.session_key)
            .await?;
        Ok(go_to_with("/", &session::end_cookie(&site)))
    })
    .await
}
