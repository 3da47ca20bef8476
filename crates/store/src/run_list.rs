//! How a page of runs is found. Figures in docs/decisions/0009.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::filter::{Asked, Scope};
use crate::statement::Statement;
use crate::{Dialect, Page, PageRequest, RunQuery, RunSummary, Store, StoreError, rows};

/// So many runs are gathered from their configurations and sorted; of more, an index
/// is walked from the newest until the page is full.
const GATHERED_RUNS_MAX: i64 = 2_000;

/// What a list of runs is asked for, found in the database.
pub(crate) struct RunScope {
    pub(crate) scope: Scope,
    pub(crate) with_hidden: bool,
}

/// Where the runs of a list are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Those that match: their runs are gathered and sorted.
    Configurations,
    /// Walked from the newest run on.
    Index(&'static str),
}

const COLUMNS: &str = "
SELECT r.run_key, r.id, r.published_at_ms, r.measured_at_ms, v.kind, m.slug, m.id,
    v.quantization, v.engine, r.engine_version, h.slug, h.name, v.gpu_count,
    COALESCE(a.name, r.author), o.slug, o.name, r.cell_count, r.context_tokens_max,
    r.concurrency_max, r.decode_tok_s_max, r.prefill_tok_s_max, r.hidden_at_ms, r.hidden_reason
