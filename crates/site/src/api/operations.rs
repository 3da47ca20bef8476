//! What there is to ask: each operation with its words, parameters and answers.

use serde_json::{Value, json};
use store::{Kind, Metric};

use super::asked::{DEFAULT_LIMIT, MAX_LIMIT};
use super::runs::MAX_IDEMPOTENCY_KEY_CHARS;
use crate::query::{MAX_CONCURRENCY, MAX_GPU_COUNT, MAX_VALUE_CHARS};

/// A parameter of an operation.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    /// `query`, `path` or `header`.
    pub(super) place: &'static str,
    /// What it is, in the words.
    pub(super) words: &'static str,
    pub(super) schema: fn() -> Value,
    pub(super) example: Option<&'static str>,
}

const fn query(name: &'static str, words: &'static str, schema: fn() -> Value) -> Parameter {
    Parameter {
        name,
        place: "query",
        words,
        schema,
        example: None,
    }
}

impl Parameter {
    const fn such_as(self, example: &'static str) -> Parameter {
        Parameter {
            example: Some(example),
            ..self
        }
    }
}

/// A text without control characters.
fn text() -> Value {
    json!({ "type": "string", "maxLength": MAX_VALUE_CHARS, "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$" })
}

fn whole(least: u32, most: u32) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

fn one_of(names: &[&str]) -> Value {
    json!({ "type": "string", "enum": names })
}

const MODEL: Parameter = query("model", "api-parameter-model", text).such_as("glm-5-3-flash");
const GPU: Parameter = query("gpu", "api-parameter-gpu", text).such_as("nvidia-h200");
const GPUS: Parameter =
    query("gpus", "api-parameter-gpus", || whole(0, MAX_GPU_COUNT)).such_as("4");
const ENGINE: Parameter = query("engine", "api-parameter-engine", text).such_as("vllm");
const QUANTIZATION: Parameter =
    query("quantization", "api-parameter-quantization", text).such_as("FP8");
