//! Lists of models, of hardware and of organizations.

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse, Redirect, Response};
use store::{Named, Page, PageRequest};

use super::figures;
use super::filters::{Entry, Form};
use super::links::{self, Link};
use super::lists::{Nothing, PAGE_ROWS, Pager, with_language};
use super::names::Resolution;
use crate::frame::{Frame, PageError, Place, page, shown};
use crate::query::{Pair, Parameters, address};
use crate::site::Site;
use crate::visitor::Visitor;
use crate::words::{Said, Words};

/// What is listed.
#[derive(Debug, Clone, Copy)]
enum Of {
    Models,
    Hardware,
    Organizations,
}

/// One of the things listed.
struct Entity {
    named: Named,
    run_count: u64,
    last_published_at_ms: Option<i64>,
}

/// One row.
struct Row {
    page: Link,
    run_count: String,
    newest: String,
}

#[derive(Template)]
#[template(path = "pages/catalogue.html")]
struct CataloguePage {
    frame: Frame,
    lead: Said,
    /// What the first column holds.
    column: Said,
    form: Form,
    rows: Vec<Row>,
    nothing: Option<Nothing>,
    pager: Pager,
}

/// `/models`
pub(crate) async fn models(
    State(site): State<Site>,
    visitor: Visitor,
    RawQuery(raw): RawQuery,
) -> Response {
    list(&site, &visitor, Of::Models, raw).await
}

/// `/hardware`
pub(crate) async fn hardware(
    State(site): State<Site>,
    visitor: Visitor,
    RawQuery(raw): RawQuery,
) -> Response {
    list(&site, &visitor, Of::Hardware, raw).await
}

/// `/organizations`
pub(crate) async fn organizations(
    State(site): State<Site>,
    visitor: Visitor,
    RawQuery(raw): RawQuery,
) -> Response {
    list(&site, &visitor, Of::Organizations, raw).await
}

async fn list(site: &Site, visitor: &Visitor, of: Of, raw: Option<String>) -> Response {
    shown(site, visitor, async {
        let mut parameters = Parameters::of(raw.as_deref())?;
        let search = parameters.take("q");
        let part = parameters.take_page(PAGE_ROWS, None)?;
        let is_shorter = parameters.has_empty();
        parameters.finish()?;
        let pairs: Vec<Pair> = search.iter().map(|search| ("q", search.clone())).collect();
        if is_shorter {
            let pairs = with_language(visitor, pairs);
            return Ok(Redirect::to(&address(of.path(), &pairs)).into_response());
        }
        let found = of.page(site, search.as_deref(), &part).await?;
        let words = visitor.words;
        let nothing = found
            .items
            .is_empty()
            .then(|| Nothing::of(words, of.path(), &pairs, &[], &Resolution::default()));
        let template = CataloguePage {
            lead: words.t(of.lead()),
            column: words.t(of.column()),
            form: of.form(words, search, &pairs),
            rows: found
                .items
                .into_iter()
                .map(|entity| of.row(words, entity))
                .collect(),
            nothing,
            pager: Pager::of(
                of.path(),
                Some(of.api()),
                &pairs,
                &part,
                found.next.as_deref(),
            ),
            frame: Frame::new(site, visitor, of.place(), words.t(of.title())),
        };
        page(&template.frame, &template)
    })
    .await
}

impl Of {
    fn path(self) -> &'static str {
        match self {
            Of::Models => "/models",
            Of::Hardware => "/hardware",
            Of::Organizations => "/organizations",
        }
    }

    fn api(self) -> &'static str {
        match self {
            Of::Models => "/api/v1/models",
            Of::Hardware => "/api/v1/hardware",
            Of::Organizations => "/api/v1/organizations",
        }
    }

    fn place(self) -> Place {
        match self {
            Of::Models => Place::Models,
            Of::Hardware => Place::Hardware,
            Of::Organizations => Place::Organizations,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Of::Models => "menu-models",
            Of::Hardware => "menu-hardware",
            Of::Organizations => "menu-organizations",
        }
    }

    fn lead(self) -> &'static str {
        match self {
            Of::Models => "models-lead",
            Of::Hardware => "hardware-lead",
            Of::Organizations => "organizations-lead",
        }
    }

    fn column(self) -> &'static str {
        match self {
            Of::Models => "list-model",
            Of::Hardware => "list-hardware",
            Of::Organizations => "list-organization",
        }
    }

    fn form(self, words: Words, search: Option<String>, pairs: &[Pair]) -> Form {
        let names = Resolution::default().names;
        let mut form = Form::new(self.path()).with_chips(words, pairs, &[], &names);
        form.entries.push(Entry {
            name: "q",
            label: words.t("list-search"),
            value: search.unwrap_or_default(),
            proposals: Vec::new(),
        });
        form
    }

    fn row(self, words: Words, entity: Entity) -> Row {
        let page = match self {
            Of::Models => links::model(&entity.named),
            Of::Hardware => links::hardware(&entity.named),
            Of::Organizations => links::organization(&entity.named),
        };
        Row {
            page,
            run_count: document::format::count(entity.run_count),
            newest: document::format::or_nothing(entity.last_published_at_ms, |at_ms| {
                figures::day(words, at_ms)
            }),
        }
    }

    async fn page(
        self,
        site: &Site,
        search: Option<&str>,
        part: &PageRequest,
    ) -> Result<Page<Entity>, PageError> {
        let store = &site.store;
        Ok(match self {
            Of::Models => map(store.models(search, part).await?, |model| Entity {
                named: model.named,
                run_count: model.run_count,
                last_published_at_ms: model.last_published_at_ms,
            }),
            Of::Hardware => map(store.hardware_list(search, part).await?, |hardware| {
                Entity {
                    named: hardware.named,
                    run_count: hardware.run_count,
                    last_published_at_ms: hardware.last_published_at_ms,
                }
            }),
            Of::Organizations => map(store.organizations(search, part).await?, |one| Entity {
                named: one.named,
                run_count: one.run_count,
                last_published_at_ms: one.last_published_at_ms,
            }),
        })
    }
}

fn map<T, U>(page: Page<T>, with: impl FnMut(T) -> U) -> Page<U> {
    Page {
        items: page.items.into_iter().map(with).collect(),
        next: page.next,
        total: page.total,
    }
}
