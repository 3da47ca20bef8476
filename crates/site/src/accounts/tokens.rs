use askama::Template;
use axum::extract::{Form as FormBody, Path, State};
use axum::response::Response;
use serde::Deserialize;
use store::NewToken;

use super::account::{Returned, account_page};
use super::attempt::go_to;
use super::caller::TOKEN_PREFIX;
use super::form::{Field, Form};
use super::here::Here;
use super::secret::Secret;
use super::{names, session};
use crate::frame::{Frame, PageError, Place, page, shown};
use crate::site::Site;
use crate::visitor::Visitor;
use crate::words::{Said, Words};

/// Days until a token expires, at most: ten years.
const TOKEN_DAYS_MAX: i64 = 3650;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

#[derive(Template)]
#[template(path = "accounts/new_token.html")]
struct NewTokenPage {
    frame: Frame,
    name: String,
    token: String,
}

/// What the form holds.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Input {
    #[serde(rename = "token-name")]
    name: String,
    #[serde(rename = "token-days")]
    days: String,
    read: Option<String>,
    publish: Option<String>,
}

/// The form for a new token, as it stands empty.
pub(super) fn token_form(words: Words) -> Form {
    let input = Input {
        read: Some(String::new()),
        publish: Some(String::new()),
        ..Input::default()
    };
    filled(words, &input, None, None)
}

fn filled(words: Words, input: &Input, name: Option<Said>, days: Option<Said>) -> Form {
    let mut day_field = Field::text("token-days", words.t("account-token-days"), &input.days, 4)
        .hint(words.t("account-token-days-hint"))
        .fault(days);
    day_field.required = false;
    let name_field = Field::text(
        "token-name",
        words.t("account-token-name"),
        &input.name,
        names::TITLE_CHARS_MAX,
    )
    .hint(words.t("account-token-name-hint"))
    .fault(name);
    let mut form = Form::new(
        "/account/tokens",
        words.t("account-token-make"),
        vec![name_field, day_field],
    );
    let read = words.t("account-scope-read");
    let publish = words.t("account-scope-publish");
    form.ticks = vec![
        ("read", "yes", read, input.read.is_some()),
        ("publish", "yes", publish, input.publish.is_some()),
    ];
    form
}

/// `POST /account/tokens`: the one page that shows the token.
pub(super) async fn create(
    State(site): State<Site>,
    here: Here,
    visitor: Visitor,
    FormBody(input): FormBody<Input>,
) -> Response {
    let words = visitor.words;
    shown(&site, &visitor, async {
        let name = names::title(&input.name);
        let days = days(&input.days);
        let has_scope = input.read.is_some() || input.publish.is_some();
        let (Some(name), Ok(days), true) = (&name, days, has_scope) else {
            let name_fault = name.is_none().then(|| words.t("account-title-unfit"));
            let days_fault = days.is_err().then(|| words.t("account-token-days-unfit"));
            let mut form = filled(words, &input, name_fault, days_fault);
            form.fault = (!has_scope).then(|| words.t("account-token-no-scope").into_owned());
            return came_back(&site, &visitor, &here, form).await;
        };
        let secret = Secret::random(TOKEN_PREFIX);
        let sha256 = secret.sha256();
        let now_ms = session::now_ms();
        let kept = site.store.create_token(NewToken {
            account_key: here.account.account_key,
            sha256: &sha256,
            name,
            may_read: input.read.is_some(),
            may_publish: input.publish.is_some(),
            now_ms,
            expires_at_ms: days.map(|days| now_ms + days * DAY_MS),
        });
        if !kept.await? {
            let mut form = filled(words, &input, None, None);
            let most = store::TOKENS_MAX;
            form.fault = Some(words.with("account-token-too-many", &[("most", most.into())]));
            return came_back(&site, &visitor, &here, form).await;
        }
        let shown = NewTokenPage {
            frame: Frame::new(
                &site,
                &visitor,
                Place::Account,
                words.t("account-token-new"),
            ),
            name: name.clone(),
            token: secret.reveal().to_owned(),
        };
        page(&shown.frame, &shown)
    })
    .await
}

async fn came_back(
    site: &Site,
    visitor: &Visitor,
    here: &Here,
    form: Form,
) -> Result<Response, PageError> {
    let returned = Returned {
        token: Some(form),
        ..Returned::default()
    };
    account_page(site, visitor, here, returned).await
}

/// Days until it expires; nothing for never.
fn days(text: &str) -> Result<Option<i64>, ()> {
    match text.trim() {
        "" => Ok(None),
        text => match text.parse() {
            Ok(days) if (1..=TOKEN_DAYS_MAX).contains(&days) => Ok(Some(days)),
            Ok(_) | Err(_) => Err(()),
        },
    }
}

/// `POST /account/tokens/{key}/revoke`
pub(super) async fn revoke(
    State(site): State<Site>,
    here: Here,
    visitor: Visitor,
    Path(token_key): Path<i64>,
) -> Response {
    shown(&site, &visitor, async {
        let key = here.account.account_key;
        if !site.store.revoke_token(key, token_key).await? {
            return Err(PageError::NotFound);
        }
        Ok(go_to("/account#tokens"))
    })
    .await
}
