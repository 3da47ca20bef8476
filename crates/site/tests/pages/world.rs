//! A registry with runs in it.

use std::num::NonZeroU32;

use document::{CacheProof, Cell, RunDocument, Source};
use serde_json::Value;
use site::{Site, SiteOptions};
use store::{DatabaseUrl, NewRun, Store};

/// The example runs.
pub const EXAMPLES: [&str; 2] = [
    "deepseek-v4.1-flash-4x-rtx-pro-6000",
    "glm-5.3-flash-4x-rtx-pro-6000",
];

/// When the first run is published: 1 December 2026.
const FIRST_AT_MS: i64 = 1_796_083_200_000;
const MINUTE_MS: i64 = 60_000;

/// A registry on a database of its own.
pub struct World {
    pub site: Site,
    _folder: tempfile::TempDir,
    published: i64,
}

/// An example run.
pub fn example(name: &str) -> RunDocument {
    let path = format!(
        "{}/../../examples/runs/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    RunDocument::from_json(&bytes).expect("a run document")
}

impl World {
    /// Without runs.
    pub async fn empty() -> World {
        let folder = tempfile::tempdir().expect("a folder");
        let url: DatabaseUrl = format!("sqlite:{}/registry.db", folder.path().display())
            .parse()
            .expect("an address");
        let store = Store::open(&url).await.expect("a database");
        let mut options = SiteOptions::new("http://speed.example", |_| {
            Err("nothing is imported here".to_owned())
        });
        options.limits.requests_per_minute = NonZeroU32::MAX;
        World {
            site: Site::new(store, options),
            _folder: folder,
            published: 0,
        }
    }

    /// With the two example runs.
    pub async fn of_examples() -> World {
        let mut world = World::empty().await;
        for name in EXAMPLES {
            world.publish(&example(name)).await;
        }
        world
    }

    /// Publishes as the operator does.
    pub async fn publish(&mut self, run: &RunDocument) -> String {
        self.publish_for(run, None, None).await
    }

    /// Publishes for an account and an organization.
    pub async fn publish_for(
        &mut self,
        run: &RunDocument,
        account_key: Option<i64>,
        organization_key: Option<i64>,
    ) -> String {
        let content = serde_json::to_vec(run).expect("JSON");
        let mut judged = run.clone();
        judge::add_derived_flags(&mut judged);
        let new = NewRun {
            content: &content,
            document: &judged,
            account_key,
            organization_key,
            idempotency_key: None,
            published_at_ms: FIRST_AT_MS + self.published * MINUTE_MS,
        };
        self.published += 1;
        self.site.store.publish(new).await.expect("published").id
    }
}

/// A run like an example, of another model on other hardware, so many times as fast.
pub fn variant(number: u32, model: &str, gpu: &str, gpu_count: u32, factor: f64) -> RunDocument {
    let mut run = example(EXAMPLES[number as usize % EXAMPLES.len()]);
    run.id = format!("01938a00-0000-7000-8000-{number:012}");
    run.source = Source::Measured;
    run.imported_from = None;
    run.model.id = Some(model.to_owned());
    run.hardware.gpu = Some(gpu.to_owned());
    run.hardware.gpu_count = Some(gpu_count);
    run.author = Some(format!("person-{number}"));
    run.organization = None;
    run.finished_at = Some("2026-12-01T10:12:00Z".to_owned());
    for cell in &mut run.cells {
        cell.cache_proof = Some(CacheProof::Proved);
        faster(cell, factor);
    }
    run
}

/// A cell's figures, so many times as fast; they agree with each other.
pub fn faster(cell: &mut Cell, factor: f64) {
    let scale = |value: &mut Option<f64>, factor: f64| *value = value.map(|value| value * factor);
    scale(&mut cell.total_tok_s, factor);
    scale(&mut cell.per_request_tok_s, factor);
    cell.output_tokens = cell
        .output_tokens
        .map(|tokens| (tokens as f64 * factor) as u64);
    if let Some(interval) = &mut cell.total_tok_s_ci95 {
        interval.iter_mut().for_each(|end| *end *= factor);
    }
    for latency in [&mut cell.ttft_ms, &mut cell.tbt_ms].into_iter().flatten() {
        for value in [
            &mut latency.p50,
            &mut latency.p90,
            &mut latency.p95,
            &mut latency.p99,
            &mut latency.min,
            &mut latency.max,
            &mut latency.mean,
        ] {
            scale(value, 1.0 / factor);
        }
    }
}

/// Every text of a JSON value that is not in `kept`, by `with`.
pub fn each_text(value: &mut Value, with: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => with(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, with)),
        Value::Object(fields) => fields.values_mut().for_each(|field| each_text(field, with)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
