use serde_json::Value;
use site::words::Language;

use crate::world::{EXAMPLES, World, each_text, example};

/// Ends every place in which a text can stand, and begins what would run.
const HOSTILE: &str = "\"'></script></title></svg></textarea><script>alert(1)</script>\
     <img src=x onerror=alert(1)>{{7*7}}javascript:alert(1)&quot;&#x27;\u{202e}";

/// A run whose every text is hostile, where a text is free.
fn hostile_run(number: u32) -> document::RunDocument {
    let run = example(EXAMPLES[number as usize % 2]);
    let mut json = serde_json::to_value(&run).expect("JSON");
    let mut count = 0;
    each_text(&mut json, &mut |text| {
        count += 1;
        let hostile = format!("{HOSTILE}{count}-{number}");
        let before = std::mem::replace(text, hostile);
        // Words of the format and moments stay: a document without them is none.
        let is_fixed = before.parse::<jiff::Timestamp>().is_ok()
            || [
                "tokgrid.run/1",
                "measured",
                "imported",
                "valid",
                "queued",
                "over_capacity",
                "failed",
                "prefill",
                "decode",
                "shared",
                "captured",
                "provided",
                "reconstructed",
                "unknown",
                "proved",
                "unproven",
            ]
            .contains(&before.as_str())
            || before == run.id;
        if is_fixed {
            *text = before;
        }
    });
    if let Value::Object(fields) = &mut json {
        for field in ["author", "organization", "notes"] {
            fields.insert(field.to_owned(), format!("{HOSTILE}{field}{number}").into());
        }
        for (group, field) in [
            ("hardware", "cpu"),
            ("hardware", "driver"),
            ("hardware", "gpu"),
            ("hardware", "os"),
            ("engine", "repository"),
            ("engine", "build"),
            ("engine", "commit"),
            ("model", "id"),
            ("model", "served_name"),
            ("model", "revision"),
            ("launch", "command"),
            ("launch", "note"),
            ("tool", "name"),
            ("tool", "version"),
        ] {
            fields[group][field] = format!("{HOSTILE}{group}{field}{number}").into();
        }
        fields.insert(
            "events".to_owned(),
            serde_json::json!([{"at_s": 1.0, "text": HOSTILE}]),
        );
        fields["cells"][9]["reason"] = HOSTILE.into();
        fields["cells"][9]["remarks"] = serde_json::json!([HOSTILE]);
        fields["cells"][9]["flags"] =
            serde_json::json!([{"name": "preempted", "evidence": HOSTILE}]);
    }
    serde_json::from_value(json).expect("a run document")
}

#[tokio::test]
async fn no_text_of_a_document_becomes_anything_but_text() {
    let mut world = World::empty().await;
    let runs = [hostile_run(0), hostile_run(1)];
    for run in &runs {
        world.publish(run).await;
    }
    let mut addresses: Vec<String> = [
        "/",
        "/start",
        "/leaderboard",
        "/leaderboard?phase=prefill&metric=ttft",
        "/models",
        "/organizations",
        "/runs",
        "/hardware",
        "/runs?q=script",
        "/nowhere",
    ]
    .map(str::to_owned)
    .into();
    for query in [
        "q",
        "model",
        "gpu",
        "engine",
        "quantization",
        "account",
        "nonsense",
    ] {
        let value: String = form_encoded(HOSTILE);
        addresses.push(format!("/runs?{query}={value}"));
        addresses.push(format!("/leaderboard?{query}={value}"));
    }
    addresses.extend(runs.iter().map(|run| format!("/runs/{}", run.id)));
    for list in ["/models", "/hardware"] {
        addresses.extend(world.page(list).await.links("tbody a"));
    }
    let mut saw_hostile = 0;
    for address in &addresses {
        for language in Language::ALL {
            let reply = world
                .get_with(address, &[("accept-language", language.code())])
                .await;
            assert!(!reply.status.is_server_error(), "{address}: {}", reply.text);
            saw_hostile += usize::from(reply.text.contains("alert(1)"));
            assert!(reply.all("script, img, textarea").is_empty(), "{address}");
            let runs_something = reply.all("*").into_iter().any(|element| {
                element.value().attrs().any(|(name, value)| {
                    name.starts_with("on")
                        || (["href", "src", "action"].contains(&name)
                            && value.trim_start().to_lowercase().starts_with("javascript:"))
                })
            });
            assert!(!runs_something, "{address}");
            assert_eq!(
                reply
                    .all("title")
                    .iter()
                    .filter(|title| title
                        .parent()
                        .and_then(|parent| parent.value().as_element())
                        .is_some_and(|parent| parent.name() == "head"))
                    .count(),
                1,
                "{address}"
            );
            let policy = reply.header("content-security-policy");
            assert!(
                policy.contains("default-src 'none'") && !policy.contains("unsafe"),
                "{policy}"
            );
        }
    }
    assert!(
        saw_hostile > 20,
        "hostile text is on {saw_hostile} pages only"
    );
}

fn form_encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

#[tokio::test]
async fn every_page_is_whole_in_both_languages() {
    let world = World::of_examples().await;
    let run = format!("/runs/{}", example(EXAMPLES[0]).id);
    let mut addresses: Vec<String> = [
        "/",
        "/start",
        "/leaderboard",
        "/models",
        "/organizations",
        "/runs",
        "/hardware",
    ]
    .map(str::to_owned)
    .into();
    addresses.push(run);
    addresses.extend(world.page("/models").await.links("tbody a"));
    addresses.extend(world.page("/hardware").await.links("tbody a"));
    for address in &addresses {
        let english = world.get_with(address, &[("accept-language", "en")]).await;
        let chinese = world.get_with(&format!("{address}?lang=zh-CN"), &[]).await;
        assert_eq!(english.all("html[lang=en]").len(), 1, "{address}");
        assert_eq!(chinese.all("html[lang=zh-CN]").len(), 1, "{address}");
        assert!(
            chinese.header("set-cookie").starts_with("lang=zh-CN"),
            "{address}"
        );
        assert!(
            chinese
                .body()
                .chars()
                .any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter)),
            "{address}"
        );
        for page in [&english, &chinese] {
            assert_eq!(page.all("h1").len(), 1, "{address}");
            assert_eq!(page.all("main").len(), 1, "{address}");
            assert!(
                page.text.len() < 150_000,
                "{address}: {} bytes",
                page.text.len()
            );
            for key in [
                "list-",
                "chart-",
                "home-",
                "start-",
                "menu-",
                "model-",
                "leaderboard-lead",
            ] {
                let left_over = page.body().split_whitespace().any(|word| {
                    word.starts_with(key) && !word.contains('/') && !word.contains("model-len")
                });
                assert!(!left_over, "{address}: a key {key}… stands for its words");
            }
        }
    }
}
