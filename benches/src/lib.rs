#![doc = include_str!("../README.md")]

pub mod fill;
pub mod load;
pub mod world;
