use askama::Template;
use axum::extract::{Form as FormBody, Path, State};
use axum::response::Response;
use serde::Deserialize;
use store::HiddenRun;

use super::account::day;
use super::attempt::go_to;
use super::form::{Field, Form};
use super::here::Here;
use super::one_form::OneForm;
use super::{names, session};
use crate::frame::{Frame, PageError, Place, page, shown};
use crate::site::Site;
use crate::visitor::Visitor;
use crate::words::Words;

#[derive(Debug, Template)]
#[template(path = "accounts/moderation.html")]
struct ModerationPage {
    frame: Frame,
    runs: Vec<HiddenLine>,
}

#[derive(Debug)]
struct HiddenLine {
    run: HiddenRun,
    at: String,
}

fn administrator(here: &Here) -> Result<(), PageError> {
    if here.account.is_administrator {
        Ok(())
    } else {
        Err(PageError::Forbidden)
    }
}

/// `GET /moderation`
pub(super) async fn list(State(site): State<Site>, here: Here, visitor: Visitor) -> Response {
    let words = visitor.words;
    shown(&site, &visitor, async {
        administrator(&here)?;
        let runs = site.store.hidden_runs().await?;
        let title = words.t("account-moderation");
        let shown = ModerationPage {
            frame: Frame::new(&site, &visitor, Place::Account, title),
            runs: runs
                .into_iter()
                .map(|run| HiddenLine {
                    at: day(words, run.hidden.at_ms),
                    run,
                })
                .collect(),
        };
        page(&shown.frame, &shown)
    })
    .await
}

/// Why a run is hidden.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Reason {
    reason: String,
}

fn hide_page(site: &Site, visitor: &Visitor, id: &str, is_faulty: bool) -> OneForm {
    let words: Words = visitor.words;
    let reason = Field {
        kind: "area",
        ..Field::text(
            "reason",
            words.t("account-hide-reason"),
            "",
            names::REASON_CHARS_MAX,
        )
    }
    .hint(words.t("account-hide-reason-hint"))
    .fault(is_faulty.then(|| words.t("account-hide-reason-unfit")));
    let form = Form::new(
        format!("/moderation/runs/{id}/hide"),
        words.t("account-hide"),
        vec![reason],
    );
    OneForm::new(site, visitor, words.t("account-hide-title"), form)
        .line(words.with("account-hide-why", &[("id", id.into())]))
        .link(format!("/runs/{id}"), words.t("account-back"))
}

/// `GET /moderation/runs/{id}/hide`
pub(super) async fn ask_reason(
    State(site): State<Site>,
    here: Here,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Response {
    shown(&site, &visitor, async {
        administrator(&here)?;
        site.store.run(&id).await?.ok_or(PageError::NotFound)?;
        hide_page(&site, &visitor, &id, false).answer()
    })
    .await
}

/// `POST /moderation/runs/{id}/hide`
pub(super) async fn hide(
    State(site): State<Site>,
    here: Here,
    visitor: Visitor,
    Path(id): Path<String>,
    FormBody(input): FormBody<Reason>,
) -> Response {
    shown(&site, &visitor, async {
        administrator(&here)?;
        let reason = input.reason.trim();
        if reason.is_empty() || reason.chars().count() > names::REASON_CHARS_MAX {
            return hide_page(&site, &visitor, &id, true).answer();
        }
        let by = here.account.account_key;
        if !site
            .store
            .hide_run(&id, by, reason, session::now_ms())
            .await?
        {
            return Err(PageError::NotFound);
        }
        Ok(go_to("/moderation"))
    })
    .await
}

/// `POST /moderation/runs/{id}/show`
pub(super) async fn show_again(
    State(site): State<Site>,
    here: Here,
    visitor: Visitor,
    Path(id): Path<String>,
) -> Response {
    shown(&site, &visitor, async {
        administrator(&here)?;
        if !site.store.show_run(&id).await? {
            return Err(PageError::NotFound);
        }
        Ok(go_to("/moderation"))
    })
    .await
}
