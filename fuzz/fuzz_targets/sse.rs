//! Two splits of one stream give the same events, errors and end.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::sse::{SseDecoder, SseError, StreamEnd};

type Event = (Vec<u8>, Option<Vec<u8>>, Option<Vec<u8>>, Option<u64>);

fn decode<'c>(
    limit_bytes: usize,
    chunks: impl Iterator<Item = &'c [u8]>,
) -> (Vec<Event>, Result<(), SseError>, StreamEnd) {
    let mut decoder = SseDecoder::with_limit(limit_bytes);
    let mut events = Vec::new();
    let mut result = Ok(());
    for chunk in chunks {
        result = decoder.feed(chunk, |event| {
            let owned = |field: Option<&[u8]>| field.map(<[u8]>::to_vec);
            events.push((
                event.data.to_vec(),
                owned(event.event),
                owned(event.id),
                event.retry_ms,
            ));
        });
    }
    (events, result, decoder.finish())
}

// The first bytes say how to cut and limit the rest.
fuzz_target!(|input: (u8, u8, u8, &[u8])| {
    let (first_step, second_step, limit, stream) = input;
    let limit_bytes = if limit == 0 {
        1 << 20
    } else {
        usize::from(limit)
    };
    let split = |step: u8| decode(limit_bytes, stream.chunks(usize::from(step) + 1));
    let (events, result, end) = split(first_step);
    let (other_events, other_result, other_end) = split(second_step);
    assert_eq!(events, other_events);
    assert_eq!(result, other_result);
    if result.is_ok() {
        assert_eq!(end, other_end);
    }
});
