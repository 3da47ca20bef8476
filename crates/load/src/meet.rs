//! Finding out what answers, and how to ask it.

use std::sync::Arc;
use std::time::Duration;

use engines::{Answers, Support};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::bench::{Bench, Dialect, to_engines};
use crate::client::{Client, ClientError};
use crate::clock::RunClock;
use crate::options::{RunError, RunOptions};
use crate::progress::{self, Progress};
use crate::target::Target;
use crate::write_up;

/// How long a probe may take.
const PROBE_PATIENCE: Duration = Duration::from_secs(8);

/// Finds out what answers, and how to ask it.
pub(crate) async fn meet(
    options: &RunOptions,
    target: Target,
    clock: RunClock,
    progress: UnboundedSender<Progress>,
    stop: CancellationToken,
) -> Result<Bench, RunError> {
    let url = target.shown();
    let addresses = target
        .resolve()
        .await
        .map_err(|source| RunError::NoSuchHost {
            url: url.clone(),
            source,
        })?;
    let mut client = Client::new(target.clone(), addresses.clone(), clock);
    let probed = tokio::select! {
        () = stop.cancelled() => return Err(RunError::StoppedEarly),
        probed = probe(&mut client, &target) => probed,
    };
    let answers = probed.map_err(|error| RunError::Unreachable {
        url: url.clone(),
        why: target.redact(&error.to_string()),
    })?;
    let server =
        engines::detect(&answers, options.model.as_deref()).map_err(|source| RunError::Detect {
            url: url.clone(),
            source,
        })?;
    let features = server.features();
    let dialect = Dialect {
        ignore_eos: options.plan.ignore_eos && features.ignore_eos != Support::No,
        usage: features.stream_usage(),
    };
    let mut bench = Bench {
        target: Arc::new(target),
        addresses: addresses.into(),
        clock,
        server,
        features,
        plan: options.plan.clone(),
        api: options.api,
        dialect,
        patience: options.patience,
        client,
        progress,
        events: Vec::new(),
        stop,
        answers_beside: false,
        late_tails: Default::default(),
        scout_output_tokens: crate::scout::SCOUT_OUTPUT_TOKENS,
        left_s: 0.0,
    };
    bench.tell(Progress::Detected(progress::Server {
        url,
        engine: bench.server.engine.name().to_owned(),
        version: bench.server.version.clone(),
        model: write_up::public_name(&bench.server.model.id).to_owned(),
        max_model_len: bench.server.max_model_len(),
        max_num_seqs: bench.server.max_num_seqs.or(bench.server.slot_count),
        kv_cache_tokens: bench.server.kv_cache_tokens,
    }));
    for note in bench.server.notes.clone() {
        bench.note(note);
    }
    Ok(bench)
}

async fn probe(client: &mut Client, target: &Target) -> Result<Answers, ClientError> {
    let mut answers = Answers::new();
    for request in engines::probe_requests() {
        match client.get(request.path, PROBE_PATIENCE).await {
            Ok(answer) => answers.insert(request.path, to_engines(target.redact_answer(answer))),
            Err(error) if request.is_required => return Err(error),
            // What a server does not tell is not known: detection says so.
            Err(_) => {}
        }
    }
    Ok(answers)
}
