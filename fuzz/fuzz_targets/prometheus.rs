//! Any text is read without a panic; every line is a sample, an error, or neither.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wire::prometheus::Exposition;

fuzz_target!(|text: &str| {
    let Ok(read) = Exposition::read(text) else {
        return;
    };
    assert!(read.samples.len() + read.malformed.len() <= text.lines().count());
    for sample in &read.samples {
        assert!(!sample.name.is_empty() && text.contains(sample.name));
        let _ = (read.sum(sample.name), sample.label("engine"));
    }
});
