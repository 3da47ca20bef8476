//! Prompts of a wanted length, from real prose. Pure: counting tokens is the caller's.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// *Emma*, one sentence a line: see `corpus/README.md`.
const BUILT_IN: &str = include_str!("../corpus/prose.txt");
/// What the built-in prose is called in a document.
pub const BUILT_IN_NAME: &str = "Emma, sentences shuffled";
/// A prompt file needs this much text to be shuffled into prompts.
const MIN_PROSE_BYTES: usize = 1000;

/// Asked for after the prose, so that an answer is prose too.
const REQUEST: &str =
    "\n\nRetell the text above in your own words, at length and without stopping.";

/// Sentences to build prompts from.
#[derive(Debug, Clone)]
pub struct Prose {
    sentences: Vec<String>,
}

/// A prompt file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there are {bytes} bytes of text in it; at least {MIN_PROSE_BYTES} are needed")]
pub struct TooLittleProse {
    /// What there is.
    pub bytes: usize,
}

impl Prose {
    /// The prose kept with tokgrid.
    #[must_use]
    pub fn built_in() -> Prose {
        Prose {
            sentences: BUILT_IN.lines().map(str::to_owned).collect(),
        }
    }

    /// The lines of a text.
    ///
    /// # Errors
    /// [`TooLittleProse`] when there is hardly any.
    pub fn from_text(text: &str) -> Result<Prose, TooLittleProse> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let sentences: Vec<String> = lines.map(str::to_owned).collect();
        let bytes = sentences.iter().map(String::len).sum();
        if bytes < MIN_PROSE_BYTES {
            Err(TooLittleProse { bytes })
        } else {
            Ok(Prose { sentences })
        }
    }

    /// A draft of which prompts of any length up to `chars` can be cut: sentences
    /// in an order of their own for each seed, again and again in other orders
    /// until there are enough.
    #[must_use]
    pub fn draft(&self, seed: u64, nonce: &str, chars: usize) -> Draft {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut order: Vec<usize> = (0..self.sentences.len()).collect();
        let mut body = String::with_capacity(chars + 1024);
        while body.len() < chars {
            order.shuffle(&mut random);
            for index in &order {
                body.push_str(&self.sentences[*index]);
                body.push(' ');
                if body.len() >= chars {
                    break;
                }
            }
        }
        Draft {
            nonce: format!("Text {nonce}.\n\n"),
            body,
        }
    }
}

/// Text to cut prompts from. Every prompt begins with the nonce, so that no
/// earlier prompt's cache serves it.
#[derive(Debug, Clone)]
pub struct Draft {
    nonce: String,
    body: String,
}

impl Draft {
    /// The prompt with about `chars` bytes of prose, cut at a character.
    #[must_use]
    pub fn cut(&self, chars: usize) -> String {
        let mut end = chars.min(self.body.len());
        while !self.body.is_char_boundary(end) {
            end -= 1;
        }
        format!("{}{}{REQUEST}", self.nonce, &self.body[..end])
    }

    /// Bytes of prose there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.body.len()
    }

    /// Whether there is no prose.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }
}

/// Finds a length by trying: proposes how many bytes of prose to cut, learns
/// what they counted, and is done within the tolerance.
#[derive(Debug, Clone)]
pub struct LengthSearch {
    target_tokens: u64,
    at_most_tokens: u64,
    tokens_per_char: f64,
    chars: usize,
    last: Option<(usize, u64)>,
    best: Option<(usize, u64)>,
    tries: u32,
}

/// A length within this share of the target will do …
const TOLERANCE_SHARE: f64 = 0.002;
/// … or within this many tokens.
const TOLERANCE_TOKENS: u64 = 8;
/// The search ends here; what is best by then is taken.
const MAX_TRIES: u32 = 10;
/// What English prose takes in most tokenizers, to begin with.
const FIRST_TOKENS_PER_CHAR: f64 = 0.23;

impl LengthSearch {
    /// Looks for `target_tokens`, never taking more than `at_most_tokens`.
    /// `tokens_per_char` is a first guess, where one is known.
    #[must_use]
    pub fn new(target_tokens: u64, at_most_tokens: u64, tokens_per_char: Option<f64>) -> Self {
        let tokens_per_char = tokens_per_char.unwrap_or(FIRST_TOKENS_PER_CHAR);
        let target_tokens = target_tokens.min(at_most_tokens);
        let chars = (target_tokens as f64 / tokens_per_char) as usize;
        LengthSearch {
            target_tokens,
            at_most_tokens,
            tokens_per_char,
            chars,
            last: None,
            best: None,
            tries: 0,
        }
    }

