//! What the decoder promises, whatever way a stream is cut.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use proptest::prelude::*;
use wire::sse::{SseDecoder, SseError, StreamEnd};

/// An event with everything owned, to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Owned {
    data: Vec<u8>,
    event: Option<Vec<u8>>,
    id: Option<Vec<u8>>,
    retry_ms: Option<u64>,
}

type Outcome = (Vec<Owned>, Result<(), SseError>, StreamEnd);

fn decode<'c>(limit_bytes: usize, chunks: impl IntoIterator<Item = &'c [u8]>) -> Outcome {
    let mut decoder = SseDecoder::with_limit(limit_bytes);
    let mut events = Vec::new();
    let mut result = Ok(());
    for chunk in chunks {
        result = decoder.feed(chunk, |event| {
            events.push(Owned {
                data: event.data.to_vec(),
                event: event.event.map(<[u8]>::to_vec),
                id: event.id.map(<[u8]>::to_vec),
                retry_ms: event.retry_ms,
            });
        });
    }
    (events, result, decoder.finish())
}

fn data(text: &str) -> Vec<String> {
    let (events, result, _) = decode(1 << 20, [text.as_bytes()]);
    result.unwrap();
    events
        .into_iter()
        .map(|event| String::from_utf8(event.data).unwrap())
        .collect()
}

fn end(text: &str) -> StreamEnd {
    decode(1 << 20, [text.as_bytes()]).2
}

#[test]
fn every_kind_of_line_end_ends_a_line() {
    for newline in ["\n", "\r\n", "\r"] {
        let stream = ["data: a", "", "data: b", "data: c", "", ""].join(newline);
        assert_eq!(data(&stream), ["a", "b\nc"], "{newline:?}");
    }
}

#[test]
fn an_event_is_handed_over_at_its_carriage_return_not_at_the_next_read() {
    let mut decoder = SseDecoder::new();
    let mut seen = 0;
    decoder.feed(b"data: a\r\n\r", |_| seen += 1).unwrap();
    assert_eq!(seen, 1);
    decoder.feed(b"\ndata: b\r\n\r\n", |_| seen += 1).unwrap();
    assert_eq!(seen, 2);
}

#[test]
fn comments_and_events_without_data_are_not_events() {
    assert_eq!(
        data(": ping\n\n:\n\nevent: x\n\nid: 1\n\ndata: a\n: ping\n\n"),
        ["a"]
    );
}

#[test]
fn one_space_after_the_colon_is_not_data() {
    assert_eq!(
        data("data:a\n\ndata:  b\n\ndata\n\ndata:\n\n"),
        ["a", " b", "", ""]
    );
}

#[test]
fn event_id_and_retry_belong_to_their_event() {
    let (events, _, _) = decode(
        100,
        [&b"event: error\nid: 7\nretry: 250\ndata: a\n\ndata: b\n\n"[..]],
    );
    let first = Owned {
        data: b"a".to_vec(),
        event: Some(b"error".to_vec()),
        id: Some(b"7".to_vec()),
        retry_ms: Some(250),
    };
    let second = Owned {
        data: b"b".to_vec(),
        event: None,
        id: None,
        retry_ms: None,
    };
    assert_eq!(events, [first, second]);
}

#[test]
fn a_byte_order_mark_begins_no_field() {
    assert_eq!(data("\u{feff}data: a\n\n\u{feff}data: b\n\n"), ["a"]);
}

#[test]
fn finish_tells_of_half_an_event() {
    assert_eq!(end("data: a\n\n"), StreamEnd::Clean);
    assert_eq!(end("data: a\n\n: pi"), StreamEnd::Clean);
    assert_eq!(
        end("data: a\n\ndata: b\n"),
        StreamEnd::HalfEvent { bytes: 7 }
    );
    assert_eq!(end("data: a\n\nda"), StreamEnd::HalfEvent { bytes: 2 });
}

#[test]
fn an_event_over_the_limit_is_named_and_those_before_it_are_kept() {
    let (events, result, _) = decode(16, [&b"data: a\n\ndata: 01234567890123456789\n\n"[..]]);
    assert_eq!(events.len(), 1);
    let error = result.unwrap_err();
    assert_eq!(error, SseError::EventTooLarge { limit_bytes: 16 });
    assert!(error.to_string().contains("limit of 16 bytes"));
}

#[test]
fn many_short_lines_reach_the_limit_too() {
    let stream = "data: a\n".repeat(100);
    assert!(decode(100, [stream.as_bytes()]).1.is_err());
}

#[test]
fn comments_never_add_up_to_the_limit() {
    let stream = ": ping\n".repeat(1000) + "data: a\n\n";
    let (events, result, _) = decode(64, [stream.as_bytes()]);
    assert_eq!((events.len(), result), (1, Ok(())));
}

#[test]
fn a_character_split_between_reads_arrives_whole() {
    let stream = "data: {\"content\":\"né 中 🙂\"}\n\n".as_bytes();
    let whole = decode(1000, [stream]);
    for cut in 0..=stream.len() {
        assert_eq!(
            decode(1000, [&stream[..cut], &stream[cut..]]),
            whole,
            "cut at {cut}"
        );
    }
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just("data: ".to_owned()),
        Just("data".to_owned()),
        Just("event: e".to_owned()),
        Just("id: 1".to_owned()),
        Just("retry: 12".to_owned()),
        Just(": ping".to_owned()),
        Just("\n".to_owned()),
        Just("\r".to_owned()),
        Just("\r\n".to_owned()),
        Just("\n\n".to_owned()),
        Just("\r\n\r\n".to_owned()),
        Just("\u{feff}".to_owned()),
        "[a-z: \u{e9}\u{1f642}]{0,12}",
    ];
    let text =
        proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat().into_bytes());
    prop_oneof![4 => text, 1 => proptest::collection::vec(any::<u8>(), 0..200)]
}

/// Cuts at the given places, taken modulo the length, empty chunks included.
fn cut<'s>(stream: &'s [u8], cuts: &[usize]) -> Vec<&'s [u8]> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (stream.len() + 1)).collect();
    places.extend([0, stream.len()]);
    places.sort_unstable();
    places
        .windows(2)
        .map(|pair| &stream[pair[0]..pair[1]])
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_split_gives_the_same_events(
        stream in stream(),
        cuts in proptest::collection::vec(any::<usize>(), 0..12),
        limit_bytes in prop_oneof![Just(1000usize), 1usize..80],
    ) {
        let (events, result, end) = decode(limit_bytes, [stream.as_slice()]);
        let (split_events, split_result, split_end) = decode(limit_bytes, cut(&stream, &cuts));
        prop_assert_eq!(events, split_events);
        prop_assert_eq!(result, split_result);
        if result.is_ok() {
            prop_assert_eq!(end, split_end);
        }
    }

    #[test]
    fn byte_by_byte_gives_the_same_events(stream in stream()) {
        prop_assert_eq!(decode(1000, [stream.as_slice()]), decode(1000, stream.chunks(1)));
    }

    #[test]
    fn what_is_written_is_read_back(texts in proptest::collection::vec("[^\r\n]{0,40}", 1..20)) {
        let mut written = String::new();
        for text in &texts {
            written.push_str("data: ");
            written.push_str(text);
            written.push_str("\n\n");
        }
        prop_assert_eq!(data(&written), texts);
    }
}
