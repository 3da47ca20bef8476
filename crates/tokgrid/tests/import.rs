//! `tokgrid import`: files in, documents out, and nothing replaced unasked.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::{Path, PathBuf};

use common::binary::{Said, finish, folder, tokgrid};
use document::{CellStatus, RunDocument, Source};

/// Exit status of wrong use.
const WRONG: i32 = 2;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../convert/tests/fixtures")
        .join(name)
}

fn excerpt() -> PathBuf {
    fixture("llm-inference-bench-0.6.2-excerpt.json")
}

fn old() -> PathBuf {
    fixture("llm-inference-bench-0.4.18-vllm-0.32.0-cpu.json")
}

fn read(path: &Path) -> RunDocument {
    common::binary::read(path).unwrap_or_else(|| panic!("{}", path.display()))
}

fn import(within: &Path, arguments: &[&Path]) -> Said {
    let mut all = vec!["import"];
    all.extend(arguments.iter().map(|argument| argument.to_str().unwrap()));
    finish(tokgrid(&all).current_dir(within).spawn().unwrap())
}

#[test]
fn a_file_becomes_a_document_in_this_folder_and_all_that_is_null_is_said() {
    let (folder, _) = folder();
    let said = import(folder.path(), &[&excerpt()]);
    assert_eq!(said.status, 0, "{said:#?}");
    for words in [
        "llm-inference-bench 0.6.2, mimo-v2.6-flash-rl on vllm",
        "14 cells: 12 Valid, 1 Over capacity, 1 Failed",
        "The machine has 8 GPUs",
        "decode 64K × 64: Over capacity: needs 1.66M more KV tokens",
        "flag repetition: the tool found answers that loop",
        "Run document: llm-inference-bench-0.6.2-excerpt.run.json",
    ] {
        assert!(said.stdout.contains(words), "{words}: {}", said.stdout);
    }
    let run = read(
        &folder
            .path()
            .join("llm-inference-bench-0.6.2-excerpt.run.json"),
    );
    assert_eq!((run.source, run.cells.len()), (Source::Imported, 14));
}

#[test]
fn several_files_become_one_document_each_in_a_folder() {
    let (folder, _) = folder();
    let out = folder.path().join("runs");
    std::fs::create_dir(&out).unwrap();
    let said = import(
        folder.path(),
        &[&excerpt(), &old(), Path::new("--out"), &out],
    );
    assert_eq!(said.status, 0, "{said:#?}");
    assert!(
        said.stdout.contains("12 Valid, 2 Requests queued"),
        "{}",
        said.stdout
    );
    let run = read(&out.join("llm-inference-bench-0.4.18-vllm-0.32.0-cpu.run.json"));
    let queued = run
        .cells
        .iter()
        .filter(|cell| cell.status == CellStatus::Queued);
    assert_eq!(queued.count(), 2);
    assert!(
        out.join("llm-inference-bench-0.6.2-excerpt.run.json")
            .exists()
    );
}

#[test]
fn several_files_do_not_go_into_one() {
    let (folder, _) = folder();
    let out = Path::new("run.json");
    let said = import(
        folder.path(),
        &[&excerpt(), &old(), Path::new("--out"), out],
    );
    said.assert_refused(WRONG, &["run.json is no folder", "2 files"]);
    let same = folder.path().join("llm-inference-bench-0.6.2-excerpt.json");
    std::fs::copy(excerpt(), &same).unwrap();
    let said = import(folder.path(), &[&excerpt(), &same]);
    said.assert_refused(WRONG, &["would both become", "one by one"]);
    assert!(
        !folder
            .path()
            .join("llm-inference-bench-0.6.2-excerpt.run.json")
            .exists()
    );
}

#[test]
fn nothing_that_is_there_is_replaced_unasked() {
    let (folder, _) = folder();
    let out = folder.path().join("run.json");
    std::fs::write(&out, "mine").unwrap();
    let to_out = [&excerpt(), Path::new("--out"), &out];
    import(folder.path(), &to_out).assert_refused(WRONG, &["run.json exists", "--force"]);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "mine");
    let forced = [to_out[0], to_out[1], to_out[2], Path::new("--force")];
    assert_eq!(import(folder.path(), &forced).status, 0);
    assert_eq!(read(&out).cells.len(), 14);
    // A result file is not replaced even then.
    let copy = folder.path().join("result.json");
    std::fs::copy(excerpt(), &copy).unwrap();
    let said = import(
        folder.path(),
        &[&copy, Path::new("--out"), &copy, Path::new("--force")],
    );
    said.assert_refused(WRONG, &["is a result file"]);
}

#[test]
fn where_one_file_is_wrong_no_document_is_written_and_the_file_is_named() {
    let (folder, _) = folder();
    let page = folder.path().join("page.json");
    for (text, words) in [
        ("<html>", "a page (HTML or XML)"),
        ("", "the file is empty"),
        ("{\"metadata\": {", "breaks off at line 1"),
        (r#"{"schema":"tokgrid.run/1"}"#, "publish it as it is"),
        (r#"{"a":"\u001b[2J"}"#, "a JSON object with `a`"),
    ] {
        std::fs::write(&page, text).unwrap();
        let said = import(folder.path(), &[&excerpt(), &page]);
        said.assert_refused(WRONG, &["page.json", words]);
    }
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    import(folder.path(), &[Path::new("absent.json")])
        .assert_refused(WRONG, &["absent.json: cannot be read"]);
    import(folder.path(), &[folder.path()]).assert_refused(WRONG, &["is no file"]);
    import(folder.path(), &[]).assert_refused(WRONG, &["<FILE>"]);
}

#[test]
fn codes_that_a_terminal_obeys_are_not_repeated() {
    let (folder, _) = folder();
    let text = std::fs::read_to_string(excerpt()).unwrap();
    let file = folder.path().join("codes.json");
    std::fs::write(
        &file,
        text.replace("mimo-v2.6-flash-rl", "a\\u001b[2Jmodel"),
    )
    .unwrap();
    let said = import(folder.path(), &[&file]);
    assert_eq!(said.status, 0, "{said:#?}");
    assert!(said.stdout.contains("model") && !said.stdout.contains('\u{1b}'));
}
