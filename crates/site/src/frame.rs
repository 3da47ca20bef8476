//! The frame of every page, and pages that say what went wrong.

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::SET_COOKIE;
use axum::response::{Html, IntoResponse, Response};
use document::DocumentError;
use store::StoreError;

use crate::query::QueryError;
use crate::site::Site;
use crate::visitor::Visitor;
use crate::words::{Language, Words};

/// A place in the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Getting started
    Start,
    /// Leaderboard
    Leaderboard,
    /// Models
    Models,
    /// Organizations
    Organizations,
    /// Matrix runs
    Runs,
    /// Hardware
    Hardware,
    /// API docs
    Api,
    /// Account, sign in
    Account,
    /// None of them
    Elsewhere,
}

/// What `layout.html` needs. Templates that extend it have it in a field `frame`.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The page's words.
    pub words: Words,
    /// Title of the page, without the site's name.
    pub title: String,
    /// Where the menu stands.
    pub place: Place,
    /// Name of the account that is signed in.
    pub account: Option<String>,
    /// The page in each language: code, name, address, whether it is this one.
    pub languages: Vec<(&'static str, &'static str, String, bool)>,
    cookie: Option<String>,
}

impl Frame {
    /// The frame of a page called `title`.
    #[must_use]
    pub fn new(site: &Site, visitor: &Visitor, place: Place, title: impl Into<String>) -> Frame {
        let separator = if visitor.here.contains('?') { '&' } else { '?' };
        let languages = Language::ALL.map(|language| {
            (
                language.code(),
                language.name(),
                format!("{}{separator}lang={language}", visitor.here),
                language == visitor.words.language(),
            )
        });
        Frame {
            words: visitor.words,
            title: title.into(),
            place,
            account: visitor.account.as_ref().map(|account| account.name.clone()),
            languages: languages.to_vec(),
            cookie: visitor
                .language_cookie(site)
                .map(|cookie| cookie.to_string()),
        }
    }
}

/// A template in a frame, as an answer.
pub(crate) fn page(frame: &Frame, template: &impl Template) -> Result<Response, PageError> {
    let cookie = frame.cookie.clone().map(|cookie| [(SET_COOKIE, cookie)]);
    Ok((cookie, Html(template.render()?)).into_response())
}

/// Why a page cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// There is nothing at this address, or nothing for this visitor.
    #[error("not found")]
    NotFound,
    /// The address asks for what cannot be: which parameter, and why.
    #[error("{0}")]
    BadRequest(String),
    /// The address asks for what cannot be, of a list.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// Only for people with an account, or with more rights.
    #[error("not allowed")]
    Forbidden,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A template failed.
    #[error(transparent)]
    Template(#[from] askama::Error),
}

#[derive(Template)]
#[template(path = "pages/trouble.html")]
struct Trouble {
    frame: Frame,
    explanation: String,
}

impl PageError {
    /// A stored document does not read back.
    pub(crate) fn damaged(run_id: &str, error: &DocumentError) -> PageError {
        PageError::Store(StoreError::Damaged {
            what: run_id.to_owned(),
            why: error.to_string(),
        })
    }

    fn status(&self) -> StatusCode {
        match self {
            PageError::NotFound => StatusCode::NOT_FOUND,
            PageError::Store(StoreError::Cursor(_))
            | PageError::BadRequest(_)
            | PageError::Query(_) => StatusCode::BAD_REQUEST,
            PageError::Forbidden => StatusCode::FORBIDDEN,
            PageError::Store(_) | PageError::Template(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// The page that says it, in the visitor's language. What broke inside is for
    /// the log, not for the page.
    pub(crate) fn page(&self, site: &Site, visitor: &Visitor) -> Response {
        let words = visitor.words;
        let status = self.status();
        let (title, explanation) = match self {
            PageError::NotFound => (
                words.t("trouble-not-found"),
                words.t("trouble-not-found-why"),
            ),
            PageError::BadRequest(why) => (words.t("trouble-bad-request"), why.clone().into()),
            PageError::Query(error) => (words.t("trouble-bad-request"), error.said(words).into()),
            PageError::Store(StoreError::Cursor(_)) => {
                (words.t("trouble-bad-request"), words.t("query-cursor"))
            }
            PageError::Forbidden => (
                words.t("trouble-forbidden"),
                words.t("trouble-forbidden-why"),
            ),
            PageError::Store(_) | PageError::Template(_) => {
                tracing::error!(error = %self, page = visitor.here, "a page failed");
                (words.t("trouble-broken"), words.t("trouble-broken-why"))
            }
        };
        trouble(site, visitor, status, title, explanation.into_owned())
    }
}

/// A page that says what went wrong.
pub(crate) fn trouble(
    site: &Site,
    visitor: &Visitor,
    status: StatusCode,
    title: impl Into<String>,
    explanation: String,
) -> Response {
    let trouble = Trouble {
        frame: Frame::new(site, visitor, Place::Elsewhere, title),
        explanation,
    };
    match page(&trouble.frame, &trouble) {
        Ok(response) => (status, response).into_response(),
        Err(_) => status.into_response(),
    }
}

/// Runs a page's handler and shows its error as a page.
pub(crate) async fn shown(
    site: &Site,
    visitor: &Visitor,
    made: impl Future<Output = Result<Response, PageError>>,
) -> Response {
    match made.await {
        Ok(response) => response,
        Err(error) => error.page(site, visitor),
    }
}

/// Nothing at this address.
pub(crate) async fn not_found(State(site): State<Site>, visitor: Visitor) -> Response {
    PageError::NotFound.page(&site, &visitor)
}
