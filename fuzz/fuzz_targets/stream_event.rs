//! Any payload is read without a panic, and an error quotes no control character.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::event::{Payload, parse};

fuzz_target!(|data: &[u8]| {
    match parse(data) {
        Ok(Payload::Chunk(event)) => {
            assert_eq!(
                event.carries_token(),
                event.carries_answer() || event.carries_reasoning()
            );
            assert!(event.choices > 0 || !event.carries_token());
        }
        Ok(Payload::Done | Payload::Error(_)) => {}
        Err(error) => {
            assert!(!wire::error_body::excerpt(&error.to_string()).contains(char::is_control))
        }
    }
    let sentence = wire::error_body::sentence(data);
    assert!(!sentence.is_empty() && !sentence.contains(char::is_control));
});
