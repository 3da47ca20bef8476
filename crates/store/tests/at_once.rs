//! Many that publish at once, and one that is killed while it does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use common::{Run, account, assert_clean, open};
use store::{PageRequest, RunQuery, Store};
use testkit::on_both;
use tokio::task::JoinSet;

const PUBLISHERS: usize = 8;
const RUNS_EACH: usize = 6;
/// Where a publishing process that will be killed has its database and its name.
const CHILD_URL: &str = "TOKGRID_TEST_CHILD_URL";
const CHILD_ROUND: &str = "TOKGRID_TEST_CHILD_ROUND";
/// How often a process is killed on each database.
const KILL_ROUNDS: &str = "TOKGRID_TEST_KILL_ROUNDS";
const KILL_ROUNDS_DEFAULT: usize = 3;

fn run(publisher: usize, number: usize, prefix: &str) -> Run {
    let models = ["org/A", "org/B", "org/C"];
    Run::new(&format!("{prefix}{publisher}-{number}"))
        .model(models[(publisher + number) % models.len()])
        .decode(8192, 1, 10.0 + (publisher * 7 + number) as f64)
        .decode(8192, 4, 40.0 + (number * 5 + publisher) as f64)
}

async fn count(store: &Store) -> u64 {
    let page = PageRequest {
        limit: 1,
        after: None,
    };
    store
        .runs(&RunQuery::default(), &page)
        .await
        .unwrap()
        .total
        .unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_published_at_once_are_all_kept_and_counted() {
    on_both(async |url| {
        let store = open(&url).await;
        let mut publishers = JoinSet::new();
        for publisher in 0..PUBLISHERS {
            let store = store.clone();
            publishers.spawn(async move {
                for number in 0..RUNS_EACH {
                    assert!(run(publisher, number, "").publish(&store).await.created);
                }
            });
        }
        publishers.join_all().await;
        assert_eq!(count(&store).await, (PUBLISHERS * RUNS_EACH) as u64);
        assert_clean(&store).await;
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_idempotency_key_used_at_once_gives_one_run() {
    on_both(async |url| {
        let store = open(&url).await;
        let by = account(&store, "one").await;
        let mut publishers = JoinSet::new();
        for _ in 0..PUBLISHERS {
            let store = store.clone();
            publishers.spawn(async move {
                let run = Run::new("same").decode(8192, 1, 10.0);
                run.publish_by(&store, Some(by), Some("key"), 1)
                    .await
                    .unwrap()
            });
        }
        let published = publishers.join_all().await;
        assert!(published.iter().all(|published| published.id == "same"));
        assert_eq!(
            published
                .iter()
                .filter(|published| published.created)
                .count(),
            1
        );
        assert_eq!(count(&store).await, 1);
        assert_clean(&store).await;
    })
    .await
    .unwrap();
}

/// Publishes until it is killed, and says each run that was acknowledged.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "the process that is killed by the test below"]
async fn child_that_publishes() {
    let (Ok(url), Ok(round)) = (std::env::var(CHILD_URL), std::env::var(CHILD_ROUND)) else {
        return;
    };
    let store = open(&url).await;
    let mut publishers = JoinSet::new();
    for publisher in 0..PUBLISHERS {
        let store = store.clone();
        let prefix = format!("{round}-");
        publishers.spawn(async move {
            for number in 0.. {
                let id = run(publisher, number, &prefix).publish(&store).await.id;
                // One write for a line, so that lines of others are not amid it.
                std::io::stdout()
                    .write_all(format!("kept {id}\n").as_bytes())
                    .unwrap();
            }
        });
    }
    publishers.join_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_survives_a_kill_while_others_are_published() {
    let rounds =
        std::env::var(KILL_ROUNDS).map_or(KILL_ROUNDS_DEFAULT, |rounds| rounds.parse().unwrap());
    on_both(async |url| {
        let mut kept = Vec::new();
        for round in 0..rounds {
            let acknowledged = kill_amid_publishing(&url, round);
            let store = open(&url).await;
            for id in &acknowledged {
                assert!(store.run(id).await.unwrap().is_some(), "{id} is lost");
            }
            kept.extend(acknowledged);
            assert_clean(&store).await;
        }
        let store = open(&url).await;
        for id in &kept {
            assert!(store.run(id).await.unwrap().is_some(), "{id} is lost");
        }
        assert!(count(&store).await >= kept.len() as u64);
    })
    .await
    .unwrap();
}

/// Starts a process that publishes, kills it after some runs, and answers with all
/// that it acknowledged.
fn kill_amid_publishing(url: &str, round: usize) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "child_that_publishes",
            "--ignored",
            "--nocapture",
        ])
        .env(CHILD_URL, url)
        .env(CHILD_ROUND, round.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Each round ends elsewhere.
    let enough = 5 + (round * 13) % 29;
    let mut acknowledged = Vec::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 {
        // A line that the kill cut off is none.
        if let Some((_, id)) = line
            .strip_suffix('\n')
            .and_then(|line| line.split_once("kept "))
        {
            acknowledged.push(id.to_owned());
            if acknowledged.len() == enough {
                child.kill().unwrap();
            }
        }
        line.clear();
    }
    child.wait().unwrap();
    assert!(acknowledged.len() >= enough, "the process ended by itself");
    acknowledged
}
