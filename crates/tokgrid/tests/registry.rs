//! The site as its operator runs it: killed, out of disk, two on one database.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::binary::{Said, say};
use common::people::{Person, client, upload};
use common::serve::ServeProcess;
use serde_json::Value;
use testkit::{FreshDatabase, on_both};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinSet;

const EXAMPLE: &str =
    include_str!("../../../examples/runs/deepseek-v4.1-flash-4x-rtx-pro-6000.json");
/// How often the site is killed on each database; `scripts/test kill` asks for more.
const KILL_ROUNDS: &str = "TOKGRID_TEST_KILL_ROUNDS";
const KILL_ROUNDS_DEFAULT: usize = 3;
/// Who publishes at once.
const UPLOADERS: usize = 4;
/// Uploads of an account in an hour stay below the site's limit, also repeated.
const UPLOADS_PER_ROUND_MAX: usize = 100;
/// Cells of the runs that are uploaded by the hundred.
const CELLS: usize = 4;

/// The id of a run of a round.
fn id(round: usize, number: usize) -> String {
    format!("00000000-0000-4000-8000-{round:06x}{number:06x}")
}

/// A run of a few cells, like no other.
fn small_run(id: &str) -> String {
    let mut run: Value = serde_json::from_str(EXAMPLE).unwrap();
    run["id"] = id.into();
    run["cells"].as_array_mut().unwrap().truncate(CELLS);
    run["notes"] = format!("This is {id}").into();
    run.to_string()
}

fn check(database: &str) -> Said {
    say(&["db", "check", "--db", database])
}

/// Fails unless the database is as the runs in it make it, and these are so many.
fn assert_clean(database: &str, runs: usize) {
    let said = check(database);
    assert_eq!(said.status, 0, "{said:#?}");
    let read = match runs {
        1 => "1 run and ".to_owned(),
        more => format!("{more} runs and "),
    };
    assert!(said.stdout.starts_with(&read), "not {runs} runs: {said:#?}");
}

async fn document_of(site: &str, id: &str) -> Option<String> {
    let response = client()
        .get(format!("{site}/api/v1/runs/{id}"))
        .send()
        .await
        .unwrap();
    (response.status() == 200).then_some(())?;
    Some(response.text().await.unwrap())
}

/// What came of an upload, by id: the document, and whether it was acknowledged.
type Sent = BTreeMap<String, (String, bool)>;

/// Uploads run after run until the site is gone.
async fn upload_on(
    site: String,
    token: String,
    round: usize,
    number: Arc<AtomicUsize>,
    acknowledged: UnboundedSender<()>,
) -> Sent {
    let mut sent = Sent::new();
    loop {
        let number = number.fetch_add(1, Ordering::Relaxed);
        if number >= UPLOADS_PER_ROUND_MAX {
            return sent;
        }
        let id = id(round, number);
        let document = small_run(&id);
        match upload(&site, &token, Some(&id), document.clone()).await {
            Ok((status, answer)) => {
                assert_eq!(status, 201, "{answer:#}");
                assert_eq!(answer["id"], *id);
                sent.insert(id, (document, true));
                acknowledged.send(()).ok();
            }
            Err(_) => {
                sent.insert(id, (document, false));
                return sent;
            }
        }
    }
}

async fn wait_for(acknowledged: &mut UnboundedReceiver<()>, count: usize) {
    for _ in 0..count {
        acknowledged
            .recv()
            .await
            .expect("the uploads end by themselves");
    }
}

/// Uploads from several at once, and kills the site in the midst of it.
async fn kill_under_uploads(database: &str, token: &str, round: usize) -> Sent {
    let site = ServeProcess::start(database);
    let number = Arc::new(AtomicUsize::new(0));
    let (sender, mut acknowledged) = unbounded_channel();
    let mut uploaders = JoinSet::new();
    for _ in 0..UPLOADERS {
        let (site, token) = (site.url.clone(), token.to_owned());
        uploaders.spawn(upload_on(
            site,
            token,
            round,
            Arc::clone(&number),
            sender.clone(),
        ));
    }
    drop(sender);
    // Another moment of the work every time.
    wait_for(&mut acknowledged, 1 + round * 5 % 13).await;
    site.kill();
    let sent = uploaders.join_all().await.into_iter().flatten().collect();
    let is_lost = |sent: &Sent| sent.values().any(|(_, is_acknowledged)| !is_acknowledged);
    assert!(
        is_lost(&sent),
        "round {round}: nothing was under way when the site was killed"
    );
    sent
}

