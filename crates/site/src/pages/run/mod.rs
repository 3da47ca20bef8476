//! A matrix run: its sections, each a view model of its own.

mod curve;
mod doubts;
mod evidence;
mod facts;
mod grid;
mod heat;
mod launch;
mod lead;
mod matrix;
mod measurements;
mod prefill;
mod reproduce;
mod shown;
mod title;
mod words;

use askama::filters::HtmlSafe;
use document::RunDocument;

pub use curve::{Curve, Line, Point, Tick};
pub use doubts::{Doubt, Doubts};
pub use evidence::{Column, Event, Evidence, EvidenceRow, EvidenceTable};
pub use facts::{Fact, FactGroup, Facts};
pub use launch::LaunchSection;
pub use lead::{Lead, LeadFigure};
pub use matrix::{HeatCell, HeatMap, HeatRow, Legend};
pub use measurements::{Measurement, Measurements};
pub use prefill::{PrefillChart, PrefillRow};
pub use reproduce::Reproduce;
pub use shown::Shown;
pub use title::Title;

use grid::Grid;

/// All of a run's page. A section that has nothing to say is `None`.
#[derive(Debug)]
pub struct RunPage {
    /// Names the run: its id.
    pub id: String,
    /// What, on what, how.
    pub title: Title,
    /// Leading figures.
    pub lead: Lead,
    /// Hardware, engine, run.
    pub facts: Facts,
    /// How the server was started.
    pub launch: LaunchSection,
    /// Total tok/s by context and requests at once.
    pub decode: Option<HeatMap>,
    /// Prompt tok/s by context.
    pub prefill: Option<PrefillChart>,
    /// Total against per request.
    pub curve: Option<Curve>,
    /// Per-request tok/s by context and requests at once.
    pub per_request: Option<HeatMap>,
    /// Flags, failures, remarks.
    pub doubts: Option<Doubts>,
    /// Every cell.
    pub measurements: Measurements,
    /// Percentiles and how each figure came about.
    pub evidence: Option<Evidence>,
    /// How to measure it again.
    pub reproduce: Option<Reproduce>,
    /// Free text of the document.
    pub notes: Option<String>,
}

impl RunPage {
    /// The page of `run`.
    #[must_use]
    pub fn of(run: &RunDocument) -> RunPage {
        let grid = Grid::of(run);
        RunPage {
            id: run.id.clone(),
            title: Title::of(run, &grid),
            lead: Lead::of(run, &grid),
            facts: Facts::of(run),
            launch: LaunchSection::of(run),
            decode: matrix::total(&grid),
            prefill: PrefillChart::of(&grid),
            curve: Curve::of(&grid),
            per_request: matrix::per_request(&grid),
            doubts: Doubts::of(&grid),
            measurements: Measurements::of(&grid),
            evidence: Evidence::of(run, &grid),
            reproduce: Reproduce::of(run),
            notes: words::known(run.notes.as_deref()),
        }
    }
}

// These are templates that escape what they write, so they go into another
// template as they are.
impl HtmlSafe for Title {}
impl HtmlSafe for Lead {}
impl HtmlSafe for Facts {}
impl HtmlSafe for LaunchSection {}
impl HtmlSafe for HeatMap {}
impl HtmlSafe for PrefillChart {}
impl HtmlSafe for Curve {}
impl HtmlSafe for Doubts {}
impl HtmlSafe for Measurements {}
impl HtmlSafe for Evidence {}
impl HtmlSafe for Reproduce {}
impl HtmlSafe for Shown {}
