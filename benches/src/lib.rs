#![doc = include_str!("../README.md")]

pub mod fill;
pub mod load;
pub mod registry;
pub mod server;
pub mod table;
pub mod targets;
pub mod wanted;
pub mod world;
