//! A check finds what is wrong, and says it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Run, account, assert_clean, open};
use sqlx::{AnyConnection, Connection as _, Executor as _};
use store::Store;
use testkit::on_both;

async fn fill(store: &Store) {
    let by = account(store, "one").await;
    for number in 0..3 {
        let run = Run::new(&format!("r{number}"))
            .decode(8192, 1, 10.0 + f64::from(number))
            .decode(8192, 4, 40.0)
            .flagged("unsteady");
        let key = format!("k{number}");
        run.publish_by(store, Some(by), Some(&key), 1_000)
            .await
            .unwrap();
    }
}

async fn damage(url: &str, sql: &'static str) {
    let mut connection = AnyConnection::connect(url).await.unwrap();
    connection.execute(sql).await.unwrap();
    connection.close().await.unwrap();
}

/// Damage to what is kept, and the table it is in.
const KEPT: [(&str, &str); 11] = [
    ("UPDATE configurations SET run_count = 4", "configurations"),
    ("UPDATE variants SET run_count = run_count - 1", "variants"),
    ("UPDATE models SET last_published_at_ms = 2", "models"),
    ("UPDATE models SET run_count = 0", "models"),
    (
        "UPDATE hardware SET last_published_at_ms = NULL",
        "hardware",
    ),
    ("UPDATE runs SET cell_count = 1 WHERE id = 'r1'", "runs"),
    (
        "UPDATE shape_counts SET cell_count = 7 WHERE model_key > 0",
        "shape_counts",
    ),
    ("DELETE FROM best_cells WHERE metric = 4", "best_cells"),
    (
        "UPDATE best_cells SET score = 11 WHERE metric = 1",
        "best_cells",
    ),
    (
        "INSERT INTO shape_counts (model_key, hardware_key, shape_key, cell_count) \
         VALUES (99, 0, 1, 1)",
        "shape_counts",
    ),
    (
        "UPDATE runs SET model_key = model_key, hidden_at_ms = 1 WHERE id = 'r2'",
        "configurations",
    ),
];

/// Damage to what came in, and what is said of it.
const CAME: [(&str, &str); 6] = [
    (
        "UPDATE documents SET content_bytes = content_bytes - 1",
        "does not unpack",
    ),
    (
        "UPDATE cells SET total_tok_s = 11 WHERE cell_index = 0",
        "cell 0 is",
    ),
    (
        "UPDATE cells SET flags = '' WHERE cell_index = 1",
        "lacks a flag",
    ),
    (
        "UPDATE cells SET ranks_total = 1 WHERE cell_index = 1",
        "cell 1 is",
    ),
    ("UPDATE models SET id = 'other'", "by its document"),
    (
        "DELETE FROM cells WHERE cell_index = 1",
        "has 2 cells, the table 1",
    ),
];

#[tokio::test]
async fn damage_to_what_is_kept_is_found_and_repaired() {
    on_both(async |url| {
        let store = open(&url).await;
        fill(&store).await;
        assert_clean(&store).await;
        for (sql, table) in KEPT {
            damage(&url, sql).await;
            let report = store.check().await.unwrap();
            let said = report
                .differences
                .iter()
                .any(|told| told.starts_with(table));
            assert!(said, "{sql}: {report:#?}");
            assert_eq!(report.run_count, 3);
            store.rebuild().await.unwrap();
            assert_clean(&store).await;
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn damage_to_what_came_is_found() {
    for (sql, said) in CAME {
        on_both(async |url| {
            let store = open(&url).await;
            fill(&store).await;
            damage(&url, sql).await;
            let report = store.check().await.unwrap();
            let found = report.differences.iter().any(|told| told.contains(said));
            assert!(found, "{sql}: {report:#?}");
        })
        .await
        .unwrap();
    }
}

#[tokio::test]
async fn a_document_with_other_content_is_found_and_not_given_out() {
    on_both(async |url| {
        let store = open(&url).await;
        fill(&store).await;
        damage(
            &url,
            "UPDATE documents SET (content_bytes, content_zstd) = \
             (SELECT content_bytes, content_zstd FROM documents d \
             JOIN runs ON runs.sha256 = d.sha256 WHERE runs.id = 'r2') \
             WHERE sha256 = (SELECT sha256 FROM runs WHERE id = 'r1')",
        )
        .await;
        let report = store.check().await.unwrap();
        let said = "run r1: its document has another hash";
        assert!(
            report.differences.iter().any(|told| told == said),
            "{report:#?}"
        );
        damage(
            &url,
            "UPDATE documents SET content_bytes = content_bytes + 1",
        )
        .await;
        assert!(store.run("r1").await.is_err());
    })
    .await
    .unwrap();
}
