use axum::http::StatusCode;
use testkit::on_both;

use crate::browser::{Browser, key_of, open, publish, site};

const REASON: &str = "Figures of <another> machine.";

#[tokio::test]
async fn a_hidden_run_is_its_authors_who_reads_why() {
    on_both(async |url| {
        let store = open(&url).await;
        let site = site(&store);
        let root = Browser::of(&site, "root").await;
        let ada = Browser::of(&site, "ada").await;
        let eve = Browser::of(&site, "eve").await;
        let nobody = Browser::new(&site);
        publish(&store, "run-1", key_of(&store, "ada").await).await;

        let hide = "/moderation/runs/run-1/hide";
        for browser in [&ada, &eve] {
            assert_eq!(browser.get(hide).await.status, StatusCode::FORBIDDEN);
            let answer = browser.post(hide, &[("reason", REASON)]).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN);
            assert_eq!(
                browser.get("/moderation").await.status,
                StatusCode::FORBIDDEN
            );
        }
        assert_eq!(nobody.get("/runs/run-1").await.status, StatusCode::OK);
        let without = root.post(hide, &[("reason", "  ")]).await;
        assert_eq!(without.status, StatusCode::UNPROCESSABLE_ENTITY);
        assert_eq!(
            root.post(hide, &[("reason", REASON)]).await.status,
            StatusCode::SEE_OTHER
        );

        let shown = "Figures of &#60;another&#62; machine.";
        for browser in [&nobody, &eve] {
            let answer = browser.get("/runs/run-1").await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND);
            assert!(!answer.text.contains("Figures of"));
        }
        for (browser, path) in [
            (&ada, "/runs/run-1"),
            (&ada, "/account"),
            (&root, "/runs/run-1"),
            (&root, "/moderation"),
        ] {
            let answer = browser.get(path).await;
            assert_eq!(answer.status, StatusCode::OK, "{path}");
            assert!(answer.text.contains(shown), "{path}: {}", answer.text);
        }
        let show = "/moderation/runs/run-1/show";
        assert_eq!(ada.post(show, &[]).await.status, StatusCode::FORBIDDEN);
        assert_eq!(root.post(show, &[]).await.status, StatusCode::SEE_OTHER);
        assert_eq!(nobody.get("/runs/run-1").await.status, StatusCode::OK);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn authors_delete_their_own_runs_after_a_question() {
    on_both(async |url| {
        let store = open(&url).await;
        let site = site(&store);
        let ada = Browser::of(&site, "ada").await;
        let eve = Browser::of(&site, "eve").await;
        publish(&store, "run-1", key_of(&store, "ada").await).await;
        let delete = "/account/runs/run-1/delete";
        assert!(ada.get("/account").await.text.contains(delete));
        for answer in [eve.get(delete).await, eve.post(delete, &[]).await] {
            assert_eq!(answer.status, StatusCode::NOT_FOUND);
        }
        let question = ada.get(delete).await;
        assert!(
            question.text.contains("Delete this run?"),
            "{}",
            question.text
        );
        assert!(store.run("run-1").await.unwrap().is_some());
        assert_eq!(ada.post(delete, &[]).await.status, StatusCode::SEE_OTHER);
        assert!(store.run("run-1").await.unwrap().is_none());
    })
    .await
    .unwrap();
}
