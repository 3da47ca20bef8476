//! From what was asked and what the server can hold to the ordered cells. Pure.

use document::{CellKey, Phase, Plan, format};

/// Left free of a model's limit beside prompt and answer, tokens (METHOD, "The plan").
const MARGIN_TOKENS: u64 = 1024;
/// A model that says it takes more says nothing.
const MAX_MODEL_LEN: u64 = 1 << 30;
/// Tokens in one K.
const K_TOKENS: u64 = 1024;
/// The smallest default context, tokens.
const FIRST_CONTEXT_TOKENS: u64 = 8 * K_TOKENS;
/// Default contexts where the server tells no limit, tokens.
const UNKNOWN_LIMIT_CONTEXTS: [u64; 3] = [8 * K_TOKENS, 16 * K_TOKENS, 32 * K_TOKENS];

/// What a server can hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capacity {
    /// Longest sequence, tokens: the model's, or one slot's.
    pub max_model_len: Option<u64>,
    /// Tokens of the KV cache shared by all requests; `None` when unknown or when
    /// the engine has fixed slots.
    pub kv_cache_tokens: Option<u64>,
}

/// A cell of the matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCell {
    /// Which.
    pub key: CellKey,
    /// Why it is not run, if it is not.
    pub over_capacity: Option<String>,
}

/// The ordered cells with the lists they come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// Decode contexts, tokens.
    pub contexts: Vec<u64>,
    /// Prefill contexts, tokens.
    pub prefill_contexts: Vec<u64>,
    /// Requests at once.
    pub concurrency: Vec<u32>,
    /// By context: prefill, then decode with growing concurrency.
    pub cells: Vec<PlannedCell>,
}

/// Why the plan does not fit the server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MatrixError {
    /// A decode context that leaves no room for the answer.
    #[error("a context of {} with {max_output_tokens} output tokens does not fit this model's {max_model_len} tokens: the largest is {} (or lower --max-output)",
        format::context(*.context_tokens), format::context(*.largest_tokens))]
    ContextTooLong {
        /// What was asked.
        context_tokens: u64,
        /// The answer's length.
        max_output_tokens: u64,
        /// The model's limit.
        max_model_len: u64,
        /// The largest that fits.
        largest_tokens: u64,
    },
    /// A prefill context past the model's limit.
    #[error("a prefill context of {} is past this model's limit of {max_model_len} tokens", format::context(*.context_tokens))]
    PrefillTooLong {
        /// What was asked.
        context_tokens: u64,
        /// The model's limit.
        max_model_len: u64,
    },
    /// No context fits at all.
    #[error(
        "no context fits this model's {max_model_len} tokens with {max_output_tokens} output tokens: lower --max-output"
    )]
    NothingFits {
        /// The model's limit.
        max_model_len: u64,
        /// The answer's length.
        max_output_tokens: u64,
    },
}

/// Lays out the matrix: contexts, what exceeds the KV cache, order.
///
/// # Errors
/// [`MatrixError`] when a context asked for does not fit the model.
pub fn lay_out(plan: &Plan, capacity: Capacity) -> Result<Matrix, MatrixError> {
    let contexts = decode_contexts(plan, capacity)?;
    let prefill_contexts = prefill_contexts(plan, capacity, &contexts)?;
    let mut concurrency = plan.concurrency.clone();
    concurrency.sort_unstable();
    concurrency.dedup();
    let mut all: Vec<u64> = contexts.iter().chain(&prefill_contexts).copied().collect();
    all.sort_unstable();
    all.dedup();
    let mut cells = Vec::new();
    for context_tokens in all {
        if prefill_contexts.contains(&context_tokens) {
            let key = CellKey {
                phase: Phase::Prefill,
                context_tokens,
                concurrency: 1,
            };
            cells.push(PlannedCell {
                key,
                over_capacity: None,
            });
        }
        if contexts.contains(&context_tokens) {
            cells.extend(
                concurrency
                    .iter()
                    .map(|c| decode_cell(plan, capacity, context_tokens, *c)),
            );
        }
    }
    Ok(Matrix {
        contexts,
        prefill_contexts,
        concurrency,
        cells,
    })
}

