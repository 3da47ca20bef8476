#![doc = include_str!("../README.md")]

pub mod matrix_page;
