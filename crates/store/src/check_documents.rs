//! Columns held against the documents they were read off.

use std::collections::HashMap;

use document::{Cell, Flag, FlagName, RunDocument};
use sqlx::{AnyConnection, Row as _, query};

use crate::columns::{CellColumns, RunColumns};
use crate::content::{decompress, sha256_hex};
use crate::statement::Statement;
use crate::{CheckReport, Kind, StoreError, rows};

/// Runs that are read at once.
const RUNS_AT_ONCE: i64 = 50;

const RUNS: &str = "
SELECT r.run_key, r.sha256, r.id, v.kind, m.id, h.name, v.engine, v.quantization, v.gpu_count,
    r.engine_version, r.author, r.measured_at_ms, r.context_tokens_max, r.concurrency_max,
    r.decode_tok_s_max, r.prefill_tok_s_max, d.content_bytes, d.content_zstd
FROM runs r
JOIN documents d ON d.sha256 = r.sha256
JOIN models m ON m.model_key = r.model_key
JOIN hardware h ON h.hardware_key = r.hardware_key
JOIN variants v ON v.variant_key = r.variant_key
WHERE r.run_key > $1 ORDER BY r.run_key LIMIT $2";

/// The columns of a run beside its cells.
#[derive(Debug, PartialEq)]
struct Head {
    id: String,
    kind: Kind,
    names: [String; 4],
    gpu_count: i64,
    texts: [Option<String>; 2],
    numbers: [Option<i64>; 3],
    figures: [Option<f64>; 2],
}

impl Head {
    fn of(run: RunColumns) -> Head {
        Head {
            id: run.id,
            kind: run.kind,
            names: [run.model, run.hardware, run.engine, run.quantization],
            gpu_count: run.gpu_count,
            texts: [run.engine_version, run.author],
            numbers: [
                run.measured_at_ms,
                run.context_tokens_max,
                run.concurrency_max,
            ],
            figures: [run.decode_tok_s_max, run.prefill_tok_s_max],
        }
    }
}

/// Checks every run.
pub(crate) async fn check(
    connection: &mut AnyConnection,
    report: &mut CheckReport,
) -> Result<(), StoreError> {
    let mut after = 0;
    loop {
        let runs = query(RUNS)
            .bind(after)
            .bind(RUNS_AT_ONCE)
            .fetch_all(&mut *connection)
            .await?;
        let keys = runs.iter().map(|row| row.try_get(0));
        let keys: Vec<i64> = keys.collect::<Result<_, _>>()?;
        let Some(last) = keys.last() else {
            return Ok(());
        };
        after = *last;
        let mut cells = cells(connection, &keys).await?;
        for (row, key) in runs.iter().zip(keys) {
            let head = Head {
                id: row.try_get(2)?,
                kind: rows::kind(row, 3)?,
                names: [
                    row.try_get(4)?,
                    row.try_get(5)?,
                    row.try_get(6)?,
                    row.try_get(7)?,
                ],
                gpu_count: row.try_get(8)?,
                texts: [row.try_get(9)?, row.try_get(10)?],
                numbers: [row.try_get(11)?, row.try_get(12)?, row.try_get(13)?],
                figures: [row.try_get(14)?, row.try_get(15)?],
            };
            let cells = cells.remove(&key).unwrap_or_default();
            report.run_count += 1;
            report.cell_count += cells.len() as u64;
            let id = head.id.clone();
            let content_zstd: Vec<u8> = row.try_get(17)?;
            let sha256: String = row.try_get(1)?;
            match decompress(&content_zstd, row.try_get(16)?) {
                Err(why) => report.found(format!("run {id}: {why}")),
                Ok(content) if sha256_hex(&content) != sha256 => {
                    report.found(format!("run {id}: its document has another hash"));
                }
                Ok(content) => match compare(&content, head, &cells) {
                    Ok(differences) => {
                        for difference in differences {
                            report.found(format!("run {id}: {difference}"));
                        }
                    }
                    Err(why) => report.found(format!("run {id}: {why}")),
                },
            }
        }
    }
}

