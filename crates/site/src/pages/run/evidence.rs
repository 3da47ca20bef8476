use askama::Template;
use document::{
    CacheProof, Cell, Distribution, Phase, RunDocument, TimestampSource, TokenSource, format,
};

use super::grid::Grid;
use super::words::known;

/// What stands behind the figures: percentiles, how each was counted, what happened.
#[derive(Debug, Template)]
#[template(path = "run/evidence.html")]
pub struct Evidence {
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
    pub title: String,
    /// Columns after phase, context and requests at once.
    pub columns: Vec<Column>,
    /// Cells of which something is known.
    pub rows: Vec<EvidenceRow>,
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// What it is called.
    pub name: &'static str,
    /// Figures stand right.
    pub is_number: bool,
}

/// A cell's row.
#[derive(Debug)]
pub struct EvidenceRow {
    /// `Prefill` or `Sustained decode`.
    pub phase: &'static str,
    /// `8K`.
    pub context: String,
    /// Requests at once.
    pub concurrency: String,
    /// One for each column.
    pub values: Vec<String>,
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
type Reader<'a> = Box<dyn Fn(&Cell) -> Option<String> + 'a>;

impl Evidence {
    pub(crate) fn of(run: &RunDocument, grid: &Grid) -> Option<Evidence> {
        let tables: Vec<EvidenceTable> = [
            percentiles(grid, "percentiles-ttft", "TTFT, ms", |cell| cell.ttft_ms),
            percentiles(grid, "percentiles-tbt", "Time between tokens, ms", |cell| {
                cell.tbt_ms
            }),
            percentiles(
                grid,
                "percentiles-answer",
                "Time to first answer after reasoning, ms",
                |cell| cell.first_answer_ms,
            ),
            percentiles(
                grid,
                "percentiles-gaps",
                "Chunk gaps (between events, which may carry several tokens), ms",
                |cell| cell.chunk_gap_ms,
            ),
            counting(grid),
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
        (!tables.is_empty() || !events.is_empty()).then_some(Evidence { tables, events })
    }
}

/// All that is known of a set of values. Left out where it is the median alone,
/// which the measurements show.
fn percentiles(
    grid: &Grid,
    id: &'static str,
    title: &str,
    of: fn(&Cell) -> Option<Distribution>,
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
    let value = move |pick: fn(Distribution) -> Option<f64>| -> Reader<'static> {
        Box::new(move |cell| of(cell).and_then(pick).map(format::one_decimal))
    };
    table(
        grid,
        id,
        title,
        vec![
            ("p50", true, value(|d| d.p50)),
            ("p90", true, value(|d| d.p90)),
            ("p95", true, value(|d| d.p95)),
            ("p99", true, value(|d| d.p99)),
            ("min", true, value(|d| d.min)),
            ("max", true, value(|d| d.max)),
            ("mean", true, value(|d| d.mean)),
            (
                "n",
                true,
                Box::new(move |cell| of(cell).and_then(|d| d.n).map(format::count)),
            ),
        ],
    )
}

/// How each figure came about: cache, tokens, clocks, capacity.
fn counting(grid: &Grid) -> Option<EvidenceTable> {
    let ledger = |pick: fn(document::TokenLedger) -> Option<f64>| -> Reader<'static> {
        Box::new(move |cell| cell.token_ledger.and_then(pick).map(format::short_decimal))
    };
    let count = |pick: fn(&Cell) -> Option<u64>| -> Reader<'static> {
        Box::new(move |cell| pick(cell).map(format::count))
    };
    table(
        grid,
        "counting",
        "How each figure came about",
        vec![
            ("Total tok/s, 95 % interval", true, Box::new(interval)),
            ("Prompt tokens", true, count(|c| c.prompt_tokens)),
            ("Of these cached", true, count(|c| c.cached_tokens)),
            ("Cache", false, Box::new(cache)),
            ("Tokens counted by", false, Box::new(token_source)),
            ("By the client", true, ledger(|l| l.client_tokens)),
            ("By the engine", true, ledger(|l| l.engine_tokens)),
            ("Arrival times", false, Box::new(timestamps)),
            ("Waiting at end", true, count(|c| c.waiting_at_end)),
            ("Failed requests", true, count(|c| c.failed)),
            (
                "Engine's prefill",
                true,
                Box::new(|c| c.engine_prefill_ms.map(format::ttft_ms)),
            ),
            (
                "Most of KV cache in use",
                true,
                Box::new(|c| {
                    c.kv_used_peak
                        .map(|share| format!("{:.0} %", share * 100.0))
                }),
            ),
            ("Reason", false, Box::new(|c| known(c.reason.as_deref()))),
        ],
    )
}

/// A table of the cells and columns in which something stands.
fn table(
    grid: &Grid,
    id: &'static str,
    title: &str,
    columns: Vec<(&'static str, bool, Reader<'_>)>,
) -> Option<EvidenceTable> {
    let columns: Vec<_> = columns
        .into_iter()
        .filter(|(_, _, read)| grid.cells().any(|cell| read(cell).is_some()))
        .collect();
    let rows: Vec<EvidenceRow> = grid
        .cells()
        .filter(|cell| columns.iter().any(|(_, _, read)| read(cell).is_some()))
        .map(|cell| EvidenceRow {
            phase: cell.phase.title(),
            context: format::context(cell.context_tokens),
            concurrency: cell.concurrency.to_string(),
            values: columns
                .iter()
                .map(|(_, _, read)| format::or_nothing(read(cell), |text| text))
                .collect(),
        })
        .collect();
    (!rows.is_empty()).then(|| EvidenceTable {
        id,
        title: title.to_owned(),
        columns: columns
            .iter()
            .map(|(name, is_number, _)| Column {
                name,
                is_number: *is_number,
            })
            .collect(),
        rows,
    })
}

fn interval(cell: &Cell) -> Option<String> {
    cell.total_tok_s_ci95
        .map(|[low, high]| format!("{}–{}", format::tok_s(low), format::tok_s(high)))
}

fn cache(cell: &Cell) -> Option<String> {
    let needed = match cell.phase {
        Phase::Prefill => "cold",
        Phase::Decode => "warm",
    };
    cell.cache_proof.map(|proof| match proof {
        CacheProof::Proved => format!("{needed}, proved"),
        CacheProof::Failed => format!("not {needed}"),
        CacheProof::Unproven => format!("{needed}, unproven"),
    })
}

fn token_source(cell: &Cell) -> Option<String> {
    cell.token_source.map(|source| {
        match source {
            TokenSource::ContinuousUsage => "usage in each event",
            TokenSource::EventIsToken => "one token in each event",
            TokenSource::SpreadUsage => "final usage, spread over the events",
            TokenSource::EventsOnly => "events only, which need not be tokens",
        }
        .to_owned()
    })
}

fn timestamps(cell: &Cell) -> Option<String> {
    cell.timestamp_source.map(|source| {
        match source {
            TimestampSource::Kernel => "kernel",
            TimestampSource::Read => "time of the read",
        }
        .to_owned()
    })
}
