use askama::Template;
use document::{LaunchProvenance, RunDocument};

use super::words::known;

/// How the server was started, and how that is known.
#[derive(Debug, Template)]
#[template(path = "run/launch.html")]
pub struct LaunchSection {
    /// How the command is known, a sentence.
    pub provenance: &'static str,
    /// A word on it.
    pub note: Option<String>,
    /// The command, as it stands in the document.
    pub command: Option<String>,
}

impl LaunchSection {
    pub(crate) fn of(run: &RunDocument) -> LaunchSection {
        let command = known(run.launch.command.as_deref());
        LaunchSection {
            provenance: match (run.launch.provenance, command.is_some()) {
                (_, false) => {
                    "Unknown: how the server was started was neither captured nor provided."
                }
                (LaunchProvenance::Captured, true) => {
                    "Captured: read from the server's running process."
                }
                (LaunchProvenance::Provided, true) => {
                    "Provided: given with the run, not read from the server's running process."
                }
                (LaunchProvenance::Reconstructed, true) => {
                    "Reconstructed: put together afterwards, not read from the server's running process."
                }
                (LaunchProvenance::Unknown, true) => {
                    "Unknown: where this command comes from was not recorded."
                }
            },
            note: known(run.launch.note.as_deref()),
            command,
        }
    }
}
