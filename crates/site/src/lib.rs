#![doc = include_str!("../README.md")]

pub mod pages;
pub mod report;
pub mod words;