    /// Bytes of prose to try next.
    #[must_use]
    pub fn chars(&self) -> usize {
        self.chars
    }

    /// Learns that [`chars`](Self::chars) counted `tokens`; says whether to go on.
    pub fn learn(&mut self, tokens: u64) -> bool {
        self.tries += 1;
        let off = |tokens: u64| tokens.abs_diff(self.target_tokens);
        let fits = tokens <= self.at_most_tokens;
        if fits && self.best.is_none_or(|(_, best)| off(tokens) < off(best)) {
            self.best = Some((self.chars, tokens));
        }
        let tolerance =
            (TOLERANCE_SHARE * self.target_tokens as f64).max(TOLERANCE_TOKENS as f64) / 2.0;
        if (fits && off(tokens) as f64 <= tolerance) || self.tries >= MAX_TRIES {
            return false;
        }
        if let Some((chars, before)) = self.last
            && chars != self.chars
            && before != tokens
        {
            let slope = (tokens as f64 - before as f64) / (self.chars as f64 - chars as f64);
            if (0.02..=2.0).contains(&slope) {
                self.tokens_per_char = slope;
            }
        } else if self.chars > 0 {
            self.tokens_per_char = (tokens as f64 / self.chars as f64).clamp(0.02, 2.0);
        }
        self.last = Some((self.chars, tokens));
        let missing = self.target_tokens as f64 - tokens as f64;
        // Aim a little low where going over is not allowed.
        let missing = if fits { missing } else { missing - 1.0 };
        self.chars = (self.chars as f64 + missing / self.tokens_per_char).max(0.0) as usize;
        true
    }

    /// The best length found: bytes of prose and the tokens they counted; `None`
    /// when nothing fitted.
    #[must_use]
    pub fn best(&self) -> Option<(usize, u64)> {
        self.best
    }

    /// Tokens in a byte of prose, as learnt.
    #[must_use]
    pub fn tokens_per_char(&self) -> f64 {
        self.tokens_per_char
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tokenizer of its own kind: a token for every word and every 5 letters of it.
    fn tokens(text: &str) -> u64 {
        text.split_whitespace()
            .map(|word| word.len().div_ceil(5) as u64)
            .sum::<u64>()
            + 17
    }

    #[test]
    fn a_prompt_is_found_within_8_tokens_or_two_in_a_thousand() {
        let prose = Prose::built_in();
        for target in [300u64, 1024, 4096, 8192, 131_072] {
            let draft = prose.draft(target, "n", target as usize * 8);
            let mut search = LengthSearch::new(target, u64::MAX, None);
            while search.learn(tokens(&draft.cut(search.chars()))) {}
            let (_, found) = search.best().expect("found");
            let allowed = (target as f64 * 0.002).max(8.0) as u64;
            assert!(found.abs_diff(target) <= allowed, "{target}: {found}");
        }
    }

    #[test]
    fn a_limit_is_never_passed() {
        let draft = Prose::built_in().draft(1, "n", 40_000);
        let mut search = LengthSearch::new(4096, 4096, None);
        while search.learn(tokens(&draft.cut(search.chars()))) {}
        let (_, found) = search.best().expect("found");
        assert!((4080..=4096).contains(&found), "{found}");
    }

    #[test]
    fn the_same_seed_gives_the_same_prompt_and_another_nonce_another_beginning() {
        let prose = Prose::built_in();
        assert_eq!(
            prose.draft(7, "a", 5000).cut(5000),
            prose.draft(7, "a", 5000).cut(5000)
        );
        assert_ne!(
            prose.draft(7, "a", 5000).cut(5000),
            prose.draft(8, "a", 5000).cut(5000)
        );
        assert!(prose.draft(7, "b", 5000).cut(10).starts_with("Text b."));
    }

    #[test]
    fn a_prompt_file_with_hardly_any_text_is_refused() {
        assert!(Prose::from_text("short").is_err());
    }
}
