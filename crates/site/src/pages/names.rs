//! What people write for a model or a hardware: its slug, or its name or part of it.

use store::{Filter, Named, PageRequest, Store};

use super::filters::Names;
use super::links::{self, Link};
use crate::frame::PageError;

/// Things proposed for a name that is none.
const PROPOSALS: u32 = 6;

/// A name that nothing has.
#[derive(Debug)]
pub(crate) struct Unknown {
    /// `model` or `gpu`.
    pub parameter: &'static str,
    /// As it was written.
    pub value: String,
    /// What could be meant.
    pub proposals: Vec<Link>,
}

/// What the slugs of a filter stand for.
#[derive(Debug, Default)]
pub(crate) struct Resolution {
    /// Their names.
    pub names: Names,
    /// The filter with slugs where names were written; `None` where all were slugs.
    pub changed: Option<Filter>,
    /// What nothing has.
    pub unknown: Vec<Unknown>,
}

/// What was found for a text.
enum Found {
    /// It is a slug, of what is called so.
    Slug(String),
    /// It is the name of what has this slug.
    Name(String),
    /// It is none; these come near.
    Near(Vec<Named>),
}

/// Finds what a filter's model, hardware and organization are.
pub(crate) async fn resolve(
    store: &Store,
    filter: &Filter,
    organization: Option<&str>,
) -> Result<Resolution, PageError> {
    let mut resolution = Resolution::default();
    let mut changed = filter.clone();
    if let Some(text) = &filter.model {
        match model(store, text).await? {
            Found::Slug(name) => resolution.names.model = name,
            Found::Name(slug) => changed.model = Some(slug),
            Found::Near(near) => {
                resolution.names.model.clone_from(text);
                resolution.unknown.push(Unknown {
                    parameter: "model",
                    value: text.clone(),
                    proposals: near.iter().map(links::model).collect(),
                });
            }
        }
    }
    if let Some(text) = &filter.hardware {
        match hardware(store, text).await? {
            Found::Slug(name) => resolution.names.hardware = name,
            Found::Name(slug) => changed.hardware = Some(slug),
            Found::Near(near) => {
                resolution.names.hardware.clone_from(text);
                resolution.unknown.push(Unknown {
                    parameter: "gpu",
                    value: text.clone(),
                    proposals: near.iter().map(links::hardware).collect(),
                });
            }
        }
    }
    if let Some(slug) = organization {
        let found = store.organization(slug).await?;
        resolution.names.organization =
            found.map_or_else(|| slug.to_owned(), |found| found.named.name);
    }
    resolution.changed = (changed != *filter).then_some(changed);
    Ok(resolution)
}

async fn model(store: &Store, text: &str) -> Result<Found, PageError> {
    if let Some(entry) = store.model(text).await? {
        return Ok(Found::Slug(entry.named.name));
    }
    let near = store.models(Some(text), &first()).await?;
    Ok(nearest(
        text,
        near.items.into_iter().map(|entry| entry.named),
    ))
}

async fn hardware(store: &Store, text: &str) -> Result<Found, PageError> {
    if let Some(entry) = store.hardware(text).await? {
        return Ok(Found::Slug(entry.named.name));
    }
    let near = store.hardware_list(Some(text), &first()).await?;
    Ok(nearest(
        text,
        near.items.into_iter().map(|entry| entry.named),
    ))
}

fn first() -> PageRequest {
    PageRequest {
        limit: PROPOSALS,
        after: None,
    }
}

/// The one that is called so, or the only one whose name has these words.
fn nearest(text: &str, near: impl Iterator<Item = Named>) -> Found {
    let near: Vec<Named> = near.collect();
    let same = near
        .iter()
        .find(|named| named.name.eq_ignore_ascii_case(text));
    match (same, near.as_slice()) {
        (Some(one), _) | (None, [one]) => Found::Name(one.slug.clone()),
        (None, _) => Found::Near(near),
    }
}
