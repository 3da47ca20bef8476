use std::path::Path;

use anyhow::Context;

use super::Finding;
use super::arrows::WorkspacePackage;

const DECISIONS: &str = "docs/decisions";
/// Headings of every decision.
const DECISION_PARTS: [&str; 3] = ["## Context", "## Decision", "## Consequences"];
/// Files that a workspace must have at its root.
const ROOT_PAPERS: [&str; 5] = [
    "README.md",
    "CONTRIBUTING.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "docs/GLOSSARY.md",
];

/// Checks what is written beside the code.
pub fn check(root: &Path, packages: &[WorkspacePackage]) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for path in ROOT_PAPERS {
        if !root.join(path).is_file() {
            findings.push(Finding::of(path, "is missing"));
        }
    }
    findings.extend(check_changelog(&read(root, "CHANGELOG.md")));
    for package in packages.iter().filter(|package| package.name != "xtask") {
        findings.extend(check_readme(root, package));
    }
    findings.extend(check_decisions(&decisions(root)?));
    Ok(findings)
}

/// A file's text; nothing where it cannot be read.
fn read(root: &Path, path: &str) -> Option<String> {
    std::fs::read_to_string(root.join(path)).ok()
}

fn check_changelog(text: &Option<String>) -> Option<Finding> {
    let path = "CHANGELOG.md";
    match text {
        None => Some(Finding::of(path, "is missing")),
        Some(text) if !text.lines().any(|line| line.starts_with("## Unreleased")) => {
            Some(Finding::of(
                path,
                "has no `## Unreleased`: user-visible changes are told there",
            ))
        }
        Some(_) => None,
    }
}

/// A crate's README says what it is for and is its crate doc.
fn check_readme(root: &Path, package: &WorkspacePackage) -> Vec<Finding> {
    let mut findings = Vec::new();
    let path = format!("{}/README.md", package.folder);
    let text = read(root, &path).unwrap_or_default();
    let says_something = text
        .lines()
        .any(|line| !line.trim().is_empty() && !line.starts_with('#'));
    if !says_something {
        findings.push(Finding::of(
            &path,
            "is missing or empty: say what the crate is for",
        ));
    }
    let library = format!("{}/src/lib.rs", package.folder);
    if let Some(code) = read(root, &library)
        && !code.contains("include_str!(\"../README.md\")")
    {
        let message =
            "the README is the crate doc: begin with #![doc = include_str!(\"../README.md\")]";
        findings.push(Finding::of(&library, message));
    }
    findings
}

/// File names and texts of the decisions, in order.
fn decisions(root: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let folder = root.join(DECISIONS);
    let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot list {DECISIONS}"))?;
    let mut list = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        list.push((name.unwrap_or_default(), text));
    }
    list.sort();
    Ok(list)
}

fn check_decisions(decisions: &[(String, String)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for ((name, text), number) in decisions.iter().zip(1..) {
        let path = format!("{DECISIONS}/{name}");
        let start = format!("{number:04}-");
        if !name.starts_with(&start) || !name.ends_with(".md") {
            let message =
                format!("expected {start}title.md: decisions are numbered from 0001 without gaps");
            findings.push(Finding::of(&path, message));
            break;
        }
        for part in DECISION_PARTS {
            if !text.lines().any(|line| line == part) {
                findings.push(Finding::of(&path, format!("has no `{part}`")));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "# A\n\n## Context\n\na\n\n## Decision\n\nb\n\n## Consequences\n\nc\n";

    fn named(names: &[&str]) -> Vec<(String, String)> {
        let with_text = |name: &&str| ((*name).to_owned(), WHOLE.to_owned());
        names.iter().map(with_text).collect()
    }

    #[test]
    fn gaps_doubles_and_other_files_among_the_decisions_are_caught() {
        assert!(check_decisions(&named(&["0001-a.md", "0002-b.md"])).is_empty());
        for names in [
            ["0001-a.md", "0003-c.md"],
            ["0001-a.md", "0001-b.md"],
            ["0002-a.md", "0003-b.md"],
            ["0001-a.md", "notes.md"],
        ] {
            assert_eq!(check_decisions(&named(&names)).len(), 1, "{names:?}");
        }
    }

    #[test]
    fn a_decision_without_consequences_is_caught() {
        let mut decisions = named(&["0001-a.md"]);
        decisions[0].1 = WHOLE.replace("## Consequences", "## After");
        assert_eq!(check_decisions(&decisions).len(), 1);
    }

    #[test]
    fn a_missing_changelog_and_one_without_unreleased_are_caught() {
        assert!(check_changelog(&None).is_some());
        assert!(check_changelog(&Some("# Changelog\n\n## 0.1.0\n".to_owned())).is_some());
        assert!(check_changelog(&Some("# Changelog\n\n## Unreleased\n".to_owned())).is_none());
    }

    #[test]
    fn a_crate_whose_readme_is_missing_empty_or_not_its_doc_is_caught() {
        let root = tempfile::tempdir().expect("a folder");
        let source = root.path().join("crates/a/src");
        std::fs::create_dir_all(&source).expect("a folder");
        let package = WorkspacePackage {
            folder: "crates/a".to_owned(),
            name: "a".to_owned(),
            built_from: Vec::new(),
            tested_with: Vec::new(),
        };
        assert_eq!(check_readme(root.path(), &package).len(), 1, "missing");
        let readme = root.path().join("crates/a/README.md");
        std::fs::write(&readme, "# a\n").expect("a file");
        assert_eq!(check_readme(root.path(), &package).len(), 1, "empty");
        std::fs::write(&readme, "# a\n\nFor b.\n").expect("a file");
        assert!(check_readme(root.path(), &package).is_empty());
        std::fs::write(source.join("lib.rs"), "//! a\n").expect("a file");
        assert_eq!(check_readme(root.path(), &package).len(), 1, "not its doc");
    }
}
