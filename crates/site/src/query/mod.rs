//! Addresses of lists: what a URL asks for, and the URL that asks for it. Pages and
//! the API read the same parameters; what they do not know they refuse.

mod error;
mod parameters;

use document::{Phase, parse_context_tokens};
use store::{CellQuery, Filter, Kind, Metric, RankingQuery, RunQuery, Shape, ShapeCount};

pub use error::QueryError;
pub use parameters::Parameters;

use parameters::whole;

/// Longest value of a parameter, characters.
pub const MAX_VALUE_CHARS: usize = 200;
/// Most requests at once that can be asked for.
pub const MAX_CONCURRENCY: u32 = 65_536;
/// Most GPUs that can be asked for.
pub const MAX_GPU_COUNT: u32 = 1_000_000;

/// The name of a phase in addresses.
#[must_use]
pub fn phase_name(phase: Phase) -> &'static str {
    match phase {
        Phase::Prefill => "prefill",
        Phase::Decode => "decode",
    }
}

fn phase_of(name: &str) -> Option<Phase> {
    [Phase::Prefill, Phase::Decode]
        .into_iter()
        .find(|phase| phase_name(*phase) == name)
}

/// A context in addresses: `8K`, or tokens where it is no whole K.
#[must_use]
pub fn context_name(tokens: u64) -> String {
    if tokens.is_multiple_of(1024) {
        format!("{}K", tokens / 1024)
    } else {
        tokens.to_string()
    }
}

fn names<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str) -> String {
    let names: Vec<&str> = all.iter().map(|one| name(*one)).collect();
    names.join(", ")
}

/// A phase, a context and requests at once: each may be left open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ShapeRequest {
    /// `phase=decode`
    pub phase: Option<Phase>,
    /// `context=8K`, tokens.
    pub context_tokens: Option<u64>,
    /// `concurrency=32`
    pub concurrency: Option<u32>,
}

impl ShapeRequest {
    /// Takes `phase`, `context` and `concurrency`.
    ///
    /// # Errors
    /// A value that is none.
    pub fn take(parameters: &mut Parameters) -> Result<ShapeRequest, QueryError> {
        Ok(ShapeRequest {
            phase: parameters.take_as("phase", phase_of, || {
                names(&[Phase::Decode, Phase::Prefill], phase_name)
            })?,
            context_tokens: parameters.take_as(
                "context",
                |text| parse_context_tokens(text).ok(),
                || "8K, 8192".to_owned(),
            )?,
            concurrency: parameters.take_as(
                "concurrency",
                |text| whole(text, 1, MAX_CONCURRENCY),
                || format!("1 … {MAX_CONCURRENCY}"),
            )?,
        })
    }

    /// The one that asks for exactly `shape`.
    #[must_use]
    pub fn exactly(shape: Shape) -> ShapeRequest {
        ShapeRequest {
            phase: Some(shape.phase),
            context_tokens: Some(shape.context_tokens),
            concurrency: Some(shape.concurrency),
        }
    }

    /// Whether `shape` is one of those asked for.
    #[must_use]
    pub fn allows(&self, shape: Shape) -> bool {
        self.phase.is_none_or(|phase| phase == shape.phase)
            && self
                .context_tokens
                .is_none_or(|tokens| tokens == shape.context_tokens)
            && self
                .concurrency
                .is_none_or(|concurrency| concurrency == shape.concurrency)
    }

    /// The shape asked for; where parts are left open, the first of `counts`
    /// (commonest first) that has the others. `None` where there is no such shape.
    #[must_use]
    pub fn shape(&self, counts: &[ShapeCount]) -> Option<Shape> {
        if let (Some(phase), Some(context_tokens), Some(concurrency)) =
            (self.phase, self.context_tokens, self.concurrency)
        {
            return Some(Shape {
                phase,
                context_tokens,
                concurrency,
            });
        }
        counts
            .iter()
            .map(|count| count.shape)
            .find(|shape| self.allows(*shape))
    }

    /// Its parameters.
    #[must_use]
    pub fn pairs(&self) -> Vec<Pair> {
        [
            (
                "phase",
                self.phase.map(|phase| phase_name(phase).to_owned()),
            ),
            ("context", self.context_tokens.map(context_name)),
            (
                "concurrency",
                self.concurrency.map(|number| number.to_string()),
            ),
        ]
        .into_iter()
        .filter_map(given)
        .collect()
    }
}

