use askama::Template;
use document::{Cell, CellStatus, Figure, FlagName, Phase};

use super::grid::Grid;
use super::words::place;
use crate::words::{Said, Words};

/// Flags with their evidence, failed cells with their reason, and remarks.
#[derive(Debug, Template)]
#[template(path = "run/doubts.html")]
pub struct Doubts {
    /// The page's words.
    pub words: Words,
    /// Heading: what there is of the three.
    pub title: Said,
    /// What the table is, for those who do not see it.
    pub caption: String,
    /// In the order of the measurements.
    pub doubts: Vec<Doubt>,
}

/// Something to know about a cell.
#[derive(Debug)]
pub struct Doubt {
    /// `Sustained decode, 8K × 64`.
    pub cell: String,
    /// Name of the flag, `failed` or `remark`.
    pub name: Said,
    /// The flag's name in the document, where the page calls it otherwise.
    pub identifier: Option<&'static str>,
    /// Casts no doubt.
    pub is_remark: bool,
    /// What it takes away.
    pub takes: Said,
    /// What was seen.
    pub evidence: Said,
    /// The evidence is the document's, in English, on a page in another language.
    pub is_foreign: bool,
}

impl Doubts {
    pub(crate) fn of(grid: &Grid, words: Words) -> Option<Doubts> {
        let doubts: Vec<Doubt> = grid.cells().flat_map(|cell| of_cell(cell, words)).collect();
        if doubts.is_empty() {
            return None;
        }
        let title = words.t(if doubts.iter().all(|doubt| doubt.is_remark) {
            "run-remarks"
        } else {
            "run-doubts"
        });
        Some(Doubts {
            words,
            caption: words.with("run-doubts-caption", &[("title", title.clone().into())]),
            title,
            doubts,
        })
    }
}

fn of_cell(cell: &Cell, words: Words) -> Vec<Doubt> {
    let doubt = |name, takes, evidence| Doubt {
        cell: place(words, cell.key()),
        name,
        identifier: None,
        is_remark: false,
        takes: words.t(takes),
        evidence,
        is_foreign: false,
    };
    let documents = |text: &String, doubt: Doubt| Doubt {
        evidence: text.clone().into(),
        is_foreign: words.are_foreign(),
        ..doubt
    };
    let mut doubts = Vec::new();
    match cell.status {
        CellStatus::Failed => {
            let failed = doubt(
                words.t("run-doubt-failed"),
                "run-takes-all",
                words.t("run-no-reason"),
            );
            doubts.push(match &cell.reason {
                Some(reason) => documents(reason, failed),
                None => failed,
            });
        }
        CellStatus::Queued if cell.queue_inferred == Some(true) => doubts.push(doubt(
            words.t("run-doubt-queue-inferred"),
            "run-takes-nothing",
            words.t("run-queue-inferred"),
        )),
        CellStatus::Valid | CellStatus::Queued | CellStatus::OverCapacity => {}
    }
    for flag in &cell.flags {
        let said = words.flag(flag.name);
        let identifier = Some(flag.name.as_str()).filter(|name| *name != said);
        let flagged = doubt(said, takes(flag.name, cell.phase), Said::Borrowed(""));
        doubts.push(Doubt {
            identifier,
            ..documents(&flag.evidence, flagged)
        });
    }
    for remark in &cell.remarks {
        let remarked = doubt(
            words.t("run-doubt-remark"),
            "run-takes-nothing",
            Said::Borrowed(""),
        );
        doubts.push(Doubt {
            is_remark: true,
            ..documents(remark, remarked)
        });
    }
    doubts
}

/// The key of what a flag takes away of a cell of this phase.
fn takes(name: FlagName, phase: Phase) -> &'static str {
    let takes = |figure| name.takes_away(figure);
    match phase {
        Phase::Prefill if takes(Figure::Prefill) => "run-takes-all",
        Phase::Prefill => "run-takes-nothing",
        Phase::Decode => match (
            takes(Figure::DecodeTotal),
            takes(Figure::DecodeLatency),
            takes(Figure::Ttft),
        ) {
            (true, true, true) => "run-takes-all",
            (true, true, false) => "run-takes-tok-s-and-tbt",
            (true, false, true) => "run-takes-total-and-ttft",
            (true, false, false) => "run-takes-total",
            (false, true, true) => "run-takes-latencies",
            (false, true, false) => "run-takes-per-request",
            (false, false, true) => "run-takes-ttft",
            (false, false, false) => "run-takes-nothing",
        },
    }
}
