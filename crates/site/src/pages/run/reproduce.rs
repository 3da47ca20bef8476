use askama::Template;
use document::{RunDocument, format};

use super::words::known;
use crate::words::Words;

/// Where a server is, in the command: the reader's own.
const URL: &str = "http://localhost:8000";
/// Characters a shell leaves alone in a bare word.
const PLAIN: &str = "/._-:@%+=,";

/// "How to reproduce": the command that measures the same matrix.
#[derive(Debug, Template)]
#[template(path = "run/reproduce.html")]
pub struct Reproduce {
    /// The page's words.
    pub words: Words,
    /// The command.
    pub command: String,
}

impl Reproduce {
    pub(crate) fn of(run: &RunDocument, words: Words) -> Option<Reproduce> {
        let settings = &run.settings;
        if settings.contexts.is_empty() && settings.prefill_contexts.is_empty() {
            return None;
        }
        let mut command = vec![format!("tokgrid run --url {URL}")];
        let mut option = |name: &str, value: Option<String>| {
            command.extend(value.map(|value| format!("--{name} {}", quoted(&value))));
        };
        option("model", known(run.model.served_name.as_deref()));
        // The other route is what the command takes when nothing is said.
        let api = known(settings.api.as_deref()).filter(|api| api == "completions");
        option("api", api);
        option("contexts", list(&settings.contexts, |c| k_tokens(*c)));
        option(
            "prefill-contexts",
            list(&settings.prefill_contexts, |c| k_tokens(*c)),
        );
        option("concurrency", list(&settings.concurrency, u32::to_string));
        option(
            "duration",
            settings
                .window_s
                .map(|s| format!("{}s", format::short_decimal(s).replace(',', ""))),
        );
        option(
            "max-output",
            settings.max_output_tokens.map(|tokens| tokens.to_string()),
        );
        option(
            "prefill-samples",
            settings
                .prefill_samples
                .filter(|samples| *samples > 1)
                .map(|samples| samples.to_string()),
        );
        option("seed", settings.seed.map(|seed| seed.to_string()));
        let mut switch = |name: &str, is_on: bool| {
            command.extend(is_on.then(|| format!("--{name}")));
        };
        switch("stream-seeds", settings.stream_seeds == Some(true));
        switch("no-ignore-eos", settings.ignore_eos == Some(false));
        switch(
            "count-shared-prompt-once",
            settings.count_shared_prompt_once == Some(true),
        );
        Some(Reproduce {
            words,
            command: command.join(" \\\n  "),
        })
    }
}

fn list<T>(values: &[T], write: impl Fn(&T) -> String) -> Option<String> {
    let texts: Vec<String> = values.iter().map(write).collect();
    (!texts.is_empty()).then(|| texts.join(","))
}

/// `8k`, or tokens where it is no whole K.
fn k_tokens(tokens: u64) -> String {
    if tokens.is_multiple_of(1024) {
        format!("{}k", tokens / 1024)
    } else {
        tokens.to_string()
    }
}

/// A word for a POSIX shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || PLAIN.contains(c);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_name_cannot_run_a_command_in_the_readers_shell() {
        assert_eq!(quoted("org/model-7B"), "org/model-7B");
        assert_eq!(quoted("a'; rm -rf ~ #"), r"'a'\''; rm -rf ~ #'");
        assert_eq!(quoted("$(id)"), "'$(id)'");
    }
}
