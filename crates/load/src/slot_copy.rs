//! Copying a warm prompt into the other slots of llama.cpp, where its owner has
//! given it a folder for that: seconds instead of a cold prefill for each slot.

use std::time::Duration;

use bytes::Bytes;
use engines::PostRequest;
use engines::slots::{self, SlotCopy};

use crate::bench::{Bench, to_engines};

/// Writing or reading a slot of a large model takes a while.
const COPY_PATIENCE: Duration = Duration::from_secs(120);
/// The file in the server's folder; each context replaces it.
const FILE_NAME: &str = "tokgrid-warm-prompt.bin";

/// Copies the prompt of the slot used last into slots `0..count`. Says in the
/// event log why, when that does not work; the slots are then warmed by requests.
pub(crate) async fn copy_to_all(bench: &mut Bench, count: u32) -> bool {
    let slots = bench
        .read_state()
        .await
        .map(|reading| reading.slots)
        .unwrap_or_default();
    let Some(warm) = slots
        .iter()
        .max_by_key(|slot| slot.task)
        .map(|slot| slot.slot)
    else {
        bench.note("slots cannot be copied: the server does not show them (start it with --slots)");
        return false;
    };
    let save = slots::save_request(warm, FILE_NAME);
    let restores = (0..count)
        .filter(|slot| *slot != warm)
        .map(|slot| slots::restore_request(slot, FILE_NAME));
    for request in std::iter::once(save).chain(restores) {
        if let Err(why) = post(bench, request).await {
            bench.note(format!("slots cannot be copied: {why}"));
            return false;
        }
    }
    true
}

async fn post(bench: &mut Bench, request: PostRequest) -> Result<(), String> {
    let answer = bench
        .client
        .post(&request.path, Bytes::from(request.body), COPY_PATIENCE)
        .await;
    match slots::read_reply(&to_engines(answer.map_err(|error| error.to_string())?)) {
        SlotCopy::Done => Ok(()),
        SlotCopy::NotSupported { said } => Err(format!("{said} (--slot-save-path FOLDER)")),
        SlotCopy::Failed { status, said } => Err(format!("the server answered {status}: {said}")),
    }
}
