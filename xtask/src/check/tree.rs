use std::path::Path;

use anyhow::Context;
use ignore::WalkBuilder;

/// A text file of the workspace.
#[derive(Debug, Clone)]
pub struct TextFile {
    /// Path below the workspace's root, with `/`.
    pub path: String,
    /// What it holds.
    pub text: String,
    /// A module that its parent has under `#[cfg(test)]`.
    pub is_test_module: bool,
}

impl TextFile {
    /// Whether it is Rust source.
    pub fn is_rust(&self) -> bool {
        self.path.ends_with(".rs")
    }

    /// Whether all of it is test code: integration tests, test modules in files
    /// of their own, benches, fuzz targets and the testkit.
    pub fn is_test_code(&self) -> bool {
        let in_test_folder = self
            .path
            .split('/')
            .any(|folder| matches!(folder, "tests" | "benches" | "fuzz" | "testkit"));
        in_test_folder || self.is_test_module
    }

    /// Whether it is an example program of a crate, which may print.
    pub fn is_example(&self) -> bool {
        self.path.split('/').nth(2) == Some("examples")
    }

    /// Whether it was recorded elsewhere: captures, foreign files, prose.
    pub fn is_recorded(&self) -> bool {
        self.path
            .split('/')
            .any(|folder| matches!(folder, "fixtures" | "corpus"))
    }

    /// The crate it belongs to: the folder below `crates/`, or `xtask`.
    pub fn crate_folder(&self) -> Option<&str> {
        let mut parts = self.path.split('/');
        match parts.next() {
            Some("crates") => parts.next(),
            Some("xtask") => Some("xtask"),
            Some(_) | None => None,
        }
    }
}

/// Every file that git does not ignore and that is UTF-8 text, in path order.
pub fn text_files(root: &Path) -> anyhow::Result<Vec<TextFile>> {
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .require_git(false)
        .git_global(false)
        .parents(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_path(Path::cmp)
        .build();
    let mut files = Vec::new();
    for entry in walk {
        let entry = entry.context("cannot walk the workspace")?;
        if !entry.file_type().is_some_and(|kind| kind.is_file()) {
            continue;
        }
        let bytes = std::fs::read(entry.path())
            .with_context(|| format!("cannot read {}", entry.path().display()))?;
        let Ok(text) = String::from_utf8(bytes) else {
            continue;
        };
        let below = entry.path().strip_prefix(root).unwrap_or(entry.path());
        files.push(TextFile {
            path: below.to_string_lossy().replace('\\', "/"),
            text,
            is_test_module: false,
        });
    }
    let modules: Vec<String> = files.iter().flat_map(test_modules).collect();
    for file in &mut files {
        file.is_test_module = modules.iter().any(|module| file.path.starts_with(module));
    }
    Ok(files)
}

/// Beginnings of the paths of the modules that a file declares for tests only:
/// `…/name.` and `…/name/`.
fn test_modules(file: &TextFile) -> Vec<String> {
    if !file.is_rust() || !file.text.contains("#[cfg(test)]") {
        return Vec::new();
    }
    let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    let own_folder = match name {
        "lib.rs" | "main.rs" | "mod.rs" => folder.to_owned(),
        other => format!("{folder}/{}", other.trim_end_matches(".rs")),
    };
    let declared = file.text.lines().zip(file.text.lines().skip(1));
    declared
        .filter(|(attribute, _)| attribute.trim() == "#[cfg(test)]")
        .filter_map(|(_, line)| line.trim().strip_prefix("mod ")?.strip_suffix(';'))
        .flat_map(|module| ["/", "."].map(|end| format!("{own_folder}/{module}{end}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> TextFile {
        TextFile {
            path: path.to_owned(),
            text: String::new(),
            is_test_module: false,
        }
    }

    #[test]
    fn test_code_is_told_by_its_place() {
        for path in [
            "crates/load/tests/faults.rs",
            "crates/testkit/src/lib.rs",
            "fuzz/fuzz_targets/sse.rs",
        ] {
            assert!(file(path).is_test_code(), "{path}");
        }
        for path in ["crates/load/src/worker.rs", "crates/wire/src/latest.rs"] {
            assert!(!file(path).is_test_code(), "{path}");
        }
    }

    #[test]
    fn a_module_declared_for_tests_is_test_code_wherever_it_lies() {
        let mut parent = file("crates/a/src/terminal/mod.rs");
        parent.text = "mod kept;\n#[cfg(test)]\nmod scripted;\n".to_owned();
        let paths = [
            "crates/a/src/terminal/scripted/",
            "crates/a/src/terminal/scripted.",
        ];
        assert_eq!(test_modules(&parent), paths);
        parent.path = "crates/a/src/live.rs".to_owned();
        assert_eq!(test_modules(&parent)[0], "crates/a/src/live/scripted/");
    }

    #[test]
    fn ignored_files_and_git_itself_are_left_out_and_hidden_ones_are_not() {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in [
            (".gitignore", "/target\n"),
            ("target/out.rs", ""),
            (".git/config", ""),
            (".ci/run", "#!/bin/sh\n"),
        ] {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        let files = text_files(root.path()).expect("files");
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, [".ci/run", ".gitignore"]);
    }
}
