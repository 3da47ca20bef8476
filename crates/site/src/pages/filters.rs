//! Forms that set a list's filter, and chips that take parts of it away.

use document::{Phase, format};
use store::{Counted, Filter, Kind, Metric, Offered, Shape, ShapeCount};

use super::figures;
use super::links::Link;
use crate::query::{Pair, ShapeRequest, context_name, phase_name};
use crate::words::{Said, Words};

/// Shapes that forms and links offer.
const SHAPES_OFFERED: usize = 60;

/// Shapes of a phase that have a link of their own.
const SHAPE_LINKS: usize = 8;

/// A value that can be chosen.
#[derive(Debug)]
pub(crate) struct Choice {
    pub value: String,
    pub text: String,
    pub is_chosen: bool,
}

/// One of a few values.
#[derive(Debug)]
pub(crate) struct Select {
    pub name: &'static str,
    pub label: Said,
    pub choices: Vec<Choice>,
}

/// A text, with proposals.
#[derive(Debug)]
pub(crate) struct Entry {
    pub name: &'static str,
    pub label: Said,
    pub value: String,
    pub proposals: Vec<String>,
}

/// A form that asks for a list.
#[derive(Debug)]
pub(crate) struct Form {
    /// Address of the list.
    pub action: String,
    pub selects: Vec<Select>,
    pub entries: Vec<Entry>,
    /// Parameters that the form keeps and does not show.
    pub kept: Vec<Pair>,
    /// Parts of the filter, each with the address of the list without it.
    pub chips: Vec<Link>,
}

impl Form {
    pub(crate) fn new(action: &str) -> Form {
        Form {
            action: action.to_owned(),
            selects: Vec::new(),
            entries: Vec::new(),
            kept: Vec::new(),
            chips: Vec::new(),
        }
    }

    /// Phase, context and requests at once, of the shapes that occur.
    pub(crate) fn with_shape(
        mut self,
        words: Words,
        chosen: ShapeRequest,
        counts: &[ShapeCount],
    ) -> Form {
        let shapes = || counts.iter().take(SHAPES_OFFERED).map(|count| count.shape);
        let phases = [Phase::Decode, Phase::Prefill].map(|phase| Choice {
            value: phase_name(phase).to_owned(),
            text: words.phase(phase).into_owned(),
            is_chosen: chosen.phase == Some(phase),
        });
        let contexts = shapes().map(|shape| shape.context_tokens);
        let contexts = sorted(contexts.chain(chosen.context_tokens));
        let contexts = contexts.into_iter().map(|tokens| Choice {
            value: context_name(tokens),
            text: format::context(tokens),
            is_chosen: chosen.context_tokens == Some(tokens),
        });
        let levels = shapes().map(|shape| shape.concurrency);
        let levels = sorted(levels.chain(chosen.concurrency));
        let levels = levels.into_iter().map(|level| Choice {
            value: level.to_string(),
            text: level.to_string(),
            is_chosen: chosen.concurrency == Some(level),
        });
        self.selects.extend([
            or_any(words, "phase", "run-phase", phases.into()),
            or_any(words, "context", "run-context", contexts.collect()),
            or_any(words, "concurrency", "run-concurrency", levels.collect()),
        ]);
        self
    }

    /// What orders.
    pub(crate) fn with_metric(mut self, words: Words, chosen: Metric, phase: Phase) -> Form {
        let choices = Metric::ALL.map(|metric| Choice {
            value: metric.as_str().to_owned(),
            text: figures::metric(words, metric, phase).into_owned(),
            is_chosen: metric == chosen,
        });
        self.selects.push(Select {
            name: "metric",
            label: words.t("list-ranked-by"),
            choices: choices
                .into_iter()
                .filter(|choice| {
                    phase == Phase::Decode || choice.value != Metric::PerRequest.as_str()
                })
                .collect(),
        });
        self
    }

    /// Model and hardware by name, and the rest of a filter by what occurs. `all` is
    /// said where no kind is chosen.
    pub(crate) fn with_filter(
        mut self,
        words: Words,
        filter: &Filter,
        names: &Names,
        offered: &Offered,
        all: Said,
    ) -> Form {
        self.entries.push(entry(
            "model",
            words.t("list-model"),
            names.model.clone(),
            &offered.models,
        ));
        self.entries.push(entry(
            "gpu",
            words.t("list-hardware"),
            names.hardware.clone(),
            &offered.hardware,
        ));
        let gpu_count = filter.gpu_count.map(|count| count.to_string());
        for (name, label, chosen, values) in [
            (
                "gpus",
                "run-gpu-count",
                gpu_count.as_deref(),
                &offered.gpu_counts,
            ),
            (
                "engine",
                "run-engine",
                filter.engine.as_deref(),
                &offered.engines,
            ),
            (
                "quantization",
                "run-quantization",
                filter.quantization.as_deref(),
                &offered.quantizations,
            ),
        ] {
            self.selects
                .push(optional(words, name, words.t(label), chosen, values));
        }
        let kinds = Kind::ALL.map(|kind| Choice {
            value: kind.as_str().to_owned(),
            text: figures::kind(words, kind).into_owned(),
            is_chosen: filter.kind == Some(kind),
        });
        let any = Choice {
            value: String::new(),
            text: all.into_owned(),
            is_chosen: filter.kind.is_none(),
        };
        self.selects.push(Select {
            name: "kind",
            label: words.t("list-kind"),
            choices: std::iter::once(any).chain(kinds).collect(),
        });
        self
    }

