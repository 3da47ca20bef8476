//! `tokgrid db`: the database made, checked and carried over.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::path::Path;

use common::binary::{Said, finish, folder, tokgrid};
use document::RunDocument;
use store::{NewRun, Store};

const DIFFERS: i32 = 1;
const WRONG: i32 = 2;

fn db(within: &Path, arguments: &[&str]) -> Said {
    let mut all = vec!["db"];
    all.extend(arguments);
    finish(tokgrid(&all).current_dir(within).spawn().unwrap())
}

/// A database with one run, and what it was made of.
fn fill(within: &Path) {
    let url = format!("sqlite:{}", within.join("one.db").display());
    let content = br#"{"schema":"tokgrid.run/1","id":"r1","source":"measured","cells":[
        {"phase":"decode","context_tokens":8192,"concurrency":1,"status":"valid","total_tok_s":9.5}]}"#;
    let document = RunDocument::from_json(content).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Store::open(&url.parse().unwrap()).await.unwrap();
        let run = NewRun {
            content,
            document: &document,
            account_key: None,
            organization_key: None,
            idempotency_key: None,
            published_at_ms: 1,
        };
        store.publish(run).await.unwrap();
    });
}

#[test]
fn a_database_is_carried_over_in_one_file_and_proved() {
    let (folder, _) = folder();
    let within = folder.path();
    fill(within);
    let said = db(within, &["check", "--db", "sqlite:one.db"]);
    assert_eq!(said.status, 0, "{said:#?}");
    assert!(
        said.stdout
            .contains("1 run and 1 cell read: all is as it must be")
    );
    let said = db(within, &["export", "all.tokgrid", "--db", "sqlite:one.db"]);
    assert_eq!(said.status, 0, "{said:#?}");
    let again = db(within, &["export", "all.tokgrid", "--db", "sqlite:one.db"]);
    assert_eq!(again.status, WRONG);
    assert!(
        again.stderr.contains("cannot create all.tokgrid"),
        "{again:#?}"
    );
    let said = db(within, &["migrate", "--db", "sqlite:two.db"]);
    assert_eq!(said.status, 0, "{said:#?}");
    let said = db(within, &["import", "all.tokgrid", "--db", "sqlite:two.db"]);
    assert_eq!(said.status, 0, "{said:#?}");
    assert!(said.stdout.contains("read and checked"), "{said:#?}");
    let again = db(within, &["import", "all.tokgrid", "--db", "sqlite:two.db"]);
    assert_eq!(again.status, WRONG);
    assert!(again.stderr.contains("import into a new one"), "{again:#?}");
}

#[test]
fn a_check_that_finds_something_says_it_and_exits_with_1() {
    let (folder, _) = folder();
    let within = folder.path();
    fill(within);
    let said = db(within, &["export", "all.tokgrid", "--db", "sqlite:one.db"]);
    assert_eq!(said.status, 0, "{said:#?}");
    // What is kept goes wrong by a file that somebody wrote into.
    let packed = std::fs::read(within.join("all.tokgrid")).unwrap();
    let text = String::from_utf8(zstd::decode_all(packed.as_slice()).unwrap()).unwrap();
    let damaged = text.replace("9.5", "9.25");
    assert_ne!(damaged, text);
    let packed = zstd::encode_all(damaged.as_bytes(), 1).unwrap();
    std::fs::write(within.join("damaged.tokgrid"), packed).unwrap();
    let said = db(
        within,
        &["import", "damaged.tokgrid", "--db", "sqlite:two.db"],
    );
    assert_eq!(said.status, WRONG);
    assert!(said.stderr.contains("does not hold together"), "{said:#?}");
    let said = db(within, &["check", "--db", "sqlite:two.db"]);
    assert_eq!(said.status, DIFFERS, "{said:#?}");
    assert!(said.stdout.contains("run r1: cell 0 is"), "{said:#?}");
}
