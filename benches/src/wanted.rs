//! Filters whose matches are known beforehand: many, few or none.

use rand::prelude::*;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;
use store::Kind;

use crate::world::{Facts, MACHINES, World};

/// A common filter matches at least this share of the runs.
const COMMON_SHARE: f64 = 0.01;
/// A rare one matches at most so many runs.
const RARE_RUNS_MAX: usize = 20;
/// Draws until a filter of a class is found.
const DRAWS_MAX: usize = 20_000;
/// Of so many common filters, one filters nothing.
const UNFILTERED_ONE_IN: u32 = 8;
/// Fields a filter can have.
const FIELDS: usize = 7;

/// How many runs a filter matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// At least one in a hundred.
    Common,
    /// A few.
    Rare,
    /// None.
    Empty,
}

impl Class {
    /// All classes.
    pub const ALL: [Class; 3] = [Class::Common, Class::Rare, Class::Empty];

    /// As tables say it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Class::Common => "common",
            Class::Rare => "rare",
            Class::Empty => "empty",
        }
    }
}

/// What filters are drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Rankings have no simulated runs unless they are asked for.
    pub leaves_simulated_out: bool,
    /// The page is a model's: every filter has one.
    pub has_model: bool,
}

/// A filter by what the world knows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Wanted {
    /// Which model.
    pub model: Option<usize>,
    /// Which machine.
    pub machine: Option<usize>,
    /// GPUs; 0 is none.
    pub gpu_count: Option<u32>,
    /// Which engine.
    pub engine: Option<&'static str>,
    /// Which quantization.
    pub quantization: Option<&'static str>,
    /// How the figures came to be.
    pub kind: Option<Kind>,
    /// A word of a model's name, in lower case, wherever a search looks.
    pub word: Option<String>,
}

/// The runs of a database, by what they are of.
#[derive(Debug)]
pub struct Runs<'world> {
    world: &'world World,
    facts: Vec<Facts>,
    /// Model names as a search looks at them.
    model_texts: Vec<String>,
    machine_texts: Vec<String>,
}

impl Runs<'_> {
    /// The first runs of a world.
    #[must_use]
    pub fn of(world: &World, count: u64) -> Runs<'_> {
        Runs {
            world,
            facts: (0..count).map(|index| world.facts(index)).collect(),
            model_texts: world
                .models()
                .iter()
                .map(|model| model.id.to_lowercase())
                .collect(),
            machine_texts: MACHINES
                .iter()
                .map(|machine| machine.name.to_lowercase())
                .collect(),
        }
    }

    /// The world they are of.
    #[must_use]
    pub fn world(&self) -> &World {
        self.world
    }

    /// Any of the runs, each as likely.
    #[must_use]
    pub fn any(&self, rng: &mut ChaCha8Rng) -> Option<&Facts> {
        self.facts.choose(rng)
    }

    /// How many runs a filter matches; rankings leave simulated ones out unless asked.
    #[must_use]
    pub fn count(&self, wanted: &Wanted, leaves_simulated_out: bool) -> usize {
        let word = wanted.word.as_deref().unwrap_or_default();
        let has_word = |texts: &[String]| -> Vec<bool> {
            texts.iter().map(|text| text.contains(word)).collect()
        };
        let (models, machines) = (has_word(&self.model_texts), has_word(&self.machine_texts));
        let is_named_so = |facts: &Facts| {
            models[facts.model]
                || machines[facts.machine]
                || facts.engine.contains(word)
                || facts.quantization.name.to_lowercase().contains(word)
        };
        self.facts
            .iter()
            .filter(|facts| wanted.matches(facts, leaves_simulated_out) && is_named_so(facts))
            .count()
    }

    /// A filter of a class, with a run that it is drawn from; `None` where so few runs
    /// have none of this class.
    pub fn draw(
        &self,
        rng: &mut ChaCha8Rng,
        class: Class,
        rules: Rules,
    ) -> Option<(Wanted, &Facts)> {
        let leaves_simulated_out = rules.leaves_simulated_out;
        let common = (self.facts.len() as f64 * COMMON_SHARE).ceil() as usize;
        for _ in 0..DRAWS_MAX {
            let facts = self.any(rng)?;
            if leaves_simulated_out && facts.kind == Kind::Simulated {
                continue;
            }
            let mut wanted = match class {
                Class::Common if rng.random_ratio(1, UNFILTERED_ONE_IN) => Wanted::default(),
                Class::Common => self.some_fields(rng, facts, 1..=3),
                Class::Rare => self.some_fields(rng, facts, 2..=5),
                Class::Empty => {
                    let other = self.any(rng)?;
                    let one = self.some_fields(rng, facts, 1..=3);
                    one.or(self.some_fields(rng, other, 1..=3))
                }
            };
            if rules.has_model {
                wanted.model = Some(facts.model);
            }
            let count = self.count(&wanted, leaves_simulated_out);
            let is_of_class = match class {
                Class::Common => count >= common.max(RARE_RUNS_MAX / 4),
                Class::Rare => (1..=RARE_RUNS_MAX).contains(&count),
                Class::Empty => count == 0,
            };
            if is_of_class {
                return Some((wanted, facts));
            }
        }
        None
    }

    /// Some fields of a run.
    fn some_fields(
        &self,
        rng: &mut ChaCha8Rng,
        facts: &Facts,
        how_many: std::ops::RangeInclusive<usize>,
    ) -> Wanted {
        let mut wanted = Wanted::default();
        let how_many = rng.random_range(how_many);
        for field in index::sample(rng, FIELDS, how_many) {
            match field {
                0 => wanted.model = Some(facts.model),
                1 => wanted.machine = Some(facts.machine),
                2 => wanted.gpu_count = Some(facts.gpu_count.unwrap_or(0)),
                3 => wanted.engine = Some(facts.engine),
                4 => wanted.quantization = Some(facts.quantization.name),
                5 => wanted.kind = Some(facts.kind),
                _ => wanted.word = self.word(rng, facts),
            }
        }
        wanted
    }

    fn word(&self, rng: &mut ChaCha8Rng, facts: &Facts) -> Option<String> {
        let words: Vec<&str> = self.model_texts[facts.model].split(['/', '-']).collect();
        words.choose(rng).map(|word| (*word).to_owned())
    }
}

impl Wanted {
    /// Whether nothing but a model is filtered by.
    #[must_use]
    pub fn is_of_all_or_a_model(&self) -> bool {
        let without_model = Wanted {
            model: None,
            ..self.clone()
        };
        without_model == Wanted::default()
    }

    /// Whether a run matches, its word aside.
    fn matches(&self, facts: &Facts, leaves_simulated_out: bool) -> bool {
        let kind = match self.kind {
            Some(kind) => kind == facts.kind,
            None => !(leaves_simulated_out && facts.kind == Kind::Simulated),
        };
        kind && self.model.is_none_or(|model| model == facts.model)
            && self.machine.is_none_or(|machine| machine == facts.machine)
            && self.engine.is_none_or(|engine| engine == facts.engine)
            && self
                .quantization
                .is_none_or(|name| name == facts.quantization.name)
            && self
                .gpu_count
                .is_none_or(|count| count == facts.gpu_count.unwrap_or(0))
    }

    /// What is wanted here, or else there.
    fn or(self, other: Wanted) -> Wanted {
        Wanted {
            model: self.model.or(other.model),
            machine: self.machine.or(other.machine),
            gpu_count: self.gpu_count.or(other.gpu_count),
            engine: self.engine.or(other.engine),
            quantization: self.quantization.or(other.quantization),
            kind: self.kind.or(other.kind),
            word: self.word.or(other.word),
        }
    }
}
