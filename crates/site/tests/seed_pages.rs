//! A report and a page of the registry show every figure and every word of the published page they were made from.

// A failed expectation is a failed test, in its helpers too.
#![allow(clippy::expect_used, clippy::panic)]

// Each test file takes what it needs of it.
#[allow(dead_code)]
mod common;

use common::{NAMES, Page, example, raw, selector, words};
use serde_json::Value;

/// What is made of the examples: the report and the page on the registry of each.
fn pages() -> impl Iterator<Item = (&'static str, Page)> {
    NAMES
        .into_iter()
        .flat_map(|name| Page::both_of_example(name).map(|page| (name, page)))
}

/// What stands in the "All measurements" table of a seed, one text per row and
/// column, from the seed's figures: the second source, independent of our formats.
fn expected_rows(name: &str) -> Vec<Vec<String>> {
    let figures: Value =
        serde_json::from_str(&example(&format!("seeds/{name}.figures.json"))).expect("JSON");
    let rows = figures["rows"].as_array().expect("rows");
    rows.iter().map(expected_row).collect()
}

fn expected_row(row: &Value) -> Vec<String> {
    let text = |key: &str| row[key].as_str().expect(key).to_owned();
    let number = |key: &str, write: fn(f64) -> String| {
        row[key].as_f64().map_or_else(|| "—".to_owned(), write)
    };
    vec![
        match row["phase"].as_str() {
            Some("prefill") => "Prefill".to_owned(),
            Some("sustained_decode") => "Sustained decode".to_owned(),
            other => panic!("{other:?}"),
        },
        text("context"),
        row["concurrency"].to_string(),
        text("status"),
        number("total_tok_s", tok_s),
        number("per_request_tok_s", tok_s),
        number("ttft_ms", |ms| format!("{} ms", separated(ms))),
        number("tbt_ms", |ms| format!("{ms:.1} ms")),
        number("avg_active", |n| format!("{n:.1}")),
        number("completed", separated),
        number("output_tokens", separated),
        number("measured_s", |s| format!("{s:.1} s")),
    ]
}

fn tok_s(value: f64) -> String {
    if value >= 10_000.0 {
        format!("{}K", value / 1000.0)
    } else {
        let tenth = format!("{value:.1}");
        let (whole, tenth) = tenth.split_once('.').expect("a decimal");
        format!("{}.{tenth}", separated(whole.parse().expect("a number")))
    }
}

fn separated(value: f64) -> String {
    let digits = format!("{value:.0}");
    if digits.len() > 3 {
        let (thousands, rest) = digits.split_at(digits.len() - 3);
        format!("{thousands},{rest}")
    } else {
        digits
    }
}

/// Lines of the page's text, without the bars and bullets one of the two has.
fn page_text(name: &str) -> String {
    example(&format!("seeds/{name}.page.txt"))
}

