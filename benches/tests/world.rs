//! What the generated world is like.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use benches::wanted::{Class, Rules, Runs};
use benches::world::{Facts, MACHINES, World};
use document::{CellStatus, RunDocument};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use store::{Kind, Store};

const RUNS: u64 = 100_000;
const SEED: u64 = 1;

fn world() -> World {
    World::new(SEED).unwrap()
}

fn counted<T: std::hash::Hash + Eq>(values: impl Iterator<Item = T>) -> HashMap<T, usize> {
    let mut counts = HashMap::new();
    for value in values {
        *counts.entry(value).or_insert(0) += 1;
    }
    counts
}

#[test]
fn the_world_is_as_skewed_as_is_required() {
    let world = world();
    let facts: Vec<Facts> = (0..RUNS).map(|index| world.facts(index)).collect();
    let models = counted(facts.iter().map(|facts| facts.model));
    let machines = counted(facts.iter().map(|facts| facts.machine));
    assert!(*models.values().max().unwrap() >= 20_000);
    assert!(*machines.values().max().unwrap() >= 30_000);
    let commonest = machines.iter().max_by_key(|(_, runs)| **runs).unwrap().0;
    assert_eq!(MACHINES[*commonest].name, MACHINES[0].name);
    assert!(models.len() >= 1450, "{} models", models.len());
    assert_eq!(machines.len(), MACHINES.len());
    let rarely = models.values().filter(|runs| **runs <= 20).count();
    assert!(rarely >= 500, "{rarely} models with at most 20 runs");
    let quantizations = counted(facts.iter().map(|facts| facts.quantization.name));
    let engines = counted(facts.iter().map(|facts| facts.engine));
    assert_eq!((quantizations.len(), engines.len()), (8, 6));
    let gpu_counts = counted(facts.iter().filter_map(|facts| facts.gpu_count));
    assert_eq!(gpu_counts.len(), 4);
    let kinds = counted(facts.iter().map(|facts| facts.kind));
    assert!(kinds[&Kind::Imported] > 10_000 && kinds[&Kind::Simulated] > 1_000);
    let ids: HashSet<&str> = facts.iter().map(|facts| facts.id.as_str()).collect();
    assert_eq!(ids.len(), facts.len());
}

#[test]
fn the_same_seed_makes_the_same_runs_and_another_makes_others() {
    let (one, same, other) = (world(), world(), World::new(SEED + 1).unwrap());
    for index in [0, 1, 999, 99_999] {
        let document = |world: &World| world.document(&world.facts(index));
        assert_eq!(document(&one), document(&same));
        assert_ne!(document(&one).id, document(&other).id);
    }
}

#[test]
fn a_run_has_about_seventy_cells_and_every_verdict_occurs() {
    let world = world();
    let mut cells = 0;
    let mut verdicts = HashMap::new();
    let mut flags = HashSet::new();
    let runs = 1000;
    for index in 0..runs {
        let document = world.document(&world.facts(index));
        cells += document.cells.len();
        for cell in &document.cells {
            *verdicts.entry(cell.status).or_insert(0) += 1;
            flags.extend(cell.flags.iter().map(|flag| flag.name));
        }
    }
    let each = cells as f64 / runs as f64;
    assert!((66.0..76.0).contains(&each), "{each} cells");
    let share = |status| f64::from(verdicts[&status]) / cells as f64;
    assert!(share(CellStatus::Valid) > 0.5, "{verdicts:?}");
    assert!(share(CellStatus::Queued) > 0.02, "{verdicts:?}");
    assert!(share(CellStatus::OverCapacity) > 0.05, "{verdicts:?}");
    assert!(share(CellStatus::Failed) > 0.001, "{verdicts:?}");
    assert!(flags.len() >= 8, "{flags:?}");
}

#[test]
fn documents_are_read_back_as_they_are_and_prove_no_flag_against_themselves() {
    let world = world();
    for index in 0..500 {
        let document = world.document(&world.facts(index));
        let bytes = serde_json::to_vec(&document).unwrap();
        assert_eq!(RunDocument::from_json(&bytes).unwrap(), document);
        let derived = judge::derived_flags(&document);
        assert_eq!(
            derived,
            [],
            "{index}: {:?}",
            derived.first().map(|d| &document.cells[d.cell_index])
        );
    }
}

#[test]
fn the_site_takes_every_document_and_the_database_proves_its_counts() {
    let options = site::SiteOptions::new("http://localhost", |_| Err("of another tool".to_owned()));
    let world = Arc::new(world());
    let runs = 200;
    for index in 0..runs {
        let bytes = serde_json::to_vec(&world.document(&world.facts(index))).unwrap();
        let received = site::intake::read(&bytes, &options);
        assert!(received.is_ok(), "{index}: {received:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let url = format!("sqlite:{}", folder.path().join("registry.db").display());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = Store::open(&url.parse().unwrap()).await.unwrap();
        // Filled in two parts, as the growth is measured.
        for until in [runs / 2, runs] {
            benches::fill::fill(&store, &world, until, |_| {})
                .await
                .unwrap();
        }
        let report = store.check().await.unwrap();
        assert!(report.is_clean(), "{report:?}");
        assert_eq!(report.run_count, runs);
    });
}

#[test]
fn filters_match_as_many_runs_as_their_class_says() {
    let world = world();
    let runs = Runs::of(&world, 5000);
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let rules = Rules {
        leaves_simulated_out: true,
        has_model: false,
    };
    for class in Class::ALL {
        for _ in 0..20 {
            let (wanted, _) = runs.draw(&mut rng, class, rules).unwrap();
            let count = runs.count(&wanted, true);
            match class {
                Class::Common => assert!(count >= 50, "{wanted:?}"),
                Class::Rare => assert!((1..=20).contains(&count), "{wanted:?}"),
                Class::Empty => assert_eq!(count, 0, "{wanted:?}"),
            }
        }
    }
}
