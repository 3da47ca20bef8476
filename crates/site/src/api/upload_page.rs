//! `/publish`: a document by a form.

use askama::Template;
use axum::Router;
use axum::extract::multipart::{Multipart, MultipartError};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use document::format::{or_nothing, tok_s};
use store::{Membership, StoreError};

use crate::accounts::{Caller, CallerError, Scope, SignedIn};
use crate::frame::{Frame, PageError, Place, page, shown};
use crate::intake::{
    self, Encoding, MAX_DOCUMENT_BYTES, Preview, Problem, Publisher, Received, Refusal, Standing,
};
use crate::security::{TooMany, UploadAllowance};
use crate::site::Site;
use crate::visitor::Visitor;

/// The document, and as much again as a form writes around it.
const MAX_FORM_BYTES: usize = MAX_DOCUMENT_BYTES + (64 << 10);
/// The longest name of an organization that a form can choose.
const MAX_CHOICE_BYTES: usize = 400;

pub(super) fn routes() -> Router<Site> {
    Router::new().route(
        "/publish",
        get(empty)
            .post(sent)
            .layer(DefaultBodyLimit::max(MAX_FORM_BYTES)),
    )
}

#[derive(Template)]
#[template(path = "api/upload.html")]
struct Upload {
    frame: Frame,
    is_signed_in: bool,
    organizations: Vec<Membership>,
    chosen: String,
    document_mib: usize,
    outcome: Outcome,
}

/// What became of a form.
enum Outcome {
    /// It is still to be filled.
    Empty,
    /// The document cannot be taken.
    Refused {
        problems: Vec<Problem>,
        untold: usize,
    },
    /// The document can be taken, and was not.
    Checked {
        preview: Box<Preview>,
        standing: Standing,
    },
}

impl Upload {
    fn decode_most(&self, preview: &Preview) -> String {
        or_nothing(preview.decode_tok_s_max, tok_s)
    }

    fn prefill_most(&self, preview: &Preview) -> String {
        or_nothing(preview.prefill_tok_s_max, tok_s)
    }

    async fn new(
        site: &Site,
        visitor: &Visitor,
        chosen: String,
        outcome: Outcome,
    ) -> Result<Upload, StoreError> {
        let organizations = match &visitor.account {
            Some(account) => site.store.memberships(account.account_key).await?,
            None => Vec::new(),
        };
        Ok(Upload {
            frame: Frame::new(site, visitor, Place::Start, visitor.words.t("upload-title")),
            is_signed_in: visitor.account.is_some(),
            organizations,
            chosen,
            document_mib: MAX_DOCUMENT_BYTES >> 20,
            outcome,
        })
    }
}

async fn empty(State(site): State<Site>, visitor: Visitor) -> Response {
    shown(&site, &visitor, async {
        let template = Upload::new(&site, &visitor, String::new(), Outcome::Empty).await?;
        page(&template.frame, &template)
    })
    .await
}

/// What a form says.
#[derive(Default)]
struct Form {
    document: Vec<u8>,
    organization: String,
    /// Only to be checked.
    is_check: bool,
}

/// Why a form is not followed.
enum Stopped {
    Refused(Refusal),
    Malformed(MultipartError),
    TooMany(TooMany),
    Caller(CallerError),
    Store(StoreError),
    NoMember,
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Stopped {
        Stopped::Refused(refusal)
    }
}

impl From<StoreError> for Stopped {
    fn from(error: StoreError) -> Stopped {
        Stopped::Store(error)
    }
}

impl From<MultipartError> for Stopped {
    fn from(error: MultipartError) -> Stopped {
        if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
            Stopped::Refused(Refusal::TooLarge)
        } else {
            Stopped::Malformed(error)
        }
    }
}

/// What a form led to.
enum Done {
    Published(String),
    Checked(Box<Preview>, Standing),
}

