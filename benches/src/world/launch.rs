//! How the server of a run was started, and what its engine is called exactly.

use document::{Engine, Launch, LaunchProvenance};
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;

use super::draw::{Facts, LLAMA_CPP};
use super::machines::{MACHINES, MachineKind};
use super::models::ModelSpec;

/// Releases of each engine that are in use.
const RELEASES_IN_USE: u32 = 6;
/// Requests at once that servers are started with.
const MAX_NUM_SEQS: [u32; 4] = [16, 32, 64, 256];
/// Share of servers whose limit is known.
const KNOWN_SEQS_SHARE: f64 = 0.75;

/// The engine as the document has it.
pub(super) fn engine(
    rng: &mut ChaCha8Rng,
    facts: &Facts,
    model: &ModelSpec,
    kv_budget_tokens: u64,
) -> Engine {
    let machine = &MACHINES[facts.machine];
    let release = rng.random_range(0..RELEASES_IN_USE);
    let commit: u64 = rng.random_range(0..1 << 48);
    let (version, repository) = match facts.engine {
        LLAMA_CPP => (
            format!("b{}", 11_100 + release * 67),
            "github.com/ggml-org/llama.cpp",
        ),
        "vllm" => (
            format!("0.{}.{}", 28 + release, commit % 3),
            "github.com/vllm-project/vllm",
        ),
        "sglang" => (
            format!("0.5.{}", 9 + release),
            "github.com/sgl-project/sglang",
        ),
        "tensorrt-llm" => (format!("1.{release}.0"), "github.com/NVIDIA/TensorRT-LLM"),
        "lmdeploy" => (
            format!("0.{}.0", 10 + release),
            "github.com/InternLM/lmdeploy",
        ),
        _ => (
            format!("3.{release}.1"),
            "github.com/huggingface/text-generation-inference",
        ),
    };
    let backend = if machine.kind == MachineKind::Processor {
        "cpu"
    } else if machine.name.starts_with("Apple") {
        "metal"
    } else if ["Radeon", "Instinct", "Ryzen"]
        .iter()
        .any(|name| machine.name.starts_with(name))
    {
        "rocm"
    } else if ["Arc", "Gaudi"]
        .iter()
        .any(|name| machine.name.starts_with(name))
    {
        "xpu"
    } else {
        "cuda"
    };
    let known_seqs = rng.random_bool(KNOWN_SEQS_SHARE);
    Engine {
        name: Some(facts.engine.to_owned()),
        version: Some(version),
        quantization: Some(facts.quantization.name.to_owned()),
        backend: Some(backend.to_owned()),
        repository: Some(repository.to_owned()),
        build: (backend == "cuda").then(|| format!("cuda-13.{}", release % 3)),
        commit: Some(format!("{commit:012x}")),
        max_model_len: Some(model.max_model_len),
        max_num_seqs: known_seqs.then(|| MAX_NUM_SEQS[rng.random_range(0..MAX_NUM_SEQS.len())]),
        kv_cache_tokens: Some(kv_budget_tokens),
        ..Engine::default()
    }
}

/// The command, mostly known.
pub(super) fn launch(
    rng: &mut ChaCha8Rng,
    facts: &Facts,
    model: &ModelSpec,
    engine: &Engine,
) -> Launch {
    let provenance = match rng.random_range(0..10) {
        0..4 => LaunchProvenance::Captured,
        4..7 => LaunchProvenance::Provided,
        7..9 => LaunchProvenance::Reconstructed,
        _ => return Launch::default(),
    };
    let seqs = engine.max_num_seqs.unwrap_or(256);
    let length = model.max_model_len;
    let command = if facts.engine == LLAMA_CPP {
        format!(
            "llama-server -hf {} -c {length} -np {seqs} -ngl 999 -fa on --metrics --host 0.0.0.0 --port 8080 --api-key <redacted>",
            model.id
        )
    } else {
        let count = facts.gpu_count.unwrap_or(1);
        format!(
            "env HF_TOKEN=<redacted> {} serve {} --tensor-parallel-size {count} --max-model-len {length} --max-num-seqs {seqs} \
             --gpu-memory-utilization 0.92 --kv-cache-dtype fp8 --enable-prefix-caching --host 0.0.0.0 --port 8000 --api-key <redacted>",
            facts.engine, model.id
        )
    };
    let note = (provenance == LaunchProvenance::Reconstructed)
        .then(|| "Reconstructed from the recipe; not captured runtime argv.".to_owned());
    Launch {
        command: Some(command),
        provenance,
        note,
        ..Launch::default()
    }
}