/// What was acknowledged is there as it was sent; what was not is sent again, and is
/// one run whether or not it was kept the first time.
async fn assert_kept(site: &str, token: &str, sent: &Sent) {
    for (id, (document, is_acknowledged)) in sent {
        if *is_acknowledged {
            let kept = document_of(site, id).await;
            assert_eq!(kept.as_ref(), Some(document), "{id} was acknowledged");
            continue;
        }
        let (first, answer) = upload(site, token, Some(id), document.clone())
            .await
            .unwrap();
        assert!(first == 200 || first == 201, "{id}: {first} {answer:#}");
        let (second, again) = upload(site, token, Some(id), document.clone())
            .await
            .unwrap();
        assert_eq!((second, &again["id"]), (200, &answer["id"]), "{again:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_acknowledged_is_there_after_the_site_is_killed() {
    let rounds = std::env::var(KILL_ROUNDS);
    let rounds = rounds.map_or(KILL_ROUNDS_DEFAULT, |rounds| rounds.parse().unwrap());
    on_both(async |database| {
        let site = ServeProcess::start(&database);
        let token = Person::sign_up(&site.url, "ada")
            .await
            .token("laptop")
            .await;
        site.kill();
        let mut runs = 0;
        for round in 0..rounds {
            let sent = kill_under_uploads(&database, &token, round).await;
            let site = ServeProcess::start(&database);
            assert_kept(&site.url, &token, &sent).await;
            site.kill();
            runs += sent.len();
            assert_clean(&database, runs);
        }
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn one_idempotency_key_is_one_run_also_at_once() {
    on_both(async |database| {
        let site = ServeProcess::start(&database);
        let token = Person::sign_up(&site.url, "ada")
            .await
            .token("laptop")
            .await;
        let mut uploads = JoinSet::new();
        for _ in 0..8 {
            let (url, token) = (site.url.clone(), token.clone());
            uploads.spawn(async move {
                upload(&url, &token, Some("key"), small_run(&id(0, 1)))
                    .await
                    .unwrap()
            });
        }
        let answers = uploads.join_all().await;
        let created = answers.iter().filter(|(status, _)| *status == 201).count();
        assert_eq!(created, 1, "{answers:#?}");
        let is_it = |(status, answer): &(u16, Value)| {
            matches!(status, 200 | 201) && answer["id"] == id(0, 1)
        };
        assert!(answers.iter().all(is_it), "{answers:#?}");

        // The key stands for that document.
        let (status, answer) = upload(&site.url, &token, Some("key"), small_run(&id(0, 2)))
            .await
            .unwrap();
        assert!((400..500).contains(&status), "{status} {answer:#}");
        assert!(answer.to_string().contains("dempotency"), "{answer:#}");
        site.kill();
        assert_clean(&database, 1);
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sites_on_one_postgres_are_one_site() {
    let Some(database) = FreshDatabase::postgres().await.unwrap() else {
        return;
    };
    let left = ServeProcess::start(database.url());
    let right = ServeProcess::start(database.url());
    let ada = Person::sign_up(&left.url, "ada").await;
    let token = ada.token("laptop").await;
    // Each knows who signed in at the other, and takes the other's token.
    let account = client()
        .get(right.at("/account"))
        .header("cookie", &ada.cookie);
    assert_eq!(account.send().await.unwrap().status(), 200);
    let (status, answer) = upload(&right.url, &token, None, small_run(&id(0, 1)))
        .await
        .unwrap();
    assert_eq!(status, 201, "{answer:#}");
    let (status, answer) = upload(&left.url, &token, None, small_run(&id(0, 2)))
        .await
        .unwrap();
    assert_eq!(status, 201, "{answer:#}");
    for path in [
        "/runs",
        "/leaderboard",
        "/models",
        "/api/v1/runs",
        "/api/v1/leaderboard",
    ] {
        let mut seen = Vec::new();
        for site in [&left, &right] {
            let response = client().get(site.at(path)).send().await.unwrap();
            assert_eq!(response.status(), 200, "{path}");
            let body = response.text().await.unwrap();
            seen.push(body.replace(&site.url, ""));
        }
        assert_eq!(seen[0], seen[1], "{path} differs");
        assert!(seen[0].contains("DeepSeek"), "{path} shows no run");
    }
    for (site, id) in [(&left, id(0, 1)), (&right, id(0, 2))] {
        assert!(document_of(&site.url, &id).await.is_some(), "{id}");
    }
    drop((left, right));
    assert_clean(database.url(), 2);
    database.remove().await.unwrap();
}

/// A small disk of its own, in memory.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// `None`, and a line that says so, where this user may not mount one.
    fn mount(size: &str) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={size}");
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(folder.path());
        if mount.status().is_ok_and(|status| status.success()) {
            return Some(SmallDisk(folder));
        }
        #[allow(clippy::print_stderr)]
        let () = eprintln!("NOT TESTED ON A FULL DISK: only root may mount a small one");
        None
    }

    fn database(&self) -> String {
        format!("sqlite:{}", self.0.path().join("site.db").display())
    }

    /// A file that takes room until it is removed.
    fn ballast(&self) -> std::path::PathBuf {
        self.0.path().join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        Command::new("umount")
            .arg("--lazy")
            .arg(self.0.path())
            .status()
            .ok();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_is_said_and_nothing_is_half_kept() {
    let Some(disk) = SmallDisk::mount("4m") else {
        return;
    };
    std::fs::write(disk.ballast(), vec![1; 1 << 20]).unwrap();
    let site = ServeProcess::start(&disk.database());
    let token = Person::sign_up(&site.url, "ada")
        .await
        .token("laptop")
        .await;
    let mut kept = Vec::new();
    let (refused, status, answer) = loop {
        let id = id(0, kept.len());
        let mut run: Value = serde_json::from_str(EXAMPLE).unwrap();
        run["id"] = id.clone().into();
        let (status, answer) = upload(&site.url, &token, Some(&id), run.to_string())
            .await
            .unwrap();
        if status != 201 {
            break (run, status, answer);
        }
        kept.push(id);
        assert!(kept.len() < 200, "the disk is never full");
    };
    assert!(!kept.is_empty());
    assert_eq!(status, 507, "{answer:#}");
    assert_eq!(answer["status"], status, "{answer:#}");
    assert!(
        answer["detail"].as_str().unwrap().contains("disk is full"),
        "{answer:#}"
    );
    // Reading goes on.
    assert!(document_of(&site.url, &kept[0]).await.is_some());
    let id = refused["id"].as_str().unwrap();
    assert!(
        document_of(&site.url, id).await.is_none(),
        "{id} was refused"
    );

    std::fs::remove_file(disk.ballast()).unwrap();
    let (status, answer) = upload(&site.url, &token, Some(id), refused.to_string())
        .await
        .unwrap();
    assert_eq!(status, 201, "with room again: {answer:#}");
    site.kill();
    assert_clean(&disk.database(), kept.len() + 1);
}

#[test]
fn a_database_that_cannot_be_opened_is_named_with_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("no/such/site.db");
    let missing = format!("sqlite:{}", missing.display());
    let said = ServeProcess::refused(&missing);
    said.assert_refused(2, &["cannot open the database", "no/such/site.db"]);

    let garbage = folder.path().join("garbage.db");
    std::fs::write(
        &garbage,
        "this is no database, however long it is ".repeat(200),
    )
    .unwrap();
    let said = ServeProcess::refused(&format!("sqlite:{}", garbage.display()));
    said.assert_refused(
        2,
        &["cannot open the database", "garbage.db", "not a database"],
    );

    let said = ServeProcess::refused("postgres://nobody@127.0.0.1:9/nothing");
    said.assert_refused(2, &["cannot open the database", "127.0.0.1:9", "refused"]);
    assert!(!said.stderr.contains("nobody"), "{said:#?}");

    let said = ServeProcess::refused("mysql://127.0.0.1/site");
    said.assert_refused(2, &["sqlite:", "postgres://"]);
}

#[test]
fn what_only_reads_a_database_makes_none() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("none.db");
    let said = check(&format!("sqlite:{}", file.display()));
    said.assert_refused(2, &["there is no database", "none.db", "--db"]);
    assert!(!file.exists());
}

#[tokio::test]
async fn a_damaged_database_is_found_by_db_check() {
    let database = FreshDatabase::sqlite().unwrap();
    let site = ServeProcess::start(database.url());
    let token = Person::sign_up(&site.url, "ada")
        .await
        .token("laptop")
        .await;
    for number in 0..8 {
        let run = small_run(&id(0, number));
        assert_eq!(upload(&site.url, &token, None, run).await.unwrap().0, 201);
    }
    site.kill();
    assert_clean(database.url(), 8);
    let path = std::path::Path::new(database.url().strip_prefix("sqlite:").unwrap());
    let mut bytes = std::fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    let end = bytes.len();
    bytes[middle..end].fill(0x5a);
    std::fs::write(path, bytes).unwrap();
    let said = check(database.url());
    assert_ne!(said.status, 0, "{said:#?}");
    assert!(!said.stderr.contains("panicked"), "{said:#?}");
}
