//! Who publishes: its models, what they run on, its runs.

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use store::{Filter, PageRequest, RunQuery};

use super::figures::{self, RunRow};
use super::links;
use super::lists::{PAGE_ROWS, Pager};
use super::occurring::{Group, groups};
use crate::frame::{Frame, PageError, Place, page, shown};
use crate::query::Parameters;
use crate::query::run_pairs;
use crate::site::Site;
use crate::visitor::Visitor;

#[derive(Template)]
#[template(path = "pages/organization.html")]
struct OrganizationPage {
    frame: Frame,
    count: String,
    newest: Option<String>,
    facts: Vec<Group>,
    rows: Vec<RunRow>,
    pager: Pager,
    all_runs: String,
}

/// `/organizations/{slug}`
pub(crate) async fn organization(
    State(site): State<Site>,
    visitor: Visitor,
    Path(slug): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response {
    shown(&site, &visitor, async {
        let found = site.store.organization(&slug).await?;
        let organization = found.ok_or(PageError::NotFound)?;
        let mut parameters = Parameters::of(raw.as_deref())?;
        let part: PageRequest = parameters.take_page(PAGE_ROWS, None)?;
        parameters.finish()?;
        let words = visitor.words;
        let query = RunQuery {
            organization: Some(slug.clone()),
            ..RunQuery::default()
        };
        let runs = site.store.runs(&query, &part).await?;
        let everything = Filter::default();
        let occurring = site.store.occurring(&everything, Some(&slug)).await?;
        let path = links::organization(&organization.named).href;
        let template = OrganizationPage {
            count: figures::counted(words, "list-count-runs", organization.run_count),
            newest: organization
                .last_published_at_ms
                .map(|at_ms| figures::day(words, at_ms)),
            facts: groups(words, &occurring, &everything, Some(&slug)),
            rows: runs
                .items
                .iter()
                .map(|run| RunRow::of(words, run))
                .collect(),
            pager: Pager::of(&path, None, &[], &part, runs.next.as_deref()),
            all_runs: crate::query::address("/runs", &run_pairs(&query)),
            frame: Frame::new(
                &site,
                &visitor,
                Place::Organizations,
                organization.named.name,
            ),
        };
        page(&template.frame, &template)
    })
    .await
}
