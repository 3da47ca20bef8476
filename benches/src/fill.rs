//! A database with the first runs of a world in it.

use std::sync::Arc;

use anyhow::Context;
use document::RunDocument;
use store::{NewRun, PageRequest, RunQuery, Store};
use tokio::sync::mpsc;

use crate::world::{World, published_at_ms};

/// Runs of one transaction.
const BATCH_RUNS: u64 = 200;
/// Batches that may wait for the database.
const WAITING_BATCHES: usize = 2;

/// A run on its way into the database.
struct Made {
    content: Vec<u8>,
    document: RunDocument,
    published_at_ms: i64,
}

/// Publishes the runs up to `until` that are not there yet, and says after each batch
/// how many there are.
///
/// # Errors
/// When the database fails, or holds other runs than those of this world.
pub async fn fill(
    store: &Store,
    world: &Arc<World>,
    until: u64,
    mut filled: impl FnMut(u64),
) -> anyhow::Result<()> {
    let from = runs_there(store, world).await?;
    anyhow::ensure!(
        from <= until,
        "the database has {from} runs, more than {until}: give another --database or more --runs"
    );
    let (sender, mut batches) = mpsc::channel(WAITING_BATCHES);
    let makers_world = Arc::clone(world);
    let maker = tokio::task::spawn_blocking(move || make(&makers_world, from, until, &sender));
    let mut there = from;
    while let Some(batch) = batches.recv().await {
        publish(store, &batch).await?;
        there += batch.len() as u64;
        filled(there);
    }
    maker.await??;
    Ok(())
}

/// How many of the world's runs the database has.
///
/// # Errors
/// When the database fails, or holds other runs than those of this world.
pub async fn runs_there(store: &Store, world: &World) -> anyhow::Result<u64> {
    let first = PageRequest {
        limit: 1,
        after: None,
    };
    let page = store.runs(&RunQuery::default(), &first).await?;
    let count = page.total.context("the store does not count its runs")?;
    if let Some(newest) = page.items.first() {
        let expected = world.facts(count - 1).id;
        anyhow::ensure!(
            newest.id == expected,
            "the database has {count} runs, but the newest is {} and not {expected}: it was not filled \
             with this seed; give another --database",
            newest.id
        );
    }
    Ok(count)
}

fn make(
    world: &World,
    from: u64,
    until: u64,
    sender: &mpsc::Sender<Vec<Made>>,
) -> anyhow::Result<()> {
    let mut next = from;
    while next < until {
        let end = until.min(next + BATCH_RUNS);
        let batch = (next..end)
            .map(|index| made(world, index))
            .collect::<anyhow::Result<_>>()?;
        next = end;
        if sender.blocking_send(batch).is_err() {
            // Whoever wanted them has failed, and says why.
            return Ok(());
        }
    }
    Ok(())
}

fn made(world: &World, index: u64) -> anyhow::Result<Made> {
    let mut document = world.document(&world.facts(index));
    let content = serde_json::to_vec(&document)?;
    // As the site does with an upload.
    judge::add_derived_flags(&mut document);
    Ok(Made {
        content,
        document,
        published_at_ms: published_at_ms(index),
    })
}

async fn publish(store: &Store, batch: &[Made]) -> anyhow::Result<()> {
    let runs: Vec<NewRun<'_>> = batch
        .iter()
        .map(|made| NewRun {
            content: &made.content,
            document: &made.document,
            account_key: None,
            organization_key: None,
            idempotency_key: None,
            published_at_ms: made.published_at_ms,
        })
        .collect();
    let published = store.publish_many(&runs).await?;
    anyhow::ensure!(
        published.iter().all(|run| run.created),
        "two runs have the same content"
    );
    Ok(())
}
