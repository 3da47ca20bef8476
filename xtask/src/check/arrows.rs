use std::path::Path;

use anyhow::Context;
use cargo_metadata::{DependencyKind, MetadataCommand};

use super::Finding;

/// A crate of the workspace and the crates of the workspace it names.
#[derive(Debug, Clone)]
pub struct WorkspacePackage {
    /// Folder below the workspace's root, `crates/load`.
    pub folder: String,
    /// Name without `tokgrid-`.
    pub name: String,
    /// Names of the crates it is built from.
    pub built_from: Vec<String>,
    /// Names of the crates its tests use besides.
    pub tested_with: Vec<String>,
}

/// What each crate may be built from (docs/decisions/0001). The binary and
/// xtask may use all.
const ARROWS: [(&str, &[&str]); 11] = [
    ("document", &[]),
    ("wire", &["document"]),
    ("judge", &["document"]),
    ("engines", &["document", "wire"]),
    ("hardware", &["document"]),
    (
        "load",
        &["document", "wire", "judge", "engines", "hardware"],
    ),
    ("simulator", &["document", "wire"]),
    ("convert", &["document", "judge"]),
    ("store", &["document"]),
    ("site", &["document", "judge", "store"]),
    ("testkit", &["document"]),
];
/// Crates that may use every other.
const TOPS: [&str; 3] = ["tokgrid", "xtask", "benches"];
/// The crate that only tests use.
const TESTKIT: &str = "testkit";

/// Reads the workspace's crates from cargo.
pub fn workspace_packages(root: &Path) -> anyhow::Result<Vec<WorkspacePackage>> {
    let metadata = MetadataCommand::new()
        .manifest_path(root.join("Cargo.toml"))
        .no_deps()
        .exec()
        .context("cargo metadata failed")?;
    let short = |name: &str| name.strip_prefix("tokgrid-").unwrap_or(name).to_owned();
    let packages = metadata.workspace_packages();
    let names: Vec<&str> = packages.iter().map(|p| p.name.as_str()).collect();
    let list = packages.iter().map(|package| {
        let of_kind = |test: bool| {
            package
                .dependencies
                .iter()
                .filter(|dependency| names.contains(&dependency.name.as_str()))
                .filter(|dependency| (dependency.kind == DependencyKind::Development) == test)
                .map(|dependency| short(&dependency.name))
                .collect()
        };
        let folder = package.manifest_path.parent().map(|folder| {
            let below = folder.strip_prefix(root).unwrap_or(folder);
            below.as_str().replace('\\', "/")
        });
        WorkspacePackage {
            folder: folder.unwrap_or_default(),
            name: short(&package.name),
            built_from: of_kind(false),
            tested_with: of_kind(true),
        }
    });
    Ok(list.collect())
}

/// Holds the crates against the arrows.
pub fn check(packages: &[WorkspacePackage]) -> Vec<Finding> {
    packages.iter().flat_map(check_one).collect()
}

fn check_one(package: &WorkspacePackage) -> Vec<Finding> {
    let manifest = format!("{}/Cargo.toml", package.folder);
    let name = package.name.as_str();
    let is_top = TOPS.contains(&name);
    let known = ARROWS.iter().find(|(from, _)| *from == name);
    let allowed = match known {
        Some((_, allowed)) => *allowed,
        None if is_top => &[],
        None => {
            let message = format!(
                "the crate `{name}` has no arrows: add them to docs/decisions/0001 and to this check"
            );
            return vec![Finding::of(&manifest, message)];
        }
    };
    let may_build = |to: &str| to != TESTKIT && (is_top || allowed.contains(&to));
    let mut findings = Vec::new();
    for to in package.built_from.iter().filter(|to| !may_build(to)) {
        let message = format!("`{name}` must not depend on `{to}` (docs/decisions/0001)");
        findings.push(Finding::of(&manifest, message));
    }
    for to in &package.tested_with {
        if to != TESTKIT && !may_build(to) {
            let message =
                format!("the tests of `{name}` must not depend on `{to}` (docs/decisions/0001)");
            findings.push(Finding::of(&manifest, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, built_from: &[&str], tested_with: &[&str]) -> WorkspacePackage {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        WorkspacePackage {
            folder: format!("crates/{name}"),
            name: name.to_owned(),
            built_from: owned(built_from),
            tested_with: owned(tested_with),
        }
    }

    #[test]
    fn an_arrow_that_is_not_drawn_is_caught() {
        for (from, to) in [
            ("site", "load"),
            ("store", "judge"),
            ("document", "wire"),
            ("judge", "wire"),
            ("load", "simulator"),
            ("load", "tokgrid"),
        ] {
            let found = check(&[package(from, &[to], &[])]);
            assert_eq!(found.len(), 1, "{from} -> {to}: {found:?}");
            assert!(found[0].message.contains(to));
            assert_eq!(check(&[package(from, &[], &[to])]).len(), 1, "in tests");
        }
    }

    #[test]
    fn the_drawn_arrows_and_the_binary_pass() {
        let packages = [
            package("load", &["document", "engines", "judge"], &["testkit"]),
            package("tokgrid", &["load", "site", "simulator"], &[]),
        ];
        assert!(check(&packages).is_empty());
    }

    #[test]
    fn the_testkit_is_for_tests() {
        assert_eq!(check(&[package("load", &["testkit"], &[])]).len(), 1);
        assert_eq!(check(&[package("tokgrid", &["testkit"], &[])]).len(), 1);
    }

    #[test]
    fn a_crate_without_arrows_is_caught() {
        assert_eq!(check(&[package("extras", &[], &[])]).len(), 1);
    }

    #[test]
    fn arrows_go_one_way() {
        for (from, allowed) in ARROWS {
            for to in allowed {
                let back = ARROWS.iter().find(|(name, _)| name == to);
                assert!(
                    back.is_some_and(|(_, back)| !back.contains(&from)),
                    "{from} <-> {to}"
                );
            }
        }
    }
}