    /// Chips for what is in `pairs` beside the parameters in `fixed`.
    pub(crate) fn with_chips(
        mut self,
        words: Words,
        pairs: &[Pair],
        fixed: &[&str],
        names: &Names,
    ) -> Form {
        self.chips = pairs
            .iter()
            .filter(|(name, _)| !fixed.contains(name))
            .filter_map(|(name, value)| {
                let said = match *name {
                    "model" => names.model.clone(),
                    "gpu" => names.hardware.clone(),
                    "organization" => names.organization.clone(),
                    "kind" => Kind::from_name(value)
                        .map(|kind| figures::kind(words, kind).into_owned())
                        .unwrap_or_default(),
                    other => said(words, other, value, value),
                };
                let rest: Vec<Pair> = pairs
                    .iter()
                    .filter(|(other, _)| other != name)
                    .cloned()
                    .collect();
                Some(Link::new(
                    crate::query::address(&self.action, &rest),
                    words.with(chip_key(name)?, &[("value", said.into())]),
                ))
            })
            .collect();
        self
    }
}

/// What a filter's slugs are called.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    pub model: String,
    pub hardware: String,
    pub organization: String,
}

fn chip_key(parameter: &str) -> Option<&'static str> {
    Some(match parameter {
        "model" => "list-chip-model",
        "gpu" => "list-chip-hardware",
        "gpus" => "list-chip-gpus",
        "engine" => "list-chip-engine",
        "quantization" => "list-chip-quantization",
        "kind" => "list-chip-kind",
        "q" => "list-chip-search",
        "organization" => "list-chip-organization",
        "account" => "list-chip-account",
        _ => return None,
    })
}

fn entry(name: &'static str, label: Said, value: String, offered: &[Counted]) -> Entry {
    Entry {
        name,
        label,
        value,
        proposals: offered.iter().map(|one| one.label.clone()).collect(),
    }
}

fn optional(
    words: Words,
    name: &'static str,
    label: Said,
    chosen: Option<&str>,
    offered: &[Counted],
) -> Select {
    let mut choices = vec![Choice {
        value: String::new(),
        text: words.t("list-any").into_owned(),
        is_chosen: chosen.is_none(),
    }];
    choices.extend(offered.iter().map(|one| Choice {
        value: one.value.clone(),
        text: said(words, name, &one.value, &one.label),
        is_chosen: chosen == Some(one.value.as_str()),
    }));
    if let Some(chosen) = chosen.filter(|chosen| offered.iter().all(|one| one.value != *chosen)) {
        choices.push(Choice {
            value: chosen.to_owned(),
            text: said(words, name, chosen, chosen),
            is_chosen: true,
        });
    }
    Select {
        name,
        label,
        choices,
    }
}

/// The choices, and any of them where none is chosen yet.
fn or_any(
    words: Words,
    name: &'static str,
    label: &'static str,
    mut choices: Vec<Choice>,
) -> Select {
    if choices.iter().all(|choice| !choice.is_chosen) {
        let any = Choice {
            value: String::new(),
            text: words.t("list-any").into_owned(),
            is_chosen: true,
        };
        choices.insert(0, any);
    }
    Select {
        name,
        label: words.t(label),
        choices,
    }
}

/// A value as people read it: no GPUs are said in words.
fn said(words: Words, parameter: &str, value: &str, label: &str) -> String {
    if parameter == "gpus" && value == "0" {
        words.t("list-no-gpu").into_owned()
    } else {
        label.to_owned()
    }
}

fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let unique: std::collections::BTreeSet<T> = values.collect();
    unique.into_iter().collect()
}

/// Links to the commonest shapes of a phase.
#[derive(Debug)]
pub(crate) struct ShapeLinks {
    pub phase: Said,
    pub links: Vec<Link>,
}

/// Links to the commonest shapes, in the order of their size.
pub(crate) fn shape_links(
    words: Words,
    counts: &[ShapeCount],
    leads_to: impl Fn(Shape) -> String,
) -> Vec<ShapeLinks> {
    [Phase::Decode, Phase::Prefill]
        .into_iter()
        .map(|phase| {
            let mut shapes: Vec<Shape> = counts
                .iter()
                .map(|count| count.shape)
                .filter(|shape| shape.phase == phase)
                .take(SHAPE_LINKS)
                .collect();
            shapes.sort_by_key(|shape| (shape.context_tokens, shape.concurrency));
            ShapeLinks {
                phase: words.phase(phase),
                links: shapes
                    .into_iter()
                    .map(|shape| Link::new(leads_to(shape), figures::short_shape(shape)))
                    .collect(),
            }
        })
        .filter(|of_phase| !of_phase.links.is_empty())
        .collect()
}