/// A parameter and its value.
pub type Pair = (&'static str, String);

fn given((name, value): (&'static str, Option<String>)) -> Option<Pair> {
    value.map(|value| (name, value))
}

/// `path`, with these parameters.
#[must_use]
pub fn address(path: &str, pairs: &[Pair]) -> String {
    if pairs.is_empty() {
        return path.to_owned();
    }
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.extend_pairs(pairs);
    format!("{path}?{}", query.finish())
}

/// Takes `kind`, `model`, `quantization`, `engine`, `gpu`, `gpus` and `q`.
///
/// # Errors
/// A value that is none.
pub fn take_filter(parameters: &mut Parameters) -> Result<Filter, QueryError> {
    Ok(Filter {
        model: parameters.take("model"),
        hardware: parameters.take("gpu"),
        gpu_count: parameters.take_as(
            "gpus",
            |text| whole(text, 0, MAX_GPU_COUNT),
            || format!("0 … {MAX_GPU_COUNT}"),
        )?,
        engine: parameters.take("engine"),
        quantization: parameters.take("quantization"),
        kind: parameters.take_as("kind", Kind::from_name, || names(&Kind::ALL, Kind::as_str))?,
        search: parameters.take("q"),
    })
}

/// The parameters of a filter.
#[must_use]
pub fn filter_pairs(filter: &Filter) -> Vec<Pair> {
    [
        ("model", filter.model.clone()),
        ("gpu", filter.hardware.clone()),
        ("gpus", filter.gpu_count.map(|count| count.to_string())),
        ("engine", filter.engine.clone()),
        ("quantization", filter.quantization.clone()),
        ("kind", filter.kind.map(|kind| kind.as_str().to_owned())),
        ("q", filter.search.clone()),
    ]
    .into_iter()
    .filter_map(given)
    .collect()
}

/// What a leaderboard's address asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankingRequest {
    /// Phase, context, concurrency.
    pub shape: ShapeRequest,
    /// `metric=total`, which is also what is meant where none is given.
    pub metric: Metric,
    /// Which configurations take part.
    pub filter: Filter,
}

impl RankingRequest {
    /// Takes the parameters of [`ShapeRequest`] and [`take_filter`], and `metric`.
    ///
    /// # Errors
    /// A value that is none, or values that contradict each other.
    pub fn take(parameters: &mut Parameters) -> Result<RankingRequest, QueryError> {
        let mut shape = ShapeRequest::take(parameters)?;
        let metric = parameters
            .take_as("metric", Metric::from_name, || {
                names(&Metric::ALL, Metric::as_str)
            })?
            .unwrap_or(Metric::Total);
        if metric == Metric::PerRequest {
            match shape.phase {
                Some(Phase::Prefill) => return Err(QueryError::PerRequestOfPrefill),
                Some(Phase::Decode) | None => shape.phase = Some(Phase::Decode),
            }
        }
        let filter = take_filter(parameters)?;
        if metric == Metric::PerGpu && filter.gpu_count == Some(0) {
            return Err(QueryError::PerGpuOfNone);
        }
        Ok(RankingRequest {
            shape,
            metric,
            filter,
        })
    }

    /// What the store is asked, at one shape.
    #[must_use]
    pub fn at(&self, shape: Shape) -> RankingQuery {
        RankingQuery {
            shape,
            metric: self.metric,
            filter: self.filter.clone(),
        }
    }

    /// Its parameters: the metric is always said.
    #[must_use]
    pub fn pairs(&self) -> Vec<Pair> {
        let mut pairs = self.shape.pairs();
        pairs.push(("metric", self.metric.as_str().to_owned()));
        pairs.extend(filter_pairs(&self.filter));
        pairs
    }
}

/// Takes the parameters of [`take_filter`], `organization` and `account`. Hidden runs
/// are not asked for by an address.
///
/// # Errors
/// A value that is none.
pub fn take_runs(parameters: &mut Parameters) -> Result<RunQuery, QueryError> {
    Ok(RunQuery {
        filter: take_filter(parameters)?,
        organization: parameters.take("organization"),
        account: parameters.take("account"),
        with_hidden: false,
    })
}

/// The parameters of a list of runs.
#[must_use]
pub fn run_pairs(query: &RunQuery) -> Vec<Pair> {
    let more = [
        ("organization", query.organization.clone()),
        ("account", query.account.clone()),
    ];
    let mut pairs = filter_pairs(&query.filter);
    pairs.extend(more.into_iter().filter_map(given));
    pairs
}

/// Takes the parameters of [`take_runs`] and [`ShapeRequest`], and `run`.
///
/// # Errors
/// A value that is none.
pub fn take_cells(parameters: &mut Parameters) -> Result<CellQuery, QueryError> {
    let shape = ShapeRequest::take(parameters)?;
    Ok(CellQuery {
        runs: take_runs(parameters)?,
        run_id: parameters.take("run"),
        phase: shape.phase,
        context_tokens: shape.context_tokens,
        concurrency: shape.concurrency,
    })
}
