//! Reading rendered pages as a browser would, and the example runs.

// A failed expectation is a failed test, in its helpers too.
#![allow(clippy::expect_used, clippy::panic)]

use askama::Template as _;
use document::{
    CacheProof, Cell, CellKey, CellStatus, Distribution, Flag, FlagName, Phase, RunDocument,
    TimestampSource, TokenLedger, TokenSource,
};
use scraper::{ElementRef, Html, Selector};
use site::pages::run::{RunLinks, RunPage, Sort};
use site::words::{Language, Words};

/// The example runs.
pub const NAMES: [&str; 2] = [
    "deepseek-v4.1-flash-4x-rtx-pro-6000",
    "glm-5.3-flash-4x-rtx-pro-6000",
];

/// A file of `examples/`.
pub fn example(path: &str) -> String {
    let path = format!("{}/../../examples/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// An example run.
pub fn example_run(name: &str) -> RunDocument {
    RunDocument::from_json(example(&format!("runs/{name}.json")).as_bytes())
        .expect("a run document")
}

/// A page of the registry as it stands in its frame: the sections alone.
#[derive(askama::Template)]
#[template(
    ext = "html",
    source = r#"<!doctype html><html lang="{{ page.words.language() }}"><head><title>{{ page.title.in_one_line() }}</title></head><body><nav>{% include "run/contents.html" %}</nav><main>{% include "run/sections.html" %}</main></body></html>"#
)]
struct Registry {
    page: RunPage,
}

/// The addresses that the registry gives a run.
pub fn links_of(run: &RunDocument) -> RunLinks {
    RunLinks {
        permalink: format!("https://example.org/runs/{}", run.id),
        csv: format!("/runs/{}/measurements.csv", run.id),
        json: format!("/api/v1/runs/{}", run.id),
        kept: String::new(),
    }
}

/// A rendered report or page of the registry, parsed.
pub struct Page {
    /// The file as it is written.
    pub text: String,
    html: Html,
}

impl Page {
    /// The report of a run, in English.
    pub fn of(run: &RunDocument) -> Page {
        Page::in_language(run, Language::English)
    }

    /// The report of a run.
    pub fn in_language(run: &RunDocument, language: Language) -> Page {
        Page::read(site::report::render(run, Words::of(language)).expect("renders"))
    }

    /// The registry's page of a run.
    pub fn of_registry(run: &RunDocument, language: Language, sort: Option<Sort>) -> Page {
        let page = RunPage::for_registry(run, Words::of(language), &links_of(run), sort);
        Page::read(Registry { page }.render().expect("renders"))
    }

    /// The report and the registry's page of an example run.
    pub fn both_of_example(name: &str) -> [Page; 2] {
        let run = example_run(name);
        [
            Page::of(&run),
            Page::of_registry(&run, Language::English, None),
        ]
    }

    fn read(text: String) -> Page {
        let html = Html::parse_document(&text);
        assert!(
            html.errors
                .iter()
                .all(|error| !error.contains("Unexpected") && !error.contains("EOF")),
            "{:?}",
            html.errors
        );
        Page { text, html }
    }

    /// The report of an example run.
    pub fn of_example(name: &str) -> Page {
        Page::of(&example_run(name))
    }

    /// Every element that a CSS selector finds.
    pub fn all(&self, css: &str) -> Vec<ElementRef<'_>> {
        self.html.select(&selector(css)).collect()
    }

    /// The one element that a CSS selector finds.
    pub fn one(&self, css: &str) -> ElementRef<'_> {
        let found = self.all(css);
        assert_eq!(found.len(), 1, "{css} is found {} times", found.len());
        found[0]
    }

    /// Words of the one element that a CSS selector finds.
    pub fn words_of(&self, css: &str) -> String {
        words(self.one(css))
    }

    /// Words of every element that a CSS selector finds.
    pub fn all_words(&self, css: &str) -> Vec<String> {
        self.all(css).into_iter().map(words).collect()
    }

    /// Rows of the body of the one table that a CSS selector finds, as cells' words.
    pub fn table(&self, css: &str) -> Vec<Vec<String>> {
        self.one(css)
            .select(&selector("tbody tr"))
            .map(|row| row.select(&selector("th, td")).map(words).collect())
            .collect()
    }

    /// Label and value of every fact of a group.
    pub fn facts(&self, group: &str) -> Vec<(String, String)> {
        let title = selector("h2");
        let is_it = |section: &ElementRef| section.select(&title).any(|h2| words(h2) == group);
        let section = self.all(".facts section").into_iter().find(is_it);
        let Some(section) = section else {
            return Vec::new();
        };
        let one =
            |pair: ElementRef, css: &str| words(pair.select(&selector(css)).next().expect(css));
        section
            .select(&selector("dl > div"))
            .map(|pair| (one(pair, "dt"), one(pair, "dd")))
            .collect()
    }
}

