//! Between the arrival of bytes and the next read nothing is allocated.

#![allow(
    unsafe_code,
    reason = "a global allocator can be written in no other way"
)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use wire::event::{Payload, parse};
use wire::sse::SseDecoder;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract, which is the system's own.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn decode(decoder: &mut SseDecoder, chunk: &[u8]) -> usize {
    let mut tokens = 0;
    decoder
        .feed(chunk, |event| match parse(event.data).unwrap() {
            Payload::Chunk(event) => tokens += usize::from(event.carries_token()),
            other @ (Payload::Done | Payload::Error(_)) => panic!("{other:?}"),
        })
        .unwrap();
    tokens
}

#[test]
fn an_ordinary_event_is_decoded_without_an_allocation() {
    let stream = include_str!("fixtures/vllm-chat-stream-continuous-usage.sse");
    let (events, _) = stream.split_once("data: [DONE]").unwrap();
    let mut decoder = SseDecoder::new();
    // The first round lets the carry buffer of split events grow.
    for round in 0..2 {
        let before = ALLOCATIONS.get();
        let mut tokens = decode(&mut decoder, events.as_bytes());
        for chunk in events.as_bytes().chunks(100) {
            tokens += decode(&mut decoder, chunk);
        }
        assert_eq!(tokens, 12);
        let allocations = ALLOCATIONS.get() - before;
        assert_eq!(
            allocations > 0,
            round == 0,
            "{allocations} in round {round}"
        );
    }
}
