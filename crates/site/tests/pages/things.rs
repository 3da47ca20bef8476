use axum::http::StatusCode;
use store::{Named, OrganizationCreated};

use crate::world::{World, variant};

async fn world() -> World {
    let mut world = World::of_examples().await;
    for number in 0..6u32 {
        let factor = f64::from(number + 1);
        let mut run = variant(
            number * 2,
            "Qwen/Qwen4-72B",
            "NVIDIA H200",
            1 << (number % 3),
            factor,
        );
        run.engine.quantization = Some(if number < 3 { "fp8" } else { "bf16" }.to_owned());
        world.publish(&run).await;
    }
    // A slower run of a configuration that is there.
    let mut slower = variant(40, "Qwen/Qwen4-72B", "NVIDIA H200", 1, 0.5);
    slower.engine.quantization = Some("fp8".to_owned());
    world.publish(&slower).await;
    world
}

#[tokio::test]
async fn a_model_has_one_best_cell_for_each_gpu_and_quantization() {
    let world = world().await;
    let page = world
        .page("/models/qwen-qwen4-72b?phase=decode&context=8K&concurrency=1")
        .await;
    let rows = page.rows("#best");
    assert_eq!(rows.len(), 6);
    let mut places: Vec<(&str, &str)> = rows
        .iter()
        .map(|row| (row.of("Quantization"), row.of("GPU or processor")))
        .collect();
    assert_eq!(places[0], ("bf16", "NVIDIA H200 ×4"));
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 6);
    assert_eq!(page.rows("#runs").len(), 7);
}

#[tokio::test]
async fn curves_say_in_a_table_what_they_draw() {
    let world = world().await;
    let page = world
        .page("/models/qwen-qwen4-72b?phase=decode&context=8K&concurrency=1")
        .await;
    for id in ["by-concurrency", "by-context"] {
        let picture = page.all(&format!("#{id} svg[role=img]"));
        assert_eq!(picture.len(), 1, "{id}");
        let named = picture[0].attr("aria-labelledby").expect("named");
        for part in named.split(' ') {
            assert_eq!(page.all(&format!("#{part}")).len(), 1, "{part}");
        }
        assert!(
            page.words(&format!("#{id} svg"))
                .concat()
                .contains("log scale")
        );
        let lines = page.all(&format!("#{id} svg[role=img] polyline")).len();
        assert_eq!(lines, 6);
        let points = page.all(&format!("#{id} svg[role=img] path")).len();
        let figures = page.words(&format!("#{id} tbody td"));
        let drawn = figures.iter().filter(|figure| *figure != "—").count();
        assert_eq!(points, drawn, "{id}");
        assert!(points > 12, "{id}");
    }
}

#[tokio::test]
async fn a_model_without_cells_at_a_shape_says_so_and_keeps_its_page() {
    let world = world().await;
    let page = world
        .page("/models/qwen-qwen4-72b?phase=decode&context=9K&concurrency=3")
        .await;
    assert!(page.body().contains("No cell of this model may rank here"));
    assert_eq!(page.rows("#runs").len(), 7);
    let reply = world.get("/models/qwen-qwen4-72b?metric=beauty").await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_hardware_says_what_it_is_and_what_it_serves_best() {
    let world = world().await;
    let page = world
        .page("/hardware/rtx-pro-6000-blackwell-server-edition")
        .await;
    let specification = page.words("#specification dl > div");
    assert!(
        specification.contains(&"VRAM 384 GB (4 × 96 GB)".to_owned()),
        "{specification:?}"
    );
    let best = page.rows("#best");
    assert_eq!(best.len(), 2);
    assert_eq!(best[0].of("Rank"), "1");
    assert_eq!(best[0].of("GPU count"), "4");
    let headings = page.words("#best h3");
    assert_eq!(headings.len(), 3);
    assert!(headings[2].starts_with("Prefill"), "{headings:?}");
    for link in page.links("#best h3 a") {
        assert_eq!(world.page(&link).await.rows("main").len(), 2, "{link}");
    }
    assert_eq!(page.rows("#runs").len(), 2);
}

#[tokio::test]
async fn home_shows_the_newest_runs_and_the_top() {
    let world = world().await;
    let page = world.page("/").await;
    assert_eq!(page.rows("#newest").len(), 8);
    let top = page.rows("#top");
    assert_eq!(top[0].of("Model"), "Qwen/Qwen4-72B");
    assert_eq!(top[0].of("Rank"), "1");
    assert_eq!(page.words("h1").len(), 1);
}

#[tokio::test]
async fn an_organization_shows_what_is_published_for_it_and_nothing_else() {
    let mut world = world().await;
    let owner = world.account("mila").await;
    let named = Named {
        slug: "fast-lab".to_owned(),
        name: "Fast & Lab <b>".to_owned(),
    };
    let store = world.site.store.clone();
    let made = store.create_organization(&named, owner, 1).await;
    assert_eq!(made.expect("a database"), OrganizationCreated::Done);
    let key = store.organization_for_publishing(owner, "fast-lab").await;
    let key = key.expect("a database").expect("an organization");
    let mut run = variant(50, "a/ours", "NVIDIA B200", 8, 1.0);
    run.organization = Some("Somebody Else".to_owned());
    let id = world.publish_for(&run, Some(owner), Some(key)).await;

    let page = world.page("/organizations/fast-lab").await;
    assert_eq!(page.words("h1"), ["Fast & Lab <b>"]);
    let rows = page.rows("#runs");
    assert_eq!(rows.len(), 1);
    assert!(rows[0].of("Run of").starts_with("a/ours"));
    let models = page.links(".facts dt a");
    assert!(
        models.contains(&"/runs?model=a-ours&organization=fast-lab".to_owned()),
        "{models:?}"
    );
    for link in models {
        assert_eq!(world.page(&link).await.rows("main").len(), 1, "{link}");
    }
    let list = world.page("/organizations").await;
    assert_eq!(list.rows("main")[0].of("Organization"), "Fast & Lab <b>");
    let run_page = world.page(&format!("/runs/{id}")).await;
    let title = run_page.words(".title").concat();
    assert!(title.contains("by @mila, Fast & Lab <b>"), "{title}");
    assert!(
        run_page
            .links(".trail a")
            .contains(&"/organizations/fast-lab".to_owned())
    );
}
