//! A GPU or a processor: what it is, what it serves best, its runs.

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::Response;
use document::{Phase, RunDocument};
use store::{Filter, Metric, PageRequest, RankingQuery, RunQuery, RunSummary, Shape, ShapeCount};

use super::figures::{self, RankTable, RunRow};
use super::occurring::{Group, groups};
use super::run::{Fact, Facts};
use crate::frame::{Frame, PageError, Place, page, shown};
use crate::query::{Parameters, address, run_pairs};
use crate::site::Site;
use crate::visitor::Visitor;
use crate::words::Words;

/// Newest runs shown.
const NEWEST_RUNS: u32 = 10;
/// Shapes of which the best are shown.
const SHAPES: usize = 3;
/// Best cells shown of each.
const BEST: u32 = 5;

/// The best cells of a shape.
struct Best {
    heading: String,
    table: RankTable,
    leaderboard: String,
}

#[derive(Template)]
#[template(path = "pages/hardware.html")]
struct HardwarePage {
    frame: Frame,
    count: String,
    newest: Option<String>,
    specification: Vec<Fact>,
    facts: Vec<Group>,
    best: Vec<Best>,
    rows: Vec<RunRow>,
    all_runs: String,
}

/// `/hardware/{slug}`
pub(crate) async fn hardware(
    State(site): State<Site>,
    visitor: Visitor,
    Path(slug): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response {
    shown(&site, &visitor, async {
        let found = site.store.hardware(&slug).await?;
        let hardware = found.ok_or(PageError::NotFound)?;
        Parameters::of(raw.as_deref())?.finish()?;
        let words = visitor.words;
        let filter = Filter {
            hardware: Some(slug.clone()),
            ..Filter::default()
        };
        let query = RunQuery {
            filter: filter.clone(),
            ..RunQuery::default()
        };
        let part = PageRequest {
            limit: NEWEST_RUNS,
            after: None,
        };
        let runs = site.store.runs(&query, &part).await?.items;
        let occurring = site.store.occurring(&filter, None).await?;
        let template = HardwarePage {
            count: figures::counted(words, "list-count-runs", hardware.run_count),
            newest: hardware
                .last_published_at_ms
                .map(|at_ms| figures::day(words, at_ms)),
            specification: specification(&site, words, runs.first()).await?,
            facts: groups(words, &occurring, &filter, None),
            best: best(&site, words, &filter).await?,
            rows: runs.iter().map(|run| RunRow::of(words, run)).collect(),
            all_runs: address("/runs", &run_pairs(&query)),
            frame: Frame::new(&site, &visitor, Place::Hardware, hardware.named.name),
        };
        page(&template.frame, &template)
    })
    .await
}

/// What the newest run says of the machine.
async fn specification(
    site: &Site,
    words: Words,
    newest: Option<&RunSummary>,
) -> Result<Vec<Fact>, PageError> {
    let Some(newest) = newest else {
        return Ok(Vec::new());
    };
    let Some(stored) = site.store.run(&newest.id).await? else {
        return Ok(Vec::new());
    };
    let run = RunDocument::from_json(&stored.document)
        .map_err(|error| PageError::damaged(&stored.id, &error))?;
    let title = words.t("run-hardware");
    let groups = Facts::of(&run, words).groups;
    let hardware = groups.into_iter().find(|group| group.title == title);
    Ok(hardware.map(|group| group.facts).unwrap_or_default())
}

/// The best cells at the commonest shapes, the commonest of each phase among them.
async fn best(site: &Site, words: Words, filter: &Filter) -> Result<Vec<Best>, PageError> {
    let counts = site.store.shapes(None, filter.hardware.as_deref()).await?;
    let part = PageRequest {
        limit: BEST,
        after: None,
    };
    let mut tables = Vec::new();
    for shape in commonest(&counts) {
        let query = RankingQuery {
            shape,
            metric: Metric::Total,
            filter: filter.clone(),
        };
        let cells = site.store.ranking(&query, &part).await?.items;
        if cells.is_empty() {
            continue;
        }
        let heading = figures::shape(words, shape);
        tables.push(Best {
            table: RankTable::of(words, heading.clone(), query.metric, shape.phase, &cells)
                .of_one_hardware(),
            heading,
            leaderboard: figures::leaderboard_at(shape, filter.clone()),
        });
    }
    Ok(tables)
}

fn commonest(counts: &[ShapeCount]) -> Vec<Shape> {
    let mut shapes: Vec<Shape> = counts
        .iter()
        .map(|count| count.shape)
        .filter(|shape| shape.phase == Phase::Decode)
        .take(SHAPES - 1)
        .collect();
    let prefill = counts
        .iter()
        .map(|count| count.shape)
        .find(|shape| shape.phase == Phase::Prefill);
    shapes.extend(prefill);
    shapes
}
