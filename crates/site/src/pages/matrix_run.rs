//! A matrix run: its page, its measurements as CSV, its document.

use askama::Template;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, SET_COOKIE, VARY};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use document::RunDocument;
use sha2::{Digest, Sha256};
use store::{Hidden, StoredRun};

use super::figures;
use super::links::{self, Link};
use super::run::{Direction, MeasurementColumn, RunLinks, RunPage, Sort, measurements_csv};
use crate::frame::{Frame, PageError, Place, page, shown};
use crate::query::{Parameters, QueryError, address};
use crate::site::Site;
use crate::visitor::Visitor;
use crate::words::{Said, Words};

/// What the address of a run's document has at its end.
const DOCUMENT: &str = ".json";
/// Asks again each time: a run can be hidden. The tag makes that cheap.
const ASK_AGAIN: &str = "private, no-cache";

/// Told to the author and to administrators of a run that is not shown.
struct HiddenNotice {
    reason: String,
    since: String,
}

#[derive(Template)]
#[template(path = "pages/run.html")]
struct RegistryRun {
    frame: Frame,
    page: RunPage,
    hidden: Option<HiddenNotice>,
    /// Pages that the run belongs to.
    trail: Vec<(Said, Link)>,
    /// What this visitor may do with the run.
    actions: Vec<Link>,
}

/// `/runs/{id}`, and `/runs/{id}.json` for the document.
pub(crate) async fn run(
    State(site): State<Site>,
    visitor: Visitor,
    Path(id): Path<String>,
    RawQuery(raw): RawQuery,
    headers: HeaderMap,
) -> Response {
    shown(&site, &visitor, async {
        if let Some(id) = id.strip_suffix(DOCUMENT) {
            let stored = visible(&site, &visitor, id).await?;
            Parameters::of(raw.as_deref())?.finish()?;
            let tag = tag(&[&stored.sha256, "json"]);
            return Ok(unless_known(&headers, &tag, || {
                file("application/json", stored.document)
            }));
        }
        let stored = visible(&site, &visitor, &id).await?;
        let sort = sort(raw.as_deref())?;
        let tag = page_tag(&stored, &visitor, raw.as_deref());
        if is_known(&headers, &tag) {
            return Ok(not_modified(&site, &visitor, &tag));
        }
        let response = registry_run(&site, &visitor, &stored, sort)?;
        Ok(tagged(response, &tag))
    })
    .await
}

/// `/runs/{id}/measurements.csv`
pub(crate) async fn measurements(
    State(site): State<Site>,
    visitor: Visitor,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    shown(&site, &visitor, async {
        let stored = visible(&site, &visitor, &id).await?;
        let run = judged(&stored)?;
        let tag = tag(&[&stored.sha256, "csv"]);
        Ok(unless_known(&headers, &tag, || {
            file("text/csv; charset=utf-8", measurements_csv(&run))
        }))
    })
    .await
}

/// The run, where this visitor may see it. To others a hidden run is not there.
async fn visible(site: &Site, visitor: &Visitor, id: &str) -> Result<StoredRun, PageError> {
    let stored = site.store.run(id).await?.ok_or(PageError::NotFound)?;
    let may_see = stored.hidden.is_none()
        || visitor.account.as_ref().is_some_and(|account| {
            account.is_administrator || stored.account.as_ref() == Some(&account.name)
        });
    if may_see {
        Ok(stored)
    } else {
        Err(PageError::NotFound)
    }
}

/// The document with the flags that it proves and does not carry.
fn judged(stored: &StoredRun) -> Result<RunDocument, PageError> {
    let mut run = RunDocument::from_json(&stored.document)
        .map_err(|error| PageError::damaged(&stored.id, &error))?;
    judge::add_derived_flags(&mut run);
    Ok(run)
}

/// The order of the measurements that an address asks for.
fn sort(raw: Option<&str>) -> Result<Option<Sort>, QueryError> {
    let mut parameters = Parameters::of(raw)?;
    let directions = [Direction::Ascending, Direction::Descending].map(Direction::name);
    let direction = parameters.take_as(
        "dir",
        |text| directions.into_iter().find(|name| *name == text),
        || directions.join(", "),
    )?;
    let sort = parameters.take_as(
        "sort",
        |text| Sort::from_query(text, direction.unwrap_or_default()),
        || {
            MeasurementColumn::ALL
                .map(MeasurementColumn::name)
                .join(", ")
        },
    )?;
    parameters.finish()?;
    Ok(sort)
}