const KIND: Parameter = query("kind", "api-parameter-kind", || {
    one_of(&Kind::ALL.map(Kind::as_str))
});
const SEARCH: Parameter = query("q", "api-parameter-q", text).such_as("flash rtx");
const ORGANIZATION: Parameter = query("organization", "api-parameter-organization", text);
const ACCOUNT: Parameter = query("account", "api-parameter-account", text);
const PHASE: Parameter = query("phase", "api-parameter-phase", || {
    one_of(&["decode", "prefill"])
})
.such_as("decode");
const CONTEXT: Parameter = query(
    "context",
    "api-parameter-context",
    || json!({ "type": "string", "pattern": "^([1-9][0-9]{0,9}|[1-9][0-9]{0,6}[kK]|[1-9][0-9]{0,3}[mM])?$" }),
)
.such_as("8K");
const CONCURRENCY: Parameter = query("concurrency", "api-parameter-concurrency", || {
    whole(1, MAX_CONCURRENCY)
})
.such_as("32");
const METRIC: Parameter = query("metric", "api-parameter-metric", || {
    one_of(&Metric::ALL.map(Metric::as_str))
});
const RUN: Parameter = query("run", "api-parameter-run", text);
const LIMIT: Parameter = query(
    "limit",
    "api-parameter-limit",
    || json!({ "type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT }),
);
const AFTER: Parameter = query("after", "api-parameter-after", text);
const FORMAT: Parameter = query("format", "api-parameter-format", || {
    one_of(&["json", "csv"])
});
const PUBLISH_FOR: Parameter = query("organization", "api-parameter-publish-for", text);

const ID: Parameter = Parameter {
    name: "id",
    place: "path",
    words: "api-parameter-id",
    schema: || json!({ "type": "string", "format": "uuid" }),
    example: None,
};
const SLUG: Parameter = Parameter {
    name: "slug",
    place: "path",
    words: "api-parameter-slug",
    schema: || json!({ "type": "string", "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": MAX_VALUE_CHARS }),
    example: None,
};
const IDEMPOTENCY: Parameter = Parameter {
    name: "Idempotency-Key",
    place: "header",
    words: "api-parameter-idempotency-key",
    schema: || json!({ "type": "string", "minLength": 1, "maxLength": MAX_IDEMPOTENCY_KEY_CHARS, "pattern": "^[!-~]+$" }),
    example: None,
};
const ENCODING: Parameter = Parameter {
    name: "Content-Encoding",
    place: "header",
    words: "api-parameter-content-encoding",
    schema: || one_of(&["identity", "gzip", "zstd"]),
    example: None,
};

/// Something to ask.
pub(super) struct Operation {
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    pub(super) tag: &'static str,
    pub(super) parameters: &'static [Parameter],
    /// Problems, besides 400 and 429 that every operation can have.
    pub(super) problems: &'static [u16],
    pub(super) shape: Shape,
}

/// How an operation is asked and answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Pages, as JSON and as CSV.
    List,
    /// One thing.
    One,
    /// One run's document.
    Document,
    /// Takes a document, of an account.
    Publish,
    /// Takes a document, of anybody.
    Validate,
    /// Nothing but a status, of an account.
    Delete,
}

/// All there is, in the order in which it is shown.
pub(super) const OPERATIONS: [Operation; 13] = [
    Operation {
        id: "listRuns",
        summary: "api-list-runs",
        description: "api-list-runs-more",
        tag: "runs",
        parameters: &[
            MODEL,
            GPU,
            GPUS,
            ENGINE,
            QUANTIZATION,
            KIND,
            SEARCH,
            ORGANIZATION,
            ACCOUNT,
            LIMIT,
            AFTER,
            FORMAT,
        ],
        problems: &[],
        shape: Shape::List,
    },
    Operation {
        id: "getRun",
        summary: "api-get-run",
        description: "api-get-run-more",
        tag: "runs",
        parameters: &[ID],
        problems: &[401, 404],
        shape: Shape::Document,
    },
    Operation {
        id: "publishRun",
        summary: "api-publish-run",
        description: "api-publish-run-more",
        tag: "runs",
        parameters: &[PUBLISH_FOR, IDEMPOTENCY, ENCODING],
        problems: &[401, 403, 409, 413, 415, 422, 507],
        shape: Shape::Publish,
    },
    Operation {
        id: "validateRun",
        summary: "api-validate-run",
        description: "api-validate-run-more",
        tag: "runs",
        parameters: &[ENCODING],
        problems: &[401, 403, 413, 415, 422],
        shape: Shape::Validate,
    },
    Operation {
        id: "deleteRun",
        summary: "api-delete-run",
        description: "api-delete-run-more",
        tag: "runs",
        parameters: &[ID],
        problems: &[401, 403, 404, 507],
        shape: Shape::Delete,
    },
    Operation {
        id: "listCells",
        summary: "api-list-cells",
        description: "api-list-cells-more",
        tag: "figures",
        parameters: &[
            RUN,
            PHASE,
            CONTEXT,
            CONCURRENCY,
            MODEL,
            GPU,
            GPUS,
            ENGINE,
            QUANTIZATION,
            KIND,
            SEARCH,
            ORGANIZATION,
            ACCOUNT,
            LIMIT,
            AFTER,
            FORMAT,
        ],
        problems: &[],
        shape: Shape::List,
    },
    Operation {
        id: "getLeaderboard",
        summary: "api-leaderboard",
        description: "api-leaderboard-more",
        tag: "figures",
        parameters: &[
            PHASE,
            CONTEXT,
            CONCURRENCY,
            METRIC,
            MODEL,
            GPU,
            GPUS,
            ENGINE,
            QUANTIZATION,
            KIND,
            SEARCH,
            LIMIT,
            AFTER,
            FORMAT,
        ],
        problems: &[],
        shape: Shape::List,
    },
    Operation {
        id: "listModels",
        summary: "api-list-models",
        description: "api-list-models-more",
        tag: "catalogue",
        parameters: &[SEARCH, LIMIT, AFTER, FORMAT],
        problems: &[],
        shape: Shape::List,
    },
    Operation {
        id: "getModel",
        summary: "api-get-model",
        description: "api-get-model-more",
        tag: "catalogue",
        parameters: &[SLUG],
        problems: &[404],
        shape: Shape::One,
    },
    Operation {
        id: "listHardware",
        summary: "api-list-hardware",
        description: "api-list-hardware-more",
        tag: "catalogue",
        parameters: &[SEARCH, LIMIT, AFTER, FORMAT],
        problems: &[],
        shape: Shape::List,
    },
    Operation {
        id: "getHardware",
        summary: "api-get-hardware",
        description: "api-get-hardware-more",
        tag: "catalogue",
        parameters: &[SLUG],
        problems: &[404],
        shape: Shape::One,
    },
    Operation {
        id: "listOrganizations",
        summary: "api-list-organizations",
        description: "api-list-organizations-more",
        tag: "catalogue",
        parameters: &[SEARCH, LIMIT, AFTER, FORMAT],
        problems: &[],
        shape: Shape::List,
    },
    Operation {
        id: "getOrganization",
        summary: "api-get-organization",
        description: "api-get-organization-more",
        tag: "catalogue",
        parameters: &[SLUG],
        problems: &[404],
        shape: Shape::One,
    },
];

/// The words of a status that an operation can answer with.
pub(super) fn answer_words(status: u16) -> &'static str {
    match status {
        200 => "api-answer-200",
        201 => "api-answer-201",
        204 => "api-answer-204",
        304 => "api-answer-304",
        400 => "api-answer-400",
        401 => "api-answer-401",
        403 => "api-answer-403",
        404 => "api-answer-404",
        409 => "api-answer-409",
        413 => "api-answer-413",
        415 => "api-answer-415",
        422 => "api-answer-422",
        429 => "api-answer-429",
        507 => "api-answer-507",
        _ => "api-answer-500",
    }
}
