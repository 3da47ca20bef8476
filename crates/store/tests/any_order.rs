//! Whatever is published, hidden, shown and deleted: what is kept is what the
//! documents make it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::{BTreeMap, BTreeSet};

use common::{Run, account, assert_clean, open};
use document::{CellStatus, Figure, Phase, RunDocument};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use store::{Filter, Metric, PageRequest, RankingQuery, RunQuery, Shape, Store};
use testkit::on_both;

const CASES: u32 = 8;
const STEPS_MAX: usize = 25;
const MODELS: [&str; 3] = ["org/A", "org/A-FP8", "B"];
const GPUS: [&str; 2] = ["H100", "RTX 4090"];
const ENGINES: [&str; 2] = ["vllm", "llama.cpp"];

#[derive(Debug, Clone)]
enum Step {
    Publish(Run),
    Hide(usize),
    Show(usize),
    Delete(usize),
}

/// A run as the test remembers it.
struct Known {
    id: String,
    document: RunDocument,
    is_hidden: bool,
}

fn cells() -> impl Strategy<Value = Vec<(u64, u32, u32, u32)>> {
    // Few values, so that cells are equal often.
    prop::collection::vec((1..3_u64, 1..3_u32, 1..4_u32, 0..6_u32), 0..6)
}

fn run() -> impl Strategy<Value = Run> {
    let place = (0..MODELS.len(), 0..GPUS.len(), 0..ENGINES.len(), 0..3_u32);
    (place, prop::bool::ANY, cells()).prop_map(|((model, gpu, engine, count), simulated, cells)| {
        let mut run = Run::new("")
            .model(MODELS[model])
            .gpu(GPUS[gpu], count)
            .engine(ENGINES[engine], "");
        if simulated {
            run = run.simulated();
        }
        for (context, concurrency, value, fault) in cells {
            run = run.decode(context * 8192, concurrency, f64::from(value) * 100.0);
            run = match fault {
                0 => run.flagged("unsteady"),
                1 => run.flagged("contaminated"),
                2 => run.last_cell("status", "queued"),
                3 => run.last_cell("phase", "prefill"),
                _ => run,
            };
        }
        run
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        5 => run().prop_map(Step::Publish),
        1 => (0..STEPS_MAX).prop_map(Step::Hide),
        1 => (0..STEPS_MAX).prop_map(Step::Show),
        1 => (0..STEPS_MAX).prop_map(Step::Delete),
    ];
    prop::collection::vec(step, 1..STEPS_MAX)
}

#[test]
fn counts_and_rankings_are_what_the_documents_make_them() {
    let mut runner = TestRunner::new_with_rng(
        Config::with_cases(CASES),
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    );
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runner
        .run(&steps(), |steps| {
            runtime
                .block_on(on_both(async |url| follow(&open(&url).await, &steps).await))
                .unwrap();
            Ok(())
        })
        .unwrap();
}

async fn follow(store: &Store, steps: &[Step]) {
    let by = account(store, "admin").await;
    let mut known: Vec<Known> = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Publish(run) => {
                let id = format!("r{number}");
                let run = run.clone().with("/id", id.as_str());
                run.publish(store).await;
                known.push(Known {
                    id,
                    document: run.document(),
                    is_hidden: false,
                });
            }
            Step::Hide(place) if *place < known.len() => {
                known[*place].is_hidden = true;
                assert!(
                    store
                        .hide_run(&known[*place].id, by, "why", 1)
                        .await
                        .unwrap()
                );
            }
            Step::Show(place) if *place < known.len() => {
                known[*place].is_hidden = false;
                assert!(store.show_run(&known[*place].id).await.unwrap());
            }
            Step::Delete(place) if *place < known.len() => {
                let gone = known.remove(*place);
                assert!(store.delete_run(&gone.id).await.unwrap());
            }
            Step::Hide(_) | Step::Show(_) | Step::Delete(_) => {}
        }
    }
    assert_clean(store).await;
    let shown: Vec<&Known> = known.iter().filter(|run| !run.is_hidden).collect();
    for filter in filters() {
        assert_eq!(
            listed(store, &filter).await,
            list(&shown, &filter),
            "{filter:?}"
        );
        for phase in [Phase::Prefill, Phase::Decode] {
            for (context, concurrency) in [(8192, 1), (8192, 2), (16384, 1), (16384, 2)] {
                let shape = Shape {
                    phase,
                    context_tokens: context,
                    concurrency,
                };
                for metric in Metric::ALL {
                    let expected = rank(&shown, &filter, shape, metric);
                    let found = ranked(store, &filter, shape, metric).await;
                    assert_eq!(found, expected, "{filter:?} {shape:?} {metric:?}");
                }
            }
        }
    }
}

fn filters() -> Vec<Filter> {
    let text = |text: &str| Some(text.to_owned());
    vec![
        Filter::default(),
        Filter {
            kind: Some(store::Kind::Simulated),
            ..Filter::default()
        },
        Filter {
            model: text("org-a"),
            engine: text("vllm"),
            ..Filter::default()
        },
        Filter {
            hardware: text("rtx-4090"),
            gpu_count: Some(0),
            ..Filter::default()
        },
        Filter {
            search: text("ORG vllm"),
            ..Filter::default()
        },
        Filter {
            search: text("fp8 h100"),
            ..Filter::default()
        },
        Filter {
            model: text("no-such"),
            ..Filter::default()
        },
    ]
}

