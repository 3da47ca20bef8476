//! Matrix runs: all of them, newest first.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};

use super::figures::{self, RunRow};
use super::filters::{Entry, Form};
use super::lists::{Nothing, PAGE_ROWS, Pager, with_language};
use super::names::resolve;
use crate::frame::{Frame, Place, page, shown};
use crate::query::{Pair, Parameters, address, run_pairs, take_runs};
use crate::site::Site;
use crate::visitor::Visitor;

const PATH: &str = "/runs";
const API: &str = "/api/v1/runs";

#[derive(Template)]
#[template(path = "pages/runs.html")]
struct RunsPage {
    frame: Frame,
    /// How many there are.
    count: Option<String>,
    form: Form,
    rows: Vec<RunRow>,
    nothing: Option<Nothing>,
    pager: Pager,
}

/// `/runs`
pub(crate) async fn runs(
    State(site): State<Site>,
    visitor: Visitor,
    RawQuery(raw): RawQuery,
) -> Response {
    shown(&site, &visitor, async {
        let mut parameters = Parameters::of(raw.as_deref())?;
        let mut query = take_runs(&mut parameters)?;
        let part = parameters.take_page(PAGE_ROWS, None)?;
        let is_shorter = parameters.has_empty();
        parameters.finish()?;
        let organization = query.organization.as_deref();
        let resolution = resolve(&site.store, &query.filter, organization).await?;
        if is_shorter || resolution.changed.is_some() {
            if let Some(filter) = resolution.changed {
                query.filter = filter;
            }
            let pairs = with_language(&visitor, run_pairs(&query));
            return Ok(Redirect::to(&address(PATH, &pairs)).into_response());
        }
        let found = site.store.runs(&query, &part).await?;
        let offered = site.store.offered().await?;
        let words = visitor.words;
        let pairs = run_pairs(&query);
        let names = &resolution.names;
        let mut form = Form::new(PATH)
            .with_filter(words, &query.filter, names, &offered, words.t("list-any"))
            .with_chips(words, &pairs, &[], names);
        form.entries.insert(
            0,
            Entry {
                name: "q",
                label: words.t("list-search"),
                value: query.filter.search.clone().unwrap_or_default(),
                proposals: Vec::new(),
            },
        );
        form.kept = kept(&pairs);
        let template = RunsPage {
            count: found
                .total
                .map(|total| figures::counted(words, "list-count-runs", total)),
            form,
            rows: found
                .items
                .iter()
                .map(|run| RunRow::of(words, run))
                .collect(),
            nothing: found
                .items
                .is_empty()
                .then(|| Nothing::of(words, PATH, &pairs, &[], &resolution)),
            pager: Pager::of(PATH, Some(API), &pairs, &part, found.next.as_deref()),
            frame: Frame::new(&site, &visitor, Place::Runs, words.t("menu-runs")),
        };
        page(&template.frame, &template)
    })
    .await
}

/// Parts of the filter that the form does not show.
fn kept(pairs: &[Pair]) -> Vec<Pair> {
    pairs
        .iter()
        .filter(|(name, _)| ["organization", "account"].contains(name))
        .cloned()
        .collect()
}
