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
    let mut document = match earlier {
        Some(earlier) => {
            resume::check(&earlier, &fresh)?;
            earlier
        }
        None => fresh,
    };
    let mut course = Course::new(&bench, &matrix, &document);
    course.announce(&mut bench, &document);
    // A server that refuses to generate leaves no document, and replaces none.
    let nonce = uuid::Uuid::now_v7().simple().to_string();
    let mut sizing = Sizing::default();
    if course.done < course.cells.len() {
        get_to_know(&mut bench, &mut sizing, &options, &nonce).await?;
        document.settings.ignore_eos = write_up::ignore_eos(&bench);
    }
    let mut recorder = if options.resume {
        Recorder::resume(&options.out, &document)?
    } else {
        Recorder::create(&options.out)?
    };
    recorder.save(&mut document)?;
    let walked = walk(
        &mut bench,
        &mut course,
        &options,
        &mut document,
        &mut recorder,
        &mut sizing,
        &nonce,
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
    recorder.save(&mut document).map_err(RunError::NotKept)?;
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

/// Learns what the server takes and how prose counts, where its engine is not known.
async fn get_to_know(
    bench: &mut Bench,
    sizing: &mut Sizing,
    options: &RunOptions,
    nonce: &str,
) -> Result<(), RunError> {
    let url = bench.target.shown();
    match scout::calibrate(bench, sizing, &options.prose, nonce).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(why)) => Err(RunError::Refuses { url, why }),
        Err(Halt::Stopped) => Err(RunError::StoppedEarly),
        Err(Halt::Gone(why)) => Err(RunError::Unreachable { url, why }),
    }
}

/// Goes through the matrix, context by context.
async fn walk(
    bench: &mut Bench,
    course: &mut Course,
    options: &RunOptions,
    document: &mut RunDocument,
    recorder: &mut Recorder,
    sizing: &mut Sizing,
    nonce: &str,
) -> Result<Result<(), Halt>, RunError> {
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
            sizing,
            options,
            document,
            recorder,
            nonce,
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
