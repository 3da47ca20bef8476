//! How a page of cells is found: run by run, so that the work is bounded.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::names::Word as _;
use crate::statement::Statement;
use crate::{CellQuery, CellRow, Page, PageRequest, Store, StoreError, rows};

/// Runs looked into for one page.
const RUNS_OF_A_PAGE_MAX: i64 = 200;

/// The cell a page begins after.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    run_key: i64,
    /// None where the run is wholly behind.
    cell_index: Option<i64>,
}

impl Cursor {
    fn read(text: &str) -> Result<Cursor, StoreError> {
        let parsed =
            match text.split_once('.') {
                Some((run_key, cell_index)) => {
                    run_key.parse().ok().zip(cell_index.parse().ok()).map(
                        |(run_key, cell_index)| Cursor {
                            run_key,
                            cell_index: Some(cell_index),
                        },
                    )
                }
                None => text.parse().ok().map(|run_key| Cursor {
                    run_key,
                    cell_index: None,
                }),
            };
        parsed.ok_or_else(|| StoreError::Cursor(text.to_owned()))
    }
}

impl Store {
    pub(crate) async fn cell_page(
        &self,
        query: &CellQuery,
        page: &PageRequest,
    ) -> Result<Page<CellRow>, StoreError> {
        let after = page.after.as_deref().map(Cursor::read).transpose()?;
        let empty = Page {
            items: Vec::new(),
            next: None,
            total: None,
        };
        let Some(run_keys) = self.runs_of_cells(query, after).await? else {
            return Ok(empty);
        };
        let Some(last_run_key) = run_keys.last() else {
            return Ok(empty);
        };
        let statement = cells_of(query, &run_keys, after, i64::from(page.limit) + 1)?;
        let found = statement.query_once().fetch_all(&self.read).await?;
        let shown = found.get(..page.limit as usize).unwrap_or(&found);
        let next = match shown.last() {
            Some(last) if found.len() > shown.len() => Some(format!(
                "{}.{}",
                last.try_get::<i64, _>(0)?,
                last.try_get::<i64, _>(2)?
            )),
            // There may be more in the runs that were not looked into.
            Some(_) | None => {
                (run_keys.len() == RUNS_OF_A_PAGE_MAX as usize).then(|| last_run_key.to_string())
            }
        };
        Ok(Page {
            items: shown.iter().map(cell).collect::<Result<_, _>>()?,
            next,
            total: None,
        })
    }

    /// The runs a page is taken from, newest first; `None` where none can be.
    async fn runs_of_cells(
        &self,
        query: &CellQuery,
        after: Option<Cursor>,
    ) -> Result<Option<Vec<i64>>, StoreError> {
        // The cursor's run itself may have more.
        let before = after.map(|cursor| match cursor.cell_index {
            Some(_) => cursor.run_key.saturating_add(1),
            None => cursor.run_key,
        });
        let Some(scope) = self.run_scope(&query.runs).await? else {
            return Ok(None);
        };
        let Some(id) = &query.run_id else {
            return self
                .run_keys(&scope, before, RUNS_OF_A_PAGE_MAX)
                .await
                .map(Some);
        };
        let mut statement = Statement::new("SELECT r.run_key FROM runs r WHERE r.id = ");
        statement.bind(id.as_str())?;
        scope.push_all_conditions(&mut statement)?;
        if let Some(before) = before {
            statement.push(" AND r.run_key < ").bind(before)?;
        }
        let rows = statement.query().fetch_all(&self.read).await?;
        let keys: Result<Vec<i64>, StoreError> =
            rows.iter().map(|row| Ok(row.try_get(0)?)).collect();
        keys.map(Some)
    }
}

fn cells_of(
    query: &CellQuery,
    run_keys: &[i64],
    after: Option<Cursor>,
    limit: i64,
) -> Result<Statement, StoreError> {
    let mut statement = Statement::new(
        "SELECT c.run_key, r.id, c.cell_index, s.phase, s.context_tokens, s.concurrency, \
         c.status, c.total_tok_s, c.per_request_tok_s, c.ttft_ms_p50, c.tbt_ms_p50, \
         c.average_active, c.flags, c.ranks_total, c.ranks_per_request, c.ranks_ttft, \
         c.cache_proof \
         FROM cells c CROSS JOIN runs r CROSS JOIN shapes s \
         WHERE r.run_key = c.run_key AND s.shape_key = c.shape_key AND c.run_key IN (",
    );
    statement.bind_all(run_keys.iter().copied())?.push(")");
    if let Some((run_key, cell_index)) =
        after.and_then(|cursor| Some((cursor.run_key, cursor.cell_index?)))
    {
        statement
            .push(" AND (c.run_key < ")
            .bind(run_key)?
            .push(" OR c.cell_index > ")
            .bind(cell_index)?
            .push(")");
    }
    if let Some(phase) = query.phase {
        statement.push(" AND s.phase = ").bind(phase.word())?;
    }
    if let Some(context_tokens) = query.context_tokens {
        // No cell has a context that no column holds.
        let context_tokens = i64::try_from(context_tokens).unwrap_or(-1);
        statement
            .push(" AND s.context_tokens = ")
            .bind(context_tokens)?;
    }
    if let Some(concurrency) = query.concurrency {
        statement
            .push(" AND s.concurrency = ")
            .bind(i64::from(concurrency))?;
    }
    statement
        .push(" ORDER BY c.run_key DESC, c.cell_index LIMIT ")
        .bind(limit)?;
    Ok(statement)
}

fn cell(row: &AnyRow) -> Result<CellRow, StoreError> {
    let flags: String = row.try_get(12)?;
    let ranks = |column| Ok::<bool, StoreError>(row.try_get::<i64, _>(column)? == 1);
    Ok(CellRow {
        run_id: row.try_get(1)?,
        cell_index: rows::unsigned(row, 2)?,
        shape: rows::shape(row, 3)?,
        status: rows::word(row, 6)?,
        total_tok_s: row.try_get(7)?,
        per_request_tok_s: row.try_get(8)?,
        ttft_ms_p50: row.try_get(9)?,
        tbt_ms_p50: row.try_get(10)?,
        average_active: row.try_get(11)?,
        flags: flags.split_whitespace().map(str::to_owned).collect(),
        ranks: [ranks(13)?, ranks(14)?, ranks(15)?],
        cache_proof: rows::word_if_any(row, 16)?,
    })
}
