use askama::Template;
use document::{LaunchProvenance, RunDocument};

use super::words::known;
use crate::words::{Said, Words};

/// How the server was started, and how that is known.
#[derive(Debug, Template)]
#[template(path = "run/launch.html")]
pub struct LaunchSection {
    /// The page's words.
    pub words: Words,
    /// How the command is known, a sentence.
    pub provenance: Said,
    /// A word on it.
    pub note: Option<String>,
    /// The command as it stands in the document, in the parts between which a line
    /// may break: words, options with their values. A space stands between parts.
    /// Empty when unknown.
    pub command: Vec<String>,
}

impl LaunchSection {
    pub(crate) fn of(run: &RunDocument, words: Words) -> LaunchSection {
        let command = known(run.launch.command.as_deref());
        LaunchSection {
            words,
            provenance: words.t(match (run.launch.provenance, command.is_some()) {
                (_, false) => "run-launch-none",
                (LaunchProvenance::Captured, true) => "run-launch-captured",
                (LaunchProvenance::Provided, true) => "run-launch-provided",
                (LaunchProvenance::Reconstructed, true) => "run-launch-reconstructed",
                (LaunchProvenance::Unknown, true) => "run-launch-unknown",
            }),
            note: known(run.launch.note.as_deref()),
            command: command.map(parts).unwrap_or_default(),
        }
    }
}

/// Browsers break lines after hyphens, which tears `--option` apart. A command that
/// has line breaks of its own keeps them and is left whole.
fn parts(command: String) -> Vec<String> {
    if command.contains('\n') {
        return vec![command];
    }
    let mut parts: Vec<String> = Vec::new();
    for word in command.split(' ') {
        match parts.last_mut() {
            Some(last) if last.starts_with('-') && !word.starts_with('-') => {
                last.push(' ');
                last.push_str(word);
            }
            Some(_) | None => parts.push(word.to_owned()),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_joined_by_spaces_are_the_command() {
        let command = "env A=1  serve m --x 1 --y '{\"a\": -1}' -z".to_owned();
        let parts = parts(command.clone());
        assert_eq!(parts.join(" "), command);
        assert_eq!(parts[..6], ["env", "A=1", "", "serve", "m", "--x 1"]);
    }
}
