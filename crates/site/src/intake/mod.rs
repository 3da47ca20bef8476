//! What comes in: an uploaded document becomes a run, or is refused with everything
//! that is wrong with it.
//!
//! ```text
//! bytes -> unpack (Content-Encoding) -> what is it? -> survey (size, depth, texts)
//!   -> schema (types, names, ranges; every fault with its place)
//!   -> contradictions (figures that cannot be true together)
//!   -> the document that ranks: as it came, with the flags that it proves
//! ```
//!
//! Files of other tools are converted first and then judged like our own.

mod contradictions;
mod preview;
mod problems;
mod publish;
mod schema;
mod survey;
mod unpack;
mod what;

use document::{DocumentError, RunDocument};
use judge::DerivedFlag;
use serde::Serialize;
use tokio::sync::Semaphore;
use utoipa::ToSchema;

use crate::site::SiteOptions;

pub use preview::{AddedFlag, CellCounts, Preview, Standing, standing};
pub use problems::{MAX_TOLD_PROBLEMS, Problem, Refusal};
pub use publish::{Publisher, publish};
pub use schema::{
    MAX_CELLS, MAX_COMMAND_CHARS, MAX_CONCURRENCY, MAX_CONTEXT_TOKENS, MAX_COUNT, MAX_EVENTS,
    MAX_FIGURE, MAX_NAME_CHARS, MAX_NOTES_PER_CELL, MAX_SHAPES, MAX_TEXT_CHARS, upload_schema,
};
pub use survey::{MAX_DEPTH, MAX_ITEMS, MAX_KEY_BYTES, MAX_STRING_BYTES, MAX_VALUES};
pub use unpack::{Encoding, MAX_DOCUMENT_BYTES, unpack};

use problems::Problems;

/// What our own documents call themselves, before the version.
const OWN_SCHEMA: &str = "tokgrid.run/";

/// Documents read at once: reading one takes memory and a processor.
const READ_AT_ONCE: usize = 2;

static READING: Semaphore = Semaphore::const_new(READ_AT_ONCE);

/// A document that may be published.
#[derive(Debug, Clone, PartialEq)]
pub struct Received {
    /// What is stored: the bytes as they came or, of another tool's file, the run
    /// document made of it.
    pub content: Vec<u8>,
    /// The run as it is shown and ranked: with the flags that it proves.
    pub document: RunDocument,
    /// Flags that the document proves and did not carry.
    pub added_flags: Vec<DerivedFlag>,
    /// The other tool, where the file was one of its.
    pub imported: Option<Imported>,
}

/// Whose file it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Imported {
    /// The tool that wrote it.
    #[schema(required)]
    pub tool: Option<String>,
    /// Its version.
    #[schema(required)]
    pub version: Option<String>,
}

/// Reads a run document of ours or another tool's result file.
///
/// # Errors
/// Everything that is wrong with it (the first of it, where there is much), each
/// with its place.
pub fn read(bytes: &[u8], options: &SiteOptions) -> Result<Received, Refusal> {
    if bytes.len() > MAX_DOCUMENT_BYTES {
        return Err(Refusal::TooLarge);
    }
    let text = what::json_text(bytes)?;
    let mut survey = survey::survey(text.body)?;
    let is_own = survey
        .schema
        .as_deref()
        .is_some_and(|schema| schema.starts_with(OWN_SCHEMA));
    if is_own {
        if text.has_byte_order_mark {
            survey.problems.add(
                None,
                "the file begins with a byte order mark: save it as plain UTF-8",
            );
        }
        survey.problems.extend(survey.texts);
        survey.problems.refuse()?;
        return own(bytes.to_vec(), None);
    }
    survey.problems.refuse()?;
    let run = (options.importer)(bytes).map_err(|why| Refusal::document(None, why))?;
    let imported = Imported {
        tool: run
            .imported_from
            .as_ref()
            .and_then(|from| from.tool.clone()),
        version: run
            .imported_from
            .as_ref()
            .and_then(|from| from.version.clone()),
    };
    own(written(&run)?, Some(imported))
}

/// As [`read`], off the threads that serve, a bounded number at once.
///
/// # Errors
/// As [`read`].
pub async fn read_aside(
    bytes: Vec<u8>,
    encoding: Encoding,
    options: std::sync::Arc<SiteOptions>,
) -> Result<Received, Refusal> {
    // The semaphore is never closed; without a permit one document more is read.
    let _permit = READING.acquire().await;
    tokio::task::spawn_blocking(move || read(&unpack(encoding, bytes)?, &options))
        .await
        .unwrap_or_else(|_| Err(Refusal::document(None, "the document could not be read")))
}

/// A converted run as `tokgrid import` writes it, so that either way is one run.
fn written(run: &RunDocument) -> Result<Vec<u8>, Refusal> {
    let mut content = serde_json::to_vec_pretty(run)
        .map_err(|error| Refusal::document(None, format!("cannot be written: {error}")))?;
    content.push(b'\n');
    Ok(content)
}

fn own(content: Vec<u8>, imported: Option<Imported>) -> Result<Received, Refusal> {
    if content.len() > MAX_DOCUMENT_BYTES {
        return Err(Refusal::TooLarge);
    }
    let value: serde_json::Value = serde_json::from_slice(&content)
        .map_err(|error| Refusal::document(None, DocumentError::NotJson(error).to_string()))?;
    schema::check(&value)?;
    drop(value);
    let mut document = RunDocument::from_json(&content)
        .map_err(|error| Refusal::document(None, error.to_string()))?;
    contradictions::check(&document)?;
    let added_flags = judge::derived_flags(&document);
    judge::add_derived_flags(&mut document);
    Ok(Received {
        content,
        document,
        added_flags,
        imported,
    })
}

/// The place of a cell's field: `cells[12].ttft_ms.p50`.
fn cell_field(index: usize, field: &str) -> String {
    format!("cells[{index}].{field}")
}
