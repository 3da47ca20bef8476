use askama::Template;
use document::{
    CacheProof, Cell, Distribution, Phase, RunDocument, TimestampSource, TokenSource, format,
};

use super::grid::Grid;
use super::words::known;
use crate::words::{Said, Words};

/// What stands behind the figures: percentiles, how each was counted, what happened.
#[derive(Debug, Template)]
#[template(path = "run/evidence.html")]
pub struct Evidence {
    /// The page's words.
    pub words: Words,
    /// Tables, each folded away until asked for.
    pub tables: Vec<EvidenceTable>,
    /// What happened during the run.
    pub events: Vec<Event>,
}

/// A table of cells.
#[derive(Debug)]
pub struct EvidenceTable {
    /// Anchor.
    pub id: &'static str,
    /// What it shows.
    pub title: Said,
    /// Columns after phase, context and requests at once.
    pub columns: Vec<Column>,
    /// Cells of which something is known.
    pub rows: Vec<EvidenceRow>,
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// What it is called.
    pub name: Said,
    /// Figures stand right.
    pub is_number: bool,
    /// Holds the document's own English on a page in another language.
    pub is_foreign: bool,
}

/// A cell's row.
#[derive(Debug)]
pub struct EvidenceRow {
    /// `Prefill` or `Sustained decode`.
    pub phase: Said,
    /// `8K`.
    pub context: String,
    /// Requests at once.
    pub concurrency: String,
    /// One for each column.
    pub values: Vec<Said>,
}

/// Something that happened.
#[derive(Debug)]
pub struct Event {
    /// Since the run started: `12.3 s`.
    pub at: String,
    /// What.
    pub text: String,
}

/// How a column reads a cell.
type Reader = Box<dyn Fn(&Cell) -> Option<Said>>;

/// A column, before it is known whether anything stands in it.
struct Reading {
    column: Column,
    read: Reader,
}

impl Evidence {
    pub(crate) fn of(run: &RunDocument, grid: &Grid, words: Words) -> Option<Evidence> {
        let percentiles = |id, title, of| percentiles(grid, id, title, of, words);
        let tables: Vec<EvidenceTable> = [
            percentiles("percentiles-ttft", "run-percentiles-ttft", |c| c.ttft_ms),
            percentiles("percentiles-tbt", "run-percentiles-tbt", |c| c.tbt_ms),
            percentiles("percentiles-answer", "run-percentiles-answer", |c| {
                c.first_answer_ms
            }),
            percentiles("percentiles-gaps", "run-percentiles-gaps", |c| {
                c.chunk_gap_ms
            }),
            counting(grid, words),
        ]
        .into_iter()
        .flatten()
        .collect();
        let events: Vec<Event> = run
            .events
            .iter()
            .map(|event| Event {
                at: format::seconds(event.at_s),
                text: event.text.clone(),
            })
            .collect();
        (!tables.is_empty() || !events.is_empty()).then_some(Evidence {
            words,
            tables,
            events,
        })
    }
}

/// All that is known of a set of values. Left out where it is the median alone,
/// which the measurements show.
fn percentiles(
    grid: &Grid,
    id: &'static str,
    title: &'static str,
    of: fn(&Cell) -> Option<Distribution>,
    words: Words,
) -> Option<EvidenceTable> {
    let beyond_median = |cell: &Cell| {
        of(cell).is_some_and(|d| {
            [d.p90, d.p95, d.p99, d.min, d.max, d.mean]
                .iter()
                .any(Option::is_some)
                || d.n.is_some_and(|n| n > 1)
        })
    };
    if !grid.cells().any(beyond_median) {
        return None;
    }
    let value = move |name: Said, pick: fn(Distribution) -> Option<f64>| {
        number(name, move |cell| {
            of(cell).and_then(pick).map(format::one_decimal)
        })
    };
    table(
        grid,
        id,
        words.t(title),
        vec![
            value("p50".into(), |d| d.p50),
            value("p90".into(), |d| d.p90),
            value("p95".into(), |d| d.p95),
            value("p99".into(), |d| d.p99),
            value(words.t("run-min"), |d| d.min),
            value(words.t("run-max"), |d| d.max),
            value(words.t("run-mean"), |d| d.mean),
            number("n".into(), move |cell| {
                of(cell).and_then(|d| d.n).map(format::count)
            }),
        ],
        words,
    )
}