fn matches(run: &RunDocument, filter: &Filter, is_ranking: bool) -> bool {
    let is_simulated = run.hardware.is_simulated();
    let kind = match filter.kind {
        Some(store::Kind::Simulated) => is_simulated,
        Some(_) => !is_simulated,
        None => !is_simulated || !is_ranking,
    };
    let model = run.model.id.clone().unwrap();
    let gpu = run.hardware.gpu.clone().unwrap();
    let engine = run.engine.name.clone().unwrap();
    let slug = |name: &str| name.to_lowercase().replace(['/', ' '], "-");
    let all = format!("{model}\n{gpu}\n{engine}").to_lowercase();
    kind && filter
        .model
        .as_ref()
        .is_none_or(|slugged| *slugged == slug(&model))
        && filter
            .hardware
            .as_ref()
            .is_none_or(|slugged| *slugged == slug(&gpu))
        && filter.engine.as_ref().is_none_or(|name| *name == engine)
        && filter
            .gpu_count
            .is_none_or(|count| Some(count) == run.hardware.gpu_count)
        && filter
            .search
            .iter()
            .flat_map(|search| search.split(' '))
            .all(|word| all.contains(&word.to_lowercase()))
}

/// Ids, newest first, read page by page, after the total.
async fn listed(store: &Store, filter: &Filter) -> (u64, Vec<String>) {
    let query = RunQuery {
        filter: filter.clone(),
        ..RunQuery::default()
    };
    let mut page = PageRequest {
        limit: 2,
        after: None,
    };
    let mut ids = Vec::new();
    loop {
        let found = store.runs(&query, &page).await.unwrap();
        ids.extend(found.items.into_iter().map(|run| run.id));
        page.after = found.next;
        if page.after.is_none() {
            return (found.total.unwrap(), ids);
        }
    }
}

fn list(shown: &[&Known], filter: &Filter) -> (u64, Vec<String>) {
    let ids: Vec<String> = shown
        .iter()
        .rev()
        .filter(|run| matches(&run.document, filter, false))
        .map(|run| run.id.clone())
        .collect();
    (ids.len() as u64, ids)
}

/// Ranks and values in their order, and the run of each place.
type Ranking = (Vec<(u64, f64)>, BTreeSet<(u64, String)>);

async fn ranked(store: &Store, filter: &Filter, shape: Shape, metric: Metric) -> Ranking {
    let query = RankingQuery {
        shape,
        metric,
        filter: filter.clone(),
    };
    let mut page = PageRequest {
        limit: 2,
        after: None,
    };
    let mut ranking: Ranking = Default::default();
    loop {
        let found = store.ranking(&query, &page).await.unwrap();
        for cell in found.items {
            ranking.0.push((cell.rank, cell.value));
            ranking.1.insert((cell.rank, cell.run_id));
        }
        page.after = found.next;
        if page.after.is_none() {
            return ranking;
        }
    }
}

fn rank(shown: &[&Known], filter: &Filter, shape: Shape, metric: Metric) -> Ranking {
    let mut best: BTreeMap<String, (f64, String)> = BTreeMap::new();
    for run in shown
        .iter()
        .filter(|run| matches(&run.document, filter, true))
    {
        let document = &run.document;
        // The last cell of a shape is the one that counts.
        let cell = document.cells.iter().rfind(|cell| {
            let key = cell.key();
            (key.phase, key.context_tokens, key.concurrency)
                == (shape.phase, shape.context_tokens, shape.concurrency)
        });
        let Some(cell) = cell.filter(|cell| cell.status == CellStatus::Valid) else {
            continue;
        };
        let gpus = document.hardware.gpu_count.unwrap_or(0);
        let (figure, value) = match (shape.phase, metric) {
            (Phase::Decode, Metric::Total) => (Figure::DecodeTotal, cell.total_tok_s),
            (Phase::Prefill, Metric::Total) => (Figure::Prefill, cell.total_tok_s),
            (Phase::Decode, Metric::PerGpu) if gpus > 0 => (
                Figure::DecodeTotal,
                cell.total_tok_s.map(|total| total / f64::from(gpus)),
            ),
            (Phase::Prefill, Metric::PerGpu) if gpus > 0 => (
                Figure::Prefill,
                cell.total_tok_s.map(|total| total / f64::from(gpus)),
            ),
            (_, Metric::PerGpu) | (Phase::Prefill, Metric::PerRequest) => continue,
            (Phase::Decode, Metric::PerRequest) => (Figure::DecodeLatency, cell.per_request_tok_s),
            (Phase::Decode, Metric::Ttft) => (Figure::Ttft, cell.ttft_ms_p50()),
            (Phase::Prefill, Metric::Ttft) => (Figure::Prefill, cell.ttft_ms_p50()),
        };
        let Some(value) = value.filter(|_| !cell.is_taken_away(figure)) else {
            continue;
        };
        let configuration = format!(
            "{:?} {:?} {gpus} {:?} {}",
            document.model.id,
            document.hardware.gpu,
            document.engine.name,
            document.hardware.is_simulated()
        );
        let is_better = best.get(&configuration).is_none_or(|(known, _)| {
            if metric.less_is_better() {
                value < *known
            } else {
                value > *known
            }
        });
        if is_better {
            best.insert(configuration, (value, run.id.clone()));
        }
    }
    let mut places: Vec<(f64, String)> = best.into_values().collect();
    places.sort_by(|one, other| one.0.total_cmp(&other.0));
    if !metric.less_is_better() {
        places.reverse();
    }
    let mut ranking: Ranking = Default::default();
    for (value, id) in &places {
        let rank = places.iter().position(|place| place.0 == *value).unwrap() as u64 + 1;
        ranking.0.push((rank, *value));
        ranking.1.insert((rank, id.clone()));
    }
    ranking
}
