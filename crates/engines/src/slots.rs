//! Copying a warm prompt from one slot of llama.cpp to others.
//!
//! A prompt in one slot does not warm the others, and an answer with `n` choices
//! does not either: it prefills once, but the slots of the further choices are
//! cleared when it ends (seen in b11434). A server started with
//! `--slot-save-path` can write a slot to a file and read it into others: 35 ms
//! and 94 MB for 4,096 tokens of a 135M model, 0.1 s for each slot that reads it,
//! where prefilling it again took 30 s. The file stays in that folder.

use serde_json::json;

use crate::{Answer, PostRequest};

/// What came of a save or restore.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SlotCopy {
    /// Done.
    Done,
    /// The server was started without `--slot-save-path`.
    NotSupported {
        /// What the server says.
        said: String,
    },
    /// It did not work this time.
    Failed {
        /// The HTTP status.
        status: u16,
        /// What the server says.
        said: String,
    },
}

/// Writes a slot's prompt to a file in the server's folder for slots.
/// `file_name` is a name, not a path; the server refuses others.
#[must_use]
pub fn save_request(slot: u32, file_name: &str) -> PostRequest {
    request(slot, "save", file_name)
}

/// Reads such a file into a slot.
#[must_use]
pub fn restore_request(slot: u32, file_name: &str) -> PostRequest {
    request(slot, "restore", file_name)
}

/// Reads the reply to either.
#[must_use]
pub fn read_reply(answer: &Answer) -> SlotCopy {
    let said = || answer.sentence();
    match answer.status {
        200..300 => SlotCopy::Done,
        // 501 since it is not enabled; 404 and 405 where the route is not known.
        404 | 405 | 501 => SlotCopy::NotSupported { said: said() },
        status => SlotCopy::Failed {
            status,
            said: said(),
        },
    }
}

fn request(slot: u32, action: &str, file_name: &str) -> PostRequest {
    PostRequest {
        path: format!("/slots/{slot}?action={action}"),
        body: json!({"filename": file_name}).to_string().into_bytes(),
    }
}
