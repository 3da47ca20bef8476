#![doc = include_str!("../README.md")]

mod error;
mod fields;
mod import;
mod llm_inference_bench;
pub mod matrix_page;
mod page_figures;

pub use error::ImportError;
pub use import::{MAX_FILE_BYTES, import};
