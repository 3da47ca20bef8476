use crate::import::{MAX_FILE_BYTES, known_formats};

/// Why bytes cannot be made a run document: what was seen, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// Nothing there.
    #[error("the file is empty; known are {}", known_formats())]
    Empty,
    /// More than is read.
    #[error("the file has {bytes} bytes; at most {MAX_FILE_BYTES} are read")]
    TooLarge {
        /// Its length.
        bytes: usize,
    },
    /// Something that is no JSON, recognised by how it begins.
    #[error("{what}, not JSON; known are {}", known_formats())]
    NotText {
        /// What it looks like.
        what: &'static str,
    },
    /// JSON that stops before its end.
    #[error("the file breaks off at line {line}, column {column}: give the whole of it")]
    Truncated {
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
    },
    /// No JSON.
    #[error("not JSON ({0}); NaN and Infinity, which some tools write, are not JSON either")]
    NotJson(serde_json::Error),
    /// A run document of ours, which needs no import.
    #[error("this is a run document already ({schema}): publish it as it is")]
    AlreadyARun {
        /// Its `schema`.
        schema: String,
    },
    /// JSON of something else.
    #[error(
        "{seen}, which is no result file that is known; known are {}",
        known_formats()
    )]
    Unknown {
        /// What is there instead.
        seen: String,
    },
    /// A field of a known format that is not what it must be.
    #[error("{path}: {problem}")]
    Field {
        /// Where, as `results[3].ttft_p50`.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
}
