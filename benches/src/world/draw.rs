//! Which run the n-th is: model, machine, engine and the rest, drawn with the
//! world's skew.

use rand::distr::weighted::WeightedIndex;
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use store::Kind;
use uuid::Uuid;

use super::machines::{MACHINES, Machine, MachineKind};
use super::models::{ModelSpec, models};

/// Share of runs that the commonest model has.
const FIRST_MODEL_SHARE: f64 = 0.22;
/// Share of runs that the commonest GPU has.
const FIRST_MACHINE_SHARE: f64 = 0.32;
/// Organizations that publish.
pub(super) const ORGANIZATION_COUNT: usize = 120;
/// People who publish.
const AUTHOR_COUNT: usize = 4000;
/// Share of runs that an organization publishes.
const ORGANIZATION_SHARE: f64 = 0.3;
/// Share of runs that other tools measured.
const IMPORTED_SHARE: f64 = 0.12;
/// Share of runs on a simulated engine.
const SIMULATED_SHARE: f64 = 0.02;
/// Share of a machine's memory that an engine takes.
pub(super) const MEMORY_SHARE: f64 = 0.92;
/// Least memory that is left for keys and values, share of what the weights take.
const KV_SHARE: f64 = 0.10;
/// Each run draws from two streams of its own: one for what it is …
const FACTS_STREAM: u64 = 0;
/// … and one for its figures.
const FIGURES_STREAM: u64 = 1;

/// How weights are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantization {
    /// Its name.
    pub name: &'static str,
    /// Bytes a weight takes.
    pub weight_bytes: f64,
}

const fn quantization(name: &'static str, weight_bytes: f64) -> Quantization {
    Quantization { name, weight_bytes }
}

/// The largest first, of those that engines on servers run.
const SERVED: [Quantization; 6] = [
    quantization("BF16", 2.0),
    quantization("FP8", 1.03),
    quantization("MXFP4+FP8", 0.58),
    quantization("NVFP4", 0.56),
    quantization("AWQ", 0.55),
    quantization("GPTQ-Int4", 0.55),
];
const SERVED_WEIGHTS: [u32; 6] = [30, 27, 5, 14, 16, 8];
/// Of those that llama.cpp runs.
const GGUF: [Quantization; 2] = [quantization("Q8_0", 1.06), quantization("Q4_K_M", 0.61)];
const GGUF_WEIGHTS: [u32; 2] = [25, 75];

/// Engines for servers and how often they are run.
const ENGINES: [&str; 5] = [
    "vllm",
    "sglang",
    "tensorrt-llm",
    "lmdeploy",
    "text-generation-inference",
];
const ENGINE_WEIGHTS: [u32; 5] = [66, 20, 8, 4, 2];
pub(super) const LLAMA_CPP: &str = "llama.cpp";
/// Share of runs on a single card under llama.cpp.
const LLAMA_CPP_SHARE: f64 = 0.22;

const GPU_COUNTS: [u32; 4] = [1, 2, 4, 8];
const GPU_COUNT_WEIGHTS: [u32; 4] = [52, 20, 17, 11];
const GPU_COUNT_MAX: u32 = 8;

/// What a run is of.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts {
    /// Which run, from 0.
    pub index: u64,
    /// Names it.
    pub id: String,
    /// How its figures came to be.
    pub kind: Kind,
    /// Which of the models, commonest first.
    pub model: usize,
    /// Which of the machines, commonest first.
    pub machine: usize,
    /// GPUs; `None` for a machine without.
    pub gpu_count: Option<u32>,
    /// The engine.
    pub engine: &'static str,
    /// How the weights are stored.
    pub quantization: Quantization,
    /// Who publishes.
    pub author: String,
    /// On whose behalf, of the organizations.
    pub organization: Option<usize>,
}

/// All runs that a seed makes.
#[derive(Debug)]
pub struct World {
    seed: u64,
    models: Vec<ModelSpec>,
    model_weights: WeightedIndex<f64>,
    machine_weights: WeightedIndex<f64>,
    organization_weights: WeightedIndex<f64>,
    author_weights: WeightedIndex<f64>,
    served_weights: WeightedIndex<u32>,
    gguf_weights: WeightedIndex<u32>,
    engine_weights: WeightedIndex<u32>,
    gpu_count_weights: WeightedIndex<u32>,
}

impl World {
    /// The world of a seed.
    ///
    /// # Errors
    /// Never with the weights of this file: weights of another could be none.
    pub fn new(seed: u64) -> anyhow::Result<World> {
        let models = models();
        Ok(World {
            seed,
            model_weights: WeightedIndex::new(skewed(models.len(), FIRST_MODEL_SHARE))?,
            models,
            machine_weights: WeightedIndex::new(skewed(MACHINES.len(), FIRST_MACHINE_SHARE))?,
            organization_weights: WeightedIndex::new(zipf(ORGANIZATION_COUNT))?,
            author_weights: WeightedIndex::new(zipf(AUTHOR_COUNT))?,
            served_weights: WeightedIndex::new(SERVED_WEIGHTS)?,
            gguf_weights: WeightedIndex::new(GGUF_WEIGHTS)?,
            engine_weights: WeightedIndex::new(ENGINE_WEIGHTS)?,
            gpu_count_weights: WeightedIndex::new(GPU_COUNT_WEIGHTS)?,
        })
    }