/// The cells of some runs, each run's by their places.
async fn cells(
    connection: &mut AnyConnection,
    run_keys: &[i64],
) -> Result<HashMap<i64, Vec<(i64, CellColumns)>>, StoreError> {
    let mut statement = Statement::new(
        "SELECT c.run_key, c.cell_index, s.phase, s.context_tokens, s.concurrency, c.status, \
         c.total_tok_s, c.per_request_tok_s, c.ttft_ms_p50, c.tbt_ms_p50, c.average_active, \
         c.flags, c.ranks_total, c.ranks_per_request, c.ranks_ttft, c.cache_proof \
         FROM cells c JOIN shapes s ON s.shape_key = c.shape_key WHERE c.run_key IN (",
    );
    statement
        .bind_all(run_keys.iter().copied())?
        .push(") ORDER BY c.run_key, c.cell_index");
    let mut cells: HashMap<i64, Vec<(i64, CellColumns)>> = HashMap::new();
    for row in statement.query_once().fetch_all(connection).await? {
        let ranks = |column| Ok::<bool, StoreError>(row.try_get::<i64, _>(column)? == 1);
        let cell = CellColumns {
            shape: rows::shape(&row, 2)?,
            status: rows::word(&row, 5)?,
            total_tok_s: row.try_get(6)?,
            per_request_tok_s: row.try_get(7)?,
            ttft_ms_p50: row.try_get(8)?,
            tbt_ms_p50: row.try_get(9)?,
            average_active: row.try_get(10)?,
            flags: row.try_get(11)?,
            ranks_total: ranks(12)?,
            ranks_per_request: ranks(13)?,
            ranks_ttft: ranks(14)?,
            cache_proof: rows::word_if_any(&row, 15)?,
        };
        let of_run = cells.entry(row.try_get(0)?).or_default();
        of_run.push((row.try_get(1)?, cell));
    }
    Ok(cells)
}

/// What columns say and the document does not. The site may have added flags to the
/// document's: ranks are held against the flags in columns.
fn compare(
    content: &[u8],
    head: Head,
    cells: &[(i64, CellColumns)],
) -> Result<Vec<String>, String> {
    let mut document = RunDocument::from_json(content).map_err(|error| error.to_string())?;
    let mut differences = Vec::new();
    if document.cells.len() != cells.len() {
        return Err(format!(
            "its document has {} cells, the table {}",
            document.cells.len(),
            cells.len()
        ));
    }
    for (index, (cell, (cell_index, columns))) in (0..).zip(document.cells.iter_mut().zip(cells)) {
        if index != *cell_index {
            return Err(format!("it has no cell {index}"));
        }
        if !take_flags(cell, &columns.flags)? {
            differences.push(format!("cell {index} lacks a flag of the document"));
        }
    }
    let expected = RunColumns::of(&document).map_err(|error| error.to_string())?;
    for (expected, (index, found)) in expected.cells.iter().zip(cells) {
        if expected != found {
            differences.push(format!(
                "cell {index} is {found:?}, by its document {expected:?}"
            ));
        }
    }
    let expected = Head::of(expected);
    if expected != head {
        differences.push(format!("it is {head:?}, by its document {expected:?}"));
    }
    Ok(differences)
}

/// Gives the cell the flags of the columns; whether its own are among them.
fn take_flags(cell: &mut Cell, flags: &str) -> Result<bool, String> {
    let mut taken = Vec::new();
    for name in flags.split_whitespace() {
        taken.push(Flag {
            name: flag_name(name).ok_or_else(|| format!("`{name}` is no flag"))?,
            evidence: String::new(),
        });
    }
    let own = std::mem::replace(&mut cell.flags, taken);
    let names: Vec<FlagName> = cell.flags.iter().map(|flag| flag.name).collect();
    Ok(own.iter().all(|flag| names.contains(&flag.name)))
}

fn flag_name(name: &str) -> Option<FlagName> {
    serde_json::from_value(serde_json::Value::from(name)).ok()
}
