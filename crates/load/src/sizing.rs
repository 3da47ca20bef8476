//! Prompts of an exact length: by the server's own tokenizer, else by what it
//! reports of requests.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use document::RequestSample;
use engines::TokenizeInput;
use wire::Api;

use crate::answer_stream::MAX_TOKENS;
use crate::bench::{Bench, to_engines};
use crate::prompt::{LengthSearch, Prose};

/// Counting a short prompt takes no longer than this …
const TOKENIZE_PATIENCE: Duration = Duration::from_secs(4);
/// … and a long one no longer than its text at this pace, bytes/s.
const TOKENIZE_BYTES_S: f64 = 1e5;
/// Prose that is cut from: this many bytes for each token wanted are enough for
/// any tokenizer that is not one token a word.
const DRAFT_CHARS_PER_TOKEN: u64 = 8;

/// A prompt further off than this share, in the end, is one of another context.
const LAST_TOLERANCE_SHARE: f64 = 0.02;
/// A template may take this share of a prompt …
const TEMPLATE_SHARE: f64 = 0.10;
/// … or this many tokens.
const MAX_TEMPLATE_TOKENS: u64 = 512;

/// What is known of how prose counts in this model.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sizing {
    /// Tokens in a byte of prose.
    pub tokens_per_char: Option<f64>,
    /// What the server reported beyond what was counted: template and the like.
    pub surplus_tokens: i64,
    /// The tokenize route turned out not to work.
    pub is_route_broken: bool,
}

/// A prompt and the length it should have.
#[derive(Debug, Clone)]
pub(crate) struct SizedPrompt {
    pub text: Arc<str>,
    pub target_tokens: u64,
    /// Tokens by the server's tokenizer; `None` where they are estimated.
    pub counted_tokens: Option<u64>,
}

impl SizedPrompt {
    /// How far the reported length may be off: ±0.2 % or ±8 tokens where counted,
    /// ±2 % elsewhere (METHOD, "Prompts").
    pub fn allows(&self, prompt_tokens: u64) -> bool {
        let share = if self.counted_tokens.is_some() {
            0.002
        } else {
            0.02
        };
        let allowed = (share * self.target_tokens as f64).max(8.0);
        prompt_tokens.abs_diff(self.target_tokens) as f64 <= allowed
    }

    /// Why the prompt cannot stand for its context: sized again and again, it still
    /// has another length.
    pub fn is_another_length(&self, sample: &RequestSample) -> Option<String> {
        let prompt_tokens = sample
            .usage
            .map(|usage| usage.prompt_tokens)
            .filter(|t| *t > 0)?;
        let allowed = (LAST_TOLERANCE_SHARE * self.target_tokens as f64).max(16.0);
        let off = prompt_tokens.abs_diff(self.target_tokens) as f64;
        (off > allowed).then(|| {
            format!(
                "no prompt of {} tokens could be made: the server counted {prompt_tokens}",
                self.target_tokens
            )
        })
    }
}

impl Sizing {
    /// A prompt of `target_tokens`, template included, never more than
    /// `at_most_tokens`.
    pub async fn prompt(
        &mut self,
        bench: &mut Bench,
        prose: &Prose,
        nonce: &str,
        target_tokens: u64,
        at_most_tokens: u64,
    ) -> SizedPrompt {
        let chars = (target_tokens.max(64) * DRAFT_CHARS_PER_TOKEN) as usize;
        let draft = prose.draft(bench.plan.seed ^ target_tokens, nonce, chars);
        let mut search = LengthSearch::new(target_tokens, at_most_tokens, self.tokens_per_char);
        let is_counted = loop {
            let text = draft.cut(search.chars());
            let counted = self.count(bench, &text).await;
            let is_counted = counted.is_some();
            let tokens = counted.unwrap_or_else(|| self.estimate(&text));
            if !search.learn((tokens as i64 + self.surplus_tokens).max(1) as u64) {
                break is_counted;
            }
        };
        self.tokens_per_char = Some(search.tokens_per_char());
        let best = search.best();
        let chars = best.map_or(search.chars(), |(chars, _)| chars);
        let target_tokens = target_tokens.min(at_most_tokens);
        SizedPrompt {
            text: draft.cut(chars).into(),
            target_tokens,
            counted_tokens: best.filter(|_| is_counted).map(|(_, tokens)| tokens),
        }
    }

    /// Learns what the server reported for a prompt that was expected to have
    /// its target length.
    pub fn correct(&mut self, prompt: &SizedPrompt, prompt_tokens: u64) {
        let off = prompt_tokens as i64 - prompt.target_tokens as i64;
        let is_far_off = off.unsigned_abs() as f64 > TEMPLATE_SHARE * prompt.target_tokens as f64
            && off.unsigned_abs() > MAX_TEMPLATE_TOKENS;
        if prompt.counted_tokens.is_some() && !is_far_off {
            self.surplus_tokens += off;
        } else {
            // No template is that long: the tokenize route counts something else.
            self.is_route_broken |= prompt.counted_tokens.is_some();
            self.tokens_per_char = Some(prompt_tokens as f64 / prompt.text.len() as f64);
            self.surplus_tokens = 0;
        }
    }

    fn estimate(&self, text: &str) -> u64 {
        let per_char = self.tokens_per_char.unwrap_or(DEFAULT_TOKENS_PER_CHAR);
        (text.len() as f64 * per_char).round() as u64
    }

    /// Tokens of the prompt by the server's tokenizer: with the chat template
    /// where it can, else of the text alone.
    async fn count(&mut self, bench: &mut Bench, text: &str) -> Option<u64> {
        if self.is_route_broken {
            return None;
        }
        let message = TokenizeInput::UserMessage(text);
        let whole = (bench.api == Api::Chat)
            .then(|| bench.server.tokenize_request(&message))
            .flatten();
        let request =
            whole.or_else(|| bench.server.tokenize_request(&TokenizeInput::Text(text)))?;
        let reading = Duration::from_secs_f64(text.len() as f64 / TOKENIZE_BYTES_S);
        let patience = TOKENIZE_PATIENCE + reading;
        let answer = bench
            .client
            .post(&request.path, Bytes::from(request.body), patience)
            .await;
        let counted = match answer {
            Ok(answer) => bench
                .server
                .read_tokenize(&to_engines(answer))
                .map_err(|e| e.to_string()),
            Err(error) => Err(error.to_string()),
        };
        match counted {
            Ok(tokenized) => Some(tokenized.count).filter(|count| *count <= MAX_TOKENS),
            Err(error) => {
                self.is_route_broken = true;
                bench.note(format!(
                    "the server's tokenize route does not work ({error}): prompt lengths are calibrated on what it reports"
                ));
                None
            }
        }
    }
}

/// English prose in most tokenizers.
const DEFAULT_TOKENS_PER_CHAR: f64 = 0.23;
