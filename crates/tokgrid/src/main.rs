//! Wiring only.
fn main() {}
