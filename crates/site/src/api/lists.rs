//! Runs, cells, leaderboard, models, hardware, organizations: everything to read.

use axum::extract::State;
use axum::response::Response;
use store::Filter;

use super::answers::{CellEntry, RankedEntry, RunEntry};
use super::asked::{Asked, Listed, Name};
use super::catalogue::{CatalogueDetail, CatalogueEntry};
use super::problem::ApiError;
use crate::query::{self, QueryError, RankingRequest};
use crate::site::Site;

type Answered = Result<Response, ApiError>;

#[utoipa::path(get, path = "/api/v1/runs", operation_id = "listRuns",
    responses((status = 200, body = Listed<RunEntry>)))]
pub(super) async fn runs(State(site): State<Site>, mut asked: Asked) -> Answered {
    let query = asked.take(query::take_runs)?;
    let (page, answer) = asked.page()?;
    answer.list::<_, RunEntry>(site.store.runs(&query, &page).await?)
}

#[utoipa::path(get, path = "/api/v1/cells", operation_id = "listCells",
    responses((status = 200, body = Listed<CellEntry>)))]
pub(super) async fn cells(State(site): State<Site>, mut asked: Asked) -> Answered {
    let query = asked.take(query::take_cells)?;
    let (page, answer) = asked.page()?;
    answer.list::<_, CellEntry>(site.store.cells(&query, &page).await?)
}

#[utoipa::path(get, path = "/api/v1/leaderboard", operation_id = "getLeaderboard",
    responses((status = 200, body = Listed<RankedEntry>)))]
pub(super) async fn leaderboard(State(site): State<Site>, mut asked: Asked) -> Answered {
    let request = asked.take(RankingRequest::take)?;
    let (page, answer) = asked.page()?;
    let shape = request.shape;
    let shape = match (shape.phase, shape.context_tokens, shape.concurrency) {
        (Some(phase), Some(context_tokens), Some(concurrency)) => Some(store::Shape {
            phase,
            context_tokens,
            concurrency,
        }),
        _ => {
            let filter = &request.filter;
            let counts = site
                .store
                .shapes(filter.model.as_deref(), filter.hardware.as_deref())
                .await?;
            shape.shape(&counts)
        }
    };
    match shape {
        Some(shape) => {
            let ranking = site.store.ranking(&request.at(shape), &page).await?;
            answer.list::<_, RankedEntry>(ranking)
        }
        None => answer.list::<store::RankedCell, RankedEntry>(store::Page {
            items: Vec::new(),
            next: None,
            total: Some(0),
        }),
    }
}

/// The search of a list of names.
fn take_search(parameters: &mut query::Parameters) -> Result<Option<String>, QueryError> {
    Ok(parameters.take("q"))
}

#[utoipa::path(get, path = "/api/v1/models", operation_id = "listModels",
    responses((status = 200, body = Listed<CatalogueEntry>)))]
pub(super) async fn models(State(site): State<Site>, mut asked: Asked) -> Answered {
    let search = asked.take(take_search)?;
    let (page, answer) = asked.page()?;
    answer.list::<_, CatalogueEntry>(site.store.models(search.as_deref(), &page).await?)
}

#[utoipa::path(get, path = "/api/v1/models/{slug}", operation_id = "getModel",
    responses((status = 200, body = CatalogueDetail)))]
pub(super) async fn model(State(site): State<Site>, Name(slug): Name, asked: Asked) -> Answered {
    let answer = asked.one()?;
    let entry = site.store.model(&slug).await?;
    let entry = entry.ok_or(ApiError::NotFound("model"))?;
    let shapes = site.store.shapes(Some(&slug), None).await?;
    let filter = Filter {
        model: Some(slug),
        ..Filter::default()
    };
    let occurring = site.store.occurring(&filter, None).await?;
    answer.json(&CatalogueDetail::new(entry.into(), shapes, occurring))
}

#[utoipa::path(get, path = "/api/v1/hardware", operation_id = "listHardware",
    responses((status = 200, body = Listed<CatalogueEntry>)))]
pub(super) async fn hardware_list(State(site): State<Site>, mut asked: Asked) -> Answered {
    let search = asked.take(take_search)?;
    let (page, answer) = asked.page()?;
    answer.list::<_, CatalogueEntry>(site.store.hardware_list(search.as_deref(), &page).await?)
}

#[utoipa::path(get, path = "/api/v1/hardware/{slug}", operation_id = "getHardware",
    responses((status = 200, body = CatalogueDetail)))]
pub(super) async fn hardware(State(site): State<Site>, Name(slug): Name, asked: Asked) -> Answered {
    let answer = asked.one()?;
    let entry = site.store.hardware(&slug).await?;
    let entry = entry.ok_or(ApiError::NotFound("hardware"))?;
    let shapes = site.store.shapes(None, Some(&slug)).await?;
    let filter = Filter {
        hardware: Some(slug),
        ..Filter::default()
    };
    let occurring = site.store.occurring(&filter, None).await?;
    answer.json(&CatalogueDetail::new(entry.into(), shapes, occurring))
}

#[utoipa::path(get, path = "/api/v1/organizations", operation_id = "listOrganizations",
    responses((status = 200, body = Listed<CatalogueEntry>)))]
pub(super) async fn organizations(State(site): State<Site>, mut asked: Asked) -> Answered {
    let search = asked.take(take_search)?;
    let (page, answer) = asked.page()?;
    answer.list::<_, CatalogueEntry>(site.store.organizations(search.as_deref(), &page).await?)
}

#[utoipa::path(get, path = "/api/v1/organizations/{slug}", operation_id = "getOrganization",
    responses((status = 200, body = CatalogueDetail)))]
pub(super) async fn organization(
    State(site): State<Site>,
    Name(slug): Name,
    asked: Asked,
) -> Answered {
    let answer = asked.one()?;
    let entry = site.store.organization(&slug).await?;
    let entry = entry.ok_or(ApiError::NotFound("organization"))?;
    let occurring = site
        .store
        .occurring(&Filter::default(), Some(&slug))
        .await?;
    answer.json(&CatalogueDetail::new(entry.into(), Vec::new(), occurring))
}
