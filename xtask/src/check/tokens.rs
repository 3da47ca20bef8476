use std::sync::LazyLock;

use regex::Regex;

use super::Finding;
use super::code::{Code, Token};
use super::tree::TextFile;

/// Crates whose job it is to print.
const PRINTING_CRATES: [&str; 2] = ["tokgrid", "xtask"];
const PRINTING_MACROS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];
const PANICKING_METHODS: [&str; 2] = ["unwrap", "expect"];
/// The crate that may hold SQL.
const SQL_CRATE: &str = "store";
/// The crate that speaks of other tools in their words.
const FOREIGN_WORDS_CRATE: &str = "convert";

/// Words in names that the glossary has another word for.
const WRONG_WORDS: [(&[&str], &str); 7] = [
    (&["itl"], "`tbt`, time between tokens"),
    (&["tpot"], "`tbt`, time between tokens"),
    (&["benchmark"], "`run` or `cell`"),
    (&["benchmarks"], "`run` or `cell`"),
    (&["test", "case"], "`cell`"),
    (&["testcase"], "`cell`"),
    (&["test", "cases"], "`cell`"),
];

/// A tag with its end or with an attribute: a bare `<html`, as one looks for in
/// a wrong answer, is none, nor is `<PATH>` in a usage text.
static HTML: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?x) <(div|span|table|thead|tbody|tr|td|th|p|a|ul|ol|li|h[1-6]|section|style|script|html|head|body|svg|details|button|form|input)
           (\s*/?> | \s+[a-z][a-z-]*=) | </[a-z][a-z0-9]*> | <(path|rect|line|text|g|circle|polyline)\s+[a-z][a-z-]*= "#,
    )
    .ok()
});

static SQL: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ixs) ^\s* (select\s.+\sfrom\s | insert\s+(or\s+\w+\s+)?into\s | update\s+\w+\s+set\s | delete\s+from\s
           | (create|drop|alter)\s+(unique\s+)?(table|index|view|trigger)\s | pragma\s+\w+\s*= )",
    )
    .ok()
});

/// Checks the tokens of one file, tests left out.
pub fn check(file: &TextFile, code: &Code) -> Vec<Finding> {
    let krate = file.crate_folder().unwrap_or_default();
    let may_not_print = !PRINTING_CRATES.contains(&krate) && !file.is_example();
    let mut findings = Vec::new();
    let mut say =
        |line: usize, message: String| findings.push(Finding::at(&file.path, line, message));
    for (at, token) in code.tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| code.tokens.get(at));
        let after = code.tokens.get(at + 1);
        if may_not_print && is_print(token, after) {
            say(
                token.line,
                format!(
                    "`{}!` prints: only the binary does; return it, or take a writer",
                    token.text
                ),
            );
        }
        if is_panicking(before, token, after) {
            say(
                token.line,
                format!("`.{}()` outside tests: return an error instead", token.text),
            );
        }
        if let Some(string) = &token.string {
            if HTML.as_ref().is_some_and(|html| html.is_match(string)) {
                say(
                    token.line,
                    "HTML in a string: put it into a template".to_owned(),
                );
            }
            if krate != SQL_CRATE && SQL.as_ref().is_some_and(|sql| sql.is_match(string)) {
                say(token.line, format!("SQL outside the crate `{SQL_CRATE}`"));
            }
        } else if krate != FOREIGN_WORDS_CRATE
            && let Some(right) = better_word(&token.text)
        {
            say(
                token.line,
                format!("`{}`: docs/GLOSSARY.md calls it {right}", token.text),
            );
        }
    }
    findings
}

fn is_print(token: &Token, after: Option<&Token>) -> bool {
    PRINTING_MACROS.contains(&token.text.as_str()) && after.is_some_and(|after| after.text == "!")
}

fn is_panicking(before: Option<&Token>, token: &Token, after: Option<&Token>) -> bool {
    PANICKING_METHODS.contains(&token.text.as_str())
        && before.is_some_and(|before| before.text == ".")
        && after.is_some_and(|after| after.text == "(")
}

/// The glossary's word for a name that holds a wrong one.
fn better_word(name: &str) -> Option<&'static str> {
    if !name.starts_with(|first: char| first.is_alphabetic() || first == '_') {
        return None;
    }
    let words = words_of(name);
    WRONG_WORDS.iter().find_map(|(wrong, right)| {
        words
            .windows(wrong.len())
            .any(|window| window == *wrong)
            .then_some(*right)
    })
}

