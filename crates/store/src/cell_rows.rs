//! Cells on their way into columns.

use std::collections::{BTreeSet, HashMap};

use sqlx::{AnyConnection, Row as _};

use crate::columns::{CellColumns, context_column};
use crate::names::Word as _;
use crate::statement::Statement;
use crate::{Shape, StoreError};

/// Rows of one statement: both databases bound the number of its values.
const ROWS_MAX: usize = 500;

/// Puts a run's cells in.
pub(crate) async fn insert(
    connection: &mut AnyConnection,
    run_key: i64,
    cells: &[CellColumns],
) -> Result<(), StoreError> {
    let shape_keys = shape_keys(connection, cells).await?;
    for (first, cells) in (0..).step_by(ROWS_MAX).zip(cells.chunks(ROWS_MAX)) {
        let mut statement = Statement::new(
            "INSERT INTO cells (run_key, cell_index, shape_key, ranks_total, ranks_per_request, \
             ranks_ttft, total_tok_s, per_request_tok_s, ttft_ms_p50, tbt_ms_p50, average_active, \
             status, flags, cache_proof) VALUES ",
        );
        for (cell_index, cell) in (first..).zip(cells) {
            let shape_key = shape_keys
                .get(&cell.shape)
                .copied()
                .ok_or(sqlx::Error::RowNotFound)?;
            statement.push(if cell_index == first { "(" } else { ", (" });
            let ranks = [cell.ranks_total, cell.ranks_per_request, cell.ranks_ttft];
            statement
                .bind_all([run_key, cell_index, shape_key])?
                .push(", ")
                .bind_all(ranks.map(i64::from))?
                .push(", ")
                .bind_all([
                    cell.total_tok_s,
                    cell.per_request_tok_s,
                    cell.ttft_ms_p50,
                    cell.tbt_ms_p50,
                    cell.average_active,
                ])?
                .push(", ")
                .bind_all([cell.status.word(), cell.flags.as_str()])?
                .push(", ")
                .bind(cell.cache_proof.map(crate::names::Word::word))?
                .push(")");
        }
        statement.query_once().execute(&mut *connection).await?;
    }
    Ok(())
}

/// The keys of the cells' shapes, new where they are.
async fn shape_keys(
    connection: &mut AnyConnection,
    cells: &[CellColumns],
) -> Result<HashMap<Shape, i64>, StoreError> {
    let wanted: BTreeSet<Shape> = cells.iter().map(|cell| cell.shape).collect();
    let contexts: BTreeSet<u64> = wanted.iter().map(|shape| shape.context_tokens).collect();
    let contexts: Vec<i64> = contexts
        .into_iter()
        .map(context_column)
        .collect::<Result<_, _>>()?;
    let mut keys = HashMap::new();
    for contexts in contexts.chunks(ROWS_MAX) {
        let mut statement = Statement::new(
            "SELECT shape_key, phase, context_tokens, concurrency FROM shapes \
             WHERE context_tokens IN (",
        );
        statement.bind_all(contexts.iter().copied())?.push(")");
        read_shapes(connection, statement, &mut keys).await?;
    }
    let new: Vec<Shape> = wanted
        .into_iter()
        .filter(|shape| !keys.contains_key(shape))
        .collect();
    for shapes in new.chunks(ROWS_MAX) {
        let mut statement =
            Statement::new("INSERT INTO shapes (phase, context_tokens, concurrency) VALUES ");
        for (place, shape) in shapes.iter().enumerate() {
            statement
                .push(if place == 0 { "(" } else { ", (" })
                .bind(shape.phase.word())?
                .push(", ")
                .bind_all([
                    context_column(shape.context_tokens)?,
                    i64::from(shape.concurrency),
                ])?
                .push(")");
        }
        statement.push(" RETURNING shape_key, phase, context_tokens, concurrency");
        read_shapes(connection, statement, &mut keys).await?;
    }
    Ok(keys)
}

async fn read_shapes(
    connection: &mut AnyConnection,
    statement: Statement,
    keys: &mut HashMap<Shape, i64>,
) -> Result<(), StoreError> {
    for row in statement.query_once().fetch_all(connection).await? {
        keys.insert(crate::rows::shape(&row, 1)?, row.try_get(0)?);
    }
    Ok(())
}
