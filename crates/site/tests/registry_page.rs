//! A run's page on the registry: sorted by the server, linked, and without a script.

// A failed expectation is a failed test, in its helpers too.
#![allow(clippy::expect_used, clippy::panic)]

// Each test file takes what it needs of it.
#[allow(dead_code)]
mod common;

use common::{
    NAMES, Page, decode_cell, example_run, failed_cell, full_run, links_of, raw, run_of, selector,
};
use document::{Cell, CellStatus, RunDocument};
use site::pages::run::{MeasurementColumn, RunLinks, RunPage, Sort};
use site::words::{Language, Words};

fn sorted(run: &RunDocument, sort: &str, dir: &str) -> Page {
    Page::of_registry(run, Language::English, Sort::from_query(sort, dir))
}

/// A column of All measurements, top to bottom.
fn column(page: &Page, at: usize) -> Vec<String> {
    let rows = page.table("#measurements table");
    rows.into_iter().map(|row| row[at].clone()).collect()
}

/// Four speeds, one of them twice, a failed cell that has one all the same, and a
/// cell that was not run.
fn mixed_run() -> RunDocument {
    run_of(vec![
        decode_cell(1024, 1, 20.0),
        decode_cell(1024, 2, 1500.0),
        decode_cell(1024, 4, 300.0),
        failed_cell(1024, 8, "refused"),
        Cell {
            total_tok_s: None,
            status: CellStatus::OverCapacity,
            ..decode_cell(1024, 16, 1.0)
        },
        decode_cell(2048, 1, 300.0),
    ])
}

#[test]
fn rows_are_sorted_by_value_with_the_unmeasured_last_either_way() {
    let run = mixed_run();
    let total = 4;
    assert_eq!(
        column(&sorted(&run, "total_tok_s", "desc"), total),
        ["1,500.0", "300.0", "300.0", "20.0", "—", "—"]
    );
    assert_eq!(
        column(&sorted(&run, "total_tok_s", "asc"), total),
        ["20.0", "300.0", "300.0", "1,500.0", "—", "—"]
    );
    // Equals stay in the order of the pages, either way.
    for dir in ["asc", "desc"] {
        let page = sorted(&run, "total_tok_s", dir);
        let contexts = column(&page, 1);
        let concurrency = column(&page, 2);
        let equals = [1, 2];
        assert_eq!(equals.map(|at| contexts[at].as_str()), ["1K", "2K"]);
        assert_eq!(concurrency[4..], ["8", "16"]);
    }
}

#[test]
fn an_unknown_order_is_the_order_of_the_pages() {
    let run = example_run(NAMES[1]);
    let plain = Page::of_registry(&run, Language::English, None);
    for (sort, dir) in [("", ""), ("price", "asc"), ("total_tok_s", "sideways")] {
        let page = sorted(&run, sort, dir);
        assert_eq!(page.text, plain.text, "{sort} {dir}");
    }
    assert!(plain.all("[aria-sort]").is_empty());
}

#[test]
fn every_header_is_a_link_that_sorts_by_it_and_says_so() {
    let run = example_run(NAMES[0]);
    let plain = Page::of_registry(&run, Language::English, None);
    let heads = plain.all("#measurements thead th a");
    assert_eq!(heads.len(), MeasurementColumn::ALL.len());
    for (at, (head, column)) in heads.iter().zip(MeasurementColumn::ALL).enumerate() {
        let href = head.attr("href").expect("an address");
        assert_eq!(href, format!("?sort={}#measurements", column.name()));
        let page = sorted(&run, column.name(), "");
        let sorted_heads = page.all("#measurements thead th");
        for (other, head) in sorted_heads.iter().enumerate() {
            let says = head.attr("aria-sort");
            let expected = (at == other).then(|| column.first_direction().aria());
            assert_eq!(says, expected, "{} {other}", column.name());
        }
    }
}

#[test]
fn a_sorted_header_leads_to_the_other_direction_and_then_back() {
    let run = example_run(NAMES[0]);
    let href = |page: &Page| {
        page.all("#measurements thead th a")[4]
            .attr("href")
            .expect("an address")
            .to_owned()
    };
    assert_eq!(
        href(&sorted(&run, "total_tok_s", "desc")),
        "?sort=total_tok_s&dir=asc#measurements"
    );
    assert_eq!(href(&sorted(&run, "total_tok_s", "asc")), "?#measurements");
}

