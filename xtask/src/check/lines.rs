use super::Finding;
use super::tree::TextFile;

/// Lines from which a Rust file is said to be long.
const LONG_FILE_LINES: usize = 300;
/// Lines beyond which it must be split.
const LONGEST_FILE_LINES: usize = 500;

/// Beginnings of paths that hold on one machine only. Written in pieces, for
/// this file is checked too.
const MACHINE_PATHS: [&str; 3] = [
    concat!("/", "work/"),
    concat!("/", "home/"),
    concat!("/", "Users/"),
];

/// Checks the length of a Rust file and the lines of any file.
pub fn check(file: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    if file.is_rust() {
        findings.extend(check_length(file));
    }
    for (at, line) in file.text.lines().enumerate() {
        for start in MACHINE_PATHS.iter().filter(|start| holds_path(line, start)) {
            let message = format!(
                "`{start}…` is a path of one machine: write it relative to the repository, or in an example as {start}{NOBODY}…"
            );
            findings.push(Finding::at(&file.path, at + 1, message));
        }
    }
    findings
}

fn check_length(file: &TextFile) -> Option<Finding> {
    let lines = file.text.lines().count();
    if lines > LONGEST_FILE_LINES {
        let message = format!(
            "{lines} lines, more than {LONGEST_FILE_LINES}: split it by what its parts are about"
        );
        Some(Finding::of(&file.path, message))
    } else if lines > LONG_FILE_LINES {
        let message = format!("{lines} lines, more than {LONG_FILE_LINES}: is it about one thing?");
        Some(Finding::of(&file.path, message).into_warning())
    } else {
        None
    }
}

/// Whose paths examples may show.
const NOBODY: &str = "someone/";

/// Whether an absolute path with this beginning stands in the line; the middle
/// of a longer path or of a web address is none.
fn holds_path(line: &str, start: &str) -> bool {
    line.match_indices(start).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let is_example = line[at + start.len()..].starts_with(NOBODY);
        !is_example
            && !before.is_some_and(|before| before.is_alphanumeric() || "._-~/}$*".contains(before))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, text: String) -> TextFile {
        TextFile {
            path: path.to_owned(),
            text,
            is_test_module: false,
        }
    }

    #[test]
    fn a_long_file_is_warned_of_and_a_longer_one_fails() {
        let of_lines = |lines: usize| check(&file("crates/a/src/lib.rs", "\n".repeat(lines)));
        assert!(of_lines(300).is_empty());
        assert!(of_lines(301)[0].is_warning);
        assert!(of_lines(500)[0].is_warning);
        assert!(!of_lines(501)[0].is_warning);
    }

    #[test]
    fn length_is_a_rule_for_rust_only() {
        assert!(check(&file("docs/METHOD.md", "\n".repeat(900))).is_empty());
    }

    #[test]
    fn paths_of_one_machine_are_caught_in_any_file() {
        for start in MACHINE_PATHS {
            let found = check(&file("scripts/test", format!("a\ncd \"{start}x\"\n")));
            assert_eq!(found.len(), 1, "{start}");
            assert_eq!(found[0].line, Some(2));
            let relative = format!(
                "cd $HOME{start}x\nsee https://example.org{start}x\n../frame{start}\n{start}someone/x\n"
            );
            assert!(check(&file("scripts/test", relative)).is_empty(), "{start}");
        }
    }
}
