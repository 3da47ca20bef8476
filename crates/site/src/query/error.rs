use super::MAX_VALUE_CHARS;
use crate::words::{Language, Words};

/// Why an address cannot be understood. It says so in English; pages say it in their
/// language by [`QueryError::said`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryError {
    /// A parameter that this list does not have.
    Unknown {
        /// As it was written.
        parameter: String,
        /// Those that it has.
        known: Vec<&'static str>,
    },
    /// A parameter that is given twice.
    Twice {
        /// Which.
        parameter: String,
    },
    /// A value longer than [`MAX_VALUE_CHARS`].
    TooLong {
        /// Of which parameter.
        parameter: String,
    },
    /// A value that the parameter cannot have.
    Invalid {
        /// Which.
        parameter: &'static str,
        /// As it was written.
        value: String,
        /// What it can be: names, or an example.
        expected: String,
    },
    /// `metric=per_request` with `phase=prefill`: a prompt is read by one request.
    PerRequestOfPrefill,
    /// `metric=per_gpu` with `gpus=0`.
    PerGpuOfNone,
}

impl QueryError {
    /// The parameter that is wrong.
    #[must_use]
    pub fn parameter(&self) -> &str {
        match self {
            QueryError::Unknown { parameter, .. }
            | QueryError::Twice { parameter }
            | QueryError::TooLong { parameter } => parameter,
            QueryError::Invalid { parameter, .. } => parameter,
            QueryError::PerRequestOfPrefill | QueryError::PerGpuOfNone => "metric",
        }
    }

    /// What is wrong, and what to write instead.
    #[must_use]
    pub fn said(&self, words: Words) -> String {
        let parameter = ("parameter", self.parameter().into());
        match self {
            QueryError::Unknown { known, .. } => words.with(
                "query-unknown",
                &[parameter, ("known", known.join(", ").into())],
            ),
            QueryError::Twice { .. } => words.with("query-twice", &[parameter]),
            QueryError::TooLong { .. } => words.with(
                "query-too-long",
                &[parameter, ("limit", MAX_VALUE_CHARS.to_string().into())],
            ),
            QueryError::Invalid {
                value, expected, ..
            } => words.with(
                "query-invalid",
                &[
                    parameter,
                    ("value", value.as_str().into()),
                    ("expected", expected.as_str().into()),
                ],
            ),
            QueryError::PerRequestOfPrefill => words.t("query-per-request-of-prefill").into(),
            QueryError::PerGpuOfNone => words.t("query-per-gpu-of-none").into(),
        }
    }
}

impl std::fmt::Display for QueryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.said(Words::of(Language::English)))
    }
}

impl std::error::Error for QueryError {}
