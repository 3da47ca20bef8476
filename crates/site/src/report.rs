//! One run as one HTML file that needs nothing else.

use askama::Template;
use document::RunDocument;

use crate::pages::run::RunPage;

/// The style of all pages, put into the file.
const STYLE: &str = include_str!("../templates/style.css");

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
    writer_version: &'static str,
}

/// Writes `run` as one self-contained HTML file.
///
/// # Errors
/// [`ReportError::Template`] when a template fails, which no document should cause.
pub fn render(run: &RunDocument) -> Result<String, ReportError> {
    let report = Report {
        page: RunPage::of(run),
        style: STYLE,
        writer_version: env!("CARGO_PKG_VERSION"),
    };
    Ok(report.render()?)
}
