#![doc = include_str!("../README.md")]

pub mod error_body;
pub mod event;
pub mod prometheus;
pub mod request;
pub mod sse;

pub use event::{Payload, StreamEvent, Usage};
pub use request::{Api, GenerationRequest};
pub use sse::{SseDecoder, SseEvent};
