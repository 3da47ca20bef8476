//! What lists say of runs and cells, as text in the pages' formats.

use document::{CacheProof, Phase, format};
use jiff::Timestamp;
use store::{Configuration, Kind, Metric, RankedCell, RunSummary, Shape};

use super::links::{self, Link};
use crate::query::{RankingRequest, ShapeRequest};
use crate::words::{FluentValue, Said, Words};

/// Digits of a run's id that lists show.
const SHORT_ID_CHARS: usize = 8;

/// A shape in words: `Sustained decode, 8K × 64`.
pub(crate) fn shape(words: Words, shape: Shape) -> String {
    let context = ("context", format::context(shape.context_tokens).into());
    match shape.phase {
        // A prompt is read alone; where it is not, it has to be said.
        Phase::Prefill if shape.concurrency == 1 => words.with("run-place-prefill", &[context]),
        Phase::Prefill => {
            let alone = words.with("run-place-prefill", &[context]);
            format!("{alone} × {}", shape.concurrency)
        }
        Phase::Decode => words.with(
            "run-place-decode",
            &[
                context,
                ("concurrency", shape.concurrency.to_string().into()),
            ],
        ),
    }
}

/// A shape without its phase: `8K × 64`.
pub(crate) fn short_shape(shape: Shape) -> String {
    let context = format::context(shape.context_tokens);
    match (shape.phase, shape.concurrency) {
        (Phase::Prefill, 1) => context,
        (Phase::Prefill | Phase::Decode, concurrency) => format!("{context} × {concurrency}"),
    }
}

/// What a metric is called; tok/s of a prefill cell are those of its prompt.
pub(crate) fn metric(words: Words, metric: Metric, phase: Phase) -> Said {
    words.t(match (metric, phase) {
        (Metric::Total, Phase::Decode) => "run-total-tok-s",
        (Metric::Total, Phase::Prefill) => "run-prompt-tok-s",
        (Metric::PerGpu, Phase::Decode) => "list-per-gpu",
        (Metric::PerGpu, Phase::Prefill) => "list-prompt-per-gpu",
        (Metric::PerRequest, Phase::Decode | Phase::Prefill) => "run-per-request-tok-s",
        (Metric::Ttft, Phase::Decode | Phase::Prefill) => "run-ttft",
    })
}

/// The metric, or the total where the phase has no such figure.
pub(crate) fn metric_of(metric: Metric, phase: Phase) -> Metric {
    match (metric, phase) {
        (Metric::PerRequest, Phase::Prefill) => Metric::Total,
        (metric, Phase::Prefill | Phase::Decode) => metric,
    }
}

/// A metric's value in the pages' format.
pub(crate) fn value(metric: Metric, value: f64) -> String {
    match metric {
        Metric::Total | Metric::PerGpu | Metric::PerRequest => format::tok_s(value),
        Metric::Ttft => format::ttft_ms(value),
    }
}

/// What a kind is called.
pub(crate) fn kind(words: Words, kind: Kind) -> Said {
    words.t(match kind {
        Kind::Measured => "run-badge-measured",
        Kind::Imported => "list-kind-imported",
        Kind::Simulated => "run-badge-simulated",
    })
}

/// What marks figures that were not measured here on a real machine.
fn badge(words: Words, of: Kind) -> Option<Said> {
    match of {
        Kind::Measured => None,
        Kind::Imported | Kind::Simulated => Some(kind(words, of)),
    }
}

/// A sentence that counts.
pub(crate) fn counted(words: Words, key: &'static str, count: u64) -> String {
    let number: FluentValue = count.into();
    words.with(
        key,
        &[("count", number), ("shown", format::count(count).into())],
    )
}

/// A day; nothing where it is none.
pub(crate) fn day(words: Words, at_ms: i64) -> String {
    Timestamp::from_millisecond(at_ms)
        .map_or_else(|_| format::NOTHING.to_owned(), |at| words.date(at))
}

fn text(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.is_empty()).map(str::to_owned)
}

fn or_nothing(of: Option<&str>) -> String {
    format::or_nothing(text(of), |text| text)
}

fn times(gpu_count: Option<u32>) -> Option<String> {
    gpu_count
        .filter(|count| *count > 1)
        .map(|count| format!("×{count}"))
}