FROM (";
/// Of a CROSS JOIN, SQLite takes the left side first: from the page's keys to the rest.
const JOINS: &str = ") page
CROSS JOIN runs r
CROSS JOIN models m
CROSS JOIN hardware h
CROSS JOIN variants v
LEFT JOIN accounts a ON a.account_key = r.account_key
LEFT JOIN organizations o ON o.organization_key = r.organization_key
WHERE r.run_key = page.run_key
    AND m.model_key = r.model_key
    AND h.hardware_key = r.hardware_key
    AND v.variant_key = r.variant_key
ORDER BY page.run_key DESC";

impl Store {
    /// What a query means here; `None` where nothing can match.
    pub(crate) async fn run_scope(&self, query: &RunQuery) -> Result<Option<RunScope>, StoreError> {
        let asked = Asked {
            filter: Some(&query.filter),
            organization: query.organization.as_deref(),
            account: query.account.as_deref(),
            leaves_simulated_out: false,
        };
        let scope = self.scope(asked).await?;
        Ok(scope.map(|scope| RunScope {
            scope,
            with_hidden: query.with_hidden,
        }))
    }

    pub(crate) async fn run_page(
        &self,
        query: &RunQuery,
        page: &PageRequest,
    ) -> Result<Page<RunSummary>, StoreError> {
        let before = page.after.as_deref().map(run_key_of).transpose()?;
        let empty = Page {
            items: Vec::new(),
            next: None,
            total: Some(0),
        };
        let Some(scope) = self.run_scope(query).await? else {
            return Ok(empty);
        };
        let total = self.count_runs(&scope).await?;
        if total == 0 {
            return Ok(empty);
        }
        let mut statement = Statement::new(COLUMNS);
        let limit = i64::from(page.limit);
        scope.push_keys(self.dialect, &mut statement, total, before, limit + 1)?;
        statement.push(JOINS);
        let found = statement.query().fetch_all(&self.read).await?;
        let shown = found.get(..page.limit as usize).unwrap_or(&found);
        let next = match shown.last() {
            Some(last) if found.len() > shown.len() => Some(last.try_get::<i64, _>(0)?.to_string()),
            Some(_) | None => None,
        };
        Ok(Page {
            items: shown.iter().map(summary).collect::<Result<_, _>>()?,
            next,
            total: u64::try_from(total).ok(),
        })
    }

    /// The keys of the next runs of a query, newest first.
    pub(crate) async fn run_keys(
        &self,
        scope: &RunScope,
        before: Option<i64>,
        limit: i64,
    ) -> Result<Vec<i64>, StoreError> {
        let total = self.count_runs(scope).await?;
        let mut statement = Statement::default();
        scope.push_keys(self.dialect, &mut statement, total, before, limit)?;
        let rows = statement.query().fetch_all(&self.read).await?;
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect()
    }

    async fn count_runs(&self, runs: &RunScope) -> Result<i64, StoreError> {
        let scope = &runs.scope;
        let mut statement = Statement::default();
        if scope.account_key.is_some() {
            statement.push("SELECT COUNT(*) FROM runs r WHERE 1 = 1");
            runs.push_all_conditions(&mut statement)?;
            return Ok(statement.query().fetch_one(&self.read).await?.try_get(0)?);
        }
        if let Some(organization_key) = scope.organization_key {
            statement
                .push(
                    "SELECT CAST(COALESCE(SUM(o.run_count), 0) AS BIGINT) \
                     FROM organization_counts o CROSS JOIN configurations c \
                     WHERE c.configuration_key = o.configuration_key \
                     AND o.organization_key = ",
                )
                .bind(organization_key)?;
            scope.push_conditions(&mut statement, "c.")?;
        } else if scope.is_of_variants() {
            statement.push(
                "SELECT CAST(COALESCE(SUM(run_count), 0) AS BIGINT) FROM variants WHERE 1 = 1",
            );
            scope.push_variant_conditions(&mut statement)?;
        } else {
            statement.push(
                "SELECT CAST(COALESCE(SUM(c.run_count), 0) AS BIGINT) \
                 FROM configurations c WHERE 1 = 1",
            );
            scope.push_conditions(&mut statement, "c.")?;
        }
        let shown: i64 = statement.query().fetch_one(&self.read).await?.try_get(0)?;
        if !runs.with_hidden {
            return Ok(shown);
        }
        let mut statement =
            Statement::new("SELECT COUNT(*) FROM runs r WHERE r.hidden_at_ms IS NOT NULL");
        if let Some(organization_key) = scope.organization_key {
            statement
                .push(" AND r.organization_key = ")
                .bind(organization_key)?;
        }
        scope.push_conditions(&mut statement, "r.")?;
        let hidden: i64 = statement.query().fetch_one(&self.read).await?.try_get(0)?;
        Ok(shown + hidden)
    }
}

impl RunScope {
    fn source(&self, total: i64) -> Source {
        let scope = &self.scope;
        if scope.account_key.is_some() {
            return Source::Index(" INDEXED BY runs_by_account");
        }
        if scope.organization_key.is_some() {
            return Source::Index(" INDEXED BY runs_by_organization");
        }
        let is_walked = total > GATHERED_RUNS_MAX || scope.is_of_one_name() || scope.is_of_kinds();
        match (scope.model_key, scope.hardware_key) {
            _ if !is_walked => Source::Configurations,
            (Some(_), _) => Source::Index(" INDEXED BY runs_by_model"),
            (None, Some(_)) => Source::Index(" INDEXED BY runs_by_hardware"),
            (None, None) => Source::Index(" INDEXED BY runs_by_key"),
        }
    }

    /// All conditions on the table of runs, each after an AND.
    pub(crate) fn push_all_conditions(&self, statement: &mut Statement) -> Result<(), StoreError> {
        for (column, key) in [
            ("account_key", self.scope.account_key),
            ("organization_key", self.scope.organization_key),
        ] {
            if let Some(key) = key {
                statement
                    .push(" AND r.")
                    .push(column)
                    .push(" = ")
                    .bind(key)?;
            }
        }
        self.scope.push_conditions(statement, "r.")?;
        if !self.with_hidden {
            statement.push(" AND r.hidden_at_ms IS NULL");
        }
        Ok(())
    }

    /// A statement for the keys of the next runs, newest first.
    fn push_keys(
        &self,
        dialect: Dialect,
        statement: &mut Statement,
        total: i64,
        before: Option<i64>,
        limit: i64,
    ) -> Result<(), StoreError> {
        statement.push("SELECT r.run_key FROM runs r");
        match self.source(total) {
            Source::Configurations => {
                statement.push(dialect.using(" INDEXED BY runs_by_configuration"));
                statement.push(
                    " WHERE r.configuration_key IN (\
                     SELECT c.configuration_key FROM configurations c WHERE 1 = 1",
                );
                self.scope.push_conditions(statement, "c.")?;
                statement.push(")");
                if !self.with_hidden {
                    statement.push(" AND r.hidden_at_ms IS NULL");
                }
            }
            Source::Index(index) => {
                statement.push(dialect.using(index)).push(" WHERE 1 = 1");
                self.push_all_conditions(statement)?;
            }
        }
        if let Some(before) = before {
            statement.push(" AND r.run_key < ").bind(before)?;
        }
        statement
            .push(" ORDER BY r.run_key DESC LIMIT ")
            .bind(limit)?;
        Ok(())
    }
}

/// Reads a cursor.
pub(crate) fn run_key_of(cursor: &str) -> Result<i64, StoreError> {
    cursor
        .parse()
        .map_err(|_| StoreError::Cursor(cursor.to_owned()))
}

fn summary(row: &AnyRow) -> Result<RunSummary, StoreError> {
    Ok(RunSummary {
        id: row.try_get(1)?,
        published_at_ms: row.try_get(2)?,
        measured_at_ms: row.try_get(3)?,
        kind: rows::kind(row, 4)?,
        model: rows::named(row, 5)?,
        quantization: rows::text_if_any(row, 7)?,
        engine: rows::text_if_any(row, 8)?,
        engine_version: row.try_get(9)?,
        hardware: rows::named(row, 10)?,
        gpu_count: rows::unsigned_if_positive(row, 12)?,
        author: row.try_get(13)?,
        organization: rows::named_if_any(row, 14)?,
        cell_count: rows::unsigned(row, 16)?,
        context_tokens_max: rows::unsigned_if_any(row, 17)?,
        concurrency_max: rows::unsigned_if_any(row, 18)?,
        decode_tok_s_max: row.try_get(19)?,
        prefill_tok_s_max: row.try_get(20)?,
        hidden: rows::hidden(row, 21)?,
    })
}
