//! What all lists have: parts, exports, and what to do where nothing is found.

use store::PageRequest;

use super::filters::Form;
use super::links::Link;
use super::names::{Resolution, Unknown};
use crate::query::{Pair, address};
use crate::visitor::Visitor;
use crate::words::Words;

/// Rows of a page.
pub(crate) const PAGE_ROWS: u32 = 50;

/// Where the rest of a list is, and the list for programs.
#[derive(Debug)]
pub(crate) struct Pager {
    /// The first part, where this is another.
    pub first: Option<String>,
    /// The next part.
    pub next: Option<String>,
    /// The list as CSV and as JSON.
    pub files: Option<(String, String)>,
}

impl Pager {
    pub(crate) fn of(
        path: &str,
        api: Option<&str>,
        pairs: &[Pair],
        part: &PageRequest,
        next: Option<&str>,
    ) -> Pager {
        let with = |path: &str, name: &'static str, value: &str| {
            let mut pairs = pairs.to_vec();
            pairs.push((name, value.to_owned()));
            address(path, &pairs)
        };
        Pager {
            first: part.after.as_ref().map(|_| address(path, pairs)),
            next: next.map(|next| with(path, "after", next)),
            files: api.map(|api| (with(api, "format", "csv"), address(api, pairs))),
        }
    }
}

/// Nothing was found.
#[derive(Debug)]
pub(crate) struct Nothing {
    /// Names that nothing has.
    pub unknown: Vec<(String, Vec<Link>)>,
    /// Lists that leave something away, or are of something near.
    pub advice: Vec<Link>,
}

impl Nothing {
    /// Advice to leave away each parameter beside those in `fixed`.
    pub(crate) fn of(
        words: Words,
        path: &'static str,
        pairs: &[Pair],
        fixed: &[&str],
        resolution: &Resolution,
    ) -> Nothing {
        let chips = Form::new(path)
            .with_chips(words, pairs, fixed, &resolution.names)
            .chips;
        Nothing {
            unknown: resolution
                .unknown
                .iter()
                .map(|unknown| (unknown_said(words, unknown), unknown.proposals.clone()))
                .collect(),
            advice: chips
                .into_iter()
                .map(|chip| Link {
                    text: words.with("list-without", &[("part", chip.text.into())]),
                    ..chip
                })
                .collect(),
        }
    }
}

fn unknown_said(words: Words, unknown: &Unknown) -> String {
    words.with(
        "list-unknown",
        &[
            ("parameter", unknown.parameter.into()),
            ("value", unknown.value.as_str().into()),
        ],
    )
}

/// The parameters, with the language that the address chose.
pub(crate) fn with_language(visitor: &Visitor, mut pairs: Vec<Pair>) -> Vec<Pair> {
    if let Some(language) = visitor.chosen {
        pairs.push(("lang", language.code().to_owned()));
    }
    pairs
}
