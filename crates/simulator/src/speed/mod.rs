//! How fast the engine is: a surface of step times, a prefill curve and the cost
//! of the front end, fitted to measured cells.

mod decode;
mod fit;
mod front_end;
mod measured;
mod prefill;
mod targets;

pub use decode::{DecodeSurface, TbtPoint};
pub use measured::{DecodePoint, Measured, PrefillPoint};
pub use prefill::PrefillCurve;

use crate::engine::{FrontEndCost, Speculation};

/// Everything that takes time in a batching engine.
#[derive(Debug, Clone)]
pub struct EngineSpeed {
    /// Time between tokens by context and batch.
    pub decode: DecodeSurface,
    /// Time to compute a prompt.
    pub prefill: PrefillCurve,
    /// Time before the engine sees a request.
    pub front_end: FrontEndCost,
    /// Prompt lengths whose first prefill takes longer (compilation, autotuning).
    pub one_offs: Vec<OneOff>,
    /// Speculative decoding, where the engine does it.
    pub speculation: Option<Speculation>,
}

/// A prompt length that costs extra the first time it is prefilled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneOff {
    /// The length, tokens.
    pub prompt_tokens: u64,
    /// The extra time, ms.
    pub extra_ms: f64,
}

/// Lengths this close to a one-off's are the same to the engine.
const ONE_OFF_REACH: f64 = 0.05;

impl OneOff {
    /// Whether a prompt of this length is the one that costs extra.
    #[must_use]
    pub fn is_for(&self, prompt_tokens: u64) -> bool {
        let ratio = prompt_tokens as f64 / self.prompt_tokens as f64;
        (ratio - 1.0).abs() <= ONE_OFF_REACH
    }
}

#[cfg(test)]
mod tests;