/// A configuration in one line: hardware, GPUs, quantization, engine.
pub(crate) fn configuration(words: Words, configuration: &Configuration) -> String {
    let parts = [
        Some(match times(configuration.gpu_count) {
            Some(times) => format!("{} {times}", configuration.hardware.name),
            None => configuration.hardware.name.clone(),
        }),
        text(configuration.quantization.as_deref()),
        text(configuration.engine.as_deref()),
        badge(words, configuration.kind).map(Said::into_owned),
    ];
    let known: Vec<String> = parts.into_iter().flatten().collect();
    known.join(" · ")
}

/// A run in a list.
#[derive(Debug)]
pub(crate) struct RunRow {
    /// Its page, by the model's name.
    pub run: Link,
    /// As the document says it.
    pub quantization: Option<String>,
    /// The hardware's page.
    pub hardware: Link,
    /// `×4`.
    pub times: Option<String>,
    /// Its name.
    pub engine: String,
    /// Its version.
    pub version: Option<String>,
    /// Largest context and most requests at once.
    pub reach: String,
    /// Largest total tok/s that may rank.
    pub decode: String,
    /// Largest prompt tok/s that may rank.
    pub prefill: String,
    /// Cells.
    pub cells: String,
    /// Who.
    pub author: Option<String>,
    /// On whose behalf.
    pub organization: Option<Link>,
    /// When it was published.
    pub published: String,
    /// Imported, simulated.
    pub badge: Option<Said>,
}

impl RunRow {
    pub(crate) fn of(words: Words, run: &RunSummary) -> RunRow {
        let reach = [
            run.context_tokens_max.map(format::context),
            run.concurrency_max.map(|most| most.to_string()),
        ];
        RunRow {
            run: Link::new(links::run(&run.id), &run.model.name),
            quantization: text(run.quantization.as_deref()),
            hardware: links::hardware(&run.hardware),
            times: times(run.gpu_count),
            engine: or_nothing(run.engine.as_deref()),
            version: text(run.engine_version.as_deref()),
            reach: match reach {
                [Some(context), Some(most)] => format!("{context} × {most}"),
                [Some(one), None] | [None, Some(one)] => one,
                [None, None] => format::NOTHING.to_owned(),
            },
            decode: format::or_nothing(run.decode_tok_s_max, format::tok_s),
            prefill: format::or_nothing(run.prefill_tok_s_max, format::tok_s),
            cells: format::count(run.cell_count),
            author: text(run.author.as_deref()),
            organization: run.organization.as_ref().map(links::organization),
            published: day(words, run.published_at_ms),
            badge: badge(words, run.kind),
        }
    }
}

/// A cell in a ranking.
#[derive(Debug)]
pub(crate) struct RankRow {
    /// Its place; equals share one.
    pub rank: u64,
    /// The model's page.
    pub model: Link,
    /// As the document says it.
    pub quantization: String,
    /// The hardware's page.
    pub hardware: Link,
    /// GPUs.
    pub gpu_count: Option<u32>,
    /// `×4`.
    pub times: Option<String>,
    /// Its name.
    pub engine: String,
    /// Its version.
    pub version: Option<String>,
    /// What ranks.
    pub value: String,
    /// In the order of [`Columns::other_names`].
    pub others: Vec<String>,
    /// Imported, simulated.
    pub badge: Option<Said>,
    /// What is not known of the prompt cache.
    pub cache: Option<Said>,
    /// The cell, in its run.
    pub cell: Link,
    /// End of the run's id, which differs between runs of one day.
    pub short_id: String,
    /// Who.
    pub author: Option<String>,
    /// When the run was published.
    pub published: String,
}

/// Which figures a ranking shows.
#[derive(Debug)]
pub(crate) struct Columns {
    /// What orders.
    pub by: Metric,
    /// What that is called.
    pub name: Said,
    /// `ascending` where less is better.
    pub order: &'static str,
    /// The others, left to right.
    pub others: Vec<Metric>,
    /// Their names.
    pub other_names: Vec<Said>,
}

