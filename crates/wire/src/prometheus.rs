//! The [text exposition format](https://prometheus.io/docs/instrumenting/exposition_formats/)
//! of Prometheus, read.
//!
//! A malformed line is kept as an error beside the samples of the others: an
//! engine's counter is worth having although its neighbour is broken. A proxy's
//! HTML page is refused as a whole.

mod line;

use std::borrow::Cow;

pub use line::LineError;

/// One sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample<'a> {
    /// The metric's name, suffixes such as `_total` included.
    pub name: &'a str,
    /// Its labels in the order written, escapes resolved.
    pub labels: Vec<(&'a str, Cow<'a, str>)>,
    /// Its value, which may be NaN or infinite.
    pub value: f64,
    /// The timestamp as written: ms since 1970 in Prometheus' own format,
    /// seconds in OpenMetrics.
    pub timestamp: Option<f64>,
}

impl Sample<'_> {
    /// The value of a label.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        let found = self.labels.iter().find(|(label, _)| *label == name);
        found.map(|(_, value)| value.as_ref())
    }
}

/// A line that is neither sample, comment nor blank.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line_number}: {error}")]
pub struct MalformedLine {
    /// Counted from 1.
    pub line_number: usize,
    /// What is wrong with it.
    pub error: LineError,
}

/// Why a text is no exposition at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotPrometheus {
    /// A web page, as proxies answer on routes that they do not know.
    #[error("an HTML page came instead of metrics")]
    Html,
    /// Something else, in which no line is a sample.
    #[error("no line is a metric; the first that should be is {0}")]
    NoSamples(MalformedLine),
}

/// A whole exposition.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Exposition<'a> {
    /// Its samples, in the order written.
    pub samples: Vec<Sample<'a>>,
    /// The lines that could not be read.
    pub malformed: Vec<MalformedLine>,
}

impl<'a> Exposition<'a> {
    /// Reads an exposition. An empty text is one without samples.
    ///
    /// # Errors
    ///
    /// [`NotPrometheus`] for a web page, and where no line is a sample although
    /// some should be.
    pub fn read(text: &'a str) -> Result<Self, NotPrometheus> {
        if looks_like_html(text) {
            return Err(NotPrometheus::Html);
        }
        let mut read = Self::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim_matches([' ', '\t', '\r']);
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match line::sample(line) {
                Ok(sample) => read.samples.push(sample),
                Err(error) => read.malformed.push(MalformedLine {
                    line_number: index + 1,
                    error,
                }),
            }
        }
        match read.malformed.first() {
            Some(first) if read.samples.is_empty() => Err(NotPrometheus::NoSamples(first.clone())),
            Some(_) | None => Ok(read),
        }
    }

    /// The samples of a name.
    pub fn named<'s, 'n>(
        &'s self,
        name: &'n str,
    ) -> impl Iterator<Item = &'s Sample<'a>> + use<'s, 'n, 'a> {
        self.samples
            .iter()
            .filter(move |sample| sample.name == name)
    }

    /// The sum of a metric over all its label sets, such as the engines of a
    /// data-parallel server. `None` if there is no such metric, or none with a
    /// number: NaN says that the value is not known.
    #[must_use]
    pub fn sum(&self, name: &str) -> Option<f64> {
        self.named(name)
            .map(|sample| sample.value)
            .filter(|value| !value.is_nan())
            .reduce(|total, value| total + value)
    }
}

/// Whether a text is a web page rather than what was asked for.
#[must_use]
pub fn looks_like_html(text: &str) -> bool {
    // The first characters decide; a page's length does not matter.
    let start: String = text
        .trim_start_matches('\u{feff}')
        .trim_start()
        .chars()
        .take(15)
        .collect();
    let start = start.to_ascii_lowercase();
    [
        "<!doctype html",
        "<html",
        "<head",
        "<body",
        "<!--",
        "<?xml",
        "<title",
        "<center",
        "<h1",
    ]
    .iter()
    .any(|tag| start.starts_with(tag))
}