/// `TestCase`, `test_case` and `TEST_CASE` as `test`, `case`.
fn words_of(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut previous_is_lower = false;
    for letter in name.chars() {
        if letter == '_' || (letter.is_uppercase() && previous_is_lower) {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        }
        if letter != '_' {
            word.extend(letter.to_lowercase());
        }
        previous_is_lower = letter.is_lowercase() || letter.is_ascii_digit();
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(path: &str, text: &str) -> Vec<String> {
        let file = TextFile {
            path: path.to_owned(),
            text: text.to_owned(),
            is_test_module: false,
        };
        let code = Code::read(&file).expect("Rust");
        check(&file, &code)
            .into_iter()
            .map(|finding| finding.to_string())
            .collect()
    }

    #[test]
    fn printing_is_caught_outside_the_binary_only() {
        let text = "fn f() {\n    println!(\"x\");\n}";
        let found = found_in("crates/load/src/a.rs", text);
        assert_eq!(found.len(), 1);
        assert!(
            found[0].starts_with("error: crates/load/src/a.rs:2: `println!`"),
            "{found:?}"
        );
        assert!(found_in("crates/tokgrid/src/a.rs", text).is_empty());
        assert!(found_in("crates/load/tests/a.rs", text).is_empty());
        assert!(found_in("crates/load/examples/a.rs", text).is_empty());
    }

    #[test]
    fn a_print_inside_another_macro_is_caught() {
        let text = "fn f() { select! { x = y => { eprintln!(\"x\") } } }";
        assert_eq!(found_in("crates/load/src/a.rs", text).len(), 1);
    }

    #[test]
    fn unwrap_and_expect_are_caught_outside_tests() {
        let text = "fn f() { a.unwrap(); b\n.expect(\"c\"); }\n#[cfg(test)] mod t { fn g() { a.unwrap() } }";
        assert_eq!(found_in("crates/wire/src/a.rs", text).len(), 2);
    }

    #[test]
    fn unwrap_or_and_the_expect_attribute_are_no_panics() {
        let text = "#[expect(dead_code)] fn f() { a.unwrap_or(1); b.unwrap_or_default(); }";
        assert!(found_in("crates/wire/src/a.rs", text).is_empty());
    }

    #[test]
    fn html_strings_are_caught() {
        for html in [
            r#""<div class=\"a\">""#,
            r#""x</td>""#,
            r#"r"<svg width='1'""#,
            r#""<tr>""#,
        ] {
            let text = format!("const A: &str = {html};");
            assert_eq!(found_in("crates/site/src/a.rs", &text).len(), 1, "{html}");
        }
    }

    #[test]
    fn looking_for_html_and_usage_texts_are_no_html() {
        for string in [
            r#""<html""#,
            r#""<!doctype html""#,
            r#""--out <PATH>""#,
            r#""a < b && c > d""#,
        ] {
            let text = format!("const A: &str = {string};");
            assert!(
                found_in("crates/wire/src/a.rs", &text).is_empty(),
                "{string}"
            );
        }
    }

    #[test]
    fn sql_is_caught_outside_the_store() {
        for sql in [
            "SELECT a FROM b WHERE c",
            "insert into a values (1)",
            "UPDATE a SET b = 1",
            "CREATE TABLE a (b)",
        ] {
            let text = format!("const A: &str = \"{sql}\";");
            assert_eq!(found_in("crates/site/src/a.rs", &text).len(), 1, "{sql}");
            assert!(found_in("crates/store/src/a.rs", &text).is_empty());
        }
        let prose = "const A: &str = \"select the cell from the list\";";
        assert_eq!(
            found_in(
                "crates/site/src/a.rs",
                "const A: &str = \"update of a cell\";"
            ),
            [""; 0]
        );
        assert_eq!(
            found_in("crates/site/src/a.rs", prose).len(),
            1,
            "looks like SQL: reword it"
        );
    }

    #[test]
    fn names_that_the_glossary_has_another_word_for_are_caught() {
        for name in [
            "itl_ms",
            "median_tpot",
            "ItlMs",
            "Benchmark",
            "BENCHMARKS",
            "TestCase",
            "test_case",
        ] {
            let text = format!("fn f() {{ let {name} = 1; }}");
            assert_eq!(found_in("crates/judge/src/a.rs", &text).len(), 1, "{name}");
            assert!(found_in("crates/convert/src/a.rs", &text).is_empty());
        }
        for name in ["title", "whitlist", "latest_cases", "subtitle", "testkit"] {
            let text = format!("fn f() {{ let {name} = 1; }}");
            assert!(
                found_in("crates/judge/src/a.rs", &text).is_empty(),
                "{name}"
            );
        }
    }
}
