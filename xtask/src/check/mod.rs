//! The house rules of CONTRIBUTING.md as checks. Each check is a function from
//! what it reads to [`Finding`]s and has a test with a planted violation.

mod arrows;
mod code;
mod comments;
mod lines;
mod papers;
mod tokens;
mod tree;

use std::fmt;
use std::path::Path;
use std::process::ExitCode;

/// One breach of a house rule, or a warning of one to come.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    /// Path below the workspace's root.
    path: String,
    /// Line, from 1; `None` where the whole file is meant.
    line: Option<usize>,
    /// What is wrong and what to do instead.
    message: String,
    /// A warning is said and fails nothing.
    is_warning: bool,
}

impl Finding {
    /// A breach somewhere in a file.
    fn at(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding {
            path: path.to_owned(),
            line: Some(line),
            message: message.into(),
            is_warning: false,
        }
    }

    /// A breach by a file as a whole.
    fn of(path: &str, message: impl Into<String>) -> Finding {
        Finding {
            path: path.to_owned(),
            line: None,
            message: message.into(),
            is_warning: false,
        }
    }

    /// The same as a warning.
    fn into_warning(self) -> Finding {
        Finding {
            is_warning: true,
            ..self
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = if self.is_warning { "warning" } else { "error" };
        match self.line {
            Some(line) => write!(f, "{word}: {}:{line}: {}", self.path, self.message),
            None => write!(f, "{word}: {}: {}", self.path, self.message),
        }
    }
}

/// Runs every check on the workspace at `root` and prints what was found.
pub fn run(root: &Path) -> anyhow::Result<ExitCode> {
    let mut findings = everything(root)?;
    // Errors last, where a terminal still shows them.
    findings
        .sort_by(|a, b| (!a.is_warning, &a.path, a.line).cmp(&(!b.is_warning, &b.path, b.line)));
    for finding in &findings {
        println!("{finding}");
    }
    let errors = findings.iter().filter(|f| !f.is_warning).count();
    println!(
        "house checks: {errors} errors, {} warnings",
        findings.len() - errors
    );
    Ok(if errors == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn everything(root: &Path) -> anyhow::Result<Vec<Finding>> {
    let packages = arrows::workspace_packages(root)?;
    let mut findings = arrows::check(&packages);
    for file in tree::text_files(root)? {
        findings.extend(lines::check(&file));
        findings.extend(comments::check_marks(&file));
        if file.is_rust() {
            match code::Code::read(&file) {
                Ok(code) => {
                    findings.extend(tokens::check(&file, &code));
                    findings.extend(comments::check_code(&file, &code));
                }
                Err(error) => findings.push(Finding::at(
                    &file.path,
                    error.span().start().line,
                    format!("cannot be read as Rust: {error}"),
                )),
            }
        }
    }
    findings.extend(papers::check(root, &packages)?);
    Ok(findings)
}
