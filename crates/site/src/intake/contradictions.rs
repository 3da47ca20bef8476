//! Figures that cannot be true together.

use std::collections::HashMap;

use document::{Cell, CellStatus, Distribution, RunDocument, Source};
use jiff::Timestamp;

use super::{Problems, Refusal, cell_field};

/// Figures that are written with few digits may cross by this share.
const ROUNDING_SHARE: f64 = 1e-6;

/// Whether `low` is no more than `high`, but for rounding.
fn is_ordered(low: f64, high: f64) -> bool {
    low <= high + ROUNDING_SHARE * high.abs().max(low.abs())
}

/// Refuses a document that contradicts itself.
pub(super) fn check(run: &RunDocument) -> Result<(), Refusal> {
    let mut problems = Problems::default();
    times(run, &mut problems);
    if run.source == Source::Measured && run.imported_from.is_some() {
        problems.add(
            Some("imported_from".to_owned()),
            "the source is `measured`, and what was measured is not imported",
        );
    }
    let mut places = HashMap::new();
    for (index, cell) in run.cells.iter().enumerate() {
        if let Some(first) = places.insert(cell.key(), index) {
            problems.add(
                Some(format!("cells[{index}]")),
                format!("is of the same phase, context and concurrency as cells[{first}]"),
            );
        }
        check_cell(index, cell, &mut problems);
    }
    problems.refuse()
}

fn times(run: &RunDocument, problems: &mut Problems) {
    let mut read = |field: &str, text: &Option<String>| {
        let text = text.as_ref()?;
        let time = text.parse::<Timestamp>();
        if time.is_err() {
            problems.add(
                Some(field.to_owned()),
                "there is no such day or hour; write it as 2026-12-01T14:45:00Z",
            );
        }
        time.ok()
    };
    let started = read("started_at", &run.started_at);
    let finished = read("finished_at", &run.finished_at);
    if let (Some(started), Some(finished)) = (started, finished)
        && finished < started
    {
        problems.add(Some("finished_at".to_owned()), "is before started_at");
    }
}

fn check_cell(index: usize, cell: &Cell, problems: &mut Problems) {
    if !cell.status.has_figures() {
        without_figures(index, cell, problems);
    }
    if cell.status == CellStatus::Valid && cell.failed.is_some_and(|failed| failed > 0) {
        problems.add(
            Some(cell_field(index, "failed")),
            "requests failed, so the status is not `valid`",
        );
    }
    if let Some([low, high]) = cell.total_tok_s_ci95 {
        let field = Some(cell_field(index, "total_tok_s_ci95"));
        match cell.total_tok_s {
            _ if !is_ordered(low, high) => {
                problems.add(field, "its lower end is above its upper end")
            }
            None => problems.add(field, "an interval of a total_tok_s that is not there"),
            Some(total) if !is_ordered(low, total) || !is_ordered(total, high) => {
                problems.add(field, format!("total_tok_s ({total}) is not inside"));
            }
            Some(_) => {}
        }
    }
    for (name, distribution) in distributions(cell) {
        if let Some(distribution) = distribution {
            check_distribution(&cell_field(index, name), &distribution, problems);
        }
    }
}

fn distributions(cell: &Cell) -> [(&'static str, Option<Distribution>); 4] {
    [
        ("ttft_ms", cell.ttft_ms),
        ("tbt_ms", cell.tbt_ms),
        ("first_answer_ms", cell.first_answer_ms),
        ("chunk_gap_ms", cell.chunk_gap_ms),
    ]
}

/// What was not run, or failed, was not measured.
fn without_figures(index: usize, cell: &Cell, problems: &mut Problems) {
    let median = |distribution: Option<Distribution>| distribution.and_then(|d| d.p50);
    let figures = [
        ("total_tok_s", cell.total_tok_s),
        ("per_request_tok_s", cell.per_request_tok_s),
        ("ttft_ms.p50", median(cell.ttft_ms)),
        ("tbt_ms.p50", median(cell.tbt_ms)),
    ];
    for (name, figure) in figures {
        if figure.is_some() {
            let status = cell.status.title();
            problems.add(
                Some(cell_field(index, name)),
                format!("a cell of status `{status}` has no figures: it must be null"),
            );
        }
    }
}

fn check_distribution(field: &str, distribution: &Distribution, problems: &mut Problems) {
    let Distribution {
        p50,
        p90,
        p95,
        p99,
        min,
        max,
        mean,
        n,
    } = *distribution;
    let ordered = [
        ("min", min),
        ("p50", p50),
        ("p90", p90),
        ("p95", p95),
        ("p99", p99),
        ("max", max),
    ];
    let known = ordered
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    let mut before: Option<(&str, f64)> = None;
    for (name, value) in known {
        if let Some((lower, least)) = before
            && !is_ordered(least, value)
        {
            problems.add(
                Some(format!("{field}.{name}")),
                format!("is less than {field}.{lower} ({value} and {least})"),
            );
        }
        before = Some((name, value));
    }
    let is_outside = |mean: f64| {
        min.is_some_and(|min| !is_ordered(min, mean))
            || max.is_some_and(|max| !is_ordered(mean, max))
    };
    if mean.is_some_and(is_outside) {
        problems.add(Some(format!("{field}.mean")), "is not between min and max");
    }
    if n == Some(0) && (p50.is_some() || mean.is_some()) {
        problems.add(
            Some(format!("{field}.n")),
            "is 0, so there is nothing to take a median of",
        );
    }
}