    /// The models, commonest first.
    #[must_use]
    pub fn models(&self) -> &[ModelSpec] {
        &self.models
    }

    /// Name of an organization.
    #[must_use]
    pub fn organization_name(organization: usize) -> String {
        format!("Lab {:03}", organization + 1)
    }

    /// What the run is of.
    #[must_use]
    pub fn facts(&self, index: u64) -> Facts {
        let mut rng = self.rng(index, FACTS_STREAM);
        let id = Uuid::from_u128(uuid_bits(rng.random())).to_string();
        let model = self.model_weights.sample(&mut rng);
        let machine = self.machine_weights.sample(&mut rng);
        let spec = &MACHINES[machine];
        let has_gpu = spec.kind != MachineKind::Processor;
        let drawn_count = GPU_COUNTS[self.gpu_count_weights.sample(&mut rng)];
        let gpu_count = match spec.kind {
            MachineKind::Discrete => drawn_count,
            MachineKind::Unified | MachineKind::Processor => 1,
        };
        let (engine, quantization) = self.serving(&mut rng, spec, gpu_count);
        let fitted = fit(&self.models[model], spec, engine, quantization, gpu_count);
        let imported = rng.random_bool(IMPORTED_SHARE);
        let kind = if rng.random_bool(SIMULATED_SHARE) {
            Kind::Simulated
        } else if imported {
            Kind::Imported
        } else {
            Kind::Measured
        };
        Facts {
            index,
            id,
            kind,
            model,
            machine,
            gpu_count: has_gpu.then_some(fitted.gpu_count),
            engine: fitted.engine,
            quantization: fitted.quantization,
            author: format!("runner-{:04}", self.author_weights.sample(&mut rng) + 1),
            organization: rng
                .random_bool(ORGANIZATION_SHARE)
                .then(|| self.organization_weights.sample(&mut rng)),
        }
    }

    fn serving(
        &self,
        rng: &mut ChaCha8Rng,
        machine: &Machine,
        gpu_count: u32,
    ) -> (&'static str, Quantization) {
        let by_choice = gpu_count == 1 && rng.random_bool(LLAMA_CPP_SHARE);
        if by_choice || machine.kind != MachineKind::Discrete {
            (LLAMA_CPP, GGUF[self.gguf_weights.sample(rng)])
        } else {
            (
                ENGINES[self.engine_weights.sample(rng)],
                SERVED[self.served_weights.sample(rng)],
            )
        }
    }

    /// Draws for the figures of a run.
    pub(super) fn figures_rng(&self, index: u64) -> ChaCha8Rng {
        self.rng(index, FIGURES_STREAM)
    }

    fn rng(&self, index: u64, stream: u64) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(index * 2 + stream);
        rng
    }
}

/// What a model is served with so that it fits.
struct Fitted {
    engine: &'static str,
    quantization: Quantization,
    gpu_count: u32,
}

/// More GPUs, then smaller weights, and at last llama.cpp, which leaves in main
/// memory what the GPUs do not hold.
fn fit(
    model: &ModelSpec,
    machine: &Machine,
    engine: &'static str,
    quantization: Quantization,
    gpu_count: u32,
) -> Fitted {
    let most = match machine.kind {
        MachineKind::Discrete => GPU_COUNT_MAX,
        MachineKind::Unified | MachineKind::Processor => 1,
    };
    let smallest = if engine == LLAMA_CPP {
        GGUF[1]
    } else {
        SERVED[4]
    };
    for quantization in [quantization, smallest] {
        let needed_gb = weights_gb(model, quantization) * (1.0 + KV_SHARE);
        let counts = GPU_COUNTS
            .into_iter()
            .filter(|count| (gpu_count..=most).contains(count));
        for gpu_count in counts {
            if needed_gb <= machine.memory_gb * f64::from(gpu_count) * MEMORY_SHARE {
                return Fitted {
                    engine,
                    quantization,
                    gpu_count,
                };
            }
        }
    }
    Fitted {
        engine: LLAMA_CPP,
        quantization: GGUF[1],
        gpu_count,
    }
}

/// What the weights take, GB.
pub(super) fn weights_gb(model: &ModelSpec, quantization: Quantization) -> f64 {
    model.total_billions * quantization.weight_bytes
}

/// Bits of a random (version 4) UUID.
fn uuid_bits(random: u128) -> u128 {
    const VERSION_MASK: u128 = 0xf << 76;
    const VARIANT_MASK: u128 = 0x3 << 62;
    (random & !VERSION_MASK & !VARIANT_MASK) | (4 << 76) | (2 << 62)
}

/// 1/rank.
fn zipf(count: usize) -> Vec<f64> {
    (1..=count).map(|rank| 1.0 / rank as f64).collect()
}

/// The first has its share, the others share the rest by 1/rank.
fn skewed(count: usize, first_share: f64) -> Vec<f64> {
    let rest = zipf(count.saturating_sub(1));
    let sum: f64 = rest.iter().sum();
    let scaled = rest
        .into_iter()
        .map(|weight| weight / sum * (1.0 - first_share));
    std::iter::once(first_share).chain(scaled).collect()
}