#[test]
fn sorting_keeps_what_else_the_address_says() {
    let run = example_run(NAMES[0]);
    let links = RunLinks {
        kept: "lang=zh-CN".to_owned(),
        ..links_of(&run)
    };
    let words = Words::of(Language::SimplifiedChinese);
    let sort = Sort::from_query("ttft_ms_p50", "desc");
    let page = RunPage::for_registry(&run, words, &links, sort);
    let hrefs: Vec<&str> = page
        .measurements
        .heads
        .iter()
        .filter_map(|head| head.href.as_deref())
        .collect();
    assert_eq!(hrefs[0], "?lang=zh-CN&sort=phase#measurements");
    assert_eq!(hrefs[6], "?lang=zh-CN#measurements");
}

#[test]
fn a_page_of_the_registry_has_no_script_no_style_and_no_data_in_addresses() {
    for run in [example_run(NAMES[0]), full_run(), mixed_run()] {
        let page = Page::of_registry(&run, Language::English, None);
        for css in ["script", "style", "[style]", "link", "iframe", "img"] {
            assert!(page.all(css).is_empty(), "{css}");
        }
        for element in page.all("[href]") {
            let href = element.attr("href").expect("href");
            let is_plain = ["#", "?", "/", "https://"]
                .iter()
                .any(|start| href.starts_with(start));
            assert!(is_plain, "{href}");
        }
    }
}

#[test]
fn the_measurements_are_there_as_csv_and_json() {
    let run = example_run(NAMES[0]);
    let page = Page::of_registry(&run, Language::English, None);
    let hrefs: Vec<_> = page
        .all("#measurements h2 + p a")
        .into_iter()
        .filter_map(|link| link.attr("href"))
        .collect();
    let links = links_of(&run);
    assert_eq!(hrefs, [links.csv, links.json]);
    let csv = site::pages::run::measurements_csv(&run);
    assert_eq!(csv.lines().count(), 1 + run.cells.len());
    let header = csv.lines().next().expect("a header");
    for column in MeasurementColumn::ALL {
        assert!(header.split(',').any(|name| name == column.name()));
    }
}

#[test]
fn the_page_tells_how_to_cite_the_run() {
    let mut run = example_run(NAMES[0]);
    run.started_at = Some("2026-12-01T10:12:00Z".to_owned());
    let page = Page::of_registry(&run, Language::English, None);
    let permalink = links_of(&run).permalink;
    assert_eq!(
        page.one("#cite h2 + p a").attr("href"),
        Some(permalink.as_str())
    );
    assert_eq!(
        page.words_of("#cite .note"),
        format!(
            "keennay. Speed test matrix: DeepSeek-V4.1-Flash-1017 on RTX PRO 6000 Blackwell Server Edition 96GB ×4. 2026. tokgrid run {}. {permalink}",
            run.id
        )
    );
    let bibtex = raw(page.one("#cite pre"));
    assert!(bibtex.starts_with("@misc{tokgrid-"), "{bibtex}");
    assert!(
        bibtex.contains("\n  author = {keennay},\n  year = {2026},\n"),
        "{bibtex}"
    );
    assert!(
        Page::of(&run).all("#cite").is_empty(),
        "a file has no address"
    );
}

#[test]
fn the_confidence_interval_of_a_total_stands_beside_it() {
    let run = run_of(vec![Cell {
        total_tok_s_ci95: Some([99.0, 100.5]),
        ..decode_cell(1024, 2, 100.0)
    }]);
    let page = Page::of_registry(&run, Language::English, None);
    assert_eq!(page.table("#measurements table")[0][4], "100.0 ±1.0 %");
    assert!(page.all_words("#measurements .note")[0].starts_with("±: "));
    let plain = Page::of(&run_of(vec![decode_cell(1024, 2, 100.0)]));
    assert!(plain.all("#measurements .note").is_empty());
}

#[test]
fn every_link_within_the_page_leads_somewhere() {
    let page = Page::of_registry(&example_run(NAMES[1]), Language::English, None);
    for link in page.all("a[href^='#'], use") {
        page.one(link.attr("href").expect("href"));
    }
    assert!(
        page.one("#cite")
            .select(&selector("details"))
            .next()
            .is_some()
    );
}