/// How each figure came about: cache, tokens, clocks, capacity.
fn counting(grid: &Grid, words: Words) -> Option<EvidenceTable> {
    let ledger = |name, pick: fn(document::TokenLedger) -> Option<f64>| {
        number(words.t(name), move |cell| {
            cell.token_ledger.and_then(pick).map(format::short_decimal)
        })
    };
    let count = |name, pick: fn(&Cell) -> Option<u64>| {
        number(words.t(name), move |cell| pick(cell).map(format::count))
    };
    let said = |name, key: fn(&Cell) -> Option<&'static str>| {
        text(words.t(name), move |cell| key(cell).map(|key| words.t(key)))
    };
    table(
        grid,
        "counting",
        words.t("run-counting"),
        vec![
            number(words.t("run-counting-interval"), interval),
            count("run-counting-prompt-tokens", |c| c.prompt_tokens),
            count("run-counting-cached-tokens", |c| c.cached_tokens),
            said("run-counting-cache", cache),
            said("run-counting-token-source", token_source),
            ledger("run-counting-client", |l| l.client_tokens),
            ledger("run-counting-engine", |l| l.engine_tokens),
            said("run-counting-timestamps", timestamps),
            count("run-counting-waiting", |c| c.waiting_at_end),
            count("run-counting-failed", |c| c.failed),
            number(words.t("run-counting-engine-prefill"), |c| {
                c.engine_prefill_ms.map(format::ttft_ms)
            }),
            number(words.t("run-counting-kv-used"), |c| {
                c.kv_used_peak
                    .map(|share| format!("{:.0} %", share * 100.0))
            }),
            documents(words.t("run-counting-reason"), words, |c| {
                known(c.reason.as_deref())
            }),
        ],
        words,
    )
}

fn number(name: Said, read: impl Fn(&Cell) -> Option<String> + 'static) -> Reading {
    Reading {
        column: Column {
            name,
            is_number: true,
            is_foreign: false,
        },
        read: Box::new(move |cell| read(cell).map(Said::Owned)),
    }
}

fn text(name: Said, read: impl Fn(&Cell) -> Option<Said> + 'static) -> Reading {
    Reading {
        column: Column {
            name,
            is_number: false,
            is_foreign: false,
        },
        read: Box::new(read),
    }
}

/// A text that is the document's own.
fn documents(
    name: Said,
    words: Words,
    read: impl Fn(&Cell) -> Option<String> + 'static,
) -> Reading {
    Reading {
        column: Column {
            name,
            is_number: false,
            is_foreign: words.are_foreign(),
        },
        read: Box::new(move |cell| read(cell).map(Said::Owned)),
    }
}

/// A table of the cells and columns in which something stands.
fn table(
    grid: &Grid,
    id: &'static str,
    title: Said,
    readings: Vec<Reading>,
    words: Words,
) -> Option<EvidenceTable> {
    let mut is_used = vec![false; readings.len()];
    let mut found: Vec<(&Cell, Vec<Option<Said>>)> = Vec::new();
    let mut values = Vec::with_capacity(readings.len());
    for cell in grid.cells() {
        values.clear();
        values.extend(readings.iter().map(|reading| (reading.read)(cell)));
        for (is_used, value) in is_used.iter_mut().zip(&values) {
            *is_used |= value.is_some();
        }
        if values.iter().any(Option::is_some) {
            found.push((cell, std::mem::take(&mut values)));
        }
    }
    if found.is_empty() {
        return None;
    }
    let rows = found.into_iter().map(|(cell, values)| EvidenceRow {
        phase: words.phase(cell.phase),
        context: format::context(cell.context_tokens),
        concurrency: cell.concurrency.to_string(),
        values: values
            .into_iter()
            .zip(&is_used)
            .filter(|(_, is_used)| **is_used)
            .map(|(value, _)| value.unwrap_or(Said::Borrowed(format::NOTHING)))
            .collect(),
    });
    Some(EvidenceTable {
        id,
        title,
        rows: rows.collect(),
        columns: readings
            .into_iter()
            .zip(&is_used)
            .filter(|(_, is_used)| **is_used)
            .map(|(reading, _)| reading.column)
            .collect(),
    })
}

fn interval(cell: &Cell) -> Option<String> {
    cell.total_tok_s_ci95
        .map(|[low, high]| format!("{}–{}", format::tok_s(low), format::tok_s(high)))
}

/// The key of whether a cell's cache was as it must be.
fn cache(cell: &Cell) -> Option<&'static str> {
    cell.cache_proof.map(|proof| match (cell.phase, proof) {
        (Phase::Prefill, CacheProof::Proved) => "run-cold-proved",
        (Phase::Prefill, CacheProof::Failed) => "run-cold-failed",
        (Phase::Prefill, CacheProof::Unproven) => "run-cold-unproven",
        (Phase::Decode, CacheProof::Proved) => "run-warm-proved",
        (Phase::Decode, CacheProof::Failed) => "run-warm-failed",
        (Phase::Decode, CacheProof::Unproven) => "run-warm-unproven",
    })
}

fn token_source(cell: &Cell) -> Option<&'static str> {
    cell.token_source.map(|source| match source {
        TokenSource::ContinuousUsage => "run-tokens-usage",
        TokenSource::EventIsToken => "run-tokens-event",
        TokenSource::SpreadUsage => "run-tokens-spread",
        TokenSource::EventsOnly => "run-tokens-events-only",
    })
}

fn timestamps(cell: &Cell) -> Option<&'static str> {
    cell.timestamp_source.map(|source| match source {
        TimestampSource::Kernel => "run-time-kernel",
        TimestampSource::Read => "run-time-read",
    })
}
