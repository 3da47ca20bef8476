//! A model: where it runs best, its curves, its runs.

use std::collections::HashSet;

use askama::Template;
use axum::extract::{Path, RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use document::Phase;
use store::{
    Configuration, Filter, Metric, ModelEntry, Offered, PageRequest, RankedCell, RunQuery, Shape,
};

use super::chart::{Along, Chart, MAX_LINES, Series};
use super::figures::{self, RankTable, RunRow};
use super::filters::{Form, ShapeLinks, shape_links};
use super::links;
use super::lists::with_language;
use super::occurring::{Group, groups};
use crate::frame::{Frame, PageError, Place, page, shown};
use crate::query::{Parameters, RankingRequest, ShapeRequest, address, run_pairs};
use crate::site::Site;
use crate::visitor::Visitor;
use crate::words::Words;

/// Configurations looked at for the best of each hardware and quantization.
const CONFIGURATIONS: u32 = 100;
/// Newest runs shown.
const NEWEST_RUNS: u32 = 10;

#[derive(Template)]
#[template(path = "pages/model.html")]
struct ModelPage {
    frame: Frame,
    count: String,
    newest: Option<String>,
    facts: Vec<Group>,
    lead: Option<String>,
    shapes: Vec<ShapeLinks>,
    form: Form,
    table: Option<RankTable>,
    leaderboard: Option<String>,
    charts: Vec<Chart>,
    rows: Vec<RunRow>,
    all_runs: String,
}

/// `/models/{slug}`
pub(crate) async fn model(
    State(site): State<Site>,
    visitor: Visitor,
    Path(slug): Path<String>,
    RawQuery(raw): RawQuery,
) -> Response {
    shown(&site, &visitor, async {
        let model = site.store.model(&slug).await?.ok_or(PageError::NotFound)?;
        let path = links::model(&model.named).href;
        let mut parameters = Parameters::of(raw.as_deref())?;
        let mut request = RankingRequest::take(&mut parameters)?;
        let is_shorter = parameters.has_empty();
        parameters.finish()?;
        if is_shorter {
            let pairs = with_language(&visitor, request.pairs());
            return Ok(Redirect::to(&address(&path, &pairs)).into_response());
        }
        request.filter.model = Some(slug);
        shown_model(&site, &visitor, model, &path, request).await
    })
    .await
}

async fn shown_model(
    site: &Site,
    visitor: &Visitor,
    model: ModelEntry,
    path: &str,
    mut request: RankingRequest,
) -> Result<Response, PageError> {
    let words = visitor.words;
    let store = &site.store;
    let slug = &model.named.slug;
    let counts = store.shapes(Some(slug), None).await?;
    let shape = request.shape.shape(&counts);
    let cells = match shape {
        Some(shape) => {
            request.shape = ShapeRequest::exactly(shape);
            best(store, &request, shape).await?
        }
        None => Vec::new(),
    };
    let of_model = Filter {
        model: Some(slug.clone()),
        ..Filter::default()
    };
    let newest = RunQuery {
        filter: of_model.clone(),
        ..RunQuery::default()
    };
    let newest_runs = store
        .runs(
            &newest,
            &PageRequest {
                limit: NEWEST_RUNS,
                after: None,
            },
        )
        .await?;
    let occurring = store.occurring(&of_model, None).await?;
    let phase = request.shape.phase.unwrap_or(Phase::Decode);
    let own = |request: &RankingRequest| {
        let mut request = request.clone();
        request.filter.model = None;
        address(path, &request.pairs())
    };
    let lead = shape.map(|shape| {
        words.with(
            "model-lead",
            &[
                ("shape", figures::shape(words, shape).into()),
                (
                    "metric",
                    figures::metric(words, request.metric, phase).into(),
                ),
            ],
        )
    });
    let template = ModelPage {
        count: figures::counted(words, "list-count-runs", model.run_count),
        newest: model
            .last_published_at_ms
            .map(|at_ms| figures::day(words, at_ms)),
        facts: facts(words, &occurring, slug),
        shapes: shape_links(words, &counts, |shape| {
            own(&RankingRequest {
                shape: ShapeRequest::exactly(shape),
                metric: figures::metric_of(request.metric, shape.phase),
                filter: request.filter.clone(),
            })
        }),
        form: Form::new(path)
            .with_shape(words, request.shape, &counts)
            .with_metric(words, request.metric, phase),
        leaderboard: shape.map(|_| address("/leaderboard", &request.pairs())),
        charts: charts(site, words, &cells, shape).await?,
        table: (!cells.is_empty()).then(|| {
            let caption = lead.clone().unwrap_or_default();
            RankTable::of(words, caption, request.metric, phase, &cells).of_one_model()
        }),
        rows: newest_runs
            .items
            .iter()
            .map(|run| RunRow::of(words, run))
            .collect(),
        all_runs: address("/runs", &run_pairs(&newest)),
        lead,
        frame: Frame::new(site, visitor, Place::Models, model.named.name),
    };
    page(&template.frame, &template)
}

/// The best cell of each hardware, number of GPUs and quantization.
async fn best(
    store: &store::Store,
    request: &RankingRequest,
    shape: Shape,
) -> Result<Vec<RankedCell>, PageError> {
    let part = PageRequest {
        limit: CONFIGURATIONS,
        after: None,
    };
    let ranking = store.ranking(&request.at(shape), &part).await?;
    let mut seen = HashSet::new();
    Ok(ranking
        .items
        .into_iter()
        .filter(|cell| {
            let Configuration {
                hardware,
                gpu_count,
                quantization,
                ..
            } = &cell.configuration;
            seen.insert((hardware.slug.clone(), *gpu_count, quantization.clone()))
        })
        .collect())
}

/// Total tok/s by requests at once and prompt tok/s by context, of the best.
async fn charts(
    site: &Site,
    words: Words,
    cells: &[RankedCell],
    shape: Option<Shape>,
) -> Result<Vec<Chart>, PageError> {
    let (Some(shape), false) = (shape, cells.is_empty()) else {
        return Ok(Vec::new());
    };
    let best: Vec<&Configuration> = cells
        .iter()
        .take(MAX_LINES)
        .map(|cell| &cell.configuration)
        .collect();
    let keys: Vec<i64> = best.iter().map(|configuration| configuration.key).collect();
    let context = document::format::context(shape.context_tokens);
    let decode = site
        .store
        .curves(
            &keys,
            Phase::Decode,
            Some(shape.context_tokens),
            Metric::Total,
        )
        .await?;
    let prefill = site
        .store
        .curves(&keys, Phase::Prefill, None, Metric::Total)
        .await?;
    let by_concurrency = words.with("chart-by-concurrency", &[("context", context.into())]);
    let by_context = words.t("chart-by-context").into_owned();
    Ok([
        Chart::of(
            words,
            Along::Concurrency,
            by_concurrency,
            &series(words, &best, &decode),
        ),
        Chart::of(
            words,
            Along::Context,
            by_context,
            &series(words, &best, &prefill),
        ),
    ]
    .into_iter()
    .flatten()
    .collect())
}

fn series(words: Words, best: &[&Configuration], cells: &[RankedCell]) -> Vec<Series> {
    best.iter()
        .map(|configuration| Series {
            name: figures::configuration(words, configuration),
            cells: cells
                .iter()
                .filter(|cell| cell.configuration.key == configuration.key)
                .cloned()
                .collect(),
        })
        .filter(|series| !series.cells.is_empty())
        .collect()
}

/// What the model runs on and with, each leading to its runs.
fn facts(words: Words, occurring: &Offered, slug: &str) -> Vec<Group> {
    let of_model = Filter {
        model: Some(slug.to_owned()),
        ..Filter::default()
    };
    groups(words, occurring, &of_model, None)
}
