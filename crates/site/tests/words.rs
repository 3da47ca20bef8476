//! Both languages say everything, and a Chinese page says nothing in English.

// A failed expectation is a failed test, in its helpers too.
#![allow(clippy::expect_used, clippy::panic)]

// Each test file takes what it needs of it.
#[allow(dead_code)]
mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use common::{
    NAMES, Page, decode_cell, example_run, failed_cell, flagged, full_run, links_of, prefill_cell,
    run_of,
};
use document::{Cell, CellStatus, FlagName, RunDocument};
use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
use scraper::ElementRef;
use site::pages::run::Sort;
use site::words::{Language, Words};

/// Latin words that Chinese pages have: names, units, formats.
const ALLOWED: [&str; 19] = [
    "API", "BibTeX", "CPU", "CSV", "EOS", "GB", "GPU", "JSON", "KV", "TTFT", "max", "min", "ms",
    "org", "tok", "token", "tokgrid", "usage", "UTC",
];

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Every file below a folder that ends so.
fn files_below(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files_below(&path, ending));
        } else if path
            .extension()
            .is_some_and(|extension| extension == ending)
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).expect("reads")
}

/// Key of every message of a language, with the values it prints. A number by which
/// a plural is chosen is not printed: Chinese has no plural.
fn messages(language: Language) -> BTreeMap<String, BTreeSet<String>> {
    let mut messages = BTreeMap::new();
    let files = files_below(&here(&format!("locales/{language}")), "ftl");
    assert!(!files.is_empty());
    for path in files {
        let source = read(&path);
        let resource = match fluent_syntax::parser::parse(source.as_str()) {
            Ok(resource) => resource,
            Err((_, errors)) => panic!("{}: {errors:?}", path.display()),
        };
        for entry in resource.body {
            match entry {
                Entry::Message(message) => {
                    let key = message.id.name.to_owned();
                    let mut printed = BTreeSet::new();
                    let pattern = message
                        .value
                        .unwrap_or_else(|| panic!("{key} says nothing"));
                    collect_printed(&pattern, &mut printed);
                    let is_new = messages.insert(key.clone(), printed).is_none();
                    assert!(is_new, "{language}: {key} stands twice");
                }
                Entry::Comment(_) | Entry::GroupComment(_) | Entry::ResourceComment(_) => {}
                Entry::Term(term) => {
                    panic!("{language}: the term {} is not used here", term.id.name)
                }
                Entry::Junk { content } => panic!("{}: {content}", path.display()),
            }
        }
    }
    messages
}

fn collect_printed(pattern: &Pattern<&str>, printed: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        match element {
            PatternElement::Placeable {
                expression: Expression::Inline(InlineExpression::VariableReference { id }),
            } => {
                printed.insert(id.name.to_owned());
            }
            PatternElement::Placeable {
                expression: Expression::Select { variants, .. },
            } => {
                for variant in variants {
                    collect_printed(&variant.value, printed);
                }
            }
            PatternElement::TextElement { .. } | PatternElement::Placeable { .. } => {}
        }
    }
}

/// What could be keys in the sources: whatever stands in quotation marks and looks
/// like one.
fn quoted(sources: &[String]) -> BTreeSet<&str> {
    let is_key = |text: &&str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    sources
        .iter()
        .flat_map(|source| source.split('"'))
        .filter(is_key)
        .collect()
}

/// Keys that the sources ask for by name: `t("…")`, `with("…"`, `form("…"`.
fn asked(sources: &[String]) -> BTreeSet<&str> {
    let mut asked = BTreeSet::new();
    for source in sources {
        for call in [".t(", ".with(", ".form("] {
            for (at, _) in source.match_indices(call) {
                let after = source[at + call.len()..].trim_start();
                if let Some(key) = after
                    .strip_prefix('"')
                    .and_then(|text| text.split('"').next())
                {
                    asked.insert(key);
                }
            }
        }
    }
    asked
}

fn sources() -> Vec<String> {
    let mut files = files_below(&here("src"), "rs");
    files.extend(files_below(&here("templates"), "html"));
    files.iter().map(|path| read(path)).collect()
}

#[test]
fn both_languages_have_the_same_keys_with_the_same_values() {
    let english = messages(Language::English);
    let chinese = messages(Language::SimplifiedChinese);
    let keys = |messages: &BTreeMap<String, _>| messages.keys().cloned().collect::<BTreeSet<_>>();
    let only =
        |a: &BTreeSet<String>, b: &BTreeSet<String>| a.difference(b).cloned().collect::<Vec<_>>();
    let (in_english, in_chinese) = (keys(&english), keys(&chinese));
    assert_eq!(
        only(&in_english, &in_chinese),
        Vec::<String>::new(),
        "only in English"
    );
    assert_eq!(
        only(&in_chinese, &in_english),
        Vec::<String>::new(),
        "only in Chinese"
    );
    for (key, printed) in &english {
        assert_eq!(printed, &chinese[key], "values of {key}");
    }
}

