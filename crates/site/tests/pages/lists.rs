use axum::http::StatusCode;

use crate::world::{World, variant};

async fn world() -> World {
    let mut world = World::of_examples().await;
    world
        .publish(&variant(0, "Qwen/Qwen4-72B", "NVIDIA H200", 8, 1.0))
        .await;
    world
        .publish(&variant(1, "Qwen/Qwen4-72B", "NVIDIA B200", 1, 2.0))
        .await;
    world
}

#[tokio::test]
async fn runs_are_counted_newest_first_and_each_leads_to_its_page() {
    let world = world().await;
    let page = world.page("/runs").await;
    assert!(page.body().contains("4 matrix runs"));
    let rows = page.rows("main");
    assert_eq!(rows.len(), 4);
    assert!(rows[0].of("GPU or processor").contains("B200"));
    assert_eq!(rows[0].of("Context × requests, up to"), "1024K × 128");
    for link in page.links("tbody td:first-child a") {
        world.page(&link).await;
    }
}

#[tokio::test]
async fn a_search_finds_runs_by_words_of_their_names() {
    let world = world().await;
    let page = world.page("/runs?q=qwen+h200").await;
    assert_eq!(page.rows("main").len(), 1);
    assert_eq!(page.words(".chips li"), ["Search: qwen h200 (remove) ×"]);
    let nothing = world.page("/runs?q=qwen&kind=imported").await;
    assert_eq!(
        nothing.words(".nothing li"),
        ["without “Kind: Imported”", "without “Search: qwen”"]
    );
    for link in nothing.links(".nothing li a") {
        assert!(!world.page(&link).await.rows("main").is_empty(), "{link}");
    }
}

#[tokio::test]
async fn a_list_keeps_the_filter_that_its_form_does_not_show() {
    let world = world().await;
    let page = world.page("/runs?account=nobody").await;
    let hidden = page.all("form input[type=hidden]");
    assert_eq!(hidden.len(), 1);
    assert_eq!(hidden[0].attr("name"), Some("account"));
    assert_eq!(page.words(".chips li"), ["Published by: nobody (remove) ×"]);
}

#[tokio::test]
async fn lists_of_models_and_hardware_lead_to_pages_that_know_the_runs() {
    let world = world().await;
    for (list, name, runs) in [
        ("/models", "Qwen/Qwen4-72B", "2"),
        ("/hardware", "NVIDIA H200", "1"),
    ] {
        let page = world.page(list).await;
        let rows = page.rows("main");
        let head = if list == "/models" {
            "Model"
        } else {
            "GPU or processor"
        };
        let row = rows.iter().find(|row| row.of(head) == name).expect(name);
        assert_eq!(row.of("Matrix runs"), runs);
        for link in page.links("tbody a") {
            world.page(&link).await;
        }
    }
    assert_eq!(world.page("/models?q=qwen").await.rows("main").len(), 1);
    assert_eq!(
        world.get("/models?model=x").await.status,
        StatusCode::BAD_REQUEST
    );
}

#[tokio::test]
async fn no_page_leads_nowhere() {
    let world = world().await;
    let mut seen = std::collections::BTreeSet::from(["/".to_owned()]);
    let mut left = vec!["/".to_owned()];
    // These belong to other areas, which test them.
    let elsewhere = ["/api", "/sign-in", "/account"];
    while let Some(address) = left.pop() {
        let reply = world.get(&address).await;
        assert!(reply.status.is_success(), "{address}: {}", reply.status);
        for link in reply.links("a") {
            let path = link.split('#').next().unwrap_or_default().to_owned();
            let is_ours =
                path.starts_with('/') && !elsewhere.iter().any(|area| path.starts_with(area));
            // Sorting and filters multiply; their first steps are enough.
            if is_ours
                && path.matches('=').count() <= 4
                && seen.len() < 300
                && seen.insert(path.clone())
            {
                left.push(path);
            }
        }
    }
    assert!(seen.len() > 50, "{seen:?}");
}

#[tokio::test]
async fn an_empty_registry_says_how_to_begin() {
    let world = World::empty().await;
    for path in [
        "/",
        "/leaderboard",
        "/models",
        "/organizations",
        "/runs",
        "/hardware",
    ] {
        let page = world.page(path).await;
        assert!(
            page.body().contains("Nothing is published yet"),
            "{path}: {}",
            page.body()
        );
        assert!(
            page.links("main a").contains(&"/start".to_owned()),
            "{path}"
        );
    }
}

#[tokio::test]
async fn getting_started_has_the_commands_for_this_registry() {
    let world = World::empty().await;
    let page = world.page("/start").await;
    let commands = page.words("pre code").join("\n");
    assert!(commands.contains("cargo install --path"));
    assert!(commands.contains("tokgrid run --url"));
    assert!(commands.contains("tokgrid publish run.json --to http://speed.example"));
    assert_eq!(page.words("h2").len(), 4);
}
