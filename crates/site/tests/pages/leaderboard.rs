use axum::http::StatusCode;
use document::{Flag, FlagName, Hardware, Phase, RunDocument};

use crate::world::{World, variant};

const DECODE: &str = "phase=decode&context=8K&concurrency=1";

fn cell(run: &mut RunDocument, concurrency: u32) -> &mut document::Cell {
    let found = run.cells.iter_mut().find(|cell| {
        cell.phase == Phase::Decode
            && cell.context_tokens == 8192
            && cell.concurrency == concurrency
    });
    found.expect("decode 8K")
}

async fn models(world: &World, address: &str) -> Vec<String> {
    let page = world.page(address).await;
    let rows = page.rows("main");
    rows.iter().map(|row| row.of("Model").to_owned()).collect()
}

#[tokio::test]
async fn a_flagged_figure_never_ranks_and_the_rest_of_its_cell_does() {
    let mut world = World::empty().await;
    world.publish(&variant(0, "a/slow", "H200", 4, 1.0)).await;
    let mut fast = variant(2, "a/fast", "H200", 4, 50.0);
    cell(&mut fast, 1).flags.push(Flag {
        name: FlagName::Unsteady,
        evidence: "throughput fell by a third".to_owned(),
    });
    world.publish(&fast).await;
    let ranked = models(&world, &format!("/leaderboard?{DECODE}&metric=total")).await;
    assert_eq!(ranked, ["a/slow"]);
    // `unsteady` takes the total away, and nothing else.
    let ranked = models(&world, &format!("/leaderboard?{DECODE}&metric=ttft")).await;
    assert_eq!(ranked, ["a/fast", "a/slow"]);
}

#[tokio::test]
async fn a_flag_that_the_document_proves_and_leaves_out_keeps_a_figure_from_ranking() {
    let mut world = World::empty().await;
    world.publish(&variant(0, "a/honest", "H200", 4, 1.0)).await;
    let mut liar = variant(2, "a/liar", "H200", 4, 1.0);
    let claimed = cell(&mut liar, 1);
    claimed.total_tok_s = claimed.total_tok_s.map(|total| total * 10.0);
    let id = world.publish(&liar).await;
    let ranked = models(&world, &format!("/leaderboard?{DECODE}&metric=total")).await;
    assert_eq!(ranked, ["a/honest"]);
    let page = world.page(&format!("/runs/{id}")).await;
    assert!(page.words("#measurements s").concat().contains("1,5"));
    assert!(
        page.words("#doubts")
            .concat()
            .contains("token_count_disputed")
    );
}

#[tokio::test]
async fn equals_share_a_rank_and_the_next_is_left_out() {
    let mut world = World::empty().await;
    for (number, factor) in [(0, 2.0), (2, 1.0), (4, 2.0), (6, 0.5)] {
        let run = variant(number, &format!("a/model-{number}"), "H200", 4, factor);
        world.publish(&run).await;
    }
    let page = world.page(&format!("/leaderboard?{DECODE}")).await;
    let ranks: Vec<String> = page
        .rows("main")
        .iter()
        .map(|row| row.of("Rank").to_owned())
        .collect();
    assert_eq!(ranks, ["1", "1", "3", "4"]);
}

#[tokio::test]
async fn like_is_ranked_with_like() {
    let mut world = World::empty().await;
    world.publish(&variant(0, "a/real", "H200", 4, 1.0)).await;
    let mut simulated = variant(2, "a/simulated", "H200", 4, 9.0);
    simulated.hardware.kind = Some(Hardware::SIMULATED.to_owned());
    world.publish(&simulated).await;
    let address = format!("/leaderboard?{DECODE}");
    assert_eq!(models(&world, &address).await, ["a/real"]);
    let page = world.page(&format!("{address}&kind=simulated")).await;
    let rows = page.rows("main");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].of("Model"), "a/simulated");
    assert!(rows[0].of("Published").contains("Simulated"));
    // Prompt tok/s are tens of times decode tok/s: they have a ranking of their own.
    let page = world
        .page("/leaderboard?phase=prefill&context=8K&concurrency=1")
        .await;
    let rows = page.rows("main");
    assert_eq!(rows.len(), 1);
    assert_ne!(rows[0].of("Prompt tok/s"), "—");
    assert!(
        page.words("thead th")
            .iter()
            .all(|head| head != "Per request tok/s")
    );
}

#[tokio::test]
async fn what_is_not_measured_is_a_dash_and_what_is_not_proved_has_a_mark() {
    let mut world = World::empty().await;
    let mut run = variant(0, "a/model", "H200", 4, 1.0);
    let cell = cell(&mut run, 1);
    cell.per_request_tok_s = None;
    cell.cache_proof = None;
    world.publish(&run).await;
    let page = world.page(&format!("/leaderboard?{DECODE}")).await;
    let rows = page.rows("main");
    assert_eq!(rows[0].of("Per request tok/s"), "—");
    assert_eq!(rows[0].of("Total tok/s"), "153.7 cache unproven");
    assert!(
        page.body()
            .contains("Cache unproven: the server does not say")
    );
    let by_request = world
        .page(&format!("/leaderboard?{DECODE}&metric=per_request"))
        .await;
    assert!(by_request.rows("main").is_empty());
    assert!(by_request.body().contains("Nothing found"));
}

