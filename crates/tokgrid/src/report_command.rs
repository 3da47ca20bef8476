//! `tokgrid report run.json --out report.html`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use document::RunDocument;
use load::recorder;
use site::words::{Language, Words};

use crate::terminal;

/// Largest run document read: a thousand times a usual one, and far from filling memory.
const MAX_DOCUMENT_BYTES: u64 = 256 * 1024 * 1024;

/// Writes a run document as one HTML file that needs nothing else.
#[derive(Debug, clap::Args)]
pub struct ReportArgs {
    /// The run document, as written by `tokgrid run --out`.
    #[arg(value_name = "RUN.JSON")]
    document: PathBuf,
    /// Where to write the page [default: beside the document, with the ending .html]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Language of the page: en or zh-CN
    #[arg(long, value_name = "LANGUAGE", default_value_t, value_parser = language)]
    lang: Language,
}

/// A language the page can be written in.
fn language(code: &str) -> Result<Language, String> {
    Language::from_code(code).ok_or_else(|| {
        let codes = Language::ALL.map(Language::code).join(" or ");
        format!("no page is written in it; give {codes}")
    })
}

/// Reads, renders, writes, and says where the page is.
///
/// # Errors
/// When the document cannot be read or is none, or the page cannot be written;
/// each says what to do.
pub fn run(args: &ReportArgs) -> anyhow::Result<ExitCode> {
    let document = read_document(&args.document)?;
    let out = match &args.out {
        Some(out) => out.clone(),
        None => args.document.with_extension("html"),
    };
    let is_out = |path: &Path| recorder::real_path(path) == recorder::real_path(&out);
    if is_out(&args.document) || is_out(&recorder::samples_path(&args.document)) {
        bail!(
            "{} is the run document or its samples; give another file with --out",
            out.display()
        );
    }
    write(&document, &out, Words::of(args.lang))?;
    say_where(&out)?;
    Ok(ExitCode::SUCCESS)
}

/// Renders a document into a file.
///
/// # Errors
/// When the page cannot be rendered or written.
pub fn write(document: &RunDocument, out: &Path, words: Words) -> anyhow::Result<()> {
    let html = site::report::render(document, words).context("writing the page")?;
    std::fs::write(out, html).with_context(|| {
        format!(
            "{} cannot be written; give a file in a folder that exists with --out",
            out.display()
        )
    })?;
    Ok(())
}

/// Says where a page is.
///
/// # Errors
/// When stdout cannot be written.
pub fn say_where(out: &Path) -> anyhow::Result<()> {
    Ok(terminal::print(&format!("Report: {}\n", out.display()))?)
}

/// Reads a run document from a file.
///
/// # Errors
/// When there is none, it is no file, or what it holds is no run document.
pub fn read_document(path: &Path) -> anyhow::Result<RunDocument> {
    let named = || path.display().to_string();
    let about = match std::fs::metadata(path) {
        Ok(about) => about,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
            "{}: no such file; give the run document that `tokgrid run --out` wrote",
            named()
        ),
        Err(error) => return Err(error).with_context(|| format!("{}: cannot be read", named())),
    };
    if about.is_dir() {
        bail!("{}: is a folder; give the run document in it", named());
    }
    if about.len() > MAX_DOCUMENT_BYTES {
        bail!(
            "{}: {} MB is more than a run document has (at most {} MB are read)",
            named(),
            about.len() / 1_000_000,
            MAX_DOCUMENT_BYTES / 1_000_000
        );
    }
    let bytes = std::fs::read(path).with_context(|| format!("{}: cannot be read", named()))?;
    RunDocument::from_json(&bytes).with_context(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALLEST: &str = r#"{"schema":"tokgrid.run/1","id":"r","source":"measured"}"#;

    fn report(folder: &Path, document: &str, out: Option<&str>) -> anyhow::Result<ExitCode> {
        run(&ReportArgs {
            document: folder.join(document),
            out: out.map(|out| folder.join(out)),
            lang: Language::English,
        })
    }

    fn told(folder: &Path, document: &str, out: Option<&str>) -> String {
        let error = report(folder, document, out).expect_err("is refused");
        format!("{error:#}")
    }

    #[test]
    fn the_page_goes_beside_the_document_when_no_place_is_given() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("run.json"), SMALLEST).expect("writes");
        report(folder.path(), "run.json", None).expect("reports");
        let page = std::fs::read_to_string(folder.path().join("run.html")).expect("a page");
        assert!(page.starts_with("<!doctype html>"));
    }

    #[test]
    fn the_page_is_in_the_language_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let document = folder.path().join("run.json");
        std::fs::write(&document, SMALLEST).expect("writes");
        for (code, says) in [
            ("zh-CN", "<html lang=\"zh-CN\">"),
            ("en", "<html lang=\"en\">"),
        ] {
            run(&ReportArgs {
                document: document.clone(),
                out: None,
                lang: language(code).expect("a language"),
            })
            .expect("reports");
            let page = std::fs::read_to_string(folder.path().join("run.html")).expect("a page");
            assert!(page.contains(says), "{code}");
        }
        let told = language("fr").expect_err("is refused");
        assert!(told.contains("en or zh-CN"), "{told}");
    }

    #[test]
    fn what_is_no_run_document_is_told_by_name_with_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path();
        for (name, text) in [
            ("page.json", "<p>"),
            ("other.json", r#"{"schema":"lmx/3"}"#),
            ("newer.json", r#"{"schema":"tokgrid.run/2"}"#),
        ] {
            std::fs::write(folder.join(name), text).expect("writes");
        }
        for (name, words) in [
            ("absent.json", "no such file"),
            ("page.json", "not JSON"),
            ("other.json", r#"says "schema": "lmx/3""#),
            ("newer.json", "use a newer tokgrid"),
            (".", "is a folder"),
        ] {
            let told = told(folder, name, None);
            assert!(told.contains(words) && told.contains(name), "{told}");
        }
    }

    #[test]
    fn a_document_is_not_overwritten_by_its_page() {
        let folder = tempfile::tempdir().expect("a folder");
        let document = folder.path().join("run.json");
        std::fs::write(&document, SMALLEST).expect("writes");
        let told = told(folder.path(), "run.json", Some("run.json"));
        assert!(
            told.contains("is the run document or its samples"),
            "{told}"
        );
        assert_eq!(std::fs::read_to_string(&document).expect("reads"), SMALLEST);
    }
}
