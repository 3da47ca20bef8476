//! Exports and imports.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Run, account, assert_clean, open};
use store::{Store, StoreError};
use testkit::{FreshDatabase, on_both};

async fn fill(store: &Store) {
    let by = account(store, "one").await;
    for (number, model) in ["org/A", "模型", "org/A"].into_iter().enumerate() {
        let run = Run::new(&format!("r{number}"))
            .model(model)
            .decode(8192, 1, 10.0 / 3.0 + number as f64)
            .decode(8192, 4, 1e-9)
            .last_cell("status", "failed");
        let key = format!("Key {number}");
        run.publish_by(store, Some(by), Some(&key), 1_000)
            .await
            .unwrap();
    }
    Run::new("gone").decode(8192, 64, 1.0).publish(store).await;
    store.delete_run("gone").await.unwrap();
    store
        .hide_run("r1", by, "wrong \"machine\"\n", 7)
        .await
        .unwrap();
}

async fn exported(store: &Store) -> Vec<u8> {
    let mut bytes = Vec::new();
    let carried = store.export(&mut bytes).await.unwrap();
    assert!(carried.table_count > 10);
    bytes
}

#[tokio::test]
async fn an_export_comes_back_the_same_from_either_database() {
    let first = FreshDatabase::sqlite().unwrap();
    let store = open(first.url()).await;
    fill(&store).await;
    let bytes = exported(&store).await;
    on_both(async |url| {
        let other = open(&url).await;
        let carried = other.import(bytes.as_slice()).await.unwrap();
        assert!(carried.row_count > 20);
        assert_clean(&other).await;
        let again = exported(&other).await;
        assert_eq!(text(&again), text(&bytes));
        assert_eq!(again, bytes);
        // And from there back into the first kind.
        let back = FreshDatabase::sqlite().unwrap();
        let back_store = open(back.url()).await;
        back_store.import(again.as_slice()).await.unwrap();
        assert_eq!(exported(&back_store).await, bytes);
        // Numbering goes on behind what was deleted.
        Run::new("next").decode(8192, 1, 1.0).publish(&other).await;
        assert_clean(&other).await;
    })
    .await
    .unwrap();
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(zstd::decode_all(bytes).unwrap()).unwrap()
}

#[tokio::test]
async fn an_import_takes_nothing_but_a_whole_export_into_an_empty_database() {
    let first = FreshDatabase::sqlite().unwrap();
    let store = open(first.url()).await;
    fill(&store).await;
    let bytes = exported(&store).await;
    let text = text(&bytes);
    on_both(async |url| {
        let other = open(&url).await;
        let pack = |text: &str| zstd::encode_all(text.as_bytes(), 1).unwrap();
        let cut = text.rsplit_once("\n{\"end\"").unwrap().0;
        for (wrong, said) in [
            (pack("hello\n"), "this is no export"),
            (pack(cut), "it ends before its last line"),
            (pack(&text.replacen("[1,2", "[1,3", 1)), "another version"),
            (pack(&text.replace("\"slug\"", "\"slog\"")), "other columns"),
            (pack(&text.replacen("\"r0\"", "0", 1)), "another type"),
        ] {
            let error = other
                .import(wrong.as_slice())
                .await
                .unwrap_err()
                .to_string();
            assert!(error.contains(said), "{error}");
        }
        other.import(bytes.as_slice()).await.unwrap();
        let again = other.import(bytes.as_slice()).await;
        assert!(matches!(again, Err(StoreError::NotEmpty(_))));
    })
    .await
    .unwrap();
}
