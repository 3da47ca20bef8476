//! A request inside the scheduler.

use super::acceptance::Draws;
use super::kv::BlockId;
use super::{Acceptance, BLOCK_TOKENS, SimTime, Submission};

/// A request that waits or runs.
#[derive(Debug)]
pub(super) struct Request {
    pub submission: Submission,
    pub arrived: SimTime,
    /// When it last joined the waiting queue.
    pub queued: SimTime,
    pub admitted: Option<SimTime>,
    pub first_token: Option<SimTime>,
    pub last_token: SimTime,
    pub blocks: Vec<BlockId>,
    /// Leading blocks whose content is known to the cache.
    pub named_blocks: usize,
    /// Tokens whose keys and values are in the cache.
    pub computed: u64,
    /// Tokens written.
    pub output: u64,
    pub cached_tokens: u64,
    pub preemptions: u32,
    /// What the step in progress does for it.
    pub work: Option<Work>,
    draws: Draws,
}

/// What a step does for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// Computes prompt tokens; the last piece also yields a token.
    Prefill { tokens: u64, last: bool },
    /// Writes tokens.
    Decode { tokens: u32 },
}

impl Request {
    pub fn new(
        submission: Submission,
        arrived: SimTime,
        queued: SimTime,
        acceptance: &Acceptance,
    ) -> Request {
        let draws = acceptance.draws(submission.seed);
        Request {
            submission,
            arrived,
            queued,
            admitted: None,
            first_token: None,
            last_token: SimTime::default(),
            blocks: Vec::new(),
            named_blocks: 0,
            computed: 0,
            output: 0,
            cached_tokens: 0,
            preemptions: 0,
            work: None,
            draws,
        }
    }

    /// Tokens of prompt and answer so far.
    pub fn length(&self) -> u64 {
        self.submission.prompt_tokens + self.output
    }

    /// Whether only its newest token is yet to be computed.
    pub fn is_decoding(&self) -> bool {
        self.output > 0 && self.computed + 1 == self.length()
    }

    /// Whether most of its prompt had to be computed, and it is the first time.
    pub fn is_cold(&self) -> bool {
        self.output == 0 && self.cached_tokens * 2 < self.submission.prompt_tokens
    }

    /// Tokens the next decode step yields.
    pub fn draw(&mut self) -> u32 {
        let left = self.submission.end().0.saturating_sub(self.output).max(1);
        self.draws
            .draw()
            .min(u32::try_from(left).unwrap_or(u32::MAX))
    }

    /// Blocks it needs beyond those it has, to hold `tokens` tokens.
    pub fn missing_blocks(&self, tokens: u64) -> usize {
        (tokens.div_ceil(BLOCK_TOKENS) as usize).saturating_sub(self.blocks.len())
    }

    /// Forgets everything computed, as preemption by recompute does.
    pub fn forget(&mut self) -> Vec<BlockId> {
        self.computed = 0;
        self.named_blocks = 0;
        self.work = None;
        std::mem::take(&mut self.blocks)
    }
}
