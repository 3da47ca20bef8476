//! How many tokens a step gives a request under speculative decoding.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Pairs of draws in one bag: over a whole bag the mean is exact.
const PAIRS: usize = 8;

/// How far the two draws of a pair lie from half their sum, in tokens. What one
/// step of a pair lacks the other has, so that a short stretch of an answer is as
/// fast as a long one.
const SPREAD: [u32; PAIRS] = [0, 1, 1, 0, 2, 1, 0, 2];

/// Speculative decoding: a draft model proposes, the model accepts a prefix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speculation {
    /// Tokens proposed in a step.
    pub draft_tokens: u32,
    /// Mean tokens a step yields, the model's own token included: 1 to `draft_tokens + 1`.
    pub mean_tokens_per_step: f64,
}

/// The tokens per step that all requests draw from, in different orders.
#[derive(Debug, Clone)]
pub struct Acceptance {
    bag: [[u32; 2]; PAIRS],
    draft_tokens: u32,
}

impl Acceptance {
    /// One token per step, or the bag whose mean is nearest to what was asked.
    #[must_use]
    pub fn new(speculation: Option<Speculation>) -> Acceptance {
        let Some(speculation) = speculation else {
            return Acceptance {
                bag: [[1; 2]; PAIRS],
                draft_tokens: 0,
            };
        };
        let most = speculation.draft_tokens + 1;
        let mean = speculation.mean_tokens_per_step.clamp(1.0, f64::from(most));
        let wanted = (mean * (2 * PAIRS) as f64).round() as u32;
        let mut bag = [[1; 2]; PAIRS];
        for (at, pair) in bag.iter_mut().enumerate() {
            // Sums that differ by at most one and add up to what is wanted.
            let at = at as u32;
            let sum = wanted * (at + 1) / PAIRS as u32 - wanted * at / PAIRS as u32;
            let low = sum / 2;
            let room = (low - 1).min(most - (sum - low));
            let spread = SPREAD[at as usize].min(room);
            *pair = [low - spread, sum - low + spread];
        }
        Acceptance {
            bag,
            draft_tokens: speculation.draft_tokens,
        }
    }

    /// Exact long-run tokens per step.
    #[must_use]
    pub fn mean_tokens_per_step(&self) -> f64 {
        f64::from(self.bag.iter().flatten().sum::<u32>()) / (2 * PAIRS) as f64
    }

    /// Tokens proposed in a step, 0 without speculation.
    #[must_use]
    pub fn draft_tokens(&self) -> u32 {
        self.draft_tokens
    }

    /// A request's own order of draws.
    #[must_use]
    pub fn draws(&self, seed: u64) -> Draws {
        Draws {
            bag: self.bag,
            next: 2 * PAIRS,
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }
}

/// Tokens per step of one request: the bag emptied again and again, reshuffled
/// each time.
#[derive(Debug, Clone)]
pub struct Draws {
    bag: [[u32; 2]; PAIRS],
    next: usize,
    random: ChaCha8Rng,
}

impl Draws {
    /// Tokens of the next step.
    pub fn draw(&mut self) -> u32 {
        if self.next == 2 * PAIRS {
            self.bag.shuffle(&mut self.random);
            for pair in &mut self.bag {
                pair.shuffle(&mut self.random);
            }
            self.next = 0;
        }
        let tokens = self.bag[self.next / 2][self.next % 2];
        self.next += 1;
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_exact_over_a_bag_and_draws_vary() {
        let acceptance = Acceptance::new(Some(Speculation {
            draft_tokens: 7,
            mean_tokens_per_step: 3.0,
        }));
        let mut draws = acceptance.draws(4);
        let taken: Vec<u32> = (0..160).map(|_| draws.draw()).collect();
        assert_eq!(taken.iter().sum::<u32>() as usize, 160 * 3);
        assert!(taken.iter().all(|tokens| (1..=8).contains(tokens)));
        assert!(taken.iter().any(|tokens| *tokens != 3));
    }

    #[test]
    fn extreme_means_stay_within_what_can_be_accepted() {
        for mean in [0.0, 1.0, 1.3, 7.9, 8.0, 50.0] {
            let acceptance = Acceptance::new(Some(Speculation {
                draft_tokens: 7,
                mean_tokens_per_step: mean,
            }));
            let wanted = mean.clamp(1.0, 8.0);
            assert!((acceptance.mean_tokens_per_step() - wanted).abs() <= 0.5 / 16.0);
        }
    }

    #[test]
    fn without_speculation_every_step_gives_one_token() {
        let mut draws = Acceptance::new(None).draws(1);
        assert!((0..50).all(|_| draws.draw() == 1));
    }
}
