use axum::http::StatusCode;
use document::RunDocument;

use crate::world::{EXAMPLES, World, example, variant};

#[tokio::test]
async fn the_document_is_given_back_as_it_came_and_the_measurements_as_csv() {
    let world = World::of_examples().await;
    for name in EXAMPLES {
        let run = example(name);
        let document = world.page(&format!("/runs/{}.json", run.id)).await;
        assert_eq!(document.header("content-type"), "application/json");
        assert_eq!(document.text, serde_json::to_string(&run).expect("JSON"));
        let read = RunDocument::from_json(document.text.as_bytes()).expect("reads");
        assert_eq!(read, run);
        let csv = world
            .page(&format!("/runs/{}/measurements.csv", run.id))
            .await;
        assert!(csv.header("content-type").starts_with("text/csv"));
        assert_eq!(csv.text.lines().count(), run.cells.len() + 1);
    }
}

#[tokio::test]
async fn a_page_that_the_browser_has_is_not_sent_again() {
    let world = World::of_examples().await;
    let path = format!("/runs/{}", example(EXAMPLES[0]).id);
    for path in [
        path.clone(),
        format!("{path}.json"),
        format!("{path}/measurements.csv"),
    ] {
        let tag = world.page(&path).await.header("etag").to_owned();
        let again = world.get_with(&path, &[("if-none-match", &tag)]).await;
        assert_eq!(again.status, StatusCode::NOT_MODIFIED, "{path}");
        assert!(again.text.is_empty());
        assert_eq!(again.header("etag"), tag);
        let other = world.get_with(&path, &[("if-none-match", "\"0\"")]).await;
        assert_eq!(other.status, StatusCode::OK);
    }
    let english = world.page(&path).await;
    let chinese = world.get_with(&path, &[("accept-language", "zh-CN")]).await;
    assert_ne!(english.header("etag"), chinese.header("etag"));
    let sorted = world.page(&format!("{path}?sort=total_tok_s")).await;
    assert_ne!(english.header("etag"), sorted.header("etag"));
}

#[tokio::test]
async fn a_run_leads_to_its_model_and_its_hardware() {
    let world = World::of_examples().await;
    let page = world
        .page(&format!("/runs/{}", example(EXAMPLES[0]).id))
        .await;
    let links = page.links(".trail a");
    assert_eq!(links.len(), 2);
    for link in links {
        world.page(&link).await;
    }
}

#[tokio::test]
async fn the_account_that_published_stands_for_the_author() {
    let mut world = World::empty().await;
    let account = world.account("mila").await;
    let mut run = variant(0, "a/model", "H200", 4, 1.0);
    run.author = Some("somebody-famous".to_owned());
    run.organization = Some("A Famous Laboratory".to_owned());
    let id = world.publish_for(&run, Some(account), None).await;
    let page = world.page(&format!("/runs/{id}")).await;
    assert!(page.words(".title").concat().contains("by @mila"));
    assert!(!page.body().contains("amous"), "{}", page.body());
    let theirs = page.links(".trail a").pop().expect("a link");
    assert_eq!(theirs, "/runs?account=mila");
    assert_eq!(world.page(&theirs).await.rows("main").len(), 1);
}

#[tokio::test]
async fn an_order_that_is_none_is_refused() {
    let world = World::of_examples().await;
    let path = format!("/runs/{}", example(EXAMPLES[0]).id);
    world
        .page(&format!("{path}?sort=ttft_ms_p50&dir=desc"))
        .await;
    for (query, parameter) in [
        ("sort=beauty", "“sort”"),
        ("sort=phase&dir=up", "“dir”"),
        ("page=2", "“page”"),
    ] {
        let reply = world.get(&format!("{path}?{query}")).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{query}");
        assert!(reply.body().contains(parameter), "{query}");
    }
}

#[tokio::test]
async fn a_path_that_climbs_finds_nothing() {
    let world = World::of_examples().await;
    for name in [
        "..%2F..%2Fetc%2Fpasswd",
        "..",
        "%2e%2e%2f",
        "%00",
        "a%2Fb",
        "'%20OR%201=1--",
        ".json",
        "%F0%9F%92%A9",
    ] {
        for place in ["runs", "models", "hardware", "organizations"] {
            let reply = world.get(&format!("/{place}/{name}")).await;
            assert_eq!(reply.status, StatusCode::NOT_FOUND, "/{place}/{name}");
            assert!(!reply.text.contains("root:"));
        }
        let reply = world.get(&format!("/runs/{name}/measurements.csv")).await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{name}");
    }
}
