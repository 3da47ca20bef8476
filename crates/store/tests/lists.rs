//! Lists: what they hold, in which order, and how they go on.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use common::{Run, account, open};
use document::Phase;
use store::{
    CellQuery, Counted, Filter, Metric, NewRun, PageRequest, RankingQuery, RunQuery, Shape, Store,
    StoreError,
};
use testkit::on_both;

fn first(limit: u32) -> PageRequest {
    PageRequest { limit, after: None }
}

fn counted(values: &[Counted]) -> Vec<(&str, u64)> {
    let values = values.iter();
    values
        .map(|counted| (counted.value.as_str(), counted.run_count))
        .collect()
}

/// Runs of two models on two machines.
async fn fill(store: &Store) {
    let runs = [
        Run::new("r1")
            .model("org/A")
            .gpu("H100", 8)
            .engine("vllm", "FP8"),
        Run::new("r2")
            .model("org/A")
            .gpu("H100", 8)
            .engine("vllm", "FP8"),
        Run::new("r3")
            .model("org/A")
            .gpu("RTX 4090", 1)
            .engine("llama.cpp", "Q4_K_M"),
        Run::new("r4")
            .model("B")
            .gpu("RTX 4090", 1)
            .engine("llama.cpp", "Q4_K_M"),
    ];
    for (number, run) in (1_u32..).zip(runs) {
        run.decode(8192, 1, f64::from(number) * 10.0)
            .decode(8192, 4, f64::from(number) * 30.0)
            .decode(16384, 1, f64::from(number) * 5.0)
            .publish_at(store, i64::from(number) * 1_000)
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn filters_offer_what_there_is_commonest_first() {
    on_both(async |url| {
        let store = open(&url).await;
        fill(&store).await;
        let offered = store.offered().await.unwrap();
        assert_eq!(counted(&offered.models), [("org-a", 3), ("b", 1)]);
        assert_eq!(offered.models[0].label, "org/A");
        assert_eq!(counted(&offered.hardware), [("h100", 2), ("rtx-4090", 2)]);
        assert_eq!(counted(&offered.engines), [("llama.cpp", 2), ("vllm", 2)]);
        assert_eq!(counted(&offered.gpu_counts), [("1", 2), ("8", 2)]);
        assert_eq!(counted(&offered.kinds), [("measured", 4)]);
        let filter = Filter {
            model: Some("org-a".to_owned()),
            ..Filter::default()
        };
        let occurring = store.occurring(&filter, None).await.unwrap();
        assert_eq!(counted(&occurring.hardware), [("h100", 2), ("rtx-4090", 1)]);
        assert_eq!(
            counted(&occurring.quantizations),
            [("FP8", 2), ("Q4_K_M", 1)]
        );
        assert_eq!(counted(&occurring.models), [("org-a", 3)]);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn models_and_hardware_are_listed_by_their_runs_and_found_by_words() {
    on_both(async |url| {
        let store = open(&url).await;
        fill(&store).await;
        let page = store.models(None, &first(1)).await.unwrap();
        assert_eq!(
            (page.items[0].named.slug.as_str(), page.total),
            ("org-a", Some(2))
        );
        assert_eq!(page.items[0].run_count, 3);
        assert_eq!(page.items[0].last_published_at_ms, Some(3_000));
        let rest = PageRequest {
            limit: 1,
            after: page.next,
        };
        let page = store.models(None, &rest).await.unwrap();
        assert_eq!((page.items[0].named.slug.as_str(), page.next), ("b", None));
        let found = store
            .hardware_list(Some("RTX 40"), &first(9))
            .await
            .unwrap();
        assert_eq!(found.items[0].named.name, "RTX 4090");
        assert_eq!(found.items.len(), 1);
        assert!(store.hardware("h100").await.unwrap().is_some());
        assert!(store.model("h100").await.unwrap().is_none());
        assert!(
            store
                .organizations(Some("%"), &first(9))
                .await
                .unwrap()
                .items
                .is_empty()
        );
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn a_cursor_that_no_page_gave_is_refused() {
    on_both(async |url| {
        let store = open(&url).await;
        let page = PageRequest {
            limit: 5,
            after: Some("x'; --".to_owned()),
        };
        let query = RankingQuery {
            shape: Shape {
                phase: Phase::Decode,
                context_tokens: 8192,
                concurrency: 1,
            },
            metric: Metric::Total,
            filter: Filter::default(),
        };
        let refused = [
            store.runs(&RunQuery::default(), &page).await.err(),
            store.cells(&CellQuery::default(), &page).await.err(),
            store.ranking(&query, &page).await.err(),
            store.models(None, &page).await.err(),
        ];
        for error in refused {
            assert!(matches!(error, Some(StoreError::Cursor(_))), "{error:?}");
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn cells_are_read_page_by_page_without_a_gap() {
    on_both(async |url| {
        let store = open(&url).await;
        fill(&store).await;
        let query = CellQuery {
            context_tokens: Some(8192),
            ..CellQuery::default()
        };
        let mut page = first(3);
        let mut found = Vec::new();
        loop {
            let cells = store.cells(&query, &page).await.unwrap();
            found.extend(
                cells
                    .items
                    .into_iter()
                    .map(|cell| (cell.run_id, cell.cell_index)),
            );
            page.after = cells.next;
            if page.after.is_none() {
                break;
            }
        }
        let expected: Vec<(String, u64)> = ["r4", "r3", "r2", "r1"]
            .into_iter()
            .flat_map(|id| [(id.to_owned(), 0), (id.to_owned(), 1)])
            .collect();
        assert_eq!(found, expected);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn curves_are_the_best_of_every_shape() {
    on_both(async |url| {
        let store = open(&url).await;
        fill(&store).await;
        let query = RankingQuery {
            shape: Shape {
                phase: Phase::Decode,
                context_tokens: 8192,
                concurrency: 1,
            },
            metric: Metric::Total,
            filter: Filter {
                model: Some("org-a".to_owned()),
                ..Filter::default()
            },
        };
        let ranking = store.ranking(&query, &first(9)).await.unwrap().items;
        let keys: Vec<i64> = ranking.iter().map(|cell| cell.configuration.key).collect();
        assert_eq!(keys.len(), 2);
        let curves = store
            .curves(&keys, Phase::Decode, Some(8192), Metric::Total)
            .await
            .unwrap();
        let found: Vec<_> = curves
            .iter()
            .map(|cell| {
                (
                    cell.shape.concurrency,
                    cell.rank,
                    cell.value,
                    cell.run_id.as_str(),
                )
            })
            .collect();
        let expected = [
            (1, 1, 30.0, "r3"),
            (1, 2, 20.0, "r2"),
            (4, 1, 90.0, "r3"),
            (4, 2, 60.0, "r2"),
        ];
        assert_eq!(found, expected);
        let all = store
            .curves(&keys[..1], Phase::Decode, None, Metric::Total)
            .await
            .unwrap();
        assert_eq!(all.len(), 3);
        assert!(
            store
                .curves(&[], Phase::Decode, None, Metric::Total)
                .await
                .unwrap()
                .is_empty()
        );
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn shapes_are_counted_for_models_and_hardware_and_both() {
    on_both(async |url| {
        let store = open(&url).await;
        fill(&store).await;
        let count = async |model, hardware| {
            let shapes = store.shapes(model, hardware).await.unwrap();
            shapes.first().map(|shape| (shapes.len(), shape.cell_count))
        };
        assert_eq!(count(None, None).await, Some((3, 4)));
        assert_eq!(count(Some("org-a"), None).await, Some((3, 3)));
        assert_eq!(count(None, Some("h100")).await, Some((3, 2)));
        assert_eq!(count(Some("org-a"), Some("rtx-4090")).await, Some((3, 1)));
        assert_eq!(count(Some("b"), Some("h100")).await, None);
        assert_eq!(count(Some("no-such"), None).await, None);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn runs_are_listed_for_accounts_and_organizations() {
    on_both(async |url| {
        let store = open(&url).await;
        fill(&store).await;
        let by = account(&store, "one").await;
        let named = store::Named {
            slug: "lab".to_owned(),
            name: "The Lab".to_owned(),
        };
        store.create_organization(&named, by, 1).await.unwrap();
        let organization = store
            .organization_for_publishing(by, "lab")
            .await
            .unwrap()
            .unwrap();
        for id in ["a1", "a2", "a3"] {
            let run = Run::new(id)
                .model("org/A")
                .gpu("H100", 8)
                .engine("vllm", "FP8")
                .decode(8192, 1, 1.0);
            let new = NewRun {
                content: &run.bytes(),
                document: &run.document(),
                account_key: Some(by),
                organization_key: (id != "a1").then_some(organization),
                idempotency_key: None,
                published_at_ms: 9_000,
            };
            store.publish(new).await.unwrap();
        }
        store.hide_run("a3", by, "why", 1).await.unwrap();
        let listed = async |query: RunQuery| {
            let page = store.runs(&query, &first(9)).await.unwrap();
            let ids: Vec<String> = page.items.into_iter().map(|run| run.id).collect();
            (page.total.unwrap(), ids.join(" "))
        };
        let of_account = RunQuery {
            account: Some("one".to_owned()),
            ..RunQuery::default()
        };
        assert_eq!(listed(of_account.clone()).await, (2, "a2 a1".to_owned()));
        let with_hidden = RunQuery {
            with_hidden: true,
            ..of_account
        };
        assert_eq!(listed(with_hidden).await, (3, "a3 a2 a1".to_owned()));
        let of_organization = RunQuery {
            organization: Some("lab".to_owned()),
            ..RunQuery::default()
        };
        assert_eq!(listed(of_organization.clone()).await, (1, "a2".to_owned()));
        let with_hidden = RunQuery {
            with_hidden: true,
            ..of_organization
        };
        assert_eq!(listed(with_hidden).await, (2, "a3 a2".to_owned()));
        let occurring = store
            .occurring(&Filter::default(), Some("lab"))
            .await
            .unwrap();
        assert_eq!(counted(&occurring.models), [("org-a", 1)]);
        let entry = store.organization("lab").await.unwrap().unwrap();
        assert_eq!(
            (entry.run_count, entry.last_published_at_ms),
            (1, Some(9_000))
        );
        common::assert_clean(&store).await;
    })
    .await
    .unwrap();
}
