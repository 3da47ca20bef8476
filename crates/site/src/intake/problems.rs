//! What is wrong with an upload.

use std::fmt::Write;

use serde::Serialize;
use utoipa::ToSchema;

use super::MAX_DOCUMENT_BYTES;

/// So many problems are told of one document; more are counted.
pub const MAX_TOLD_PROBLEMS: usize = 20;

/// Something that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Problem {
    /// Where: `cells[12].ttft_ms.p50` in a document, or the name of a parameter;
    /// left out where it is the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What is wrong, and what to do.
    pub detail: String,
}

/// Why a document is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// More than is read, before or after unpacking.
    #[error(
        "the document has more than {MAX_DOCUMENT_BYTES} bytes, which is the most that is read"
    )]
    TooLarge,
    /// Compressed in a way that is not read.
    #[error("the content encoding `{0}` is not read here: send gzip, zstd or none")]
    Encoding(String),
    /// Something wrong with the document.
    #[error("{}", in_words(problems, *untold))]
    Document {
        /// The first of what is wrong.
        problems: Vec<Problem>,
        /// Further problems, which are not told.
        untold: usize,
    },
}

impl Refusal {
    /// One thing that is wrong.
    #[must_use]
    pub fn document(field: Option<String>, detail: impl Into<String>) -> Refusal {
        Refusal::Document {
            problems: vec![Problem {
                field,
                detail: detail.into(),
            }],
            untold: 0,
        }
    }

    /// What is wrong, one by one.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        match self {
            Refusal::TooLarge | Refusal::Encoding(_) => vec![Problem {
                field: None,
                detail: self.to_string(),
            }],
            Refusal::Document { problems, .. } => problems.clone(),
        }
    }
}

fn in_words(problems: &[Problem], untold: usize) -> String {
    let mut said = String::new();
    for problem in problems {
        let separator = if said.is_empty() { "" } else { "; " };
        // Writing to a string cannot fail.
        let _ = match &problem.field {
            Some(field) => write!(said, "{separator}{field}: {}", problem.detail),
            None => write!(said, "{separator}{}", problem.detail),
        };
    }
    if untold > 0 {
        let _ = write!(said, "; and {untold} more");
    }
    said
}

/// Problems as they are found.
#[derive(Debug, Default)]
pub(super) struct Problems {
    told: Vec<Problem>,
    untold: usize,
}

impl Problems {
    pub(super) fn add(&mut self, field: Option<String>, detail: impl Into<String>) {
        if self.told.len() < MAX_TOLD_PROBLEMS {
            self.told.push(Problem {
                field,
                detail: detail.into(),
            });
        } else {
            self.untold += 1;
        }
    }

    pub(super) fn extend(&mut self, others: Problems) {
        self.untold += others.untold;
        for problem in others.told {
            self.add(problem.field, problem.detail);
        }
    }

    pub(super) fn refuse(&mut self) -> Result<(), Refusal> {
        if self.told.is_empty() {
            return Ok(());
        }
        Err(Refusal::Document {
            problems: std::mem::take(&mut self.told),
            untold: self.untold,
        })
    }
}
