use axum::http::StatusCode;

use crate::reader::Reply;
use crate::world::{World, variant};

const REASON: &str = "the figures are of another machine";

#[tokio::test]
async fn a_hidden_run_is_nowhere_and_its_author_reads_why() {
    let mut world = World::empty().await;
    let administrator = world.account("root").await;
    let author = world.account("mila").await;
    let other = world.account("noor").await;
    world.publish(&variant(2, "b/other", "B200", 8, 1.0)).await;
    let run = variant(0, "secret/model", "GB999", 4, 9.0);
    let id = world.publish_for(&run, Some(author), None).await;
    let store = world.site.store.clone();
    assert!(
        store
            .hide_run(&id, administrator, REASON, 1)
            .await
            .expect("hides")
    );

    for path in [
        "/",
        "/runs",
        "/runs?q=secret",
        "/runs?account=mila",
        "/models",
        "/hardware",
        "/leaderboard",
        "/leaderboard?kind=measured",
        "/leaderboard?gpus=4",
        "/hardware/b200",
    ] {
        let page = world.page(path).await;
        let body = page.body();
        assert!(
            !body.contains("secret/model") && !body.contains("GB999"),
            "{path}: {body}"
        );
        assert!(
            !page.links("a").iter().any(|link| link.contains(&id)),
            "{path}"
        );
        let proposals = page.all("datalist option");
        assert!(
            !proposals
                .iter()
                .any(|one| one.attr("value") == Some("secret/model")),
            "{path}"
        );
    }
    for path in ["/models/secret-model", "/hardware/gb999"] {
        let reply = world.get(path).await;
        assert!(
            !reply.body().contains(&id) && reply.rows("main").is_empty(),
            "{path}"
        );
        assert!(
            !reply.links("a").iter().any(|link| link.contains(&id)),
            "{path}"
        );
    }

    let run_path = format!("/runs/{id}");
    for path in [
        run_path.clone(),
        format!("{run_path}.json"),
        format!("{run_path}/measurements.csv"),
    ] {
        for (account, status) in [
            (None, StatusCode::NOT_FOUND),
            (Some(other), StatusCode::NOT_FOUND),
            (Some(author), StatusCode::OK),
            (Some(administrator), StatusCode::OK),
        ] {
            let reply = world.get_as(&path, account).await;
            assert_eq!(reply.status, status, "{path} for {account:?}");
        }
    }
    let shown = world.get_as(&run_path, Some(author)).await;
    let warnings = shown.words("main > .warning").concat();
    assert!(
        warnings.contains("This run is hidden.") && warnings.contains(REASON),
        "{warnings}"
    );

    // What each may do leads to pages of other areas, which ask first.
    let actions = |reply: &Reply| reply.links("nav.pager a");
    assert_eq!(actions(&shown), [format!("/account/runs/{id}/delete")]);
    let to_administrator = world.get_as(&run_path, Some(administrator)).await;
    assert_eq!(actions(&to_administrator), ["/moderation"]);

    // A tag that was given to who may see it opens nothing for who may not.
    let tag = shown.header("etag").to_owned();
    let reply = world.get_with(&run_path, &[("if-none-match", &tag)]).await;
    assert_eq!(reply.status, StatusCode::NOT_FOUND);

    assert!(store.show_run(&id).await.expect("shows"));
    let page = world.page(&run_path).await;
    assert!(!page.body().contains("This run is hidden."));
    assert!(actions(&page).is_empty());
    let to_administrator = world.get_as(&run_path, Some(administrator)).await;
    assert_eq!(
        actions(&to_administrator),
        [format!("/moderation/runs/{id}/hide")]
    );
    assert_eq!(world.page("/runs").await.rows("main").len(), 2);
}
