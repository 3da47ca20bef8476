use std::num::NonZeroU32;

use axum::http::{Request, StatusCode};
use site::{Limits, Site, SiteOptions};
use testkit::on_both;

use crate::browser::{Browser, HOME, PASSWORD, open, options, site};

const FORM: &str = "application/x-www-form-urlencoded";

#[tokio::test]
async fn a_page_elsewhere_changes_nothing_here() {
    on_both(async |url| {
        let site = site(&open(&url).await);
        let ada = Browser::of(&site, "ada").await;
        let body = "token-name=stolen&read=yes";
        let send = |name: &'static str, value: &'static str| {
            Request::post("/account/tokens")
                .header("content-type", FORM)
                .header(name, value)
        };
        let mut program = Browser::new(&site);
        program.origin = None;
        program.cookies = ada.cookies.clone();
        for request in [
            send("origin", "https://evil.example"),
            send("origin", "null"),
            send("origin", "http://site.example.evil.example"),
            send("origin", "http://site.example:8080"),
            send("sec-fetch-site", "cross-site"),
            send("sec-fetch-site", "same-site"),
            send("sec-fetch-site", "none").header("origin", HOME),
            send("x-nothing", "said"),
        ] {
            let answer = program.send(request, body).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN);
        }
        // Nobody is signed in to an attacker's account by an attacker's page either.
        let fresh = Browser {
            origin: Some("https://evil.example"),
            ..Browser::new(&site)
        };
        let answer = fresh.sign_in("ada", PASSWORD).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN);
        assert!(answer.cookies().is_empty());

        assert!(!ada.get("/account").await.text.contains("stolen"));
        let own = send("sec-fetch-site", "same-origin");
        assert_eq!(program.send(own, body).await.status, StatusCode::OK);
        assert!(ada.get("/account").await.text.contains("stolen"));
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn pages_take_forms_and_nothing_that_looks_like_one() {
    on_both(async |url| {
        let ada = Browser::of(&site(&open(&url).await), "ada").await;
        for kind in ["text/plain", "application/json", ""] {
            let request = Request::post("/account/tokens").header("content-type", kind);
            let answer = ada.send(request, "token-name=x&read=yes").await;
            assert_eq!(answer.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{kind}");
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn signing_in_leads_to_no_other_site() {
    on_both(async |url| {
        let site = site(&open(&url).await);
        Browser::of(&site, "ada").await;
        for (next, to) in [
            ("/runs?model=a", "/runs?model=a"),
            ("//evil.example", "/account"),
            ("/\\evil.example", "/account"),
            ("https://evil.example/", "/account"),
            ("/\t/evil.example", "/account"),
            ("javascript:alert(1)", "/account"),
        ] {
            let form = [("name", "ada"), ("password", PASSWORD), ("next", next)];
            let browser = Browser::new(&site);
            assert_eq!(
                browser.post("/sign-in", &form).await.location(),
                to,
                "{next}"
            );
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("next", next)
                .finish();
            let signed_in = browser.get(&format!("/sign-in?{query}")).await;
            assert_eq!(signed_in.location(), to, "{next}");
            let asked = Browser::new(&site).get(&format!("/sign-in?{query}")).await;
            let kept = format!(r#"name="next" value="{to}""#);
            assert!(asked.text.contains(&kept), "{next}: {}", asked.text);
        }
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn names_are_shown_as_text() {
    on_both(async |url| {
        let ada = Browser::of(&site(&open(&url).await), "ada").await;
        let evil = "<script>alert('x')</script>\"><img src=x>";
        ada.token(evil).await;
        let form = [("title", evil), ("slug", "lab")];
        assert_eq!(
            ada.post("/account/organizations", &form).await.status,
            StatusCode::SEE_OTHER
        );
        for path in [
            "/account",
            "/account/organizations/lab",
            "/organizations/lab",
        ] {
            let page = ada.get(path).await;
            assert_eq!(page.status, StatusCode::OK, "{path}");
            assert!(page.text.contains("alert("), "{path}");
            assert!(
                !page.text.contains("<script") && !page.text.contains("<img"),
                "{path}"
            );
        }
    })
    .await
    .unwrap();
}

fn few(per_hour: u32, per_name: u32) -> SiteOptions {
    let mut options = options(HOME);
    options.limits = Limits {
        sign_ins_per_hour: NonZeroU32::new(per_hour).unwrap(),
        sign_ins_per_name_per_hour: NonZeroU32::new(per_name).unwrap(),
        ..options.limits
    };
    options
}

#[tokio::test]
async fn guessing_passwords_ends_after_a_few() {
    on_both(async |url| {
        let store = open(&url).await;
        Browser::of(&site(&store), "ada").await;
        let of_name = Browser::new(&Site::new(store.clone(), few(100, 3)).router());
        let of_address = Browser::new(&Site::new(store.clone(), few(3, 100)).router());
        for number in 0..3 {
            for browser in [&of_name, &of_address] {
                let answer = browser.sign_in("ada", &format!("password {number}")).await;
                assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
            }
        }
        // Not even the right one, by now.
        for browser in [&of_name, &of_address] {
            let answer = browser.sign_in("Ada", PASSWORD).await;
            assert_eq!(answer.status, StatusCode::TOO_MANY_REQUESTS);
            let wait: u64 = answer.headers["retry-after"]
                .to_str()
                .unwrap()
                .parse()
                .unwrap();
            assert!((1..=1200).contains(&wait), "{wait}");
            assert_eq!(answer.headers["ratelimit-remaining"], "0");
            assert!(
                answer.text.contains("Too many attempts."),
                "{}",
                answer.text
            );
        }
        let other = of_name.sign_in("eve", PASSWORD).await;
        assert_eq!(other.status, StatusCode::UNPROCESSABLE_ENTITY);
        let other = of_address.sign_in("eve", PASSWORD).await;
        assert_eq!(other.status, StatusCode::TOO_MANY_REQUESTS);
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn requests_are_counted_by_address_and_the_proxys_word_only_where_trusted() {
    on_both(async |url| {
        let store = open(&url).await;
        for trusted in [false, true] {
            let mut options = options(HOME);
            options.trust_forwarded_for = trusted;
            options.limits.requests_per_minute = NonZeroU32::new(2).unwrap();
            let browser = Browser::new(&Site::new(store.clone(), options).router());
            let mut seen = Vec::new();
            for from in ["10.0.0.1", "10.0.0.1", "10.0.0.1", "10.0.0.9, 10.0.0.2"] {
                let request = Request::get("/sign-in").header("x-forwarded-for", from);
                let answer = browser.send(request, "").await;
                assert_eq!(answer.headers["ratelimit-limit"], "2");
                seen.push(answer.status.as_u16());
            }
            let last = if trusted { 200 } else { 429 };
            assert_eq!(seen, [200, 200, 429, last]);
            let programs = browser
                .send(
                    Request::get("/api/v1/runs").header("x-forwarded-for", "10.0.0.1"),
                    "",
                )
                .await;
            assert_eq!(programs.status, StatusCode::TOO_MANY_REQUESTS);
            assert_eq!(programs.headers["content-type"], "application/problem+json");
            assert_eq!(programs.json()["status"], 429);
        }
    })
    .await
    .unwrap();
}
