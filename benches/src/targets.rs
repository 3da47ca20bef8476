//! Which pages are asked for, and what their answers must hold.

use std::collections::HashMap;

use anyhow::Context;
use document::CellStatus;
use rand::SeedableRng;
use rand::prelude::*;
use rand_chacha::ChaCha8Rng;
use site::query::{self, Pair, RankingRequest, ShapeRequest};
use store::{Filter, Metric, PageRequest, Shape, Store};

use crate::load::Target;
use crate::wanted::{Class, Rules, Runs, Wanted};
use crate::world::{Facts, MACHINES};

/// Pages of each class that are drawn; a longer measurement asks for them again.
const DRAWN_OF_CLASS: usize = 250;
/// Names of a page when the store is asked for all.
const NAMES_PAGE: u32 = 100;
/// A link to a run: what every list that is not empty has.
const RUN_LINK: &str = "href=\"/runs/";
/// The same in an answer of the API's lists.
const RUN_MEMBER: &str = "\"run_id\":\"";
/// Of so many rankings without a filter, one is asked for without saying which cells.
const NO_SHAPE_ONE_IN: u32 = 2;

/// A page that filters can be asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    /// The leaderboard.
    Leaderboard,
    /// All runs.
    Runs,
    /// A model.
    Model,
    /// The leaderboard as the API gives it.
    ApiLeaderboard,
    /// Runs as the API gives them.
    ApiRuns,
}

impl Listing {
    /// All of them.
    pub const ALL: [Listing; 5] = [
        Listing::Leaderboard,
        Listing::Runs,
        Listing::Model,
        Listing::ApiLeaderboard,
        Listing::ApiRuns,
    ];

    /// As tables say it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Listing::Leaderboard => "leaderboard",
            Listing::Runs => "list of runs",
            Listing::Model => "model",
            Listing::ApiLeaderboard => "API leaderboard",
            Listing::ApiRuns => "API list of runs",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Listing::Leaderboard => "/leaderboard",
            Listing::Runs => "/runs",
            Listing::Model => "/models",
            Listing::ApiLeaderboard => "/api/v1/leaderboard",
            Listing::ApiRuns => "/api/v1/runs",
        }
    }

    fn rules(self) -> Rules {
        let ranks = match self {
            Listing::Leaderboard | Listing::ApiLeaderboard | Listing::Model => true,
            Listing::Runs | Listing::ApiRuns => false,
        };
        Rules {
            leaves_simulated_out: ranks,
            has_model: self == Listing::Model,
        }
    }

    fn mark(self) -> &'static str {
        match self {
            Listing::Leaderboard | Listing::Runs | Listing::Model => RUN_LINK,
            Listing::ApiLeaderboard => RUN_MEMBER,
            Listing::ApiRuns => "\"cell_count\":",
        }
    }
}

/// Places of models and machines in URLs, in the order of the world.
#[derive(Debug)]
pub struct Slugs {
    models: HashMap<String, String>,
    machines: HashMap<String, String>,
}

impl Slugs {
    /// Reads them from a filled database.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn read(store: &Store) -> anyhow::Result<Slugs> {
        let mut slugs = Slugs {
            models: HashMap::new(),
            machines: HashMap::new(),
        };
        let mut page = PageRequest {
            limit: NAMES_PAGE,
            after: None,
        };
        loop {
            let models = store.models(None, &page).await?;
            let named = models.items.into_iter().map(|entry| entry.named);
            slugs
                .models
                .extend(named.map(|named| (named.name, named.slug)));
            page.after = models.next;
            if page.after.is_none() {
                break;
            }
        }
        let hardware = store.hardware_list(None, &page).await?;
        let named = hardware.items.into_iter().map(|entry| entry.named);
        slugs
            .machines
            .extend(named.map(|named| (named.name, named.slug)));
        Ok(slugs)
    }
}

/// Draws pages.
#[derive(Debug)]
pub struct Draw<'world> {
    runs: &'world Runs<'world>,
    slugs: &'world Slugs,
    rng: ChaCha8Rng,
}