#[test]
fn every_key_that_is_asked_for_is_there() {
    let sources = sources();
    let messages = messages(Language::English);
    let asked = asked(&sources);
    assert!(asked.len() > 50, "only {} keys were found", asked.len());
    for key in asked {
        assert!(messages.contains_key(key), "{key} is in no locales/*/*.ftl");
    }
    // Those that a `match` chooses among are told by their area.
    let areas = ["run-"];
    for key in quoted(&sources) {
        if areas.iter().any(|area| key.starts_with(area)) {
            assert!(messages.contains_key(key), "{key} is in no locales/*/*.ftl");
        }
    }
}

#[test]
fn no_key_is_unused() {
    let sources = sources();
    let quoted = quoted(&sources);
    for key in messages(Language::English).keys() {
        assert!(quoted.contains(key.as_str()), "nothing says {key}");
    }
}

#[test]
fn what_takes_no_value_is_said_without_a_copy() {
    for language in Language::ALL {
        let said = Words::of(language).t("run-status-over-capacity");
        assert!(matches!(said, std::borrow::Cow::Borrowed(_)), "{said}");
    }
}

/// Every status and every flag, remarks and reasons.
fn doubtful_run() -> RunDocument {
    let flags = [
        FlagName::Contaminated,
        FlagName::ClientLimited,
        FlagName::TokenCountDisputed,
        FlagName::ExceedsContext,
        FlagName::Repetition,
        FlagName::Unsteady,
        FlagName::Preempted,
        FlagName::ShortOutput,
        FlagName::PrefixCacheHit,
        FlagName::ColdOutlier,
        FlagName::PrefixCacheMiss,
        FlagName::Throttled,
    ];
    let mut cells: Vec<Cell> = flags
        .into_iter()
        .enumerate()
        .map(|(at, flag)| flagged(decode_cell(1024 * (1 + at as u64), 2, 20.0), flag))
        .collect();
    cells.push(flagged(prefill_cell(1024, 500.0), FlagName::PrefixCacheHit));
    cells.push(failed_cell(2048, 1, "the server refused a request"));
    cells.push(Cell {
        status: CellStatus::Queued,
        queue_inferred: Some(true),
        ttft_censored: Some(true),
        remarks: vec!["the engine's own prefill time differs".to_owned()],
        ..decode_cell(1024, 1, 20.0)
    });
    cells.push(Cell {
        status: CellStatus::OverCapacity,
        reason: Some("needs more tokens than the cache holds".to_owned()),
        ..decode_cell(2048, 4, 20.0)
    });
    let mut run = run_of(cells);
    run.finished_at = None;
    run.settings.contexts = vec![65536];
    run
}

/// Every Latin word of a page's text that is neither the document's nor allowed.
fn strange_words(page: &Page, document: &str) -> BTreeSet<String> {
    let mut strange = BTreeSet::new();
    let not_the_pages = ["code", "pre", "style", "script"];
    for node in page.one("html").descendants() {
        let Some(text) = node.value().as_text() else {
            continue;
        };
        let mut around = node.ancestors().filter_map(ElementRef::wrap);
        let is_marked = around.any(|element| {
            not_the_pages.contains(&element.value().name()) || element.attr("lang") == Some("en")
        });
        if !is_marked {
            collect_strange(text, document, &mut strange);
        }
    }
    for element in page.all("[aria-label], [title]") {
        for attribute in ["aria-label", "title"] {
            collect_strange(
                element.attr(attribute).unwrap_or(""),
                document,
                &mut strange,
            );
        }
    }
    strange
}

fn collect_strange(text: &str, document: &str, strange: &mut BTreeSet<String>) {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    // A letter alone, and a letter before a version, say nothing.
    let is_word = |word: &&str| word.bytes().take(2).filter(u8::is_ascii_alphabetic).count() == 2;
    strange.extend(
        words
            .filter(is_word)
            .filter(|word| !ALLOWED.contains(word) && !document.contains(word))
            .map(str::to_owned),
    );
}

#[test]
fn a_chinese_page_says_nothing_in_english_but_what_the_document_says() {
    for run in [
        example_run(NAMES[0]),
        example_run(NAMES[1]),
        full_run(),
        doubtful_run(),
    ] {
        // Names of models and machines, not the document's own English.
        let named = [
            links_of(&run).permalink,
            serde_json::to_string(&(&run.model, &run.engine, &run.hardware)).expect("JSON"),
            serde_json::to_string(&(&run.author, &run.imported_from, &run.tool)).expect("JSON"),
        ]
        .concat();
        let sort = Sort::from_query("total_tok_s", "");
        for page in [
            Page::in_language(&run, Language::SimplifiedChinese),
            Page::of_registry(&run, Language::SimplifiedChinese, sort),
        ] {
            assert_eq!(page.one("html").attr("lang"), Some("zh-CN"));
            assert_eq!(strange_words(&page, &named), BTreeSet::new());
        }
    }
}

#[test]
fn a_chinese_page_has_the_figures_of_the_english_one() {
    for name in NAMES {
        let run = example_run(name);
        let digits = |page: Page| -> Vec<String> {
            page.table("#measurements table")
                .into_iter()
                .flat_map(|row| row.into_iter().skip(4))
                .collect()
        };
        assert_eq!(
            digits(Page::in_language(&run, Language::SimplifiedChinese)),
            digits(Page::of(&run))
        );
    }
}
