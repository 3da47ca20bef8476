use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

/// Tokens in one `K` of a context label.
const K_TOKENS: u64 = 1024;
/// Largest context accepted, tokens: far beyond any model, near enough to catch a slip.
const MAX_CONTEXT_TOKENS: u64 = 1 << 30;
/// Largest concurrency accepted.
const MAX_CONCURRENCY: u32 = 65_536;
/// Windows accepted, s: shorter ones hold too few tokens, longer ones are a slip.
const WINDOWS_S: RangeInclusive<f64> = 0.5..=3600.0;
/// Most cold samples accepted for each prefill cell.
const MAX_PREFILL_SAMPLES: u32 = 100;

/// What a run is asked to measure, before the server's limits are known.
/// The fields of `plan.toml` and the flags of `tokgrid run`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// Decode contexts, tokens (in a plan file also `"8k"`); `None` for 8K to the
    /// model's limit, doubling.
    #[serde(deserialize_with = "lengths")]
    pub contexts: Option<Vec<u64>>,
    /// Prefill contexts, tokens; `None` for the decode contexts and, with default
    /// contexts, the model's limit.
    #[serde(deserialize_with = "lengths")]
    pub prefill_contexts: Option<Vec<u64>>,
    /// Requests at once.
    pub concurrency: Vec<u32>,
    /// Length of a decode window, s.
    pub window_s: f64,
    /// Longest answer, tokens.
    pub max_output_tokens: u64,
    /// Cold samples for each prefill cell.
    pub prefill_samples: u32,
    /// Seed of the prompts, and of the streams where they get one.
    pub seed: u64,
    /// Send a sampling seed with each request, another one for each stream.
    pub stream_seeds: bool,
    /// Ask the server to go on past an answer's end.
    pub ignore_eos: bool,
    /// Count a prompt shared by all requests once against the KV budget.
    pub count_shared_prompt_once: bool,
    /// Warm the slots of llama.cpp by copying one of them; the server must have a
    /// folder for it (`--slot-save-path`), where a file stays behind.
    pub copy_slots: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Plan {
            contexts: None,
            prefill_contexts: None,
            concurrency: vec![1, 2, 4, 8, 16, 32, 64, 128],
            window_s: 30.0,
            max_output_tokens: 4096,
            prefill_samples: 1,
            seed: 0,
            stream_seeds: false,
            ignore_eos: true,
            count_shared_prompt_once: false,
            copy_slots: false,
        }
    }
}

/// Why a plan cannot be carried out.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// A context that is no length.
    #[error(
        "`{0}` is not a context length: write tokens (8192) or K (8k = 8192), from 1 to 1048576k"
    )]
    BadContext(String),
    /// No context at all.
    #[error("no context given: write for example --contexts 8k,16k")]
    NoContexts,
    /// A concurrency that is none.
    #[error(
        "concurrency {0} is not possible: it is the number of requests at once, from 1 to 65536"
    )]
    BadConcurrency(u32),
    /// No concurrency at all.
    #[error("no concurrency given: write for example --concurrency 1,2,4")]
    NoConcurrency,
    /// A window no measurement fits into.
    #[error("a window of {0} s is not possible: give --duration from 0.5s to 1h")]
    BadWindow(f64),
    /// An answer without tokens, or one that no model writes.
    #[error(
        "--max-output must be at least 2 tokens (one token has no time between tokens) and at most 1048576k"
    )]
    BadMaxOutput,
    /// No prefill sample.
    #[error("--prefill-samples must be from 1 to 100")]
    BadPrefillSamples,
}