fn decode_cell(
    plan: &Plan,
    capacity: Capacity,
    context_tokens: u64,
    concurrency: u32,
) -> PlannedCell {
    let key = CellKey {
        phase: Phase::Decode,
        context_tokens,
        concurrency,
    };
    let requests = u64::from(concurrency);
    let needed = if plan.count_shared_prompt_once {
        context_tokens + requests * plan.max_output_tokens
    } else {
        requests * (context_tokens + plan.max_output_tokens)
    };
    let over_capacity = capacity
        .kv_cache_tokens
        .filter(|budget| needed > *budget)
        .map(|budget| {
            format!(
                "{concurrency} × ({} + {}) = {} tokens, the KV cache holds {}",
                format::count(context_tokens),
                format::count(plan.max_output_tokens),
                format::count(needed),
                format::count(budget)
            )
        });
    PlannedCell { key, over_capacity }
}

/// The largest decode context: limit − answer − 1024, rounded down to a whole K;
/// below 1K to tokens.
fn largest_context(max_model_len: u64, max_output_tokens: u64) -> u64 {
    let room = max_model_len.saturating_sub(max_output_tokens);
    let with_margin = room.saturating_sub(MARGIN_TOKENS);
    if with_margin >= K_TOKENS {
        with_margin / K_TOKENS * K_TOKENS
    } else {
        room / 2
    }
}

fn decode_contexts(plan: &Plan, capacity: Capacity) -> Result<Vec<u64>, MatrixError> {
    let Some(max_model_len) = capacity.max_model_len.filter(|len| *len <= MAX_MODEL_LEN) else {
        return Ok(sorted(
            plan.contexts
                .clone()
                .unwrap_or(UNKNOWN_LIMIT_CONTEXTS.to_vec()),
        ));
    };
    let max_output_tokens = plan.max_output_tokens;
    let largest_tokens = largest_context(max_model_len, max_output_tokens);
    if largest_tokens == 0 {
        return Err(MatrixError::NothingFits {
            max_model_len,
            max_output_tokens,
        });
    }
    let Some(listed) = &plan.contexts else {
        let first = if largest_tokens >= FIRST_CONTEXT_TOKENS {
            FIRST_CONTEXT_TOKENS
        } else {
            K_TOKENS
        };
        let mut contexts: Vec<u64> = std::iter::successors(Some(first), |c| c.checked_mul(2))
            .take_while(|c| *c <= largest_tokens)
            .collect();
        contexts.push(largest_tokens);
        return Ok(sorted(contexts));
    };
    // What is listed need not keep the margin, only fit.
    match listed
        .iter()
        .find(|context| **context + max_output_tokens > max_model_len)
    {
        Some(context_tokens) => Err(MatrixError::ContextTooLong {
            context_tokens: *context_tokens,
            max_output_tokens,
            max_model_len,
            largest_tokens,
        }),
        None => Ok(sorted(listed.clone())),
    }
}

fn prefill_contexts(
    plan: &Plan,
    capacity: Capacity,
    contexts: &[u64],
) -> Result<Vec<u64>, MatrixError> {
    match (&plan.prefill_contexts, capacity.max_model_len) {
        (Some(listed), Some(max_model_len)) => {
            match listed.iter().find(|context| **context > max_model_len) {
                Some(context_tokens) => Err(MatrixError::PrefillTooLong {
                    context_tokens: *context_tokens,
                    max_model_len,
                }),
                None => Ok(sorted(listed.clone())),
            }
        }
        (Some(listed), None) => Ok(sorted(listed.clone())),
        (None, Some(max_model_len)) if plan.contexts.is_none() => {
            let mut all = contexts.to_vec();
            all.push(max_model_len);
            Ok(sorted(all))
        }
        (None, Some(_) | None) => Ok(contexts.to_vec()),
    }
}

