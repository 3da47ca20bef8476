//! All cells of one context: they share a prompt.

use std::sync::Arc;

use document::{CellKey, CellSamples, Outcome, Phase, RequestSample, RunDocument};

use crate::bench::{Bench, Halt};
use crate::course::Course;
use crate::decode;
use crate::matrix::PlannedCell;
use crate::options::{RunError, RunOptions};
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::scout::{self, ContextLength};
use crate::sizing::Sizing;
use crate::warm::{self, Warmth};

/// When so many scouts of a context have failed, its cells fail for that reason.
const MAX_SCOUTS_FAILED: u32 = 2;

/// All cells of one context: they share a prompt.
pub(crate) struct ContextRun<'a> {
    pub bench: &'a mut Bench,
    pub course: &'a mut Course,
    pub sizing: &'a mut Sizing,
    pub options: &'a RunOptions,
    pub document: &'a mut RunDocument,
    pub recorder: &'a mut Recorder,
    pub nonce: &'a str,
    pub prompt: Option<Arc<str>>,
    /// Scouts of this context that failed, and why the last one did.
    pub scouts_failed: u32,
    pub why_failed: Option<String>,
    pub warmth: Warmth,
}

impl ContextRun<'_> {
    pub async fn measure(
        &mut self,
        context_tokens: u64,
        cells: &[PlannedCell],
    ) -> Result<Result<(), Halt>, RunError> {
        let has_decode = |cell: &&PlannedCell| cell.key.phase == Phase::Decode;
        let needs_room = cells.iter().any(|cell| has_decode(&cell));
        for cell in cells {
            if self.course.is_kept(cell.key) {
                continue;
            }
            let at_s = self.bench.now_s();
            self.bench.tell(Progress::CellStarted {
                cell: cell.key,
                at_s,
            });
            let samples = match (&cell.over_capacity, cell.key.phase) {
                (Some(reason), _) => {
                    let mut samples = CellSamples::empty(cell.key, self.bench.limits());
                    samples.over_capacity = Some(reason.clone());
                    Ok(samples)
                }
                (None, Phase::Prefill) => self.scout(cell.key, needs_room, true).await,
                (None, Phase::Decode) => self.decode(cell.key, context_tokens).await,
            };
            match samples {
                Ok(samples) => self.keep(&samples, at_s)?,
                Err(halt) => return Ok(Err(halt)),
            }
        }
        Ok(Ok(()))
    }

    /// Cold requests of this context; the last one's prompt stays warm.
    async fn scout(
        &mut self,
        key: CellKey,
        needs_room: bool,
        is_measured: bool,
    ) -> Result<CellSamples, Halt> {
        let limit = self.bench.server.max_model_len().unwrap_or(u64::MAX);
        let output_tokens = if needs_room {
            self.bench.plan.max_output_tokens
        } else {
            1
        };
        let length = ContextLength {
            key,
            at_most_tokens: limit.saturating_sub(output_tokens),
            samples: if is_measured {
                self.bench.plan.prefill_samples
            } else {
                1
            },
        };
        let scouted = scout::scout(
            self.bench,
            self.sizing,
            &self.options.prose,
            self.nonce,
            length,
        )
        .await?;
        self.prompt = scouted.prompt;
        if self.prompt.is_none() {
            self.scouts_failed += 1;
            self.why_failed = judge::judge(&scouted.samples).reason;
            // What waited in vain once is not waited for again.
            let is_silent = |r: &RequestSample| matches!(r.outcome, Outcome::TimedOut { .. });
            if scouted.samples.requests.iter().any(is_silent) {
                self.scouts_failed = MAX_SCOUTS_FAILED;
            }
        }
        self.warmth = Warmth { slots: 1 };
        Ok(scouted.samples)
    }

    async fn decode(&mut self, key: CellKey, context_tokens: u64) -> Result<CellSamples, Halt> {
        let mut failed = CellSamples::empty(key, self.bench.limits());
        if self.prompt.is_none() && self.scouts_failed < MAX_SCOUTS_FAILED {
            let prefill = CellKey {
                phase: Phase::Prefill,
                context_tokens,
                concurrency: 1,
            };
            self.scout(prefill, true, false).await?;
        }
        let Some(prompt) = self.prompt.clone() else {
            failed.failure = self.why_failed.clone();
            return Ok(failed);
        };
        let warmed = warm::warm(self.bench, &mut self.warmth, &prompt, key.concurrency).await?;
        if let Some(failure) = warmed {
            failed.failure = Some(failure);
            return Ok(failed);
        }
        decode::measure(self.bench, key, &prompt).await
    }

    /// Judges a cell and keeps it, before the next one begins.
    fn keep(&mut self, samples: &CellSamples, began_s: f64) -> Result<(), RunError> {
        let cell = judge::judge(samples);
        self.recorder.append(samples).map_err(RunError::NotKept)?;
        let key = cell.key();
        self.document.cells.retain(|other| other.key() != key);
        self.document.cells.push(cell.clone());
        self.document.events.append(&mut self.bench.events);
        self.recorder
            .save(self.document)
            .map_err(RunError::NotKept)?;
        let at_s = self.bench.now_s();
        if key.phase == Phase::Decode && samples.window.is_some() {
            self.course.decode_s.push(at_s - began_s);
        }
        self.course.done += 1;
        self.bench.left_s = self.course.left_s(Some(key));
        self.bench.tell(Progress::CellFinished {
            cell: Box::new(cell),
            at_s,
            done: self.course.done,
            of: self.course.cells.len(),
            left_s: self.bench.left_s,
        });
        Ok(())
    }
}
