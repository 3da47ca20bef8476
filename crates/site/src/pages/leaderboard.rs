//! The best cells: like is ranked with like.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use document::Phase;
use store::{Filter, Kind, Offered, ShapeCount};

use super::figures::{self, RankTable};
use super::filters::{Form, ShapeLinks, shape_links};
use super::links::Link;
use super::lists::{Nothing, PAGE_ROWS, Pager, with_language};
use super::names::{Resolution, resolve};
use crate::frame::{Frame, PageError, Place, page, shown};
use crate::query::{Pair, Parameters, RankingRequest, ShapeRequest, address};
use crate::site::Site;
use crate::visitor::Visitor;
use crate::words::Words;

const PATH: &str = "/leaderboard";
const API: &str = "/api/v1/leaderboard";
/// Other shapes proposed where nothing is found.
const PROPOSED_SHAPES: usize = 8;
/// Parameters that are always set, so that no chip takes them away.
const ALWAYS: [&str; 4] = ["phase", "context", "concurrency", "metric"];

#[derive(Template)]
#[template(path = "pages/leaderboard.html")]
struct LeaderboardPage {
    frame: Frame,
    /// What is compared.
    lead: String,
    shapes: Vec<ShapeLinks>,
    form: Form,
    table: Option<RankTable>,
    nothing: Option<Nothing>,
    pager: Pager,
}

/// `/leaderboard`
pub(crate) async fn leaderboard(
    State(site): State<Site>,
    visitor: Visitor,
    RawQuery(raw): RawQuery,
) -> Response {
    shown(&site, &visitor, async {
        let mut parameters = Parameters::of(raw.as_deref())?;
        let mut request = RankingRequest::take(&mut parameters)?;
        let part = parameters.take_page(PAGE_ROWS, None)?;
        let is_shorter = parameters.has_empty();
        parameters.finish()?;
        let resolution = resolve(&site.store, &request.filter, None).await?;
        if is_shorter || resolution.changed.is_some() {
            if let Some(filter) = resolution.changed {
                request.filter = filter;
            }
            let pairs = with_language(&visitor, request.pairs());
            return Ok(Redirect::to(&address(PATH, &pairs)).into_response());
        }
        let (counts, counted) = counts(&site, &request.filter).await?;
        let offered = site.store.offered().await?;
        let found = match request.shape.shape(&counts) {
            Some(shape) => {
                request.shape = ShapeRequest::exactly(shape);
                Some(site.store.ranking(&request.at(shape), &part).await?)
            }
            None => None,
        };
        let found = found.unwrap_or(store::Page {
            items: Vec::new(),
            next: None,
            total: None,
        });
        let words = visitor.words;
        let pairs = request.pairs();
        let lead = lead(words, &request);
        let is_empty = found.items.is_empty();
        let phase = request.shape.phase.unwrap_or(Phase::Decode);
        let template = LeaderboardPage {
            table: (!is_empty)
                .then(|| RankTable::of(words, lead.clone(), request.metric, phase, &found.items)),
            nothing: is_empty.then(|| {
                let mut nothing = nothing(words, &request, &offered, &resolution);
                nothing
                    .advice
                    .extend(other_shapes(words, &request, &counts, &counted));
                nothing
            }),
            shapes: shape_links(words, &counts, |shape| {
                let request = RankingRequest {
                    shape: ShapeRequest::exactly(shape),
                    metric: figures::metric_of(request.metric, shape.phase),
                    filter: request.filter.clone(),
                };
                address(PATH, &request.pairs())
            }),
            form: Form::new(PATH)
                .with_shape(words, request.shape, &counts)
                .with_metric(words, request.metric, phase)
                .with_filter(
                    words,
                    &request.filter,
                    &resolution.names,
                    &offered,
                    words.t("list-kind-not-simulated"),
                )
                .with_chips(words, &pairs, &ALWAYS, &resolution.names),
            pager: Pager::of(PATH, Some(API), &pairs, &part, found.next.as_deref()),
            lead,
            frame: Frame::new(
                &site,
                &visitor,
                Place::Leaderboard,
                words.t("menu-leaderboard"),
            ),
        };
        page(&template.frame, &template)
    })
    .await
}

/// Shapes of the filter's model, else of its hardware, else of everything, commonest
/// first; and the filter of what they are of.
async fn counts(site: &Site, filter: &Filter) -> Result<(Vec<ShapeCount>, Filter), PageError> {
    let scope = match (&filter.model, &filter.hardware) {
        (Some(model), _) => Filter {
            model: Some(model.clone()),
            ..Filter::default()
        },
        (None, hardware) => Filter {
            hardware: hardware.clone(),
            ..Filter::default()
        },
    };
    let (model, hardware) = (scope.model.as_deref(), scope.hardware.as_deref());
    let own = site.store.shapes(model, hardware).await?;
    if own.is_empty() && scope != Filter::default() {
        return Ok((site.store.shapes(None, None).await?, Filter::default()));
    }
    Ok((own, scope))
}

/// What is compared, in one line.
fn lead(words: Words, request: &RankingRequest) -> String {
    let phase = request.shape.phase.unwrap_or(Phase::Decode);
    let metric = figures::metric(words, request.metric, phase);
    let shape = match request.shape {
        ShapeRequest {
            phase: Some(phase),
            context_tokens: Some(context_tokens),
            concurrency: Some(concurrency),
        } => figures::shape(
            words,
            store::Shape {
                phase,
                context_tokens,
                concurrency,
            },
        ),
        _ => words.phase(phase).into_owned(),
    };
    words.with(
        "leaderboard-lead",
        &[("shape", shape.into()), ("metric", metric.into())],
    )
}

/// Nothing was found: what can be loosened.
fn nothing(
    words: Words,
    request: &RankingRequest,
    offered: &Offered,
    resolution: &Resolution,
) -> Nothing {
    let pairs = request.pairs();
    let mut nothing = Nothing::of(words, PATH, &pairs, &ALWAYS, resolution);
    let has_simulated = offered
        .kinds
        .iter()
        .any(|kind| kind.value == Kind::Simulated.as_str() && kind.run_count > 0);
    if request.filter.kind.is_none() && has_simulated && resolution.unknown.is_empty() {
        let mut pairs: Vec<Pair> = pairs.clone();
        pairs.push(("kind", Kind::Simulated.as_str().to_owned()));
        nothing.advice.push(Link::new(
            address(PATH, &pairs),
            words.t("list-show-simulated"),
        ));
    }
    nothing
}

/// Shapes that were measured, of the phase that is looked at: of the model or the
/// hardware alone, so that something is found there.
fn other_shapes(
    words: Words,
    request: &RankingRequest,
    counts: &[ShapeCount],
    counted: &Filter,
) -> Vec<Link> {
    counts
        .iter()
        .map(|count| count.shape)
        .filter(|shape| !request.shape.allows(*shape))
        .filter(|shape| request.shape.phase.is_none_or(|phase| phase == shape.phase))
        .take(PROPOSED_SHAPES)
        .map(|shape| {
            let other = RankingRequest {
                shape: ShapeRequest::exactly(shape),
                metric: figures::metric_of(request.metric, shape.phase),
                filter: counted.clone(),
            };
            Link::new(address(PATH, &other.pairs()), figures::shape(words, shape))
        })
        .collect()
}