impl<'world> Draw<'world> {
    /// Draws by a seed.
    #[must_use]
    pub fn new(runs: &'world Runs<'world>, slugs: &'world Slugs, seed: u64) -> Draw<'world> {
        Draw {
            runs,
            slugs,
            rng: ChaCha8Rng::seed_from_u64(seed),
        }
    }

    /// Pages of one listing over filters of all classes, as many of each, mixed. A
    /// target's class is its filter's place in [`Class::ALL`].
    ///
    /// # Errors
    /// When there are too few runs to have filters of some class.
    pub fn listing(&mut self, listing: Listing) -> anyhow::Result<Vec<Target>> {
        let mut targets = Vec::with_capacity(DRAWN_OF_CLASS * Class::ALL.len());
        for (place, class) in Class::ALL.into_iter().enumerate() {
            for _ in 0..DRAWN_OF_CLASS {
                targets.push(self.page(listing, class, place)?);
            }
        }
        targets.shuffle(&mut self.rng);
        Ok(targets)
    }

    /// Pages of runs, drawn uniformly from all.
    ///
    /// # Errors
    /// When there are none.
    pub fn run_pages(&mut self, count: usize) -> anyhow::Result<Vec<Target>> {
        let mut targets = Vec::with_capacity(count);
        for _ in 0..count {
            let facts = self.runs.any(&mut self.rng).context("no runs")?;
            targets.push(Target {
                path: format!("/runs/{}", facts.id),
                class: 0,
                holds: Some(facts.id.clone()),
                lacks: None,
            });
        }
        Ok(targets)
    }

    fn page(&mut self, listing: Listing, class: Class, place: usize) -> anyhow::Result<Target> {
        let (wanted, facts) = self
            .runs
            .draw(&mut self.rng, class, listing.rules())
            .with_context(|| format!("no {} filter was found among so few runs", class.title()))?;
        let mut filter = self.filter(&wanted)?;
        let path = match listing {
            Listing::Leaderboard | Listing::ApiLeaderboard => {
                query::address(listing.path(), &self.ranking(facts, &wanted, filter))
            }
            Listing::Runs | Listing::ApiRuns => {
                query::address(listing.path(), &query::filter_pairs(&filter))
            }
            Listing::Model => {
                let model = filter.model.take().context("a filter without its model")?;
                let path = format!("{}/{model}", listing.path());
                query::address(&path, &self.ranking(facts, &wanted, filter))
            }
        };
        // A model's page lists its newest runs whatever its filter matches.
        let has_runs = class != Class::Empty || listing == Listing::Model;
        Ok(Target {
            path,
            class: place,
            holds: has_runs.then(|| listing.mark().to_owned()),
            lacks: (!has_runs).then(|| listing.mark()),
        })
    }

    /// A leaderboard's parameters, so that the run it is drawn from has a cell in it.
    fn ranking(&mut self, facts: &Facts, wanted: &Wanted, filter: Filter) -> Vec<Pair> {
        let is_bare = wanted.is_of_all_or_a_model() && self.rng.random_ratio(1, NO_SHAPE_ONE_IN);
        let shape = if is_bare {
            None
        } else {
            self.ranking_shape(facts)
        };
        let metric = Metric::ALL[self.rng.random_range(0..Metric::ALL.len())];
        let is_possible = match metric {
            Metric::Total | Metric::Ttft => true,
            Metric::PerGpu => facts.gpu_count.is_some() && wanted.gpu_count != Some(0),
            Metric::PerRequest => shape.is_none_or(|shape| shape.phase == document::Phase::Decode),
        };
        let request = RankingRequest {
            shape: shape.map(ShapeRequest::exactly).unwrap_or_default(),
            metric: if is_possible { metric } else { Metric::Total },
            filter,
        };
        request.pairs()
    }

    /// A shape of which the run has a cell without any doubt.
    fn ranking_shape(&mut self, facts: &Facts) -> Option<Shape> {
        let document = self.runs.world().document(facts);
        let ranking = document
            .cells
            .iter()
            .filter(|cell| cell.status == CellStatus::Valid && cell.flags.is_empty());
        ranking.choose(&mut self.rng).map(|cell| Shape {
            phase: cell.phase,
            context_tokens: cell.context_tokens,
            concurrency: cell.concurrency,
        })
    }

    fn filter(&self, wanted: &Wanted) -> anyhow::Result<Filter> {
        Ok(Filter {
            kind: wanted.kind,
            model: wanted
                .model
                .map(|model| self.model_slug(model))
                .transpose()?,
            quantization: wanted.quantization.map(str::to_owned),
            engine: wanted.engine.map(str::to_owned),
            hardware: wanted
                .machine
                .map(|machine| self.machine_slug(machine))
                .transpose()?,
            gpu_count: wanted.gpu_count,
            search: wanted.word.clone(),
        })
    }

    fn model_slug(&self, model: usize) -> anyhow::Result<String> {
        let name = &self.runs.world().models()[model].id;
        self.slugs
            .models
            .get(name)
            .cloned()
            .with_context(|| format!("the store has no {name}"))
    }

    fn machine_slug(&self, machine: usize) -> anyhow::Result<String> {
        let name = MACHINES[machine].name;
        self.slugs
            .machines
            .get(name)
            .cloned()
            .with_context(|| format!("the store has no {name}"))
    }
}
