use askama::Template;
use axum::extract::{Form as FormBody, Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use store::{Member, MemberChange, MemberChanged, Named, OrganizationCreated, Role};

use super::account::{Returned, account_page, day};
use super::attempt::go_to;
use super::form::{Field, Form, name_field};
use super::here::Here;
use super::{names, session};
use crate::frame::{Frame, PageError, Place, page, shown};
use crate::site::Site;
use crate::visitor::Visitor;
use crate::words::{Said, Words};

#[derive(Debug, Template)]
#[template(path = "accounts/organization.html")]
struct OrganizationPage {
    frame: Frame,
    slug: String,
    me: String,
    is_owner: bool,
    members: Vec<MemberLine>,
    fault: Option<Said>,
    add_form: Form,
}

#[derive(Debug)]
struct MemberLine {
    name: String,
    role: Said,
    is_owner: bool,
    since: String,
}

/// What the form for a new organization holds.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct New {
    slug: String,
    title: String,
}

/// The form for a new organization.
pub(super) fn new_form(words: Words, slug: &str, title: &str) -> Form {
    Form::new(
        "/account/organizations",
        words.t("account-organization-make"),
        vec![
            Field::text(
                "title",
                words.t("account-organization-title"),
                title,
                names::TITLE_CHARS_MAX,
            ),
            Field::text(
                "slug",
                words.t("account-organization-slug"),
                slug,
                names::HANDLE_CHARS_MAX,
            )
            .hint(words.t("account-name-hint")),
        ],
    )
}

/// `POST /account/organizations`
pub(super) async fn create(
    State(site): State<Site>,
    here: Here,
    visitor: Visitor,
    FormBody(input): FormBody<New>,
) -> Response {
    let words = visitor.words;
    shown(&site, &visitor, async {
        let title = names::title(&input.title);
        let slug = names::handle(&input.slug);
        let (title_fault, slug_fault) = match (title, slug) {
            (Some(name), Some(slug)) => {
                let named = Named { slug, name };
                let key = here.account.account_key;
                let now_ms = session::now_ms();
                match site.store.create_organization(&named, key, now_ms).await? {
                    OrganizationCreated::Done => {
                        return Ok(go_to(&format!("/account/organizations/{}", named.slug)));
                    }
                    OrganizationCreated::Taken => (None, Some("account-name-taken")),
                    OrganizationCreated::TooMany => (Some("account-organization-too-many"), None),
                }
            }
            (title, slug) => (
                title.is_none().then_some("account-title-unfit"),
                slug.is_none().then_some("account-name-unfit"),
            ),
        };
        let mut form = new_form(words, &input.slug, &input.title);
        for (field, fault) in form.fields.iter_mut().zip([title_fault, slug_fault]) {
            field.fault = fault.map(|key| words.t(key));
        }
        let returned = Returned {
            organization: Some(form),
            ..Returned::default()
        };
        account_page(&site, &visitor, &here, returned).await
    })
    .await
}

/// `GET /account/organizations/{slug}`
pub(super) async fn show(
    State(site): State<Site>,
    here: Here,
    visitor: Visitor,
    Path(slug): Path<String>,
) -> Response {
    shown(
        &site,
        &visitor,
        organization_page(&site, &visitor, &here, &slug, None),
    )
    .await
}

async fn organization_page(
    site: &Site,
    visitor: &Visitor,
    here: &Here,
    slug: &str,
    fault: Option<Said>,
) -> Result<Response, PageError> {
    let words = visitor.words;
    let memberships = site.store.memberships(here.account.account_key).await?;
    // Others read its public page.
    let own = memberships
        .into_iter()
        .find(|membership| membership.organization.slug == slug)
        .ok_or(PageError::NotFound)?;
    let members = site.store.members(slug).await?;
    let status = if fault.is_some() {
        StatusCode::UNPROCESSABLE_ENTITY
    } else {
        StatusCode::OK
    };
    let mut name = name_field(words, "");
    name.autocomplete = "off";
    let mut add_form = Form::new(
        format!("/account/organizations/{slug}/members"),
        words.t("account-member-add"),
        vec![name],
    );
    add_form.hidden.push(("change", "add".to_owned()));
    let shown = OrganizationPage {
        frame: Frame::new(site, visitor, Place::Account, own.organization.name),
        slug: slug.to_owned(),
        me: here.account.name.clone(),
        is_owner: own.role == Role::Owner,
        members: members
            .into_iter()
            .map(|member| line(words, member))
            .collect(),
        fault,
        add_form,
    };
    Ok((status, page(&shown.frame, &shown)?).into_response())
}

fn line(words: Words, member: Member) -> MemberLine {
    MemberLine {
        name: member.name,
        role: words.t(match member.role {
            Role::Owner => "account-role-owner",
            Role::Member => "account-role-member",
        }),
        is_owner: member.role == Role::Owner,
        since: day(words, member.since_ms),
    }
}

/// What the forms about members hold.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Change {
    name: String,
    /// `add`, `owner`, `member`, `remove`
    change: String,
}

/// `POST /account/organizations/{slug}/members`
pub(super) async fn change(
    State(site): State<Site>,
    here: Here,
    visitor: Visitor,
    Path(slug): Path<String>,
    FormBody(input): FormBody<Change>,
) -> Response {
    let words = visitor.words;
    shown(&site, &visitor, async {
        let change = match input.change.as_str() {
            "add" => MemberChange::Add,
            "remove" => MemberChange::Remove,
            role => MemberChange::SetRole(
                Role::from_name(role)
                    .ok_or_else(|| PageError::BadRequest(format!("no change: {role}")))?,
            ),
        };
        let key = here.account.account_key;
        let name = names::handle(&input.name).unwrap_or_default();
        let changed = site
            .store
            .change_member(&slug, key, &name, change, session::now_ms())
            .await?;
        let fault = match changed {
            MemberChanged::Done if change == MemberChange::Remove && name == here.account.name => {
                return Ok(go_to("/account"));
            }
            MemberChanged::Done => return Ok(go_to(&format!("/account/organizations/{slug}"))),
            MemberChanged::NotOwner => return Err(PageError::Forbidden),
            MemberChanged::NoAccount => "account-member-unknown",
            MemberChanged::AlreadyMember => "account-member-already",
            MemberChanged::NotMember => "account-member-not",
            MemberChanged::LastOwner => "account-member-last-owner",
            MemberChanged::TooMany => "account-member-too-many",
        };
        organization_page(&site, &visitor, &here, &slug, Some(words.t(fault))).await
    })
    .await
}
