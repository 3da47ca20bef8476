//! Wiring only.

mod terminal;

fn main() {}
