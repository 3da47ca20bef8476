//! One run as one HTML file that needs nothing else.

use askama::Template;
use document::RunDocument;

use crate::pages::run::RunPage;
use crate::words::Words;

/// The style of all pages, put into the file.
const STYLE: &str = include_str!("../templates/style.css");

/// Sorts the measurements where a browser runs scripts; nothing else needs one.
const SCRIPT: &str = include_str!("../templates/sort.js");

/// The only script the page's policy lets run: SHA-256 of [`SCRIPT`] as it stands
/// between its tags. A test computes it.
const SCRIPT_HASH: &str = "sha256-wDKAn31tv5gBu9J/4zxsIXgoZVfo2SNWylB+onC475U=";

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A template failed.
    #[error("the report's template failed: {0}")]
    Template(#[from] askama::Error),
}

#[derive(Template)]
#[template(path = "report.html")]
struct Report {
    page: RunPage,
    style: &'static str,
    script: &'static str,
    script_hash: &'static str,
    writer_version: &'static str,
    written_by: String,
}

/// Writes `run` as one self-contained HTML file, in the language of `words`.
///
/// # Errors
/// [`ReportError::Template`] when a template fails, which no document should cause.
pub fn render(run: &RunDocument, words: Words) -> Result<String, ReportError> {
    let writer_version = env!("CARGO_PKG_VERSION");
    let report = Report {
        page: RunPage::of(run, words),
        style: STYLE,
        script: SCRIPT,
        script_hash: SCRIPT_HASH,
        writer_version,
        written_by: words.with("run-footer", &[("version", writer_version.into())]),
    };
    Ok(report.render()?)
}
