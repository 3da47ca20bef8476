//! What a document says beside its cells.

use std::net::IpAddr;

use document::{
    Extra, Hardware, Model, PromptSharing, RunDocument, SCHEMA, SCHEMA_MINOR, Settings, Source,
    Tool,
};
use wire::Api;

use crate::bench::Bench;
use crate::matrix::Matrix;
use crate::options::RunOptions;

/// This moment, RFC 3339, UTC, whole seconds.
pub(crate) fn now() -> String {
    jiff::Timestamp::now()
        .round(jiff::Unit::Second)
        .unwrap_or_default()
        .to_string()
}

/// The document of a run that begins.
pub(crate) fn begin(options: &RunOptions, bench: &Bench, matrix: &Matrix) -> RunDocument {
    RunDocument {
        schema: SCHEMA.to_owned(),
        schema_minor: SCHEMA_MINOR,
        samples_sha256: None,
        samples_bytes: None,
        id: uuid::Uuid::now_v7().to_string(),
        started_at: Some(now()),
        finished_at: None,
        tool: Tool {
            name: Some("tokgrid".to_owned()),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            extra: Extra::new(),
        },
        author: options.author.clone(),
        organization: options.organization.clone(),
        source: Source::Measured,
        imported_from: None,
        model: model(bench),
        engine: bench.server.to_document(),
        hardware: hardware(bench),
        settings: settings(options, bench, matrix),
        launch: options.launch.clone(),
        cells: Vec::new(),
        telemetry: None,
        events: Vec::new(),
        notes: options.notes.clone(),
        extra: Extra::new(),
    }
}

/// Whether answers were told to go on past their end; `None` where the server
/// refused to be told.
pub(crate) fn ignore_eos(bench: &Bench) -> Option<bool> {
    (bench.dialect.ignore_eos || !bench.plan.ignore_eos).then_some(bench.dialect.ignore_eos)
}

fn model(bench: &Bench) -> Model {
    let served = &bench.server.model;
    let id = served.root.as_deref().unwrap_or(&served.id);
    Model {
        id: Some(public_name(id).to_owned()),
        served_name: Some(public_name(&served.id).to_owned()),
        ..Model::default()
    }
}

/// A model served from a file or folder is known by its name, never by its path:
/// paths name people.
pub(crate) fn public_name(name: &str) -> &str {
    let is_path =
        name.starts_with(['/', '~', '.']) || name.contains('\\') || name.matches('/').count() > 1;
    match name
        .trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next()
    {
        Some(last) if is_path && !last.is_empty() => last,
        Some(_) | None => name,
    }
}

/// This machine, when the server is on it; of another one nothing is known. A
/// simulated engine runs at the speed of neither.
fn hardware(bench: &Bench) -> Hardware {
    if bench.server.simulated_by.is_some() {
        return Hardware {
            kind: Some(Hardware::SIMULATED.to_owned()),
            ..Hardware::default()
        };
    }
    let is_here = bench.target.host == "localhost"
        || bench
            .target
            .host
            .parse::<IpAddr>()
            .is_ok_and(|ip| ip.is_loopback());
    if is_here {
        hardware::this_machine()
    } else {
        Hardware::default()
    }
}

fn settings(options: &RunOptions, bench: &Bench, matrix: &Matrix) -> Settings {
    Settings {
        decode_test: Some("Fixed duration".to_owned()),
        prefill_mode: Some("Measured during decode warm-up".to_owned()),
        window_s: Some(options.plan.window_s),
        max_output_tokens: Some(options.plan.max_output_tokens),
        prompt_sharing: Some(PromptSharing::Shared),
        contexts: matrix.contexts.clone(),
        prefill_contexts: matrix.prefill_contexts.clone(),
        concurrency: matrix.concurrency.clone(),
        seed: Some(options.plan.seed),
        stream_seeds: Some(options.plan.stream_seeds),
        prefill_samples: Some(options.plan.prefill_samples),
        api: Some(
            match options.api {
                Api::Chat => "chat",
                Api::Completions => "completions",
            }
            .to_owned(),
        ),
        ignore_eos: ignore_eos(bench),
        prompt_source: Some(options.prompt_source.clone()),
        count_shared_prompt_once: Some(options.plan.count_shared_prompt_once),
        extra: Extra::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::public_name;

    #[test]
    fn a_path_is_known_by_its_last_part_and_a_repository_by_its_whole_name() {
        assert_eq!(
            public_name("/home/someone/models/Qwen3-8B.gguf"),
            "Qwen3-8B.gguf"
        );
        assert_eq!(
            public_name("deepseek-ai/DeepSeek-V4.1-Flash-1017"),
            "deepseek-ai/DeepSeek-V4.1-Flash-1017"
        );
        assert_eq!(public_name("tiny"), "tiny");
        assert_eq!(public_name("/"), "/");
    }
}
