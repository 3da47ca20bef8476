//! What occurs among some runs, each value leading to its runs.

use document::format;
use store::{Counted, Filter, Kind, Offered, RunQuery};

use super::figures;
use crate::query::{address, run_pairs};
use crate::words::{Said, Words};

/// Values shown of each field.
const VALUES: usize = 12;

/// The values of a field.
#[derive(Debug)]
pub(crate) struct Group {
    /// The field.
    pub title: Said,
    /// Commonest first.
    pub values: Vec<Value>,
}

/// A value of a field.
#[derive(Debug)]
pub(crate) struct Value {
    /// As people read it.
    pub text: String,
    /// The list of its runs.
    pub href: String,
    /// How many they are.
    pub run_count: String,
}

/// A field, and how a filter is narrowed to one of its values.
struct Field<'values> {
    title: &'static str,
    values: &'values [Counted],
    /// The filter has one value of it already.
    is_fixed: bool,
    set: fn(&mut Filter, &str),
}

/// Fields of the runs of `filter` and `organization`; what the filter fixes is left
/// out, for it has one value.
pub(crate) fn groups(
    words: Words,
    occurring: &Offered,
    filter: &Filter,
    organization: Option<&str>,
) -> Vec<Group> {
    let list = |narrowed: Filter| {
        let query = RunQuery {
            filter: narrowed,
            organization: organization.map(str::to_owned),
            ..RunQuery::default()
        };
        address("/runs", &run_pairs(&query))
    };
    let fields = [
        Field {
            title: "list-model",
            values: &occurring.models,
            is_fixed: filter.model.is_some(),
            set: |filter, value| filter.model = Some(value.to_owned()),
        },
        Field {
            title: "list-hardware",
            values: &occurring.hardware,
            is_fixed: filter.hardware.is_some(),
            set: |filter, value| filter.hardware = Some(value.to_owned()),
        },
        Field {
            title: "run-quantization",
            values: &occurring.quantizations,
            is_fixed: false,
            set: |filter, value| filter.quantization = Some(value.to_owned()),
        },
        Field {
            title: "run-engine",
            values: &occurring.engines,
            is_fixed: false,
            set: |filter, value| filter.engine = Some(value.to_owned()),
        },
        Field {
            title: "list-kind",
            values: &occurring.kinds,
            is_fixed: false,
            set: |filter, value| filter.kind = Kind::from_name(value),
        },
    ];
    fields
        .into_iter()
        .filter(|field| !field.is_fixed)
        .map(|field| Group {
            title: words.t(field.title),
            values: field
                .values
                .iter()
                .filter(|one| !one.value.is_empty())
                .take(VALUES)
                .map(|one| {
                    let mut narrowed = filter.clone();
                    (field.set)(&mut narrowed, &one.value);
                    Value {
                        text: match Kind::from_name(&one.value)
                            .filter(|_| field.title == "list-kind")
                        {
                            Some(kind) => figures::kind(words, kind).into_owned(),
                            None => one.label.clone(),
                        },
                        href: list(narrowed),
                        run_count: format::count(one.run_count),
                    }
                })
                .collect(),
        })
        .filter(|group| !group.values.is_empty())
        .collect()
}
