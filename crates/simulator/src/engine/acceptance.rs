//! How many tokens a step gives a request under speculative decoding.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Draws in one bag: over this many steps the mean is exact.
const BAG: usize = 16;

/// How far the draws of a bag lie from their mean, in tokens.
const SPREAD: [i32; BAG] = [-2, -2, -1, -1, -1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2];

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
    bag: [u32; BAG],
    draft_tokens: u32,
}

impl Acceptance {
    /// One token per step, or the bag whose mean is nearest to what was asked.
    #[must_use]
    pub fn new(speculation: Option<Speculation>) -> Acceptance {
        let Some(speculation) = speculation else {
            return Acceptance {
                bag: [1; BAG],
                draft_tokens: 0,
            };
        };
        let most = speculation.draft_tokens + 1;
        let mean = speculation.mean_tokens_per_step.clamp(1.0, f64::from(most));
        let mut bag =
            SPREAD.map(|offset| (mean.round() as i32 + offset).clamp(1, most as i32) as u32);
        let wanted = (mean * BAG as f64).round() as u32;
        let mut at = 0;
        while bag.iter().sum::<u32>() != wanted {
            let short = bag.iter().sum::<u32>() < wanted;
            let draw = &mut bag[at % BAG];
            if short && *draw < most {
                *draw += 1;
            } else if !short && *draw > 1 {
                *draw -= 1;
            }
            // 5 and 16 share no factor, so every draw is visited in turn.
            at += 5;
        }
        Acceptance {
            bag,
            draft_tokens: speculation.draft_tokens,
        }
    }

    /// Exact long-run tokens per step.
    #[must_use]
    pub fn mean_tokens_per_step(&self) -> f64 {
        f64::from(self.bag.iter().sum::<u32>()) / BAG as f64
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
            next: BAG,
            random: ChaCha8Rng::seed_from_u64(seed),
        }
    }
}

/// Tokens per step of one request: the bag emptied again and again, reshuffled
/// each time.
#[derive(Debug, Clone)]
pub struct Draws {
    bag: [u32; BAG],
    next: usize,
    random: ChaCha8Rng,
}

impl Draws {
    /// Tokens of the next step.
    pub fn draw(&mut self) -> u32 {
        if self.next == BAG {
            self.bag.shuffle(&mut self.random);
            self.next = 0;
        }
        let tokens = self.bag[self.next];
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
        let taken: Vec<u32> = (0..BAG * 10).map(|_| draws.draw()).collect();
        assert_eq!(taken.iter().sum::<u32>() as usize, BAG * 10 * 3);
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
            assert!((acceptance.mean_tokens_per_step() - wanted).abs() <= 0.5 / BAG as f64);
        }
    }

    #[test]
    fn without_speculation_every_step_gives_one_token() {
        let mut draws = Acceptance::new(None).draws(1);
        assert!((0..50).all(|_| draws.draw() == 1));
    }
}
