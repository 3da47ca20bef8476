//! The first page: what this is, what is new, what is fast.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::Response;
use store::{Filter, Metric, PageRequest, RankingQuery, RunQuery};

use super::figures::{self, RankTable, RunRow};
use crate::frame::{Frame, PageError, Place, page, shown};
use crate::query::Parameters;
use crate::site::Site;
use crate::visitor::Visitor;
use crate::words::Words;

/// Newest runs shown.
const NEWEST_RUNS: u32 = 8;
/// Best cells shown.
const BEST: u32 = 8;

/// The leaderboard's top.
struct Top {
    table: RankTable,
    leaderboard: String,
}

#[derive(Template)]
#[template(path = "pages/home.html")]
struct HomePage {
    frame: Frame,
    count: Option<String>,
    rows: Vec<RunRow>,
    top: Option<Top>,
}

/// `/`
pub(crate) async fn home(
    State(site): State<Site>,
    visitor: Visitor,
    RawQuery(raw): RawQuery,
) -> Response {
    shown(&site, &visitor, async {
        Parameters::of(raw.as_deref())?.finish()?;
        let words = visitor.words;
        let newest = PageRequest {
            limit: NEWEST_RUNS,
            after: None,
        };
        let runs = site.store.runs(&RunQuery::default(), &newest).await?;
        let template = HomePage {
            count: runs
                .total
                .map(|total| figures::counted(words, "list-count-runs", total)),
            rows: runs
                .items
                .iter()
                .map(|run| RunRow::of(words, run))
                .collect(),
            top: top(&site, words).await?,
            frame: Frame::new(&site, &visitor, Place::Elsewhere, words.t("home-title")),
        };
        page(&template.frame, &template)
    })
    .await
}

/// The best at the commonest shape.
async fn top(site: &Site, words: Words) -> Result<Option<Top>, PageError> {
    let counts = site.store.shapes(None, None).await?;
    let Some(shape) = counts.first().map(|count| count.shape) else {
        return Ok(None);
    };
    let query = RankingQuery {
        shape,
        metric: Metric::Total,
        filter: Filter::default(),
    };
    let part = PageRequest {
        limit: BEST,
        after: None,
    };
    let cells = site.store.ranking(&query, &part).await?.items;
    if cells.is_empty() {
        return Ok(None);
    }
    let caption = words.with(
        "leaderboard-lead",
        &[
            ("shape", figures::shape(words, shape).into()),
            (
                "metric",
                figures::metric(words, query.metric, shape.phase).into(),
            ),
        ],
    );
    Ok(Some(Top {
        table: RankTable::of(words, caption, query.metric, shape.phase, &cells),
        leaderboard: figures::leaderboard_at(shape, query.filter),
    }))
}
