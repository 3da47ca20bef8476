//! The launch command as a person gives it, with its secrets taken out.

use document::{Launch, LaunchProvenance};
use load::REDACTED;

/// Flags and variables whose value is a secret, by a part of their name.
const SECRET_NAMES: [&str; 6] = [
    "api-key", "api_key", "apikey", "token", "password", "secret",
];
/// Names of that kind whose value is none: `--max-tokens`, `--tokenizer`.
const INNOCENT_NAMES: [&str; 2] = ["tokens", "tokenizer"];
/// Beginnings of well-known secrets.
const SECRET_PREFIXES: [&str; 4] = ["hf_", "sk-", "ghp_", "AKIA"];

/// A launch command that was given by hand.
pub(crate) fn provided(command: &str) -> Launch {
    Launch {
        command: Some(redact(command.trim())),
        provenance: LaunchProvenance::Provided,
        ..Launch::default()
    }
}

/// Replaces values of flags and variables that are named like secrets, and
/// values that look like well-known ones. Spacing is kept.
fn redact(command: &str) -> String {
    let mut is_next_secret = false;
    let redact_word = |word: &str| -> String {
        let body = word.trim_matches(['\n', ' ', '\t']);
        if body.is_empty() || body == "\\" {
            return word.to_owned();
        }
        let replaced = if std::mem::take(&mut is_next_secret) && !body.starts_with("--") {
            REDACTED.to_owned()
        } else if let Some((name, value)) = body.split_once('=') {
            let is_secret = is_secret_name(name) || is_secret_value(value);
            if is_secret {
                format!("{name}={REDACTED}")
            } else {
                body.to_owned()
            }
        } else {
            is_next_secret = body.starts_with('-') && is_secret_name(body);
            if is_secret_value(body) {
                REDACTED.to_owned()
            } else {
                body.to_owned()
            }
        };
        word.replacen(body, &replaced, 1)
    };
    command
        .split_inclusive([' ', '\n', '\t'])
        .map(redact_word)
        .collect()
}

fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|secret| name.contains(secret))
        && !INNOCENT_NAMES
            .iter()
            .any(|innocent| name.contains(innocent))
}

fn is_secret_value(value: &str) -> bool {
    let value = value.trim_matches(['"', '\'']);
    SECRET_PREFIXES
        .iter()
        .any(|prefix| value.starts_with(prefix) && value.len() >= prefix.len() + 8)
}

#[cfg(test)]
mod tests {
    use super::redact;

    #[test]
    fn secrets_of_a_launch_command_are_taken_out_and_the_rest_stays() {
        let command = "env HF_TOKEN=hf_abcdefghijk vllm serve m --api-key hunter2 \\\n  --max-num-batched-tokens 8192 --tokenizer x --api-key=abc";
        assert_eq!(
            redact(command),
            "env HF_TOKEN=<redacted> vllm serve m --api-key <redacted> \\\n  --max-num-batched-tokens 8192 --tokenizer x --api-key=<redacted>"
        );
        assert_eq!(
            redact("serve --api-key --port 8000"),
            "serve --api-key --port 8000"
        );
    }
}