impl Plan {
    /// Checks ranges.
    ///
    /// # Errors
    /// The first thing that is not possible, with what to write instead.
    pub fn check(&self) -> Result<(), PlanError> {
        let listed = self.contexts.iter().chain(&self.prefill_contexts);
        for contexts in listed {
            if contexts.is_empty() {
                return Err(PlanError::NoContexts);
            }
            if let Some(bad) = contexts
                .iter()
                .find(|c| **c == 0 || **c > MAX_CONTEXT_TOKENS)
            {
                return Err(PlanError::BadContext(bad.to_string()));
            }
        }
        if self.concurrency.is_empty() {
            return Err(PlanError::NoConcurrency);
        }
        if let Some(bad) = self
            .concurrency
            .iter()
            .find(|c| **c == 0 || **c > MAX_CONCURRENCY)
        {
            return Err(PlanError::BadConcurrency(*bad));
        }
        if !WINDOWS_S.contains(&self.window_s) {
            return Err(PlanError::BadWindow(self.window_s));
        }
        if !(2..=MAX_CONTEXT_TOKENS).contains(&self.max_output_tokens) {
            return Err(PlanError::BadMaxOutput);
        }
        if !(1..=MAX_PREFILL_SAMPLES).contains(&self.prefill_samples) {
            return Err(PlanError::BadPrefillSamples);
        }
        Ok(())
    }
}

/// A list of context lengths: numbers, or text as on the command line.
fn lengths<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u64>>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Length {
        Tokens(u64),
        Written(String),
    }
    let Some(lengths) = Option::<Vec<Length>>::deserialize(from)? else {
        return Ok(None);
    };
    let tokens = lengths.into_iter().map(|length| match length {
        Length::Tokens(tokens) => Ok(tokens),
        Length::Written(text) => parse_context_tokens(&text).map_err(D::Error::custom),
    });
    tokens.collect::<Result<_, _>>().map(Some)
}

/// Reads a context length as people write it: `8192`, `8k`, `8K`, `1m`.
///
/// # Errors
/// [`PlanError::BadContext`] when it is none.
pub fn parse_context_tokens(text: &str) -> Result<u64, PlanError> {
    let bad = || PlanError::BadContext(text.to_owned());
    let trimmed = text.trim();
    let (digits, unit) = match trimmed.char_indices().last() {
        Some((at, 'k' | 'K')) => (&trimmed[..at], K_TOKENS),
        Some((at, 'm' | 'M')) => (&trimmed[..at], K_TOKENS * K_TOKENS),
        Some(_) | None => (trimmed, 1),
    };
    let number: u64 = digits.parse().map_err(|_| bad())?;
    let tokens = number.checked_mul(unit).ok_or_else(bad)?;
    if tokens == 0 || tokens > MAX_CONTEXT_TOKENS {
        Err(bad())
    } else {
        Ok(tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_is_1024_tokens() {
        assert_eq!(parse_context_tokens("8k"), Ok(8192));
        assert_eq!(parse_context_tokens("1019K"), Ok(1_043_456));
        assert_eq!(parse_context_tokens("1m"), Ok(1_048_576));
        assert_eq!(parse_context_tokens("8192"), Ok(8192));
    }

    #[test]
    fn a_context_that_is_none_is_refused_by_its_own_text() {
        for bad in [
            "",
            "k",
            "0",
            "-8k",
            "8kk",
            "8.5k",
            "eight",
            "99999999999999999999k",
            "2000000k",
        ] {
            assert_eq!(
                parse_context_tokens(bad),
                Err(PlanError::BadContext(bad.to_owned())),
                "{bad}"
            );
        }
    }

    #[test]
    fn a_plan_file_may_write_lengths_as_on_the_command_line() {
        let plan: Plan = serde_json::from_str(r#"{"contexts": ["8k", 4096]}"#).expect("a plan");
        assert_eq!(plan.contexts, Some(vec![8192, 4096]));
        let error = serde_json::from_str::<Plan>(r#"{"contexts": ["8q"]}"#).expect_err("no length");
        assert!(
            error.to_string().contains("`8q` is not a context length"),
            "{error}"
        );
    }

    #[test]
    fn zero_concurrency_is_refused() {
        let plan = Plan {
            concurrency: vec![1, 0],
            ..Plan::default()
        };
        assert_eq!(plan.check(), Err(PlanError::BadConcurrency(0)));
    }
}