#[tokio::test]
async fn every_row_leads_to_its_cell_its_model_and_its_hardware() {
    let world = World::of_examples().await;
    let page = world.page(&format!("/leaderboard?{DECODE}")).await;
    let rows = page.rows("main");
    assert_eq!(rows.len(), 2);
    let links = page.links("tbody a");
    for start in ["/runs/", "/models/", "/hardware/"] {
        let found: Vec<&String> = links
            .iter()
            .filter(|link| link.starts_with(start))
            .collect();
        assert_eq!(found.len(), 2, "{start}");
        for link in found {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = world.page(path).await;
            if start == "/runs/" {
                assert_eq!(anchor, "measurements");
                assert_eq!(target.all("#measurements").len(), 1);
            }
        }
    }
    for row in &rows {
        assert!(row.of("Cell").starts_with("8K × 1 run …"), "{row:?}");
        assert!(row.of("Published").contains("Imported"), "{row:?}");
    }
}

#[tokio::test]
async fn a_filter_is_in_the_address_in_the_form_and_in_a_chip_that_takes_it_away() {
    let mut world = World::of_examples().await;
    world.publish(&variant(0, "a/mine", "H200", 8, 1.0)).await;
    let address = format!("/leaderboard?{DECODE}&metric=per_gpu&gpu=h200&gpus=8&kind=measured");
    let page = world.page(&address).await;
    assert_eq!(page.rows("main").len(), 1);
    assert_eq!(
        page.words(".chips li"),
        [
            "GPU: H200 (remove) ×",
            "GPU count: 8 (remove) ×",
            "Kind: Measured (remove) ×"
        ]
    );
    let chosen: Vec<&str> = page
        .all("form option[selected]")
        .iter()
        .filter_map(|option| option.attr("value"))
        .collect();
    for value in ["decode", "8K", "1", "per_gpu", "8", "measured"] {
        assert!(chosen.contains(&value), "{value} of {chosen:?}");
    }
    assert_eq!(page.all("input[name=gpu]")[0].attr("value"), Some("H200"));
    let without = &page.links(".chips a")[1];
    assert_eq!(
        without,
        "/leaderboard?phase=decode&context=8K&concurrency=1&metric=per_gpu&gpu=h200&kind=measured"
    );
    assert_eq!(world.page(without).await.words(".chips li").len(), 2);
}

#[tokio::test]
async fn a_form_leads_to_the_short_address_and_a_name_to_its_slug() {
    let mut world = World::empty().await;
    world.publish(&variant(0, "a/mine", "H200", 8, 1.0)).await;
    let sent =
        format!("/leaderboard?{DECODE}&metric=total&model=A%2FMine&gpu=&engine=&kind=&lang=en");
    let reply = world.get(&sent).await;
    assert_eq!(reply.status, StatusCode::SEE_OTHER);
    let short = format!("/leaderboard?{DECODE}&metric=total&model=a-mine&lang=en");
    assert_eq!(reply.header("location"), short);
    assert_eq!(world.page(&short).await.rows("main").len(), 1);
}

#[tokio::test]
async fn nothing_found_says_what_to_loosen_and_each_advice_helps() {
    let mut world = World::of_examples().await;
    world.publish(&variant(0, "a/mine", "H200", 8, 1.0)).await;
    let page = world
        .page("/leaderboard?phase=decode&context=8K&concurrency=3&gpus=8")
        .await;
    assert!(page.rows("main").is_empty());
    let advice = page.words(".nothing li");
    assert!(
        advice.contains(&"without “GPU count: 8”".to_owned()),
        "{advice:?}"
    );
    assert!(
        advice.contains(&"Sustained decode, 8K × 1".to_owned()),
        "{advice:?}"
    );
    let links = page.links(".nothing li a");
    // The filter alone is not to blame, the shape is: the others lead somewhere.
    for link in &links[1..] {
        assert!(!world.page(link).await.rows("main").is_empty(), "{link}");
    }
    let unknown = world.page("/leaderboard?model=nobodys").await;
    assert!(unknown.body().contains("nothing here is called “nobodys”"));
}

#[tokio::test]
async fn an_address_that_cannot_be_is_refused_by_the_parameters_name() {
    let world = World::of_examples().await;
    for (query, parameter) in [
        ("metric=best", "“metric”"),
        ("phase=prefill&metric=per_request", "“metric”"),
        ("context=8q", "“context”"),
        ("colour=red", "“colour”"),
        ("gpus=2&gpus=4", "“gpus”"),
        ("after=nonsense", "“after”"),
    ] {
        let reply = world.get(&format!("/leaderboard?{query}")).await;
        assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{query}");
        assert!(
            reply.body().contains(parameter),
            "{query}: {}",
            reply.body()
        );
    }
}

#[tokio::test]
async fn the_next_page_goes_on_where_this_one_ends() {
    let mut world = World::empty().await;
    for number in 0..60 {
        let factor = 1.0 + f64::from(number) / 100.0;
        let run = variant(number * 2, &format!("a/model-{number}"), "H200", 4, factor);
        world.publish(&run).await;
    }
    let first = world.page(&format!("/leaderboard?{DECODE}")).await;
    assert_eq!(first.rows("main").len(), 50);
    let next = first.links("a[rel=next]").remove(0);
    let second = world.page(&next).await;
    let rows = second.rows("main");
    assert_eq!(rows.len(), 10);
    assert_eq!(rows[0].of("Rank"), "51");
    assert_eq!(rows[9].of("Model"), "a/model-0");
    assert!(second.links("a[rel=next]").is_empty());
}
