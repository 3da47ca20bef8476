//! How fast a model is on a machine: the roofline. Whichever takes longer, moving
//! the weights and the keys and values, or the arithmetic, is what a step takes.

use super::draw::{Facts, MEMORY_SHARE, weights_gb};
use super::machines::{MACHINES, Machine, MachineKind};
use super::models::ModelSpec;

/// Share of the specified bandwidth that is reached.
const BANDWIDTH_SHARE: f64 = 0.72;
/// Share of the specified arithmetic that is reached.
const ARITHMETIC_SHARE: f64 = 0.42;
/// What each doubling of the GPUs keeps of their sum.
const DOUBLING_SHARE: f64 = 0.90;
/// What a step takes besides, ms.
const STEP_OVERHEAD_MS: f64 = 2.2;
/// What a request takes before its first step, ms.
const REQUEST_OVERHEAD_MS: f64 = 18.0;
/// Main memory's bandwidth, for weights that the GPUs do not hold, GB/s.
const MAIN_MEMORY_GB_S: f64 = 60.0;
/// Tokens at which attention takes as much arithmetic as the weights.
const ATTENTION_EVEN_TOKENS: f64 = 60_000.0;
/// Requests that together touch nearly all experts of a model that has some.
const EXPERTS_HALF_REQUESTS: f64 = 12.0;
/// Share of memory left for keys and values where weights spill over.
const SPILLED_KV_SHARE: f64 = 0.10;
const GIGA: f64 = 1e9;

/// A model on a machine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speed {
    bytes_per_s: f64,
    flops_per_s: f64,
    active_bytes: f64,
    total_bytes: f64,
    active_flops: f64,
    kv_bytes_per_token: f64,
    kv_budget_tokens: u64,
}

impl Speed {
    /// The roofline of a run. `luck` scales machine and arithmetic: no two people
    /// measure the same.
    pub(super) fn new(model: &ModelSpec, facts: &Facts, luck: f64) -> Speed {
        let machine = &MACHINES[facts.machine];
        let count = f64::from(facts.gpu_count.unwrap_or(1));
        let scale = count * DOUBLING_SHARE.powf(count.log2()) * luck;
        let weights = weights_gb(model, facts.quantization);
        let held = held_gb(machine, count);
        let spilled = (weights - held * (1.0 - SPILLED_KV_SHARE)).max(0.0);
        let total_bytes = weights * GIGA;
        let own_bandwidth = machine.bandwidth_gb_s * BANDWIDTH_SHARE * scale;
        // Time adds up over what is near and what is far.
        let bandwidth =
            weights / ((weights - spilled) / own_bandwidth + spilled / MAIN_MEMORY_GB_S);
        let left = (held - weights).max(held * SPILLED_KV_SHARE);
        Speed {
            bytes_per_s: bandwidth * GIGA,
            flops_per_s: machine.tflops * 1e12 * ARITHMETIC_SHARE * scale,
            active_bytes: total_bytes * model.active_billions / model.total_billions,
            total_bytes,
            active_flops: 2.0 * model.active_billions * GIGA,
            kv_bytes_per_token: model.kv_bytes_per_token(),
            kv_budget_tokens: (left * GIGA / model.kv_bytes_per_token()) as u64,
        }
    }

    /// Tokens that the KV cache holds.
    pub(super) fn kv_budget_tokens(&self) -> u64 {
        self.kv_budget_tokens
    }

    /// One step of `active` requests at a context, ms: the time between tokens.
    pub(super) fn step_ms(&self, active: f64, context_tokens: u64) -> f64 {
        let touched = 1.0 - 0.5_f64.powf((active - 1.0) / EXPERTS_HALF_REQUESTS);
        let weights = self.active_bytes + (self.total_bytes - self.active_bytes) * touched;
        let kv = active * context_tokens as f64 * self.kv_bytes_per_token;
        let moving_s = (weights + kv) / self.bytes_per_s;
        let arithmetic_s = active * self.active_flops / self.flops_per_s;
        moving_s.max(arithmetic_s) * 1e3 + STEP_OVERHEAD_MS
    }

    /// Reading a cold prompt, ms.
    pub(super) fn prefill_ms(&self, prompt_tokens: u64) -> f64 {
        let tokens = prompt_tokens as f64;
        let attention = 1.0 + tokens / 2.0 / ATTENTION_EVEN_TOKENS;
        let arithmetic_s = tokens * self.active_flops * attention / self.flops_per_s;
        let moving_s = self.total_bytes / self.bytes_per_s;
        arithmetic_s.max(moving_s) * 1e3 + REQUEST_OVERHEAD_MS
    }

    /// The first token of a warm prompt with `concurrency` requests at once, ms.
    pub(super) fn warm_ttft_ms(&self, concurrency: f64, context_tokens: u64) -> f64 {
        let step = self.step_ms(concurrency, context_tokens);
        REQUEST_OVERHEAD_MS + step * (2.0 + concurrency.sqrt())
    }
}

/// What a machine holds of an engine's memory, GB.
fn held_gb(machine: &Machine, count: f64) -> f64 {
    let share = match machine.kind {
        MachineKind::Discrete | MachineKind::Processor => MEMORY_SHARE,
        // The rest is for everything else that runs there.
        MachineKind::Unified => 0.75,
    };
    machine.memory_gb * count * share
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::World;

    fn speed_of(world: &World, index: u64) -> (Facts, Speed) {
        let facts = world.facts(index);
        let speed = Speed::new(&world.models()[facts.model], &facts, 1.0);
        (facts, speed)
    }

    #[test]
    fn more_requests_take_longer_each_and_are_faster_together() {
        let world = World::new(1).expect("a world");
        for index in 0..200 {
            let (facts, speed) = speed_of(&world, index);
            let (one, many) = (speed.step_ms(1.0, 8192), speed.step_ms(32.0, 8192));
            assert!(many >= one, "{facts:?}");
            assert!(32.0 / many > 1.0 / one, "{facts:?}");
        }
    }

    #[test]
    fn a_faster_machine_is_faster_with_the_same_model() {
        let world = World::new(1).expect("a world");
        let facts = world.facts(0);
        let named = |name: &str| MACHINES.iter().position(|machine| machine.name == name);
        let on = |name: &str| Facts {
            machine: named(name).expect("a machine"),
            gpu_count: Some(1),
            ..facts.clone()
        };
        let model = &world.models()[0];
        let step = |name: &str| Speed::new(model, &on(name), 1.0).step_ms(1.0, 1024);
        assert!(step("H200 SXM 141GB") < step("L40S"));
        assert!(step("L40S") < step("Apple M4 Pro"));
    }
}
