//! Going on with a run that was cut short.

use document::{Micros, RunDocument};
use serde_json::Value;

use crate::options::{RunError, RunOptions};
use crate::recorder;

/// Why a document cannot be gone on with.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// There is none.
    #[error("there is nothing to resume at {path}: {why}. To begin a new run, leave out --resume")]
    Nothing {
        /// Where.
        path: String,
        /// Why not.
        why: String,
    },
    /// It was measured by another tool.
    #[error("{path} was imported, not measured: its run cannot be gone on with")]
    Imported {
        /// Where.
        path: String,
    },
    /// It asks for something else.
    #[error("this run differs from the document that it should go on with, in {}. Ask for the same, or choose another file with --out", .differences.join("; "))]
    Differs {
        /// `name: there -> here`.
        differences: Vec<String>,
    },
}

/// The document to go on with, if that is asked for; otherwise makes sure that
/// none is overwritten.
pub(crate) fn open(options: &RunOptions) -> Result<Option<RunDocument>, RunError> {
    let path = options.out.display().to_string();
    if !options.resume {
        let folder = options
            .out
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder
            && !folder.is_dir()
        {
            return Err(RunError::NoFolder(folder.to_owned()));
        }
        return refuse_to_replace(options).map(|()| None);
    }
    let nothing = |why: String| ResumeError::Nothing {
        path: path.clone(),
        why,
    };
    let bytes = std::fs::read(&options.out).map_err(|error| nothing(error.to_string()))?;
    let document = RunDocument::from_json(&bytes).map_err(|error| nothing(error.to_string()))?;
    match document.source {
        document::Source::Imported => Err(ResumeError::Imported { path }.into()),
        document::Source::Measured => Ok(Some(document)),
    }
}

/// Nothing that is there is replaced unasked, and nothing but a file ever.
fn refuse_to_replace(options: &RunOptions) -> Result<(), RunError> {
    let samples = recorder::samples_path(&options.out);
    for path in [&options.out, &samples] {
        match std::fs::symlink_metadata(path) {
            Ok(about) if !about.is_file() => return Err(RunError::NoFile(path.clone())),
            Ok(_) if !options.overwrite => return Err(RunError::Exists(path.clone())),
            Ok(_) | Err(_) => {}
        }
    }
    Ok(())
}

/// Where the clock of the earlier part ended.
pub(crate) fn end_of(document: &RunDocument) -> Micros {
    let last_s = document
        .events
        .iter()
        .map(|event| event.at_s)
        .fold(0.0, f64::max);
    Micros(0).plus_seconds(last_s)
}

/// Whether the run asked for now is the one that was begun.
pub(crate) fn check(earlier: &RunDocument, now: &RunDocument) -> Result<(), ResumeError> {
    let mut differences = Vec::new();
    compare(
        "settings",
        &earlier.settings,
        &now.settings,
        &mut differences,
    );
    compare("model", &earlier.model, &now.model, &mut differences);
    compare("engine", &earlier.engine, &now.engine, &mut differences);
    if differences.is_empty() {
        Ok(())
    } else {
        Err(ResumeError::Differs { differences })
    }
}

fn compare(
    what: &str,
    there: &impl serde::Serialize,
    here: &impl serde::Serialize,
    into: &mut Vec<String>,
) {
    let object = |value: Result<Value, _>| match value {
        Ok(Value::Object(fields)) => fields,
        Ok(_) | Err(_) => serde_json::Map::new(),
    };
    let (there, here) = (
        object(serde_json::to_value(there)),
        object(serde_json::to_value(here)),
    );
    for (name, value) in &there {
        let now = here.get(name).unwrap_or(&Value::Null);
        // Which fields a strict server takes is only learnt once the run goes on.
        if name != "ignore_eos" && value != now {
            into.push(format!("{what}.{name}: {value} there, {now} here"));
        }
    }
}
