//! Addresses of pages.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use store::Named;

/// Everything that could end a part of a path or mean something in it.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// An address and what leads there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// Where.
    pub href: String,
    /// What is said.
    pub text: String,
}

impl Link {
    pub(crate) fn new(href: impl Into<String>, text: impl Into<String>) -> Link {
        Link {
            href: href.into(),
            text: text.into(),
        }
    }
}

fn below(place: &str, name: &str) -> String {
    format!("/{place}/{}", utf8_percent_encode(name, SEGMENT))
}

/// The page of a run.
pub(crate) fn run(id: &str) -> String {
    below("runs", id)
}

/// The page that asks why a run is to be hidden.
pub(crate) fn hide(id: &str) -> String {
    format!("{}/hide", below("moderation/runs", id))
}

/// The page that asks whether a run is to be deleted.
pub(crate) fn delete(id: &str) -> String {
    format!("{}/delete", below("account/runs", id))
}

/// The page of a model.
pub(crate) fn model(model: &Named) -> Link {
    Link::new(below("models", &model.slug), &model.name)
}

/// The page of a hardware.
pub(crate) fn hardware(hardware: &Named) -> Link {
    Link::new(below("hardware", &hardware.slug), &hardware.name)
}

/// The page of an organization.
pub(crate) fn organization(organization: &Named) -> Link {
    Link::new(
        below("organizations", &organization.slug),
        &organization.name,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_part_of_the_path() {
        assert_eq!(run("../a b/?x#y\"<"), "/runs/..%2Fa%20b%2F%3Fx%23y%22%3C");
    }
}
