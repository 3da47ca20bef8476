use std::sync::LazyLock;

use regex::Regex;
use syn::parse::Parser;

use super::Finding;
use super::code::{Code, Comment};
use super::tree::TextFile;

/// Marks of work left undone. In pieces, for this file is checked too.
static MARKS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(concat!(r"\b(TO", "DO|FIX", "ME|XX", r"X|HA", r"CK)\b")).ok());

/// Checks the comments of a Rust file.
pub fn check_code(file: &TextFile, code: &Code) -> Vec<Finding> {
    commented_out(&code.comments)
        .into_iter()
        .map(|line| {
            Finding::at(
                &file.path,
                line,
                "commented-out code: take it out, git keeps it",
            )
        })
        .collect()
}

/// Checks any file written here for marks of work left undone.
pub fn check_marks(file: &TextFile) -> Vec<Finding> {
    if file.is_recorded() {
        return Vec::new();
    }
    let lines = file.text.lines().enumerate();
    lines
        .filter_map(|(at, line)| {
            let mark = MARKS.as_ref()?.find(line)?.as_str();
            let message = format!("`{mark}`: do it, or open an issue");
            Some(Finding::at(&file.path, at + 1, message))
        })
        .collect()
}

/// First lines of the comment blocks that are Rust rather than prose.
fn commented_out(comments: &[Comment]) -> Vec<usize> {
    let mut found = Vec::new();
    for block in comments.chunk_by(|a, b| a.line + 1 == b.line) {
        let text: Vec<&str> = block.iter().map(|comment| comment.text.as_str()).collect();
        if is_code(&text.join("\n")) {
            found.extend(block.first().map(|comment| comment.line));
            continue;
        }
        found.extend(
            block
                .iter()
                .filter(|comment| is_code(&comment.text))
                .map(|comment| comment.line),
        );
    }
    found
}

/// Prose does not parse; what parses and has a statement's or a block's end is code.
fn is_code(text: &str) -> bool {
    let text = text.trim();
    let ends_like_code = text.ends_with(';') || text.ends_with('}');
    ends_like_code
        && (syn::Block::parse_within.parse_str(text).is_ok() || syn::parse_file(text).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> TextFile {
        TextFile {
            path: "crates/wire/src/a.rs".to_owned(),
            text: text.to_owned(),
            is_test_module: false,
        }
    }

    fn lines_of_code_in(text: &str) -> Vec<Option<usize>> {
        let file = file(text);
        let code = Code::read(&file).expect("Rust");
        check_code(&file, &code).iter().map(|f| f.line).collect()
    }

    #[test]
    fn commented_out_code_is_caught() {
        assert_eq!(lines_of_code_in("// let a = 1;\nfn f() {}"), [Some(1)]);
        assert_eq!(
            lines_of_code_in("fn f() {\n    // if a {\n    //     b();\n    // }\n}"),
            [Some(2)]
        );
        assert_eq!(
            lines_of_code_in("// Not now:\n// a.b(c);\nfn f() {}"),
            [Some(2)]
        );
        assert_eq!(lines_of_code_in("/* fn g() {} */\nfn f() {}"), [Some(1)]);
    }

    #[test]
    fn prose_and_doc_examples_are_no_commented_out_code() {
        for prose in [
            "// The first is cold; the second is warm.\nfn f() {}",
            "// See `a.b();` in the caller;\nfn f() {}",
            "/// ```\n/// let a = 1;\n/// ```\nfn f() {}",
            "// usage: {\"prompt_tokens\": 1, …}\nfn f() {}",
        ] {
            assert_eq!(lines_of_code_in(prose), [], "{prose}");
        }
    }

    #[test]
    fn marks_of_work_left_undone_are_caught_in_any_file() {
        for mark in [concat!("TO", "DO"), concat!("FIX", "ME")] {
            let found = check_marks(&file(&format!("a\n# {mark}: b")));
            assert_eq!(found.len(), 1, "{mark}");
            assert_eq!(found[0].line, Some(2));
        }
        assert!(check_marks(&file("to do, or not to do")).is_empty());
    }
}
