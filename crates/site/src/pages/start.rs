//! Getting started: from nothing to a published run.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;

use crate::frame::{Frame, Place, page, shown};
use crate::query::Parameters;
use crate::site::Site;
use crate::visitor::Visitor;

#[derive(Template)]
#[template(path = "pages/start.html")]
struct StartPage {
    frame: Frame,
    public_url: String,
}

/// `/start`
pub(crate) async fn start(
    State(site): State<Site>,
    visitor: Visitor,
    RawQuery(raw): RawQuery,
) -> Response {
    shown(&site, &visitor, async {
        Parameters::of(raw.as_deref())?.finish()?;
        let template = StartPage {
            public_url: site.options.public_url.clone(),
            frame: Frame::new(&site, &visitor, Place::Start, visitor.words.t("menu-start")),
        };
        page(&template.frame, &template)
    })
    .await
}
