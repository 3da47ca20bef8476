use serde::{Deserialize, Serialize};

use crate::units::Micros;

/// Arrival times of a request's events, and the running token count after each
/// where the server tells it. Stored as differences: small numbers compress well.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "StoredEvents", into = "StoredEvents")]
pub struct TokenEvents {
    /// Arrival of each event, in order.
    pub at_us: Vec<Micros>,
    /// Tokens written so far, after each event; empty when the server does not say.
    pub tokens_so_far: Vec<u32>,
}

impl TokenEvents {
    /// Number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.at_us.len()
    }

    /// Whether no event came.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at_us.is_empty()
    }
}

#[derive(Serialize, Deserialize, Clone)]
struct StoredEvents {
    /// Microseconds since the event before; the first since the run's start.
    gap_us: Vec<u64>,
    /// Tokens in each event; empty when unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tokens: Vec<u32>,
}

impl From<StoredEvents> for TokenEvents {
    fn from(stored: StoredEvents) -> Self {
        let mut at = 0u64;
        let at_us = stored
            .gap_us
            .iter()
            .map(|gap| {
                at = at.saturating_add(*gap);
                Micros(at)
            })
            .collect();
        let mut total = 0u32;
        let tokens_so_far = stored
            .tokens
            .iter()
            .map(|tokens| {
                total = total.saturating_add(*tokens);
                total
            })
            .collect();
        TokenEvents {
            at_us,
            tokens_so_far,
        }
    }
}

impl From<TokenEvents> for StoredEvents {
    fn from(events: TokenEvents) -> Self {
        let mut at = 0u64;
        let gap_us = events
            .at_us
            .iter()
            .map(|next| next.0.saturating_sub(std::mem::replace(&mut at, next.0)))
            .collect();
        let mut total = 0u32;
        let tokens = events
            .tokens_so_far
            .iter()
            .map(|next| next.saturating_sub(std::mem::replace(&mut total, *next)))
            .collect();
        StoredEvents { gap_us, tokens }
    }
}
