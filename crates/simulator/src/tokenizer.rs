//! The simulator's own tokenizer: fast, deterministic and additive.
//!
//! A token is a word piece of up to twelve bytes with the one space before it, up
//! to three digits, one mark of punctuation, or a run of white space. Identical
//! text gives identical ids; ids of different pieces may coincide.

use crate::engine::{BLOCK_TOKENS, BlockHash};

/// Bytes of a word piece at most, the space before it included.
const PIECE_BYTES: usize = 12;

/// Digits in one token at most.
const DIGITS: usize = 3;

/// Ids are below this.
pub const VOCABULARY: u32 = 131_072;

/// Ids below this stand for marks of the chat template.
const FIRST_TEXT_ID: u32 = 256;

/// Id of a token.
pub type TokenId = u32;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Digit,
    Space,
    Mark,
}

fn class(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80..=0xff => Class::Word,
        b'0'..=b'9' => Class::Digit,
        b' ' | b'\t' | b'\n' | b'\r' => Class::Space,
        0..=0x7f => Class::Mark,
    }
}

/// Length in bytes of the first token of `text`, which is not empty.
fn piece_len(text: &[u8]) -> usize {
    let run = |from: usize, most: usize, wanted: Class| {
        text[from..]
            .iter()
            .take(most)
            .take_while(|byte| class(**byte) == wanted)
            .count()
    };
    let first = class(text[0]);
    // One space belongs to the word after it.
    let spaced_word =
        text[0] == b' ' && text.get(1).is_some_and(|byte| class(*byte) == Class::Word);
    match first {
        Class::Space if spaced_word => 1 + run(1, PIECE_BYTES - 1, Class::Word),
        Class::Word => run(0, PIECE_BYTES, Class::Word),
        Class::Digit => run(0, DIGITS, Class::Digit),
        Class::Mark => 1,
        Class::Space => {
            let spaces = run(0, text.len(), Class::Space);
            let word_follows = text.get(spaces).is_some_and(|b| class(*b) == Class::Word);
            // The last of several spaces goes with the word.
            if word_follows && spaces > 1 && text[spaces - 1] == b' ' {
                spaces - 1
            } else {
                spaces
            }
        }
    }
}

/// Id of a piece of text.
fn id(piece: &[u8]) -> TokenId {
    // FNV-1a, 32 bits.
    let hash = piece.iter().fold(0x811c_9dc5_u32, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    });
    FIRST_TEXT_ID + hash % (VOCABULARY - FIRST_TEXT_ID)
}

/// Appends the ids of `text`.
pub fn tokenize_into(text: &str, ids: &mut Vec<TokenId>) {
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let (piece, tail) = rest.split_at(piece_len(rest));
        ids.push(id(piece));
        rest = tail;
    }
}

/// The ids of `text`.
#[must_use]
pub fn tokenize(text: &str) -> Vec<TokenId> {
    let mut ids = Vec::with_capacity(text.len() / 5);
    tokenize_into(text, &mut ids);
    ids
}

/// The ids of a conversation: a mark at the beginning, then for every message a
/// mark, its role and its text, and two marks where the answer begins.
#[must_use]
pub fn apply_chat_template<'a>(messages: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<TokenId> {
    const BEGIN: TokenId = 1;
    const MESSAGE: TokenId = 2;
    const END: TokenId = 3;
    const ASSISTANT: TokenId = 4;
    let mut ids = vec![BEGIN];
    for (role, text) in messages {
        ids.push(MESSAGE);
        // Roles are one token each, as they are special tokens in real templates.
        ids.push(id(role.as_bytes()));
        tokenize_into(text, &mut ids);
        ids.push(END);
    }
    ids.extend([MESSAGE, ASSISTANT]);
    ids
}

/// Chained hashes of the full blocks of a prompt: equal hashes mean equal
/// prompts up to there.
#[must_use]
pub fn block_hashes(ids: &[TokenId]) -> Vec<BlockHash> {
    let mut chain = 0x9e37_79b9_7f4a_7c15_u64;
    ids.chunks_exact(BLOCK_TOKENS as usize)
        .map(|block| {
            for id in block {
                chain = (chain ^ u64::from(*id)).wrapping_mul(0xff51_afd7_ed55_8ccd);
                chain ^= chain >> 32;
            }
            chain
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_joined_by_spaces_add_up() {
        let sentences = [
            "It was the best of times.",
            "Call me Ishmael, aged 1851; yes",
        ];
        let joined = sentences.join(" ");
        let spaced = format!(" {}", sentences[1]);
        assert_eq!(
            tokenize(&joined).len(),
            tokenize(sentences[0]).len() + tokenize(&spaced).len()
        );
    }

    #[test]
    fn a_space_belongs_to_the_word_after_it() {
        assert_eq!(tokenize("one two").len(), 2);
        assert_eq!(tokenize(" one  two").len(), 3);
        assert_eq!(tokenize("1234").len(), 2);
        assert_eq!(tokenize("wait...").len(), 4);
        assert_eq!(tokenize("").len(), 0);
    }

    #[test]
    fn the_template_adds_six_tokens_to_one_message() {
        let text = "What is the capital of France?";
        let ids = apply_chat_template([("user", text)].into_iter());
        assert_eq!(ids.len(), tokenize(text).len() + 6);
    }

    #[test]
    fn hashes_agree_up_to_the_first_difference() {
        let mut ids: Vec<TokenId> = (0..100).collect();
        let first = block_hashes(&ids);
        ids[40] = 7;
        let second = block_hashes(&ids);
        assert_eq!(first.len(), 6);
        assert_eq!(first[..2], second[..2]);
        assert_ne!(first[2], second[2]);
        assert_ne!(first[3], second[3]);
    }
}
