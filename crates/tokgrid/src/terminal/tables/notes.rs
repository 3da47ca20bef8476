//! What has to be said below the tables: statuses, flags with their evidence,
//! reasons of failures, remarks.

use std::collections::BTreeMap;

use document::{CacheProof, Cell, CellStatus, Figure, FlagName, Phase, RunDocument};

use super::super::words;
use super::grid::Paint;
use super::push_wrapped;

/// How far evidence stands in from the edge, columns.
const INDENT: usize = 2;

/// Cells a remark names before it counts the others.
const CELLS_NAMED: usize = 2;

/// The page's sentence on TTFT.
const TTFT_SENTENCE: &str = "TTFT is measured after the benchmark warms the server's prompt cache, so it mostly excludes prefill.";

/// Sections below the tables, those that have something to say.
pub(super) fn sections(run: &RunDocument, width: usize, paint: Paint) -> Vec<String> {
    let sections = [
        sentences(run, width),
        flags(run, width, paint),
        failures(run, width, paint),
        remarks(run, width, paint),
    ];
    sections
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect()
}

fn sentences(run: &RunDocument, width: usize) -> String {
    let any = |test: &dyn Fn(&Cell) -> bool| run.cells.iter().any(test);
    let mut text = String::new();
    let statuses = [
        CellStatus::Queued,
        CellStatus::OverCapacity,
        CellStatus::Failed,
    ];
    for status in statuses {
        if let Some(sentence) = status.sentence().filter(|_| any(&|c| c.status == status)) {
            push_wrapped(&mut text, sentence, width);
        }
    }
    let facts: [(bool, &str); 4] = [
        (any(&|cell| cell.phase == Phase::Decode), TTFT_SENTENCE),
        (
            any(&|cell| cell.ttft_censored == Some(true)),
            "≥: requests still waited for their first token when the window closed, so TTFT is a lower bound.",
        ),
        (
            any(&|cell| cell.queue_inferred == Some(true)),
            "Queueing was inferred from what this machine saw: the server does not report it.",
        ),
        (
            any(&|cell| cell.cache_proof == Some(CacheProof::Unproven)),
            "Prompt cache unproven: the server does not say how many prompt tokens came from its cache.",
        ),
    ];
    for (holds, sentence) in facts {
        if holds {
            push_wrapped(&mut text, sentence, width);
        }
    }
    text
}

/// Each flag once, with what it takes away, and its cells with their evidence.
fn flags(run: &RunDocument, width: usize, paint: Paint) -> String {
    let mut by_name: BTreeMap<FlagName, Vec<String>> = BTreeMap::new();
    for cell in &run.cells {
        for flag in &cell.flags {
            let evidence = words::one_line(&flag.evidence);
            let line = format!("{}: {evidence}", words::cell(cell.key()));
            by_name.entry(flag.name).or_default().push(line);
        }
    }
    if by_name.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n", paint.bold("Flags"));
    for (name, lines) in by_name {
        let (mark, taken) = match taken_away(name) {
            Some(taken) => (words::TAKEN_AWAY, format!("takes away {taken}")),
            None => ("·", "takes nothing away".to_owned()),
        };
        push_wrapped(
            &mut text,
            &format!("{mark} {}: {taken}", name.as_str()),
            width,
        );
        for line in lines {
            push_indented(&mut text, &line, width);
        }
    }
    text
}

/// What a flag takes away, in words.
fn taken_away(name: FlagName) -> Option<String> {
    let figures = [
        (Figure::DecodeTotal, "total tok/s"),
        (
            Figure::DecodeLatency,
            "per request tok/s, time between tokens",
        ),
        (Figure::Ttft, "TTFT"),
        (Figure::Prefill, "prefill"),
    ];
    let taken: Vec<&str> = figures
        .into_iter()
        .filter(|(figure, _)| name.takes_away(*figure))
        .map(|(_, words)| words)
        .collect();
    if taken.len() == figures.len() {
        return Some("all figures".to_owned());
    }
    (!taken.is_empty()).then(|| taken.join(", "))
}

fn failures(run: &RunDocument, width: usize, paint: Paint) -> String {
    let failed = run.cells.iter().filter(|c| c.status == CellStatus::Failed);
    let mut text = String::new();
    for cell in failed {
        if text.is_empty() {
            text = format!("{}\n", paint.bold("Failed"));
        }
        let reason = cell.reason.as_deref().unwrap_or("no reason was told");
        let line = format!("{}: {}", words::cell(cell.key()), words::one_line(reason));
        push_indented(&mut text, &line, width);
    }
    text
}

/// Each remark once, with the first of the cells it was made on.
fn remarks(run: &RunDocument, width: usize, paint: Paint) -> String {
    let mut by_text: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for cell in &run.cells {
        for remark in &cell.remarks {
            let places = by_text.entry(words::one_line(remark)).or_default();
            places.push(words::cell(cell.key()));
        }
    }
    if by_text.is_empty() {
        return String::new();
    }
    let mut text = format!("{}\n", paint.bold("Remarks"));
    for (remark, places) in by_text {
        let named = &places[..places.len().min(CELLS_NAMED)];
        let mut who = named.join(", ");
        if places.len() > named.len() {
            let others = words::plural(places.len() - named.len(), "other cell");
            who.push_str(&format!(" and {others}"));
        }
        push_indented(&mut text, &format!("{who}: {remark}"), width);
    }
    text
}

fn push_indented(text: &mut String, line: &str, width: usize) {
    for line in words::wrap(line, width.saturating_sub(INDENT)) {
        text.push_str(&format!("{:INDENT$}{line}\n", ""));
    }
}
