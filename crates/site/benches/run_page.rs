//! What a run's page costs: reading the document, the view model, the text.

// A document that is no document is a broken benchmark.
#![allow(clippy::expect_used, clippy::panic)]

use askama::Template;
use divan::Bencher;
use divan::counter::BytesCount;
use document::RunDocument;
use site::pages::run::{RunLinks, RunPage};
use site::words::{Language, Words};

/// The example runs.
const NAMES: [&str; 2] = [
    "deepseek-v4.1-flash-4x-rtx-pro-6000",
    "glm-5.3-flash-4x-rtx-pro-6000",
];

/// A page's sections as the registry puts them into its frame.
#[derive(Template)]
#[template(
    ext = "html",
    source = r#"<main>{% include "run/sections.html" %}</main>"#
)]
struct Registry {
    page: RunPage,
}

fn main() {
    divan::main();
}

fn json(name: &str) -> Vec<u8> {
    let path = format!(
        "{}/../../examples/runs/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn read(json: &[u8]) -> RunDocument {
    RunDocument::from_json(json).expect("a run document")
}

fn page(run: &RunDocument, language: Language) -> RunPage {
    let links = RunLinks {
        permalink: format!("https://example.org/runs/{}", run.id),
        csv: format!("/runs/{}/measurements.csv", run.id),
        json: format!("/api/v1/runs/{}", run.id),
        kept: String::new(),
    };
    RunPage::for_registry(run, Words::of(language), &links, None)
}

#[divan::bench(args = NAMES)]
fn parse(bencher: Bencher, name: &str) {
    let json = json(name);
    bencher
        .counter(BytesCount::of_slice(&json))
        .bench(|| read(&json));
}

#[divan::bench(args = NAMES)]
fn view_model(bencher: Bencher, name: &str) {
    let run = read(&json(name));
    bencher.bench(|| page(&run, Language::English));
}

#[divan::bench(args = NAMES)]
fn render(bencher: Bencher, name: &str) {
    let registry = Registry {
        page: page(&read(&json(name)), Language::English),
    };
    let bytes = registry.render().expect("renders").len();
    bencher
        .counter(BytesCount::new(bytes))
        .bench(|| registry.render().expect("renders"));
}

#[divan::bench(args = NAMES)]
fn whole(bencher: Bencher, name: &str) {
    let json = json(name);
    bencher.bench(|| {
        let page = page(&read(&json), Language::English);
        Registry { page }.render().expect("renders")
    });
}

#[divan::bench(args = NAMES)]
fn whole_in_chinese(bencher: Bencher, name: &str) {
    let json = json(name);
    bencher.bench(|| {
        let page = page(&read(&json), Language::SimplifiedChinese);
        Registry { page }.render().expect("renders")
    });
}