fn sorted(mut contexts: Vec<u64>) -> Vec<u64> {
    contexts.sort_unstable();
    contexts.dedup();
    contexts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ks(contexts: &[u64]) -> Vec<String> {
        contexts.iter().map(|c| format::context(*c)).collect()
    }

    #[test]
    fn default_contexts_are_those_of_the_two_published_matrices() {
        let capacity = Capacity {
            max_model_len: Some(524_288),
            kv_cache_tokens: None,
        };
        let matrix = lay_out(&Plan::default(), capacity).expect("fits");
        assert_eq!(
            ks(&matrix.contexts),
            ["8K", "16K", "32K", "64K", "128K", "256K", "507K"]
        );
        assert_eq!(
            ks(&matrix.prefill_contexts),
            ["8K", "16K", "32K", "64K", "128K", "256K", "507K", "512K"]
        );
        let capacity = Capacity {
            max_model_len: Some(1_048_576),
            kv_cache_tokens: None,
        };
        let matrix = lay_out(&Plan::default(), capacity).expect("fits");
        assert_eq!(ks(&matrix.contexts)[6..], ["512K", "1019K"]);
        assert_eq!(
            ks(&matrix.prefill_contexts)[6..],
            ["512K", "1019K", "1024K"]
        );
    }

    #[test]
    fn a_cell_is_over_capacity_when_its_requests_exceed_the_kv_cache() {
        let plan = Plan {
            contexts: Some(vec![8192]),
            ..Plan::default()
        };
        let budget = 64 * (8192 + 4096);
        let over = |kv| -> Vec<u32> {
            let capacity = Capacity {
                max_model_len: None,
                kv_cache_tokens: Some(kv),
            };
            let cells = lay_out(&plan, capacity).expect("fits").cells;
            cells
                .into_iter()
                .filter(|c| c.over_capacity.is_some())
                .map(|c| c.key.concurrency)
                .collect()
        };
        assert_eq!(over(budget), [128]);
        assert_eq!(over(budget - 1), [64, 128]);
        assert_eq!(over(budget / 2), [64, 128]);
    }

    #[test]
    fn a_shared_prompt_may_be_counted_once() {
        let plan = Plan {
            contexts: Some(vec![8192]),
            count_shared_prompt_once: true,
            ..Plan::default()
        };
        let capacity = Capacity {
            max_model_len: None,
            kv_cache_tokens: Some(8192 + 128 * 4096),
        };
        let cells = lay_out(&plan, capacity).expect("fits").cells;
        assert!(cells.iter().all(|cell| cell.over_capacity.is_none()));
    }

    #[test]
    fn a_listed_context_that_leaves_no_room_for_the_answer_is_refused_with_the_largest() {
        let plan = Plan {
            contexts: Some(vec![524_288]),
            ..Plan::default()
        };
        let capacity = Capacity {
            max_model_len: Some(524_288),
            kv_cache_tokens: None,
        };
        let error = lay_out(&plan, capacity).expect_err("refused").to_string();
        assert!(error.contains("the largest is 507K"), "{error}");
    }

    #[test]
    fn a_small_model_gets_small_default_contexts() {
        let plan = Plan {
            max_output_tokens: 512,
            ..Plan::default()
        };
        let capacity = Capacity {
            max_model_len: Some(8192),
            kv_cache_tokens: None,
        };
        assert_eq!(
            ks(&lay_out(&plan, capacity).expect("fits").contexts),
            ["1K", "2K", "4K", "6K"]
        );
    }

    #[test]
    fn cells_come_by_context_prefill_first() {
        let plan = Plan {
            contexts: Some(vec![2048, 1024]),
            concurrency: vec![2, 1, 2],
            ..Plan::default()
        };
        let cells = lay_out(&plan, Capacity::default()).expect("fits").cells;
        let order: Vec<(Phase, u64, u32)> = cells
            .iter()
            .map(|c| (c.key.phase, c.key.context_tokens, c.key.concurrency))
            .collect();
        assert_eq!(
            order[..3],
            [
                (Phase::Prefill, 1024, 1),
                (Phase::Decode, 1024, 1),
                (Phase::Decode, 1024, 2)
            ]
        );
        assert_eq!(order.len(), 6);
    }
}
