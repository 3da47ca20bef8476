//! What holds for every report: text stays text, nothing is asked of anyone, it is
//! small, and it can be used by ear and by keyboard.

// A failed expectation is a failed test, in its helpers too.
#![allow(clippy::expect_used, clippy::panic)]

// Each test file takes what it needs of it.
#[allow(dead_code)]
mod common;

use common::{
    NAMES, Page, decode_cell, example_run, failed_cell, flagged, full_run, raw, run_of, selector,
    words,
};
use document::{Cell, CellStatus, FlagName, RunDocument, RunEvent, Source};

/// What an ill-meaning server may call itself.
const HOSTILE: &str = r#"<script>alert(1)</script>"'`&</style></title></textarea><img src=x onerror=alert(1)>{{ 7 }}"#;

/// Every string that can be put into a document, hostile.
fn hostile_run() -> RunDocument {
    let text = || Some(HOSTILE.to_owned());
    let mut run = run_of(vec![
        flagged(decode_cell(1024, 1, 20.0), FlagName::Unsteady),
        failed_cell(1024, 2, HOSTILE),
        Cell {
            status: CellStatus::OverCapacity,
            reason: text(),
            remarks: vec![HOSTILE.to_owned()],
            ..decode_cell(1024, 4, 1.0)
        },
    ]);
    run.cells[0].flags[0].evidence = HOSTILE.to_owned();
    run.id = HOSTILE.to_owned();
    run.started_at = text();
    run.finished_at = text();
    (run.author, run.organization, run.notes) = (text(), text(), text());
    (run.tool.name, run.tool.version) = (text(), text());
    run.source = Source::Imported;
    run.imported_from = Some(document::ImportedFrom {
        tool: text(),
        ..document::ImportedFrom::default()
    });
    (run.model.id, run.model.served_name, run.model.revision) = (text(), text(), text());
    let engine = &mut run.engine;
    (engine.name, engine.version, engine.quantization) = (text(), text(), text());
    (engine.backend, engine.repository) = (text(), text());
    (engine.build, engine.commit) = (text(), text());
    let hardware = &mut run.hardware;
    (hardware.kind, hardware.gpu, hardware.cpu) = (text(), text(), text());
    (hardware.os, hardware.driver) = (text(), text());
    let settings = &mut run.settings;
    (settings.decode_test, settings.prefill_mode) = (text(), text());
    (settings.api, settings.prompt_source) = (text(), text());
    settings.contexts = vec![1024];
    (run.launch.command, run.launch.note) = (text(), text());
    run.events.push(RunEvent {
        at_s: 1.0,
        text: HOSTILE.to_owned(),
        extra: document::Extra::new(),
    });
    run
}

#[test]
fn hostile_text_stays_text_wherever_it_stands() {
    let page = Page::of(&hostile_run());
    assert_eq!(page.all("script").len(), 1, "a document made a <script>");
    for made in ["img", "textarea", "body style", "iframe"] {
        assert!(page.all(made).is_empty(), "a document made a <{made}>");
    }
    for element in page.all("*") {
        for (name, _) in element.value().attrs() {
            assert!(!name.starts_with("on"), "a document made an {name}");
        }
    }
    assert_eq!(page.all("title").len(), 1 + page.all("svg title").len());
    // And it is there, to the last character: nothing was stripped.
    assert_eq!(raw(page.one("#launch pre")), HOSTILE);
    assert_eq!(raw(page.one("#notes .free")), HOSTILE);
    assert!(page.facts("Engine").contains(&(
        "Version".to_owned(),
        HOSTILE.split_whitespace().collect::<Vec<_>>().join(" ")
    )));
}

#[test]
fn a_report_asks_nothing_of_anyone() {
    for run in [example_run(NAMES[0]), hostile_run()] {
        let page = Page::of(&run);
        for element in page.all("[src], [srcset], [href], [data], [action], [poster]") {
            let href = element.attr("href").expect("only href is used");
            assert!(href.starts_with('#') || href.starts_with("data:"), "{href}");
        }
        let style: String = page.all("style").into_iter().map(raw).collect();
        assert!(!style.contains("url(") && !style.contains("@import"));
        let policy = page.one("meta[http-equiv='Content-Security-Policy']");
        assert!(
            policy
                .attr("content")
                .expect("a policy")
                .starts_with("default-src 'none';")
        );
    }
}

#[test]
fn the_only_script_that_may_run_is_our_own() {
    use base64::Engine as _;
    use sha2::Digest as _;
    let page = Page::of(&hostile_run());
    let script = raw(page.one("script"));
    let hash = base64::engine::general_purpose::STANDARD.encode(sha2::Sha256::digest(&script));
    let policy = page.one("meta[http-equiv='Content-Security-Policy']");
    let policy = policy.attr("content").expect("a policy");
    assert!(
        policy.contains(&format!("script-src 'sha256-{hash}';")),
        "{policy} {hash}"
    );
}

#[test]
fn every_link_within_the_page_leads_somewhere() {
    let page = Page::of(&example_run(NAMES[1]));
    let links = page.all("a[href^='#']");
    assert!(links.len() >= 5);
    for link in links {
        page.one(link.attr("href").expect("href"));
    }
}

#[test]
fn tables_can_be_read_by_ear_and_scrolled_by_keyboard() {
    for run in [example_run(NAMES[1]), full_run(), hostile_run()] {
        let page = Page::of(&run);
        for table in page.all("table") {
            assert!(
                table.select(&selector("caption")).next().is_some(),
                "no caption"
            );
            for th in table.select(&selector("th")) {
                assert!(th.attr("scope").is_some(), "{} has no scope", words(th));
            }
        }
        for region in page.all(".scroll") {
            assert_eq!(region.attr("tabindex"), Some("0"));
            assert_eq!(region.attr("role"), Some("region"));
            assert!(
                region
                    .attr("aria-label")
                    .or(region.attr("aria-labelledby"))
                    .is_some()
            );
        }
        for labelled in page.all("[aria-labelledby]") {
            for id in labelled.attr("aria-labelledby").expect("ids").split(' ') {
                page.one(&format!("[id='{id}']"));
            }
        }
        for picture in page.all("svg[role='img']") {
            assert!(picture.select(&selector("title")).next().is_some());
            assert!(picture.select(&selector("desc")).next().is_some());
        }
        assert_eq!(page.one("html").attr("lang"), Some("en"));
        assert_eq!(page.all("h1").len(), 1);
        assert_eq!(page.all("main").len(), 1);
    }
}
