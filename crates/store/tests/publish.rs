//! What becomes of a run that is published.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Run, account, assert_clean, open};
use document::Phase;
use store::{
    CellQuery, Kind, Metric, PageRequest, RankingQuery, RunQuery, Shape, Store, StoreError,
};
use testkit::on_both;

fn first(limit: u32) -> PageRequest {
    PageRequest { limit, after: None }
}

const DECODE_8K: Shape = Shape {
    phase: Phase::Decode,
    context_tokens: 8192,
    concurrency: 4,
};

/// Run and value of each place, for all kinds but simulated.
async fn ranking(store: &Store, metric: Metric) -> Vec<(String, f64)> {
    let query = RankingQuery {
        shape: DECODE_8K,
        metric,
        filter: store::Filter::default(),
    };
    let page = store.ranking(&query, &first(50)).await.unwrap();
    let cells = page.items.into_iter();
    cells.map(|cell| (cell.run_id, cell.value)).collect()
}

#[tokio::test]
async fn a_document_comes_back_as_it_came() {
    on_both(async |url| {
        let store = open(&url).await;
        let run = Run::new("r1").decode(8192, 4, 400.0);
        let published = run.publish(&store).await;
        assert!(published.created);
        assert_eq!(published.id, "r1");
        let stored = store.run("r1").await.unwrap().unwrap();
        assert_eq!(stored.document, run.bytes());
        assert_eq!(stored.model.slug, "org-model-1");
        assert_eq!(stored.hardware.name, "RTX PRO 6000");
        assert_eq!(stored.published_at_ms, 1_000);
        assert!(store.run("r2").await.unwrap().is_none());
        assert_clean(&store).await;
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn the_same_content_is_one_run_and_other_content_of_an_id_is_refused() {
    on_both(async |url| {
        let store = open(&url).await;
        let run = Run::new("r1").decode(8192, 4, 400.0);
        run.publish(&store).await;
        let again = run.publish(&store).await;
        assert_eq!((again.id.as_str(), again.created), ("r1", false));
        let other = Run::new("r1").decode(8192, 4, 401.0);
        let refused = other.publish_at(&store, 2).await.unwrap_err();
        assert!(matches!(refused, StoreError::RunExists(id) if id == "r1"));
        let runs = store.runs(&RunQuery::default(), &first(10)).await.unwrap();
        assert_eq!((runs.items.len(), runs.total), (1, Some(1)));
        assert_clean(&store).await;
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn an_idempotency_key_gives_one_run_for_each_account() {
    on_both(async |url| {
        let store = open(&url).await;
        let (one, other) = (account(&store, "one").await, account(&store, "other").await);
        let run = Run::new("r1").decode(8192, 4, 400.0);
        let first = run
            .publish_by(&store, Some(one), Some("k"), 1)
            .await
            .unwrap();
        let again = run
            .publish_by(&store, Some(one), Some("k"), 2)
            .await
            .unwrap();
        assert_eq!((first.created, again.created), (true, false));
        assert_eq!(again.id, "r1");
        let second = Run::new("r2").decode(8192, 4, 1.0);
        let refused = second.publish_by(&store, Some(one), Some("k"), 3).await;
        assert!(matches!(refused, Err(StoreError::IdempotencyKeyReused)));
        assert!(store.run("r2").await.unwrap().is_none());
        let theirs = second
            .publish_by(&store, Some(other), Some("k"), 4)
            .await
            .unwrap();
        assert!(theirs.created);
        // A deleted run answers nothing any more.
        assert!(store.delete_run("r1").await.unwrap());
        let anew = run
            .publish_by(&store, Some(one), Some("k"), 5)
            .await
            .unwrap();
        assert!(anew.created);
        assert_clean(&store).await;
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn several_runs_are_kept_together_or_not_at_all() {
    on_both(async |url| {
        let store = open(&url).await;
        let runs = [
            Run::new("r1").decode(8192, 4, 1.0),
            Run::new("r2").decode(8192, 4, 2.0),
            Run::new("r1").decode(8192, 4, 3.0),
        ];
        let contents: Vec<_> = runs
            .iter()
            .map(|run| (run.bytes(), run.document()))
            .collect();
        let new = |(content, document)| store::NewRun {
            content,
            document,
            account_key: None,
            organization_key: None,
            idempotency_key: None,
            published_at_ms: 1,
        };
        let new: Vec<_> = contents
            .iter()
            .map(|(content, document)| new((content.as_slice(), document)))
            .collect();
        assert!(matches!(
            store.publish_many(&new).await,
            Err(StoreError::RunExists(_))
        ));
        assert!(store.run("r2").await.unwrap().is_none());
        let published = store.publish_many(&new[..2]).await.unwrap();
        assert_eq!(published.len(), 2);
        assert_clean(&store).await;
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn only_figures_that_stand_rank() {
    on_both(async |url| {
        let store = open(&url).await;
        let cell = |id: &str, model: &str| Run::new(id).model(model).decode(8192, 4, 400.0);
        cell("good", "good").publish(&store).await;
        cell("flagged", "a")
            .flagged("contaminated")
            .publish(&store)
            .await;
        cell("queued", "b")
            .last_cell("status", "queued")
            .publish(&store)
            .await;
        cell("zero", "c")
            .last_cell("total_tok_s", 0.0)
            .publish(&store)
            .await;
        cell("none", "d")
            .last_cell("total_tok_s", serde_json::Value::Null)
            .publish(&store)
            .await;
        cell("unsteady", "e")
            .flagged("unsteady")
            .publish(&store)
            .await;
        cell("censored", "f")
            .last_cell("ttft_censored", true)
            .publish(&store)
            .await;
        cell("simulated", "g").simulated().publish(&store).await;
        cell("miss", "h")
            .flagged("prefix_cache_miss")
            .publish(&store)
            .await;
        let ids = |ranking: Vec<(String, f64)>| {
            let mut ids: Vec<_> = ranking.into_iter().map(|(id, _)| id).collect();
            ids.sort();
            ids.join(" ")
        };
        assert_eq!(
            ids(ranking(&store, Metric::Total).await),
            "censored good miss"
        );
        assert_eq!(
            ids(ranking(&store, Metric::PerRequest).await),
            "censored good miss none unsteady zero"
        );
        assert_eq!(
            ids(ranking(&store, Metric::Ttft).await),
            "good none unsteady zero"
        );
        assert_clean(&store).await;
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_cell_measured_again_counts_once_and_the_later_one() {
    on_both(async |url| {
        let store = open(&url).await;
        let run = Run::new("r").decode(8192, 4, 500.0).decode(8192, 4, 400.0);
        run.publish(&store).await;
        assert_eq!(
            ranking(&store, Metric::Total).await,
            [("r".to_owned(), 400.0)]
        );
        let query = CellQuery {
            run_id: Some("r".to_owned()),
            ..CellQuery::default()
        };
        let cells = store.cells(&query, &first(10)).await.unwrap().items;
        let ranks: Vec<_> = cells.iter().map(|cell| cell.ranks).collect();
        assert_eq!(ranks, [[false; 3], [true; 3]]);
        assert_eq!(store.shapes(None, None).await.unwrap()[0].cell_count, 1);
        assert_clean(&store).await;
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn per_gpu_is_the_total_over_the_gpus_and_needs_some() {
    on_both(async |url| {
        let store = open(&url).await;
        Run::new("four")
            .gpu("A", 4)
            .decode(8192, 4, 400.0)
            .publish(&store)
            .await;
        Run::new("one")
            .gpu("B", 1)
            .decode(8192, 4, 300.0)
            .publish(&store)
            .await;
        Run::new("cpu")
            .with("/hardware", serde_json::json!({"cpu": "EPYC"}))
            .decode(8192, 4, 900.0)
            .publish(&store)
            .await;
        let expected = [("one".to_owned(), 300.0), ("four".to_owned(), 100.0)];
        assert_eq!(ranking(&store, Metric::PerGpu).await, expected);
        let runs = store.runs(&RunQuery::default(), &first(10)).await.unwrap();
        assert_eq!(runs.items[0].hardware.slug, "epyc");
        assert_eq!(runs.items[0].gpu_count, None);
        assert_eq!(runs.items[0].kind, Kind::Measured);
        assert_clean(&store).await;
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn equal_cells_leave_the_earlier_run_in_its_place() {
    on_both(async |url| {
        let store = open(&url).await;
        for id in ["r1", "r2"] {
            Run::new(id).decode(8192, 4, 400.0).publish(&store).await;
        }
        let expected = |id: &str| [(id.to_owned(), 400.0)];
        assert_eq!(ranking(&store, Metric::Total).await, expected("r1"));
        let by = account(&store, "admin").await;
        assert!(store.hide_run("r1", by, "wrong machine", 7).await.unwrap());
        assert_eq!(ranking(&store, Metric::Total).await, expected("r2"));
        assert!(store.show_run("r1").await.unwrap());
        assert_eq!(ranking(&store, Metric::Total).await, expected("r1"));
        assert!(store.delete_run("r1").await.unwrap());
        assert_eq!(ranking(&store, Metric::Total).await, expected("r2"));
        assert!(!store.delete_run("r1").await.unwrap());
        assert_clean(&store).await;
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_hidden_run_is_in_no_list_and_says_why() {
    on_both(async |url| {
        let store = open(&url).await;
        let by = account(&store, "admin").await;
        Run::new("r1").decode(8192, 4, 400.0).publish(&store).await;
        store.hide_run("r1", by, "wrong machine", 7).await.unwrap();
        let mut query = RunQuery::default();
        let runs = store.runs(&query, &first(10)).await.unwrap();
        assert_eq!((runs.items.len(), runs.total), (0, Some(0)));
        assert!(
            store
                .models(None, &first(10))
                .await
                .unwrap()
                .items
                .is_empty()
        );
        assert!(store.shapes(None, None).await.unwrap().is_empty());
        query.with_hidden = true;
        let runs = store.runs(&query, &first(10)).await.unwrap();
        assert_eq!(runs.total, Some(1));
        let hidden = runs.items[0].hidden.clone().unwrap();
        assert_eq!((hidden.at_ms, hidden.reason.as_str()), (7, "wrong machine"));
        assert_eq!(store.run("r1").await.unwrap().unwrap().hidden, Some(hidden));
        assert_clean(&store).await;
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn names_that_no_column_holds_are_cut_or_refused() {
    on_both(async |url| {
        let store = open(&url).await;
        let long = "Modell ".repeat(1_000);
        Run::new("r1")
            .model(&format!("\0{long}"))
            .decode(8192, 4, 1.0)
            .publish(&store)
            .await;
        Run::new("r2")
            .model("模型")
            .decode(8192, 4, 1.0)
            .publish(&store)
            .await;
        Run::new("r3")
            .model("模型二")
            .decode(8192, 4, 1.0)
            .publish(&store)
            .await;
        assert_eq!(
            store.run("r2").await.unwrap().unwrap().model.slug,
            "unnamed"
        );
        assert_eq!(
            store.run("r3").await.unwrap().unwrap().model.slug,
            "unnamed-2"
        );
        let refused = Run::new("a\0b").publish_at(&store, 1).await.unwrap_err();
        assert!(matches!(refused, StoreError::Unstorable(_)), "{refused}");
        let refused = Run::new("r4")
            .decode(u64::MAX, 1, 1.0)
            .publish_at(&store, 1)
            .await;
        assert!(matches!(refused, Err(StoreError::Unstorable(_))));
        assert_clean(&store).await;
    })
    .await
    .unwrap();
}