async fn sent(
    State(site): State<Site>,
    visitor: Visitor,
    caller: Result<Caller, CallerError>,
    allowance: Result<UploadAllowance, TooMany>,
    fields: Multipart,
) -> Response {
    shown(&site, &visitor, async {
        let mut chosen = String::new();
        let done = match allowance {
            Ok(_) => follow(&site, caller, fields, &mut chosen).await,
            Err(error) => Err(Stopped::TooMany(error)),
        };
        let (status, outcome) = match done {
            Ok(Done::Published(id)) => {
                return Ok(Redirect::to(&format!("/runs/{id}")).into_response());
            }
            Ok(Done::Checked(preview, standing)) => {
                (StatusCode::OK, Outcome::Checked { preview, standing })
            }
            Err(stopped) => stopped.outcome()?,
        };
        let template = Upload::new(&site, &visitor, chosen, outcome).await?;
        Ok((status, page(&template.frame, &template)?).into_response())
    })
    .await
}

impl Stopped {
    /// Its status and what the page says of it.
    fn outcome(self) -> Result<(StatusCode, Outcome), PageError> {
        let said = |status, detail: String| {
            let problems = vec![Problem {
                field: None,
                detail,
            }];
            (
                status,
                Outcome::Refused {
                    problems,
                    untold: 0,
                },
            )
        };
        Ok(match self {
            Stopped::Refused(refusal @ (Refusal::TooLarge | Refusal::Encoding(_))) => {
                said(StatusCode::PAYLOAD_TOO_LARGE, refusal.to_string())
            }
            Stopped::Refused(Refusal::Document { problems, untold }) => (
                StatusCode::UNPROCESSABLE_ENTITY,
                Outcome::Refused { problems, untold },
            ),
            Stopped::Malformed(error) => said(StatusCode::BAD_REQUEST, error.body_text()),
            Stopped::TooMany(error) => said(StatusCode::TOO_MANY_REQUESTS, error.to_string()),
            Stopped::Caller(CallerError::Store(_)) => said(
                StatusCode::INTERNAL_SERVER_ERROR,
                "the fault is ours: please try again in a moment".to_owned(),
            ),
            Stopped::Caller(_) | Stopped::NoMember => return Err(PageError::Forbidden),
            Stopped::Store(
                error @ (StoreError::RunExists(_)
                | StoreError::IdempotencyKeyReused
                | StoreError::Unstorable(_)),
            ) => said(StatusCode::CONFLICT, error.to_string()),
            Stopped::Store(error) => return Err(error.into()),
        })
    }
}

async fn follow(
    site: &Site,
    caller: Result<Caller, CallerError>,
    fields: Multipart,
    chosen: &mut String,
) -> Result<Done, Stopped> {
    let caller = caller.map_err(Stopped::Caller)?;
    let form = read(fields).await?;
    chosen.clone_from(&form.organization);
    let publisher = if form.is_check {
        None
    } else {
        let account = caller.require(Scope::Publish).map_err(Stopped::Caller)?;
        Some((
            account,
            organization_key(site, account, &form.organization).await?,
        ))
    };
    let options = site.options.clone();
    let received = intake::read_aside(form.document, Encoding::Plain, options).await?;
    match publisher {
        None => checked(site, &received).await,
        Some((account, organization_key)) => {
            let publisher = Publisher {
                account_key: Some(account.account_key),
                organization_key,
                idempotency_key: None,
            };
            let published = intake::publish(site, &received, publisher).await?;
            Ok(Done::Published(published.id))
        }
    }
}

async fn checked(site: &Site, received: &Received) -> Result<Done, Stopped> {
    let standing = intake::standing(site, received).await?;
    Ok(Done::Checked(Box::new(Preview::of(received)), standing))
}

async fn organization_key(
    site: &Site,
    account: &SignedIn,
    slug: &str,
) -> Result<Option<i64>, Stopped> {
    if slug.is_empty() {
        return Ok(None);
    }
    let key = site
        .store
        .organization_for_publishing(account.account_key, slug)
        .await?;
    key.map(Some).ok_or(Stopped::NoMember)
}

async fn read(mut fields: Multipart) -> Result<Form, Stopped> {
    let mut form = Form::default();
    while let Some(field) = fields.next_field().await? {
        match field.name() {
            Some("document") => form.document = field.bytes().await?.into(),
            Some("organization") => {
                let slug = field.text().await?;
                if slug.len() > MAX_CHOICE_BYTES || slug.contains(char::is_control) {
                    return Err(Stopped::NoMember);
                }
                form.organization = slug;
            }
            Some("action") => form.is_check = field.text().await? == "check",
            Some(_) | None => {}
        }
    }
    Ok(form)
}
