//! A matrix run: its sections, each a view model of its own.

mod citation;
mod curve;
mod doubts;
mod evidence;
mod facts;
mod grid;
mod heat;
mod launch;
mod lead;
mod links;
mod matrix;
mod measurements;
mod prefill;
mod reproduce;
mod shown;
mod sort;
mod title;
mod words;

use askama::filters::HtmlSafe;
use document::RunDocument;

pub use citation::Citation;
pub(crate) use curve::round_step;
pub use curve::{Curve, Line, Point, Tick};
pub use doubts::{Doubt, Doubts};
pub use evidence::{Column, Event, Evidence, EvidenceRow, EvidenceTable};
pub use facts::{Fact, FactGroup, Facts};
pub use launch::LaunchSection;
pub use lead::{Lead, LeadFigure};
pub use links::RunLinks;
pub use matrix::{HeatCell, HeatMap, HeatRow, Legend};
pub use measurements::{Files, Head, Measurement, Measurements, measurements_csv};
pub use prefill::{PrefillChart, PrefillRow};
pub use reproduce::Reproduce;
pub use shown::Shown;
pub use sort::{Direction, MeasurementColumn, Sort};
pub use title::Title;

use crate::words::Words;
use grid::Grid;

/// All of a run's page. A section that has nothing to say is `None`.
#[derive(Debug)]
pub struct RunPage {
    /// The page's words.
    pub words: Words,
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
    /// The page's lasting address and how to name the run; a file has no address.
    pub citation: Option<Citation>,
    /// Free text of the document.
    pub notes: Option<String>,
}

impl RunPage {
    /// The page of `run` as a file of its own.
    #[must_use]
    pub fn of(run: &RunDocument, words: Words) -> RunPage {
        let grid = Grid::of(run);
        let measurements = Measurements::with_csv_inside(&grid, words);
        RunPage::with(run, words, &grid, measurements)
    }

    /// The page of `run` on the registry, its measurements in the order of `sort`.
    #[must_use]
    pub fn for_registry(
        run: &RunDocument,
        words: Words,
        links: &RunLinks,
        sort: Option<Sort>,
    ) -> RunPage {
        let grid = Grid::of(run);
        let measurements = Measurements::with_links(&grid, words, links, sort);
        let page = RunPage::with(run, words, &grid, measurements);
        let citation = Citation::of(run, &page.title, links, words);
        RunPage {
            citation: Some(citation),
            ..page
        }
    }

    fn with(run: &RunDocument, words: Words, grid: &Grid, measurements: Measurements) -> RunPage {
        RunPage {
            words,
            id: run.id.clone(),
            title: Title::of(run, grid, words),
            lead: Lead::of(run, grid, words),
            facts: Facts::of(run, words),
            launch: LaunchSection::of(run, words),
            decode: matrix::total(grid, words),
            prefill: PrefillChart::of(grid, words),
            curve: Curve::of(grid, words),
            per_request: matrix::per_request(grid, words),
            doubts: Doubts::of(grid, words),
            measurements,
            evidence: Evidence::of(run, grid, words),
            reproduce: Reproduce::of(run, words),
            citation: None,
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
impl HtmlSafe for Citation {}
impl HtmlSafe for Shown {}