impl Columns {
    pub(crate) fn of(words: Words, by: Metric, phase: Phase) -> Columns {
        let others: Vec<Metric> = [Metric::Total, Metric::PerRequest, Metric::Ttft]
            .into_iter()
            .filter(|other| *other != by)
            .filter(|other| phase == Phase::Decode || *other != Metric::PerRequest)
            .collect();
        Columns {
            by,
            name: metric(words, by, phase),
            order: if by.less_is_better() {
                "ascending"
            } else {
                "descending"
            },
            other_names: others
                .iter()
                .map(|other| metric(words, *other, phase))
                .collect(),
            others,
        }
    }
}

/// A figure of a cell beside the one that ranks it.
fn figure(of: Metric, cell: &RankedCell) -> String {
    let figure = match of {
        Metric::Total => cell.total_tok_s,
        Metric::PerRequest => cell.per_request_tok_s,
        Metric::Ttft => cell.ttft_ms_p50,
        Metric::PerGpu => None,
    };
    format::or_nothing(figure, |figure| value(of, figure))
}

/// The end of an id.
fn short_id(id: &str) -> String {
    let characters = id.chars().count();
    let skipped = characters.saturating_sub(SHORT_ID_CHARS);
    let end: String = id.chars().skip(skipped).collect();
    if skipped > 0 {
        format!("…{end}")
    } else {
        end
    }
}

impl RankRow {
    pub(crate) fn of(words: Words, columns: &Columns, cell: &RankedCell) -> RankRow {
        let Configuration {
            kind,
            model,
            quantization,
            engine,
            hardware,
            gpu_count,
            ..
        } = &cell.configuration;
        RankRow {
            rank: cell.rank,
            model: links::model(model),
            quantization: or_nothing(quantization.as_deref()),
            hardware: links::hardware(hardware),
            gpu_count: *gpu_count,
            times: times(*gpu_count),
            engine: or_nothing(engine.as_deref()),
            version: text(cell.engine_version.as_deref()),
            value: value(columns.by, cell.value),
            others: columns
                .others
                .iter()
                .map(|other| figure(*other, cell))
                .collect(),
            badge: badge(words, *kind),
            cache: match cell.cache_proof {
                Some(CacheProof::Proved) => None,
                Some(CacheProof::Failed) => Some(words.t("list-cache-failed")),
                Some(CacheProof::Unproven) | None => Some(words.t("list-cache-unproven")),
            },
            cell: Link::new(
                format!("{}#measurements", links::run(&cell.run_id)),
                short_shape(cell.shape),
            ),
            short_id: short_id(&cell.run_id),
            author: text(cell.author.as_deref()),
            published: day(words, cell.published_at_ms),
        }
    }
}

/// A ranking as a table.
#[derive(Debug)]
pub(crate) struct RankTable {
    /// Names the table.
    pub caption: String,
    /// Its figures.
    pub columns: Columns,
    /// Best first.
    pub rows: Vec<RankRow>,
    /// Some cell's prompt cache is not proved.
    pub has_unproven: bool,
    /// The rows are of several models.
    pub shows_model: bool,
    /// The rows are of several GPUs.
    pub shows_hardware: bool,
}

impl RankTable {
    pub(crate) fn of<'cell>(
        words: Words,
        caption: String,
        by: Metric,
        phase: Phase,
        cells: impl IntoIterator<Item = &'cell RankedCell>,
    ) -> RankTable {
        let columns = Columns::of(words, by, phase);
        let rows: Vec<RankRow> = cells
            .into_iter()
            .map(|cell| RankRow::of(words, &columns, cell))
            .collect();
        RankTable {
            caption,
            has_unproven: rows.iter().any(|row| row.cache.is_some()),
            columns,
            rows,
            shows_model: true,
            shows_hardware: true,
        }
    }

    /// Rows of one model.
    pub(crate) fn of_one_model(self) -> RankTable {
        RankTable {
            shows_model: false,
            ..self
        }
    }

    /// Rows of one hardware.
    pub(crate) fn of_one_hardware(self) -> RankTable {
        RankTable {
            shows_hardware: false,
            ..self
        }
    }
}

/// The leaderboard at a shape.
pub(crate) fn leaderboard_at(shape: Shape, filter: store::Filter) -> String {
    let request = RankingRequest {
        shape: ShapeRequest::exactly(shape),
        metric: Metric::Total,
        filter,
    };
    crate::query::address("/leaderboard", &request.pairs())
}
