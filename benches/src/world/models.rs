//! Models: families as they are published, in their sizes, variants and dated
//! releases. The names are put together; only the first of all is fixed.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// How many models there are.
pub const MODEL_COUNT: usize = 1500;

/// A model, as far as its speed goes.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSpec {
    /// `organization/name`.
    pub id: String,
    /// Weights, billions.
    pub total_billions: f64,
    /// Weights that one token uses, billions.
    pub active_billions: f64,
    /// Longest sequence, tokens.
    pub max_model_len: u64,
}

impl ModelSpec {
    /// Keys and values of one token, bytes: of the size that such models have
    /// (8 billion weights: 128 KiB), eight bits each.
    #[must_use]
    pub fn kv_bytes_per_token(&self) -> f64 {
        const KIB: f64 = 1024.0;
        32.0 * KIB * self.total_billions.max(1.0).cbrt()
    }
}

/// A name, weights in billions, and those one token uses.
type Size = (&'static str, f64, f64);

struct Family {
    organization: &'static str,
    versions: &'static [&'static str],
    sizes: &'static [Size],
    max_model_len: u64,
}

const FAMILIES: [Family; 14] = [
    Family {
        organization: "Qwen",
        versions: &["Qwen2.5", "Qwen3", "Qwen3.5"],
        sizes: &[
            ("0.6B", 0.6, 0.6),
            ("4B", 4.0, 4.0),
            ("8B", 8.2, 8.2),
            ("14B", 14.8, 14.8),
            ("30B-A3B", 30.5, 3.3),
            ("32B", 32.8, 32.8),
            ("235B-A22B", 235.0, 22.0),
        ],
        max_model_len: 262_144,
    },
    Family {
        organization: "meta-llama",
        versions: &["Llama-3.1", "Llama-3.3"],
        sizes: &[
            ("1B", 1.2, 1.2),
            ("3B", 3.2, 3.2),
            ("8B", 8.0, 8.0),
            ("70B", 70.6, 70.6),
        ],
        max_model_len: 131_072,
    },
    Family {
        organization: "deepseek-ai",
        versions: &["DeepSeek-V3.2", "DeepSeek-V4.1"],
        sizes: &[
            ("Lite", 16.0, 2.4),
            ("Flash", 158.0, 12.0),
            ("", 671.0, 37.0),
        ],
        max_model_len: 524_288,
    },
    Family {
        organization: "zai-org",
        versions: &["GLM-4.6", "GLM-5.3"],
        sizes: &[
            ("9B", 9.4, 9.4),
            ("Air", 106.0, 12.0),
            ("Flash", 130.0, 10.0),
            ("", 355.0, 32.0),
        ],
        max_model_len: 1_048_576,
    },
    Family {
        organization: "mistralai",
        versions: &["Mistral-Small-3", "Mistral-Small-4"],
        sizes: &[
            ("8B", 8.0, 8.0),
            ("24B", 23.6, 23.6),
            ("123B", 123.0, 123.0),
        ],
        max_model_len: 131_072,
    },
    Family {
        organization: "google",
        versions: &["gemma-3", "gemma-4"],
        sizes: &[
            ("1b", 1.0, 1.0),
            ("4b", 4.3, 4.3),
            ("12b", 12.2, 12.2),
            ("27b", 27.4, 27.4),
        ],
        max_model_len: 131_072,
    },
    Family {
        organization: "openai",
        versions: &["gpt-oss"],
        sizes: &[("20b", 20.9, 3.6), ("120b", 116.8, 5.1)],
        max_model_len: 131_072,
    },
    Family {
        organization: "microsoft",
        versions: &["Phi-4", "Phi-5"],
        sizes: &[("mini", 3.8, 3.8), ("14B", 14.7, 14.7)],
        max_model_len: 131_072,
    },
    Family {
        organization: "nvidia",
        versions: &["Nemotron-3", "Nemotron-4"],
        sizes: &[
            ("Nano-9B", 8.9, 8.9),
            ("Nano-30B-A3B", 31.6, 3.5),
            ("Super-49B", 49.9, 49.9),
        ],
        max_model_len: 262_144,
    },
    Family {
        organization: "ibm-granite",
        versions: &["granite-4.0", "granite-4.1"],
        sizes: &[
            ("micro", 3.4, 3.4),
            ("tiny", 6.9, 1.0),
            ("small", 32.2, 9.0),
        ],
        max_model_len: 131_072,
    },
    Family {
        organization: "allenai",
        versions: &["Olmo-3", "Olmo-3.1"],
        sizes: &[("7B", 7.3, 7.3), ("32B", 32.2, 32.2)],
        max_model_len: 65_536,
    },
    Family {
        organization: "MiniMaxAI",
        versions: &["MiniMax-M2", "MiniMax-M2.5"],
        sizes: &[("", 230.0, 10.0)],
        max_model_len: 524_288,
    },
    Family {
        organization: "moonshotai",
        versions: &["Kimi-K2", "Kimi-K2.5"],
        sizes: &[("Linear-48B-A3B", 49.1, 3.0), ("", 1040.0, 32.0)],
        max_model_len: 262_144,
    },
    Family {
        organization: "tiiuae",
        versions: &["Falcon-H1", "Falcon-H2"],
        sizes: &[("1.5B", 1.6, 1.6), ("7B", 7.6, 7.6), ("34B", 33.6, 33.6)],
        max_model_len: 262_144,
    },
];

const VARIANTS: [&str; 6] = ["Instruct", "Base", "Thinking", "Coder", "Long", "Tools"];
/// Dated releases of each; the first has no date.
const RELEASES: [&str; 5] = ["", "2507", "2510", "2601", "2604"];

/// The model that most people run.
const FIRST: &str = "Qwen/Qwen3-30B-A3B-Instruct";
/// In which order the others follow is the same in every world.
const ORDER_SEED: u64 = 7;

/// All models, commonest first.
#[must_use]
pub fn models() -> Vec<ModelSpec> {
    let mut models: Vec<ModelSpec> = FAMILIES.iter().flat_map(of_family).collect();
    models.shuffle(&mut ChaCha8Rng::seed_from_u64(ORDER_SEED));
    models.sort_by_key(|model| model.id != FIRST);
    models.truncate(MODEL_COUNT);
    models
}

fn of_family(family: &Family) -> Vec<ModelSpec> {
    let mut models = Vec::new();
    for version in family.versions {
        for (size, total_billions, active_billions) in family.sizes {
            for (variant, release) in VARIANTS
                .iter()
                .flat_map(|variant| RELEASES.iter().map(move |release| (variant, release)))
            {
                let parts = [version, size, variant, release].map(|part| *part);
                let name: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                models.push(ModelSpec {
                    id: format!("{}/{}", family.organization, name.join("-")),
                    total_billions: *total_billions,
                    active_billions: *active_billions,
                    max_model_len: family.max_model_len,
                });
            }
        }
    }
    models
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn there_are_as_many_models_as_said_and_no_two_are_called_alike() {
        let models = models();
        let names: HashSet<&str> = models.iter().map(|model| model.id.as_str()).collect();
        assert_eq!((models.len(), names.len()), (MODEL_COUNT, MODEL_COUNT));
        assert_eq!(models[0].id, FIRST);
    }
}