fn registry_run(
    site: &Site,
    visitor: &Visitor,
    stored: &StoredRun,
    sort: Option<Sort>,
) -> Result<Response, PageError> {
    let words = visitor.words;
    let mut run = judged(stored)?;
    // Who published is known; what a document says of it is not.
    if let Some(account) = &stored.account {
        run.author = Some(account.clone());
        run.organization = None;
    }
    if let Some(organization) = &stored.organization {
        run.organization = Some(organization.name.clone());
    }
    let path = links::run(&stored.id);
    let run_links = RunLinks {
        permalink: format!("{}{path}", site.options.public_url),
        csv: format!("{path}/measurements.csv"),
        json: format!("{path}{DOCUMENT}"),
        kept: visitor
            .chosen
            .map(|language| format!("lang={language}"))
            .unwrap_or_default(),
    };
    let run_page = RunPage::for_registry(&run, words, &run_links, sort);
    let template = RegistryRun {
        frame: Frame::new(site, visitor, Place::Runs, run_page.title.in_one_line()),
        page: run_page,
        hidden: stored.hidden.as_ref().map(|hidden| notice(visitor, hidden)),
        trail: trail(words, stored),
        actions: actions(visitor, stored),
    };
    page(&template.frame, &template)
}

/// The pages that the run belongs to: model, hardware, who published it.
fn trail(words: Words, stored: &StoredRun) -> Vec<(Said, Link)> {
    let mut trail = vec![
        (words.t("list-model"), links::model(&stored.model)),
        (words.t("list-hardware"), links::hardware(&stored.hardware)),
    ];
    if let Some(organization) = &stored.organization {
        let link = links::organization(organization);
        trail.push((words.t("list-organization"), link));
    }
    if let Some(account) = &stored.account {
        let theirs = address("/runs", &[("account", account.clone())]);
        let link = Link::new(theirs, format!("@{account}"));
        trail.push((words.t("list-published-by"), link));
    }
    trail
}

/// An administrator may hide the run, or look at what is hidden; its author
/// may delete it. Each has a page that asks first.
fn actions(visitor: &Visitor, stored: &StoredRun) -> Vec<Link> {
    let words = visitor.words;
    let Some(account) = &visitor.account else {
        return Vec::new();
    };
    let is_author = stored.account.as_ref() == Some(&account.name);
    let mut actions = Vec::new();
    if account.is_administrator {
        actions.push(if stored.hidden.is_some() {
            Link::new("/moderation", words.t("list-hidden-runs"))
        } else {
            Link::new(links::hide(&stored.id), words.t("list-hide-run"))
        });
    }
    if is_author {
        actions.push(Link::new(
            links::delete(&stored.id),
            words.t("list-delete-run"),
        ));
    }
    actions
}

fn notice(visitor: &Visitor, hidden: &Hidden) -> HiddenNotice {
    HiddenNotice {
        reason: hidden.reason.clone(),
        since: figures::day(visitor.words, hidden.at_ms),
    }
}

/// Names what is sent: everything that it depends on, and the version that writes it.
fn tag(parts: &[&str]) -> String {
    let mut digest = Sha256::new();
    for part in parts.iter().chain(&[env!("CARGO_PKG_VERSION")]) {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    let digest = digest.finalize();
    let hex: String = digest
        .iter()
        .take(16)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("\"{hex}\"")
}

fn page_tag(stored: &StoredRun, visitor: &Visitor, raw: Option<&str>) -> String {
    let organization = stored.organization.as_ref();
    let account = visitor.account.as_ref();
    tag(&[
        &stored.sha256,
        visitor.words.language().code(),
        raw.unwrap_or_default(),
        account.map_or("", |account| &account.name),
        match account {
            Some(account) if account.is_administrator => "administrator",
            Some(_) => "account",
            None => "nobody",
        },
        stored.account.as_deref().unwrap_or_default(),
        organization.map_or("", |organization| &organization.slug),
        organization.map_or("", |organization| &organization.name),
        &stored.model.slug,
        &stored.hardware.slug,
        stored.hidden.as_ref().map_or("", |hidden| &hidden.reason),
        if stored.hidden.is_some() {
            "hidden"
        } else {
            "shown"
        },
    ])
}

/// Whether the browser has it already.
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    headers.get_all(IF_NONE_MATCH).iter().any(|value| {
        value.to_str().is_ok_and(|list| {
            list.split(',')
                .map(str::trim)
                .any(|known| known == "*" || known.trim_start_matches("W/") == tag)
        })
    })
}

fn not_modified(site: &Site, visitor: &Visitor, tag: &str) -> Response {
    let cookie = visitor.language_cookie(site);
    let cookie = cookie.map(|cookie| [(SET_COOKIE, cookie.to_string())]);
    tagged((cookie, StatusCode::NOT_MODIFIED).into_response(), tag)
}

fn tagged(mut response: Response, tag: &str) -> Response {
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: Result<HeaderValue, _>| {
        if let Ok(value) = value {
            headers.insert(name, value);
        }
    };
    set(ETAG, HeaderValue::from_str(tag));
    set(CACHE_CONTROL, HeaderValue::from_str(ASK_AGAIN));
    set(VARY, HeaderValue::from_str("Cookie, Accept-Language"));
    response
}

fn unless_known(headers: &HeaderMap, tag: &str, made: impl FnOnce() -> Response) -> Response {
    let response = if is_known(headers, tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        made()
    };
    tagged(response, tag)
}

fn file(content_type: &'static str, content: impl Into<Body>) -> Response {
    ([(CONTENT_TYPE, content_type)], content.into()).into_response()
}
