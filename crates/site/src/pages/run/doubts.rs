use askama::Template;
use document::{Cell, CellStatus, Figure, FlagName, Phase};

use super::grid::Grid;
use super::words::place;

/// What stands in place of a flag's name beside a remark.
const REMARK: &str = "remark";

/// Flags with their evidence, failed cells with their reason, and remarks.
#[derive(Debug, Template)]
#[template(path = "run/doubts.html")]
pub struct Doubts {
    /// Heading: what there is of the three.
    pub title: &'static str,
    /// In the order of the measurements.
    pub doubts: Vec<Doubt>,
}

/// Something to know about a cell.
#[derive(Debug)]
pub struct Doubt {
    /// `Sustained decode, 8K × 64`.
    pub cell: String,
    /// Name of the flag, `failed` or `remark`.
    pub name: &'static str,
    /// Casts no doubt.
    pub is_remark: bool,
    /// What it takes away.
    pub takes: &'static str,
    /// What was seen.
    pub evidence: String,
}

impl Doubts {
    pub(crate) fn of(grid: &Grid) -> Option<Doubts> {
        let doubts: Vec<Doubt> = grid.cells().flat_map(of_cell).collect();
        let title = if doubts.iter().all(|doubt| doubt.is_remark) {
            "Remarks"
        } else {
            "Flags, failures and remarks"
        };
        (!doubts.is_empty()).then_some(Doubts { title, doubts })
    }
}

fn of_cell(cell: &Cell) -> Vec<Doubt> {
    let doubt = |name, takes, evidence| Doubt {
        cell: place(cell.key()),
        name,
        is_remark: name == REMARK,
        takes,
        evidence,
    };
    let mut doubts = Vec::new();
    match cell.status {
        CellStatus::Failed => {
            let reason = cell.reason.clone();
            let reason = reason.unwrap_or_else(|| "the reason was not recorded".to_owned());
            doubts.push(doubt("failed", "all figures", reason));
        }
        CellStatus::Queued if cell.queue_inferred == Some(true) => doubts.push(doubt(
            "queue inferred",
            "nothing",
            "the server does not report its queue; it was inferred from how many streams overlapped".to_owned(),
        )),
        CellStatus::Valid | CellStatus::Queued | CellStatus::OverCapacity => {}
    }
    for flag in &cell.flags {
        doubts.push(doubt(
            flag.name.as_str(),
            takes(flag.name, cell.phase),
            flag.evidence.clone(),
        ));
    }
    for remark in &cell.remarks {
        doubts.push(doubt(REMARK, "nothing", remark.clone()));
    }
    doubts
}

/// What a flag takes away of a cell of this phase.
fn takes(name: FlagName, phase: Phase) -> &'static str {
    let takes = |figure| name.takes_away(figure);
    match phase {
        Phase::Prefill if takes(Figure::Prefill) => "all figures",
        Phase::Prefill => "nothing",
        Phase::Decode => match (
            takes(Figure::DecodeTotal),
            takes(Figure::DecodeLatency),
            takes(Figure::Ttft),
        ) {
            (true, true, true) => "all figures",
            (true, true, false) => "tok/s and time between tokens",
            (true, false, true) => "total tok/s and TTFT",
            (true, false, false) => "total tok/s",
            (false, true, true) => "per request tok/s and latencies",
            (false, true, false) => "per request tok/s",
            (false, false, true) => "TTFT",
            (false, false, false) => "nothing",
        },
    }
}
