use askama::Template;
use document::{Hardware, PromptSharing, RunDocument, format};

use super::title::moment;
use super::words::known;

/// Hardware, engine, run. A field without a value is left out, and a group without fields.
#[derive(Debug, Template)]
#[template(path = "run/facts.html")]
pub struct Facts {
    /// The groups, in the pages' order.
    pub groups: Vec<FactGroup>,
}

/// Facts of one thing.
#[derive(Debug)]
pub struct FactGroup {
    /// What they are of.
    pub title: &'static str,
    /// In the pages' order, ours after theirs.
    pub facts: Vec<Fact>,
}

/// One fact.
#[derive(Debug)]
pub struct Fact {
    /// What it is called.
    pub label: &'static str,
    /// What it is.
    pub value: String,
}

impl Facts {
    pub(crate) fn of(run: &RunDocument) -> Facts {
        let groups = [
            ("Hardware", hardware(&run.hardware)),
            ("Engine", engine(run)),
            ("Run", settings(run)),
        ];
        Facts {
            groups: groups
                .into_iter()
                .map(|(title, fields)| FactGroup {
                    title,
                    facts: with_values(fields),
                })
                .filter(|group| !group.facts.is_empty())
                .collect(),
        }
    }
}

type Field = (&'static str, Option<String>);

fn with_values(fields: Vec<Field>) -> Vec<Fact> {
    fields
        .into_iter()
        .filter_map(|(label, value)| value.map(|value| Fact { label, value }))
        .collect()
}

fn hardware(hardware: &Hardware) -> Vec<Field> {
    let text = |field: &Option<String>| known(field.as_deref());
    vec![
        ("Type", text(&hardware.kind)),
        ("GPU", text(&hardware.gpu)),
        ("GPU count", hardware.gpu_count.map(|n| n.to_string())),
        ("VRAM", vram(hardware)),
        ("CPU", text(&hardware.cpu)),
        ("Memory", hardware.ram_gb.map(format::gigabytes)),
        ("OS", text(&hardware.os)),
        ("Driver", text(&hardware.driver)),
    ]
}

/// `384 GB (4 × 96 GB)`.
fn vram(hardware: &Hardware) -> Option<String> {
    let several = hardware.gpu_count.filter(|count| *count > 1);
    match (hardware.vram_gb, hardware.vram_gb_each, several) {
        (all, Some(each), Some(count)) => Some(format!(
            "{} ({count} × {})",
            format::gigabytes(all.unwrap_or(each * f64::from(count))),
            format::gigabytes(each)
        )),
        (Some(all), Some(_) | None, None) | (Some(all), None, Some(_)) => {
            Some(format::gigabytes(all))
        }
        (None, Some(each), None) => Some(format::gigabytes(each)),
        (None, None, Some(_) | None) => None,
    }
}

fn engine(run: &RunDocument) -> Vec<Field> {
    let engine = &run.engine;
    let text = |field: &Option<String>| known(field.as_deref());
    let tokens = |count: Option<u64>| count.map(|count| format!("{} tokens", format::count(count)));
    vec![
        ("Engine", text(&engine.name)),
        ("Version", text(&engine.version)),
        ("Quantization", text(&engine.quantization)),
        ("Backend", text(&engine.backend)),
        ("Repository", text(&engine.repository)),
        ("Build", text(&engine.build)),
        ("Commit", text(&engine.commit)),
        ("Longest sequence", tokens(engine.max_model_len)),
        (
            "Runs at once",
            engine
                .max_num_seqs
                .map(|count| format!("{} requests", format::count(u64::from(count)))),
        ),
        ("KV cache", tokens(engine.kv_cache_tokens)),
    ]
}

fn settings(run: &RunDocument) -> Vec<Field> {
    let settings = &run.settings;
    let text = |field: &Option<String>| known(field.as_deref());
    let served = text(&run.model.served_name);
    let id = text(&run.model.id).filter(|id| Some(id) != served.as_ref());
    vec![
        ("Served model", served),
        ("Revision", text(&run.model.revision)),
        ("Benchmark tool", tool(run)),
        ("Decode test", text(&settings.decode_test)),
        ("Prefill mode", text(&settings.prefill_mode)),
        ("Time per measurement", settings.window_s.map(plain_seconds)),
        (
            "Max output",
            settings
                .max_output_tokens
                .map(|count| format!("{} tokens", format::count(count))),
        ),
        ("Model", id),
        ("Prompts", prompts(run)),
        (
            "Prefill samples",
            settings
                .prefill_samples
                .filter(|samples| *samples > 1)
                .map(|samples| samples.to_string()),
        ),
        ("API", text(&settings.api)),
        ("Seed", settings.seed.map(|seed| seed.to_string())),
        ("Seeds of streams", settings.stream_seeds.map(yes_or_no)),
        ("Ignore EOS", settings.ignore_eos.map(yes_or_no)),
        (
            "Shared prompts in the KV cache",
            settings
                .count_shared_prompt_once
                .filter(|once| *once)
                .map(|_| "counted once".to_owned()),
        ),
        ("Started", run.started_at.as_deref().map(moment)),
        ("Finished", run.finished_at.as_deref().map(moment)),
    ]
}

fn yes_or_no(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

/// `llm-inference-bench v0.8.0`.
fn tool(run: &RunDocument) -> Option<String> {
    let name = known(run.tool.name.as_deref())?;
    Some(match known(run.tool.version.as_deref()) {
        Some(version) => format!("{name} v{}", version.trim_start_matches('v')),
        None => name,
    })
}

fn prompts(run: &RunDocument) -> Option<String> {
    let source = known(run.settings.prompt_source.as_deref());
    let sharing = run.settings.prompt_sharing.map(|sharing| match sharing {
        PromptSharing::Shared => "shared by all requests",
    });
    match (source, sharing) {
        (Some(source), Some(sharing)) => Some(format!("{source}; {sharing}")),
        (Some(source), None) => Some(source),
        (None, Some(sharing)) => Some(sharing.to_owned()),
        (None, None) => None,
    }
}

/// `30 s`, `2.5 s`: a setting, not a measurement, so without a needless decimal.
fn plain_seconds(seconds: f64) -> String {
    format!("{} s", format::short_decimal(seconds))
}
