//! A whole run document.

use document::{
    CacheProof, Hardware, ImportedFrom, Model, PromptSharing, RunDocument, RunEvent, SCHEMA,
    SCHEMA_MINOR, Settings, Source, Tool,
};
use jiff::{SignedDuration, Timestamp};
use rand::prelude::*;
use store::Kind;

use super::cells::{Bench, WINDOW_S};
use super::draw::{Facts, LLAMA_CPP, World};
use super::launch;
use super::machines::{MACHINES, Machine, MachineKind};
use super::matrix::Matrix;
use super::speed::Speed;

/// 2026-01-01T00:00:00Z, when the first run is measured, s since 1970.
const FIRST_RUN_S: i64 = 1_767_225_600;
/// From one run to the next, s.
const RUN_INTERVAL_S: i64 = 240;
/// From a run's start to its publication, s.
const PUBLISHED_AFTER_S: i64 = 7200;
/// Share by which runs of one configuration differ.
const RUN_LUCK_SHARE: f64 = 0.08;
/// Share of runs with a word of their author.
const NOTED_SHARE: f64 = 0.15;
/// Share of imports that name the file they are from.
const NAMED_FILE_SHARE: f64 = 0.5;

/// Words of authors. Two are not what a page may take for markup, one is long, one is not English.
const NOTES: [&str; 5] = [
    "Power limit 450 W, driver persistence on.",
    "Second run after an update; <0.5 % apart from the first.",
    "第二次测量，室温 24 °C。",
    "Same machine as the week before; fans at 60 %, both PCIe slots x16 & no other load.",
    "The server was restarted between contexts because of its memory; every cell was measured on a server \
     that had answered at least a hundred requests, so what compiles on first use had compiled.",
];

impl World {
    /// The whole document of a run.
    #[must_use]
    pub fn document(&self, facts: &Facts) -> RunDocument {
        let mut rng = self.figures_rng(facts.index);
        let model = &self.models()[facts.model];
        let machine = &MACHINES[facts.machine];
        let luck = 1.0 + rng.random_range(-RUN_LUCK_SHARE..RUN_LUCK_SHARE);
        let speed = Speed::new(model, facts, luck);
        let matrix = Matrix::draw(&mut rng, model.max_model_len, speed.kv_budget_tokens());
        let mut engine = launch::engine(&mut rng, facts, model, speed.kv_budget_tokens());
        engine.max_model_len = Some(matrix.max_model_len);
        let launch = launch::launch(&mut rng, facts, model, &engine);
        let is_imported = facts.kind == Kind::Imported;
        let cache_proof = if facts.engine == LLAMA_CPP || is_imported {
            CacheProof::Unproven
        } else {
            CacheProof::Proved
        };
        let bench = Bench {
            speed: &speed,
            matrix: &matrix,
            max_num_seqs: engine.max_num_seqs,
            medians_only: is_imported,
            cache_proof,
        };
        let cells = matrix.keys().map(|key| bench.cell(&mut rng, key)).collect();
        let started = started_at(facts.index);
        let ended = started + SignedDuration::from_secs(PUBLISHED_AFTER_S / 2);
        let notes = rng
            .random_bool(NOTED_SHARE)
            .then(|| NOTES[rng.random_range(0..NOTES.len())].to_owned());
        let file: u128 = rng.random();
        let named_file = rng.random_bool(NAMED_FILE_SHARE);
        RunDocument {
            schema: SCHEMA.to_owned(),
            schema_minor: SCHEMA_MINOR,
            samples_sha256: None,
            samples_bytes: None,
            id: facts.id.clone(),
            started_at: Some(started.to_string()),
            finished_at: Some(ended.to_string()),
            tool: tool(is_imported),
            author: Some(facts.author.clone()),
            organization: facts.organization.map(World::organization_name),
            source: if is_imported {
                Source::Imported
            } else {
                Source::Measured
            },
            imported_from: is_imported.then(|| ImportedFrom {
                tool: Some("llm-inference-bench".to_owned()),
                version: Some("0.6.2".to_owned()),
                file_sha256: named_file.then(|| format!("{file:032x}{file:032x}")),
                ..ImportedFrom::default()
            }),
            model: Model {
                id: Some(model.id.clone()),
                served_name: Some(model.id.clone()),
                revision: Some("main".to_owned()),
                ..Model::default()
            },
            engine,
            hardware: hardware(facts, machine),
            settings: settings(facts, &matrix),
            launch,
            cells,
            telemetry: None,
            events: events(is_imported),
            notes,
            extra: document::Extra::new(),
        }
    }
}

/// When the run was measured.
fn started_at(index: u64) -> Timestamp {
    let since = i64::try_from(index).unwrap_or(0) * RUN_INTERVAL_S;
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(FIRST_RUN_S + since)
}

/// When the run was published, ms since 1970.
#[must_use]
pub fn published_at_ms(index: u64) -> i64 {
    (started_at(index) + SignedDuration::from_secs(PUBLISHED_AFTER_S)).as_millisecond()
}

fn tool(is_imported: bool) -> Tool {
    let (name, version) = if is_imported {
        ("llm-inference-bench", "0.6.2")
    } else {
        ("tokgrid", "0.1.0")
    };
    Tool {
        name: Some(name.to_owned()),
        version: Some(version.to_owned()),
        ..Tool::default()
    }
}

fn hardware(facts: &Facts, machine: &Machine) -> Hardware {
    let has_gpu = machine.kind != MachineKind::Processor;
    let kind = if facts.kind == Kind::Simulated {
        Hardware::SIMULATED
    } else {
        machine.kind.title()
    };
    let count = facts.gpu_count.map(f64::from);
    Hardware {
        kind: Some(kind.to_owned()),
        gpu: has_gpu.then(|| machine.name.to_owned()),
        gpu_count: facts.gpu_count,
        vram_gb: count.map(|count| count * machine.memory_gb),
        vram_gb_each: has_gpu.then_some(machine.memory_gb),
        cpu: (!has_gpu).then(|| machine.name.to_owned()),
        ram_gb: (!has_gpu).then_some(machine.memory_gb),
        os: Some("linux".to_owned()),
        driver: None,
        ..Hardware::default()
    }
}

fn settings(facts: &Facts, matrix: &Matrix) -> Settings {
    let is_imported = facts.kind == Kind::Imported;
    Settings {
        decode_test: Some("Fixed duration".to_owned()),
        prefill_mode: Some("Measured during decode warm-up".to_owned()),
        window_s: Some(WINDOW_S),
        max_output_tokens: Some(matrix.max_output_tokens),
        prompt_sharing: (!is_imported).then_some(PromptSharing::Shared),
        contexts: matrix.contexts.clone(),
        prefill_contexts: matrix.prefill_contexts.clone(),
        concurrency: matrix.concurrency.to_vec(),
        seed: (!is_imported).then_some(facts.index),
        stream_seeds: (!is_imported).then_some(true),
        prefill_samples: (!is_imported).then_some(1),
        api: (!is_imported).then(|| "chat".to_owned()),
        ignore_eos: (!is_imported).then_some(true),
        prompt_source: None,
        count_shared_prompt_once: (!is_imported).then_some(false),
        ..Settings::default()
    }
}

fn events(is_imported: bool) -> Vec<RunEvent> {
    if is_imported {
        return Vec::new();
    }
    let event = |at_s: f64, text: &str| RunEvent {
        at_s,
        text: text.to_owned(),
        extra: document::Extra::new(),
    };
    vec![
        event(0.4, "the server answers and tells its limits"),
        event(
            3.1,
            "prompts are built to length with the server's tokenizer",
        ),
    ]
}
