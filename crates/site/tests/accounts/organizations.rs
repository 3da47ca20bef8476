use axum::http::StatusCode;
use futures_util::future::join;
use store::{MemberChange, MemberChanged, Role};
use testkit::on_both;

use crate::browser::{Browser, key_of, open, site};

const MEMBERS: &str = "/account/organizations/lab/members";

async fn change(browser: &Browser, name: &str, change: &str) -> (StatusCode, String) {
    let answer = browser
        .post(MEMBERS, &[("name", name), ("change", change)])
        .await;
    (answer.status, answer.text)
}

#[tokio::test]
async fn owners_say_who_publishes_for_an_organization() {
    on_both(async |url| {
        let store = open(&url).await;
        let site = site(&store);
        let ada = Browser::of(&site, "ada").await;
        let bob = Browser::of(&site, "bob").await;
        let eve = Browser::of(&site, "eve").await;
        let form = [("title", "The Lab"), ("slug", "Lab")];
        let made = ada.post("/account/organizations", &form).await;
        assert_eq!(made.location(), "/account/organizations/lab");
        let taken = bob.post("/account/organizations", &form).await;
        assert!(taken.text.contains("This name is taken."), "{}", taken.text);

        let may_publish = async |name: &str| {
            let key = key_of(&store, name).await;
            store
                .organization_for_publishing(key, "lab")
                .await
                .unwrap()
                .is_some()
        };
        assert!(may_publish("ada").await && !may_publish("bob").await);
        assert_eq!(change(&eve, "eve", "add").await.0, StatusCode::FORBIDDEN);
        assert_eq!(change(&ada, "Bob", "add").await.0, StatusCode::SEE_OTHER);
        assert!(may_publish("bob").await && !may_publish("eve").await);
        let page = bob.get("/account/organizations/lab").await;
        assert!(
            page.text.contains("<td>ada</td><td>Owner</td>"),
            "{}",
            page.text
        );
        assert!(
            page.text.contains("<td>bob</td><td>Member</td>"),
            "{}",
            page.text
        );
        let hidden = eve.get("/account/organizations/lab").await;
        assert_eq!(hidden.status, StatusCode::NOT_FOUND);

        for (name, what, fault) in [
            ("bob", "add", "a member already"),
            ("nobody", "add", "no account of this name"),
            ("eve", "owner", "is no member"),
            ("ada", "remove", "needs an owner"),
            ("ada", "member", "needs an owner"),
        ] {
            let (status, text) = change(&ada, name, what).await;
            assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY, "{name} {what}");
            assert!(text.contains(fault), "{text}");
        }
        for (name, what) in [("ada", "remove"), ("bob", "owner"), ("eve", "add")] {
            assert_eq!(
                change(&bob, name, what).await.0,
                StatusCode::FORBIDDEN,
                "{name} {what}"
            );
        }
        assert_eq!(change(&ada, "bob", "owner").await.0, StatusCode::SEE_OTHER);
        assert_eq!(change(&ada, "ada", "remove").await.0, StatusCode::SEE_OTHER);
        assert!(!may_publish("ada").await && may_publish("bob").await);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn two_owners_who_leave_at_once_do_not_both() {
    on_both(async |url| {
        let store = open(&url).await;
        let site = site(&store);
        let ada = Browser::of(&site, "ada").await;
        Browser::of(&site, "bob").await;
        ada.post(
            "/account/organizations",
            &[("title", "The Lab"), ("slug", "lab")],
        )
        .await;
        change(&ada, "bob", "add").await;
        change(&ada, "bob", "owner").await;
        let (ada, bob) = (key_of(&store, "ada").await, key_of(&store, "bob").await);
        let other = open(&url).await;
        let left = join(
            store.change_member("lab", ada, "ada", MemberChange::Remove, 1),
            other.change_member("lab", bob, "bob", MemberChange::Remove, 1),
        )
        .await;
        let left = [left.0.unwrap(), left.1.unwrap()];
        assert!(left.contains(&MemberChanged::Done), "{left:?}");
        assert!(left.contains(&MemberChanged::LastOwner), "{left:?}");
        let members = store.members("lab").await.unwrap();
        assert_eq!(members.len(), 1);
        assert_eq!(members[0].role, Role::Owner);
    })
    .await
    .unwrap();
}
