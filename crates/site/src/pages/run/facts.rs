use askama::Template;
use document::{Hardware, PromptSharing, RunDocument, format};

use super::title::moment;
use super::words::known;
use crate::words::{Said, Words};

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
    pub title: Said,
    /// In the pages' order, ours after theirs.
    pub facts: Vec<Fact>,
}

/// One fact.
#[derive(Debug)]
pub struct Fact {
    /// What it is called.
    pub label: Said,
    /// What it is.
    pub value: Said,
}

impl Facts {
    pub(crate) fn of(run: &RunDocument, words: Words) -> Facts {
        let groups = [
            ("run-hardware", hardware(&run.hardware, words)),
            ("run-engine", engine(run, words)),
            ("run-run", settings(run, words)),
        ];
        Facts {
            groups: groups
                .into_iter()
                .map(|(title, fields)| FactGroup {
                    title: words.t(title),
                    facts: with_values(fields, words),
                })
                .filter(|group| !group.facts.is_empty())
                .collect(),
        }
    }
}

/// The key of a label, and what stands beside it.
type Field = (&'static str, Option<Said>);

fn with_values(fields: Vec<Field>, words: Words) -> Vec<Fact> {
    fields
        .into_iter()
        .filter_map(|(label, value)| {
            value.map(|value| Fact {
                label: words.t(label),
                value,
            })
        })
        .collect()
}

/// A text of the document as it is.
fn text(field: &Option<String>) -> Option<Said> {
    known(field.as_deref()).map(Said::Owned)
}

/// A text of the document; in the page's words where its meaning is fixed.
fn meant(field: &Option<String>, words: Words) -> Option<Said> {
    let said = known(field.as_deref())?;
    Some(match said.as_str() {
        "Discrete GPU" => words.t("run-value-discrete-gpu"),
        "Unified memory" => words.t("run-value-unified-memory"),
        "CPU only" => words.t("run-value-cpu-only"),
        Hardware::SIMULATED => words.t("run-value-simulated-engine"),
        "Fixed duration" => words.t("run-value-fixed-duration"),
        "Measured during decode warm-up" => words.t("run-value-decode-warm-up"),
        "Separate cold samples" => words.t("run-value-cold-samples"),
        _ => said.into(),
    })
}

fn shown(key: &'static str, count: u64, words: Words) -> Said {
    words
        .with(key, &[("shown", format::count(count).into())])
        .into()
}

fn number(value: impl ToString) -> Said {
    Said::Owned(value.to_string())
}

fn hardware(hardware: &Hardware, words: Words) -> Vec<Field> {
    vec![
        ("run-hardware-type", meant(&hardware.kind, words)),
        ("run-gpu", text(&hardware.gpu)),
        ("run-gpu-count", hardware.gpu_count.map(number)),
        ("run-vram", vram(hardware).map(Said::Owned)),
        ("run-cpu", text(&hardware.cpu)),
        (
            "run-memory",
            hardware.ram_gb.map(format::gigabytes).map(Said::Owned),
        ),
        ("run-os", text(&hardware.os)),
        ("run-driver", text(&hardware.driver)),
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

fn engine(run: &RunDocument, words: Words) -> Vec<Field> {
    let engine = &run.engine;
    let tokens = |count: Option<u64>| count.map(|count| shown("run-tokens", count, words));
    let at_once = engine
        .max_num_seqs
        .map(|count| shown("run-requests", u64::from(count), words));
    vec![
        ("run-engine", text(&engine.name)),
        ("run-version", text(&engine.version)),
        ("run-quantization", text(&engine.quantization)),
        ("run-backend", text(&engine.backend)),
        ("run-repository", text(&engine.repository)),
        ("run-build", text(&engine.build)),
        ("run-commit", text(&engine.commit)),
        ("run-longest-sequence", tokens(engine.max_model_len)),
        ("run-runs-at-once", at_once),
        ("run-kv-cache", tokens(engine.kv_cache_tokens)),
    ]
}

fn settings(run: &RunDocument, words: Words) -> Vec<Field> {
    let settings = &run.settings;
    let served = text(&run.model.served_name);
    let id = text(&run.model.id).filter(|id| Some(id) != served.as_ref());
    let yes_or_no = |is_so: bool| words.t(if is_so { "run-yes" } else { "run-no" });
    let tokens = |count: u64| shown("run-tokens", count, words);
    let when = |at: &Option<String>| at.as_deref().map(moment).map(Said::Owned);
    vec![
        ("run-served-model", served),
        ("run-revision", text(&run.model.revision)),
        ("run-benchmark-tool", tool(run).map(Said::Owned)),
        ("run-decode-test", meant(&settings.decode_test, words)),
        ("run-prefill-mode", meant(&settings.prefill_mode, words)),
        (
            "run-window",
            settings.window_s.map(plain_seconds).map(Said::Owned),
        ),
        ("run-max-output", settings.max_output_tokens.map(tokens)),
        ("run-model", id),
        ("run-prompts", prompts(run, words)),
        (
            "run-prefill-samples",
            settings
                .prefill_samples
                .filter(|samples| *samples > 1)
                .map(number),
        ),
        ("run-api", text(&settings.api)),
        ("run-seed", settings.seed.map(number)),
        ("run-stream-seeds", settings.stream_seeds.map(yes_or_no)),
        ("run-ignore-eos", settings.ignore_eos.map(yes_or_no)),
        (
            "run-shared-prompts",
            settings
                .count_shared_prompt_once
                .filter(|once| *once)
                .map(|_| words.t("run-counted-once")),
        ),
        ("run-started", when(&run.started_at)),
        ("run-finished", when(&run.finished_at)),
    ]
}

/// `llm-inference-bench v0.8.0`.
fn tool(run: &RunDocument) -> Option<String> {
    let name = known(run.tool.name.as_deref())?;
    Some(match known(run.tool.version.as_deref()) {
        Some(version) => format!("{name} v{}", version.trim_start_matches('v')),
        None => name,
    })
}

fn prompts(run: &RunDocument, words: Words) -> Option<Said> {
    let source = known(run.settings.prompt_source.as_deref());
    match (source, run.settings.prompt_sharing) {
        (Some(source), Some(PromptSharing::Shared)) => Some(
            words
                .with("run-prompts-source-shared", &[("source", source.into())])
                .into(),
        ),
        (Some(source), None) => Some(source.into()),
        (None, Some(PromptSharing::Shared)) => Some(words.t("run-prompts-shared")),
        (None, None) => None,
    }
}

/// `30 s`, `2.5 s`: a setting, not a measurement, so without a needless decimal.
fn plain_seconds(seconds: f64) -> String {
    format!("{} s", format::short_decimal(seconds))
}
