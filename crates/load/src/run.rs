//! A run from the first probe to the last cell.

use std::collections::BTreeMap;

use document::{Micros, RunDocument};
use engines::Server;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, Halt};
use crate::clock::RunClock;
use crate::context_run::ContextRun;
use crate::course::Course;
use crate::matrix::{Capacity, PlannedCell, lay_out};
use crate::meet::meet;
use crate::options::{Interruption, RunError, RunOptions, RunOutcome};
use crate::progress::Progress;
use crate::recorder::Recorder;
use crate::sizing::Sizing;
use crate::target::Target;
use crate::warm::Warmth;
use crate::{resume, scout, write_up};

/// Measures a server and writes its run document.
///
/// # Errors
/// [`RunError`] when nothing can be measured or kept. A server that goes away
/// later is an [`Interruption`], a cell that fails is a failed cell.
pub async fn run(
    options: RunOptions,
    progress: UnboundedSender<Progress>,
    stop: CancellationToken,
) -> Result<RunOutcome, RunError> {
    options.plan.check()?;
    let target = Target::new(&options.target)?;
    let earlier = resume::open(&options)?;
    let already = earlier.as_ref().map_or(Micros(0), resume::end_of);
    let clock = RunClock::starting_at(already);
    let mut bench = meet(&options, target, clock, progress, stop).await?;
    let capacity = capacity_of(&bench.server);
    let matrix = lay_out(&options.plan, capacity)?;
    let fresh = write_up::begin(&options, &bench, &matrix);
    let (mut document, mut recorder) = match earlier {
        Some(earlier) => {
            resume::check(&earlier, &fresh)?;
            let recorder = Recorder::resume(&options.out, &earlier)?;
            (earlier, recorder)
        }
        None => (fresh, Recorder::create(&options.out)?),
    };
    recorder.save(&mut document)?;
    let mut course = Course::new(&bench, &matrix, &document);
    course.announce(&mut bench, &document);
    let walked = walk(
        &mut bench,
        &mut course,
        &options,
        &mut document,
        &mut recorder,
    )
    .await?;
    let interruption = walked.err().map(|halt| match halt {
        Halt::Stopped => Interruption::Stopped,
        Halt::Gone(why) => Interruption::ServerGone(why),
    });
    match &interruption {
        None => document.finished_at = Some(write_up::now()),
        Some(Interruption::Stopped) => {
            bench.note("stopped: what is measured is kept, --resume goes on")
        }
        Some(Interruption::ServerGone(why)) => {
            bench.note(format!("{why}: what is measured is kept, --resume goes on"));
        }
    }
    document.events.append(&mut bench.events);
    recorder.save(&mut document)?;
    let at_s = bench.now_s();
    bench.tell(Progress::Finished {
        at_s,
        interrupted: interruption.is_some(),
    });
    Ok(RunOutcome {
        document,
        interruption,
    })
}

fn capacity_of(server: &Server) -> Capacity {
    let kv_cache_tokens = match server.capacity() {
        engines::Capacity::Shared { kv_tokens } => kv_tokens,
        engines::Capacity::Slots { .. } => None,
    };
    Capacity {
        max_model_len: server.max_model_len(),
        kv_cache_tokens,
    }
}

/// Goes through the matrix, context by context.
async fn walk(
    bench: &mut Bench,
    course: &mut Course,
    options: &RunOptions,
    document: &mut RunDocument,
    recorder: &mut Recorder,
) -> Result<Result<(), Halt>, RunError> {
    let nonce = uuid::Uuid::now_v7().simple().to_string();
    let mut sizing = Sizing::default();
    match scout::calibrate(bench, &mut sizing, &options.prose, &nonce).await {
        Ok(Ok(())) => {}
        Ok(Err(why)) => {
            return Err(RunError::Refuses {
                url: bench.target.shown(),
                why,
            });
        }
        Err(halt) => return Ok(Err(halt)),
    }
    document.settings.ignore_eos = write_up::ignore_eos(bench);
    let mut by_context: BTreeMap<u64, Vec<PlannedCell>> = BTreeMap::new();
    for cell in course.cells.clone() {
        by_context
            .entry(cell.key.context_tokens)
            .or_default()
            .push(cell);
    }
    for (context_tokens, cells) in by_context {
        let mut context = ContextRun {
            bench,
            course,
            sizing: &mut sizing,
            options,
            document,
            recorder,
            nonce: &nonce,
            prompt: None,
            scouts_failed: 0,
            why_failed: None,
            warmth: Warmth::default(),
        };
        if let Err(halt) = context.measure(context_tokens, &cells).await? {
            return Ok(Err(halt));
        }
    }
    Ok(Ok(()))
}
