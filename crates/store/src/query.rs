use serde::{Deserialize, Serialize};

use crate::Kind;

/// Which configurations are looked at. Every field that is set must hold.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Filter {
    /// How the figures came to be; none given means all but simulated for rankings,
    /// and all for lists.
    pub kind: Option<Kind>,
    /// Slug of the model.
    pub model: Option<String>,
    /// As the documents say it.
    pub quantization: Option<String>,
    /// As the documents say it.
    pub engine: Option<String>,
    /// Slug of the GPU, or of the processor where there is none.
    pub hardware: Option<String>,
    /// GPUs; 0 finds what has none or does not say.
    pub gpu_count: Option<u32>,
    /// Words that must all occur in model, quantization, engine or hardware, in any
    /// case; the first eight are looked at.
    pub search: Option<String>,
}

/// Which part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// At most so many items.
    pub limit: u32,
    /// The `next` of the page before; none for the first.
    pub after: Option<String>,
}

/// Part of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// In the list's order.
    pub items: Vec<T>,
    /// Names the next page; none on the last.
    pub next: Option<String>,
    /// Items of the whole list, where it is kept.
    pub total: Option<u64>,
}
