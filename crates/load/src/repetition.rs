//! Whether an answer loops at its end.

use document::Repetition;

/// How much of an answer's end is looked at, bytes.
pub(crate) const TAIL_BYTES: usize = 2048;
/// The longest text that is found repeating, bytes.
const MAX_UNIT_BYTES: usize = 256;
/// Repeated less often than this it may be a refrain or a table.
const MIN_TIMES: usize = 6;
/// The repeated stretch must be this long altogether, bytes.
const MIN_STRETCH_BYTES: usize = 600;

/// Appends `text`, keeping only about the last [`TAIL_BYTES`].
pub(crate) fn keep_tail(tail: &mut String, text: &str) {
    tail.push_str(text);
    if tail.len() > 2 * TAIL_BYTES {
        let mut cut = tail.len() - TAIL_BYTES;
        while !tail.is_char_boundary(cut) {
            cut += 1;
        }
        tail.drain(..cut);
    }
}

/// The shortest text that stands many times in a row at the end of `tail`.
#[must_use]
pub(crate) fn find(tail: &str) -> Option<Repetition> {
    let bytes = tail.as_bytes();
    (1..=MAX_UNIT_BYTES.min(bytes.len() / MIN_TIMES)).find_map(|unit| {
        let same = bytes
            .iter()
            .rev()
            .zip(bytes.iter().rev().skip(unit))
            .take_while(|(a, b)| a == b);
        let stretch = same.count() + unit;
        let times = stretch / unit;
        (times >= MIN_TIMES && stretch >= MIN_STRETCH_BYTES).then(|| Repetition {
            unit_chars: String::from_utf8_lossy(&bytes[bytes.len() - unit..])
                .chars()
                .count() as u32,
            times: times as u32,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_is_found_and_prose_is_none() {
        let looping = format!("Once. {}", "The same again, ".repeat(60));
        let found = find(&looping).expect("a loop");
        assert_eq!(found.unit_chars, 16);
        assert!(found.times >= 59);
        let prose: String = include_str!("../corpus/prose.txt")
            .chars()
            .take(4000)
            .collect();
        assert_eq!(find(&prose), None);
        assert_eq!(find(&"ab".repeat(100)), None, "200 bytes may be a ruler");
    }

    #[test]
    fn the_tail_stays_small_and_whole_characters() {
        let mut tail = String::new();
        for _ in 0..5000 {
            keep_tail(&mut tail, "é—");
        }
        assert!(tail.len() <= 2 * TAIL_BYTES + 8);
    }
}