/// A parsed CSS selector.
pub fn selector(css: &str) -> Selector {
    Selector::parse(css).expect("a selector")
}

/// An element's text with single spaces.
pub fn words(element: ElementRef<'_>) -> String {
    let text: String = element.text().collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An element's text as it is.
pub fn raw(element: ElementRef<'_>) -> String {
    element.text().collect()
}

/// A run without anything.
pub fn empty_run() -> RunDocument {
    RunDocument::from_json(br#"{"schema":"tokgrid.run/1","id":"run-1","source":"measured"}"#)
        .expect("the smallest document")
}

/// A valid decode cell with all its figures.
pub fn decode_cell(context_tokens: u64, concurrency: u32, total_tok_s: f64) -> Cell {
    let key = CellKey {
        phase: Phase::Decode,
        context_tokens,
        concurrency,
    };
    Cell {
        total_tok_s: Some(total_tok_s),
        per_request_tok_s: Some(total_tok_s / f64::from(concurrency)),
        ttft_ms: Some(every_percentile(80.0)),
        tbt_ms: Some(every_percentile(10.0)),
        average_active: Some(f64::from(concurrency)),
        completed: Some(2),
        output_tokens: Some(1000),
        measured_s: Some(5.0),
        ..Cell::empty(key, CellStatus::Valid)
    }
}

/// A distribution of which everything is known.
pub fn every_percentile(p50: f64) -> Distribution {
    Distribution {
        p50: Some(p50),
        p90: Some(p50 * 1.2),
        p95: Some(p50 * 1.3),
        p99: Some(p50 * 1.5),
        min: Some(p50 * 0.5),
        max: Some(p50 * 2.0),
        mean: Some(p50 * 1.1),
        n: Some(1234),
    }
}

/// A valid prefill cell.
pub fn prefill_cell(context_tokens: u64, tok_s: f64) -> Cell {
    let key = CellKey {
        phase: Phase::Prefill,
        context_tokens,
        concurrency: 1,
    };
    Cell {
        total_tok_s: Some(tok_s),
        ttft_ms: Some(every_percentile(700.0)),
        completed: Some(1),
        ..Cell::empty(key, CellStatus::Valid)
    }
}

/// The cell with a flag.
pub fn flagged(cell: Cell, name: FlagName) -> Cell {
    let evidence = format!("evidence of {}", name.as_str());
    Cell {
        flags: vec![Flag { name, evidence }],
        ..cell
    }
}

/// A failed cell that has figures all the same.
pub fn failed_cell(context_tokens: u64, concurrency: u32, reason: &str) -> Cell {
    Cell {
        status: CellStatus::Failed,
        reason: Some(reason.to_owned()),
        ..decode_cell(context_tokens, concurrency, 9.0)
    }
}

/// A finished run of these cells.
pub fn run_of(cells: Vec<Cell>) -> RunDocument {
    RunDocument {
        cells,
        finished_at: Some("2026-12-01T10:12:00Z".to_owned()),
        ..empty_run()
    }
}

/// A full matrix of which everything is known: the largest report there is.
pub fn full_run() -> RunDocument {
    let mut run = example_run(NAMES[1]);
    for cell in &mut run.cells {
        *cell = every_known_cell(cell.key());
    }
    run
}

/// A cell of which everything is known.
pub fn every_known_cell(key: CellKey) -> Cell {
    Cell {
        ttft_ms: Some(every_percentile(106_315.0)),
        tbt_ms: Some(every_percentile(26.2)),
        chunk_gap_ms: Some(every_percentile(126.2)),
        total_tok_s: Some(1335.7),
        total_tok_s_ci95: Some([1330.1, 1340.2]),
        per_request_tok_s: Some(184.7),
        average_active: Some(f64::from(key.concurrency)),
        completed: Some(12),
        output_tokens: Some(39_844),
        measured_s: Some(30.0),
        prompt_tokens: Some(1_043_456),
        cached_tokens: Some(1_043_440),
        cache_proof: Some(CacheProof::Proved),
        token_source: Some(TokenSource::ContinuousUsage),
        timestamp_source: Some(TimestampSource::Kernel),
        waiting_at_end: Some(0),
        failed: Some(0),
        kv_used_peak: Some(0.93),
        token_ledger: Some(TokenLedger {
            client_tokens: Some(39_844.0),
            engine_tokens: Some(39_851.4),
            ..TokenLedger::default()
        }),
        ..Cell::empty(key, CellStatus::Valid)
    }
}