/// Letters and figures only: the published texts run their elements together.
fn run_together(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[test]
fn every_row_of_the_seed_stands_in_all_measurements() {
    for (name, page) in pages() {
        let shown = page.table("#measurements table");
        let expected = expected_rows(name);
        let count = if name == NAMES[0] { 64 } else { 73 };
        assert_eq!(expected.len(), count);
        assert_eq!(shown.len(), count, "{name}");
        for (shown, expected) in shown.iter().zip(&expected) {
            assert_eq!(shown, expected, "{name}");
        }
    }
}

#[test]
fn every_row_is_the_published_texts_row_in_the_published_order() {
    for (name, page) in pages() {
        let text = page_text(name);
        let published: Vec<String> = text
            .lines()
            .skip_while(|line| !line.contains("All measurements"))
            .map(|line| run_together(&line.replace('|', "")))
            .filter(|line| line.starts_with("Prefill") || line.starts_with("Sustaineddecode"))
            .collect();
        let shown: Vec<String> = page
            .table("#measurements table")
            .iter()
            .map(|row| run_together(&row.concat()))
            .collect();
        assert_eq!(shown, published, "{name}");
    }
}

#[test]
fn the_columns_of_all_measurements_are_the_published_ones() {
    for (name, page) in pages() {
        let columns = page.all_words("#measurements thead th");
        let published = run_together(&page_text(name).replace('|', ""));
        assert_eq!(columns.len(), 12);
        assert!(
            published.contains(&run_together(&columns.concat())),
            "{columns:?}"
        );
    }
}

#[test]
fn every_cell_of_the_heat_map_says_what_the_published_one_says() {
    for (name, page) in pages() {
        let mut shown = vec![run_together(&page.all_words("#decode thead th").concat())];
        shown.extend(
            page.table("#decode table")
                .iter()
                .map(|row| run_together(&row.concat())),
        );
        let text = page_text(name);
        let published: Vec<String> = text
            .lines()
            .skip_while(|line| !line.contains("rows are context length"))
            .filter_map(|line| line.find("Context").map(|at| &line[at..]).or(Some(line)))
            .map(|line| run_together(&line.replace('|', "")))
            .filter(|line| !line.starts_with("---"))
            .skip_while(|line| !line.starts_with("Context1"))
            .take_while(|line| {
                !line.starts_with("Requestsqueued:") && !line.starts_with("Overcapacity:")
            })
            .filter(|line| !line.is_empty())
            .collect();
        assert_eq!(shown, published, "{name}");
    }
}

#[test]
fn cells_stand_under_their_own_concurrency_and_beside_their_own_context() {
    for (name, page) in pages() {
        let columns = page.all_words("#decode thead th");
        let shown = page.table("#decode table");
        let expected = expected_rows(name);
        let decode: Vec<_> = expected.iter().filter(|row| row[0] != "Prefill").collect();
        assert_eq!(shown.len() * (columns.len() - 1), decode.len());
        for row in decode {
            let column = columns.iter().position(|c| *c == row[2]).expect("a column");
            let line = shown.iter().find(|line| line[0] == row[1]).expect("a line");
            let said = match row[3].as_str() {
                "Valid" => format!("{} {} TTFT", row[4], row[6]),
                "Requests queued" => format!("{} {} {} TTFT", row[4], row[3], row[6]),
                other => other.to_owned(),
            };
            assert_eq!(line[column], said, "{name} {} × {}", row[1], row[2]);
        }
    }
}

#[test]
fn every_bar_of_the_prefill_chart_says_what_the_published_one_says() {
    for (name, page) in pages() {
        let shown: Vec<String> = page
            .table("#prefill table")
            .iter()
            .map(|row| run_together(&row.concat()))
            .collect();
        let text = page_text(name);
        let lead = "prompt tok/s by context length";
        let after = &text[text.find(lead).expect("the chart") + lead.len()..];
        let published: Vec<String> = after
            .lines()
            .map(run_together)
            .filter(|line| !line.is_empty())
            .take_while(|line| line.ends_with("TTFT"))
            .collect();
        assert_eq!(shown, published, "{name}");
        assert!(!shown.is_empty());
    }
}

#[test]
fn bars_start_at_zero_and_are_as_long_as_their_figures() {
    let page = Page::of_example(NAMES[1]);
    let bar = |row: usize| {
        page.all("#prefill tbody tr")[row]
            .select(&selector("rect"))
            .next()
            .and_then(|bar| bar.attr("width"))
            .expect("a bar")
            .to_owned()
    };
    assert_eq!(bar(3), "100.0%");
    // 8,174 of 13,300
    assert_eq!(bar(1), "61.5%");
}

#[test]
fn title_line_and_origin_are_the_published_ones() {
    for (name, page) in pages() {
        let text = page_text(name);
        assert_eq!(page.words_of(".eyebrow"), "Speed test matrix");
        let title = page.words_of("h1");
        assert!(text.lines().any(|line| line == title), "{title}");
        let how = page.all_words(".meta")[0].clone();
        let published = run_together(&text).replace('·', "");
        assert!(
            published.contains(&run_together(&how).replace('·', "")),
            "{how}"
        );
        assert_eq!(page.words_of(".badge"), "Measured");
    }
    let first = Page::of_example(NAMES[0]).all_words(".meta")[1].clone();
    assert_eq!(first, "by @keennay · lmx dev import Measured");
    let second = Page::of_example(NAMES[1]).all_words(".meta")[1].clone();
    assert_eq!(second, "imported from llm-inference-bench Measured");
}

#[test]
fn the_line_of_sizes_is_the_published_one() {
    let how = Page::of_example(NAMES[0]).all_words(".meta")[0].clone();
    assert_eq!(
        how,
        "vllm · 0.33.0rc1.dev141 · MXFP4+FP8 · 7 contexts (8K–507K) × 8 concurrency levels (1–128) · prefill at 8K, 16K, 32K, 64K, 128K, 256K, 507K, 512K"
    );
}

#[test]
fn every_fact_of_the_published_page_is_on_ours_under_its_label() {
    for (name, page) in pages() {
        let text = page_text(name);
        let mut lines = text
            .lines()
            .map(|line| line.trim_start_matches("- "))
            .filter(|line| !line.is_empty())
            .skip_while(|line| *line != "Hardware")
            .take_while(|line| *line != "Launch command");
        let mut group = String::new();
        let mut count = 0;
        while let Some(label) = lines.next() {
            if ["Hardware", "Run"].contains(&label) || (label == "Engine" && group == "Hardware") {
                group = label.to_owned();
                continue;
            }
            let fact = (label.to_owned(), lines.next().expect("a value").to_owned());
            assert!(
                page.facts(&group).contains(&fact),
                "{name} {group} {fact:?}"
            );
            count += 1;
        }
        assert!(count >= 17, "{name}: only {count} facts were read");
    }
}

#[test]
fn a_field_without_a_value_is_left_out() {
    let page = Page::of_example(NAMES[0]);
    let labels: Vec<String> = page.all_words("dt");
    for absent in [
        "KV cache",
        "Repository",
        "Benchmark tool",
        "CPU",
        "Driver",
        "Seed",
    ] {
        assert!(!labels.contains(&absent.to_owned()), "{absent}");
    }
    assert!(page.all_words("dd").iter().all(|value| !value.is_empty()));
}

#[test]
fn the_launch_command_is_the_published_one_to_the_last_character() {
    for (name, page) in pages() {
        let command = raw(page.one("#launch pre"));
        assert!(command.starts_with("env VLLM_"), "{command}");
        assert!(command.contains("--api-key <redacted>"));
        assert!(page_text(name).contains(&command), "{command}");
    }
    let note = Page::of_example(NAMES[0]).words_of("#launch h2 + p");
    assert!(note.starts_with("Reconstructed: "), "{note}");
    let comment = page_text(NAMES[0])
        .lines()
        .find_map(|line| line.strip_prefix("# ").map(str::to_owned))
        .expect("the command's comment");
    assert!(note.ends_with(&comment), "{note}");
    let note = Page::of_example(NAMES[1]).words_of("#launch h2 + p");
    assert!(note.starts_with("Provided: "), "{note}");
}

#[test]
fn sentences_and_leads_are_the_published_ones() {
    for (name, page) in pages() {
        let text = page_text(name);
        let mut notes = page.all_words("#decode .note");
        notes.extend(page.all_words("#measurements .note"));
        assert_eq!(notes.len(), 3, "{notes:?}");
        assert_eq!(notes[0], notes[2]);
        let leads = [
            page.words_of("#prefill h2 + p"),
            page.words_of("#decode h2 + p"),
            words(page.one("#measurements h2 + p span")),
        ];
        for sentence in notes.iter().chain(&leads) {
            assert!(text.contains(sentence.as_str()), "{sentence}");
        }
        assert_eq!(
            notes[1],
            "TTFT is measured after the benchmark warms the server's prompt cache, so it mostly excludes prefill."
        );
        assert_eq!(
            leads[2],
            "Latencies are medians. Total tok/s is output across all simultaneous requests."
        );
    }
    let only_over = Page::of_example(NAMES[0]).all_words("#decode .note")[0].clone();
    assert_eq!(
        only_over,
        "Over capacity: not run because this many requests at this context would exceed the server's KV cache."
    );
}

#[test]
fn the_sections_are_there_by_their_published_names() {
    for (_, page) in pages() {
        let titles = page.all_words("h2");
        for title in [
            "Hardware",
            "Engine",
            "Run",
            "Launch command",
            "Prefill",
            "Sustained decode",
            "All measurements",
        ] {
            assert!(titles.contains(&title.to_owned()), "{title}");
        }
    }
}

#[test]
fn leading_figures_are_of_valid_cells_and_count_the_rest() {
    let leading = Page::of_example(NAMES[1]).all_words(".lead li");
    assert_eq!(
        leading,
        [
            "179.7 tok/s for one request at 8K",
            "1,335.7 tok/s most in all: 32 at once, 8K",
            "13.3K tok/s reading a prompt of 64K",
            "38 valid cells 5 queued · 21 over capacity",
        ]
    );
}
