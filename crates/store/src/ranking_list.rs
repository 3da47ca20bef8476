//! How a page of a ranking is found. Figures in docs/decisions/0009.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::filter::{Asked, Scope};
use crate::names::Word as _;
use crate::statement::Statement;
use crate::{
    Configuration, Metric, Page, PageRequest, RankedCell, RankingQuery, Shape, Store, StoreError,
    rows,
};

/// The best cells of so many configurations are looked up and sorted; of more, the
/// index by score is walked until the page is full.
const LOOKED_UP_CONFIGURATIONS_MAX: i64 = 1_000;

/// The cell a page begins after.
#[derive(Debug, Clone, Copy)]
struct Cursor {
    /// How many cells are before the page.
    position: u64,
    rank: u64,
    score: f64,
    configuration_key: i64,
}

impl Cursor {
    fn read(text: &str) -> Result<Cursor, StoreError> {
        let fields: Vec<&str> = text.split('.').collect();
        let parsed = match fields.as_slice() {
            [position, rank, score, key] => position.parse().ok().and_then(|position| {
                Some(Cursor {
                    position,
                    rank: rank.parse().ok()?,
                    score: f64::from_bits(u64::from_str_radix(score, 16).ok()?),
                    configuration_key: key.parse().ok()?,
                })
            }),
            _ => None,
        };
        parsed
            .filter(|cursor| cursor.score.is_finite())
            .ok_or_else(|| StoreError::Cursor(text.to_owned()))
    }

    fn write(self) -> String {
        let score = self.score.to_bits();
        let (position, rank, key) = (self.position, self.rank, self.configuration_key);
        format!("{position}.{rank}.{score:x}.{key}")
    }
}

const COLUMNS: &str = "
SELECT c.configuration_key, b.score, v.kind, m.slug, m.id, v.quantization, v.engine, h.slug, h.name,
    v.gpu_count, c.run_count, r.id, b.cell_index, s.phase, s.context_tokens, s.concurrency,
    x.status, x.cache_proof, r.engine_version, COALESCE(a.name, r.author), o.slug, o.name,
    r.published_at_ms, CASE WHEN x.ranks_total = 1 THEN x.total_tok_s END,
    CASE WHEN x.ranks_per_request = 1 THEN x.per_request_tok_s END,
    CASE WHEN x.ranks_ttft = 1 THEN x.ttft_ms_p50 END";
/// Of a CROSS JOIN, SQLite takes the left side first: from the best cells to the rest.
const JOINS: &str = "
CROSS JOIN configurations c
CROSS JOIN models m
CROSS JOIN hardware h
CROSS JOIN variants v
CROSS JOIN runs r
CROSS JOIN cells x
CROSS JOIN shapes s
LEFT JOIN accounts a ON a.account_key = r.account_key
LEFT JOIN organizations o ON o.organization_key = r.organization_key
WHERE c.configuration_key = b.configuration_key
    AND m.model_key = c.model_key
    AND h.hardware_key = c.hardware_key
    AND v.variant_key = c.variant_key
    AND r.run_key = b.run_key
    AND x.run_key = b.run_key AND x.cell_index = b.cell_index
    AND s.shape_key = b.shape_key";

/// Which best cells are ranked.
struct Place {
    shape_key: i64,
    metric: i64,
}

impl Place {
    /// Conditions on the best cells, each after an AND; of those after a cursor.
    fn push_conditions(
        &self,
        statement: &mut Statement,
        after: Option<Cursor>,
    ) -> Result<(), StoreError> {
        statement.push(" AND b.shape_key = ").bind(self.shape_key)?;
        statement.push(" AND b.metric = ").bind(self.metric)?;
        if let Some(after) = after {
            statement.push(" AND b.score <= ").bind(after.score)?;
            statement.push(" AND (b.score < ").bind(after.score)?;
            statement
                .push(" OR b.configuration_key > ")
                .bind(after.configuration_key)?
                .push(")");
        }
        Ok(())
    }
}

impl Store {
    pub(crate) async fn ranking_page(
        &self,
        query: &RankingQuery,
        page: &PageRequest,
    ) -> Result<Page<RankedCell>, StoreError> {
        let after = page.after.as_deref().map(Cursor::read).transpose()?;
        let empty = Page {
            items: Vec::new(),
            next: None,
            total: None,
        };
        let asked = Asked {
            filter: Some(&query.filter),
            leaves_simulated_out: true,
            ..Asked::default()
        };
        let Some(scope) = self.scope(asked).await? else {
            return Ok(empty);
        };
        let Some(shape_key) = self.shape_key(query.shape).await? else {
            return Ok(empty);
        };
        let is_walked = match self.count_configurations(&scope).await? {
            Some(0) => return Ok(empty),
            Some(count) => count > LOOKED_UP_CONFIGURATIONS_MAX,
            None => true,
        };
        let place = Place {
            shape_key,
            metric: query.metric.column(),
        };
        let mut statement = Statement::new(COLUMNS);
        statement.push(" FROM (");
        if is_walked {
            statement.push("SELECT b.configuration_key FROM best_cells b");
            statement.push(self.dialect.using(" INDEXED BY best_cells_by_score"));
            statement.push(" CROSS JOIN configurations c");
        } else {
            statement
                .push("SELECT b.configuration_key FROM configurations c CROSS JOIN best_cells b");
        }
        statement.push(" WHERE b.configuration_key = c.configuration_key");
        place.push_conditions(&mut statement, after)?;
        scope.push_conditions(&mut statement, "c.")?;
        statement
            .push(" ORDER BY b.score DESC, b.configuration_key LIMIT ")
            .bind(i64::from(page.limit) + 1)?
            .push(") page CROSS JOIN best_cells b")
            .push(JOINS)
            .push(" AND b.configuration_key = page.configuration_key");
        place.push_conditions(&mut statement, None)?;
        statement.push(" ORDER BY b.score DESC, b.configuration_key");
        let found = statement.query().fetch_all(&self.read).await?;
        ranked(&found, query.metric, after, page.limit as usize)
    }

    async fn shape_key(&self, shape: Shape) -> Result<Option<i64>, StoreError> {
        let row = sqlx::query(
            "SELECT shape_key FROM shapes \
             WHERE context_tokens = $1 AND concurrency = $2 AND phase = $3",
        )
        // No cell has a context that no column holds.
        .bind(i64::try_from(shape.context_tokens).unwrap_or(-1))
        .bind(i64::from(shape.concurrency))
        .bind(shape.phase.word())
        .fetch_optional(&self.read)
        .await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    /// Counted to one more than are looked up; `None` where most match.
    async fn count_configurations(&self, scope: &Scope) -> Result<Option<i64>, StoreError> {
        if scope.is_of_kinds() && !scope.is_of_one_kind() {
            return Ok(None);
        }
        let mut statement =
            Statement::new("SELECT COUNT(*) FROM (SELECT 1 FROM configurations c WHERE 1 = 1");
        scope.push_conditions(&mut statement, "c.")?;
        statement
            .push(" LIMIT ")
            .bind(LOOKED_UP_CONFIGURATIONS_MAX + 1)?;
        statement.push(") counted");
        Ok(Some(
            statement.query().fetch_one(&self.read).await?.try_get(0)?,
        ))
    }

    pub(crate) async fn best_of(
        &self,
        configuration_keys: &[i64],
        phase: document::Phase,
        context_tokens: Option<u64>,
        metric: Metric,
    ) -> Result<Vec<RankedCell>, StoreError> {
        if configuration_keys.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = Statement::new(COLUMNS);
        statement.push(" FROM best_cells b").push(JOINS);
        statement.push(" AND b.metric = ").bind(metric.column())?;
        statement.push(" AND s.phase = ").bind(phase.word())?;
        if let Some(context_tokens) = context_tokens {
            let context_tokens = i64::try_from(context_tokens).unwrap_or(-1);
            statement
                .push(" AND s.context_tokens = ")
                .bind(context_tokens)?;
        }
        statement.push(" AND b.configuration_key IN (");
        statement.bind_all(configuration_keys.iter().copied())?;
        statement
            .push(") ORDER BY s.context_tokens, s.concurrency, b.score DESC, b.configuration_key");
        let found = statement.query_once().fetch_all(&self.read).await?;
        let mut cells: Vec<RankedCell> = Vec::with_capacity(found.len());
        for row in &found {
            let mut cell = cell(row, metric)?;
            // Ranked among those of the same shape.
            let place = cells
                .iter()
                .rev()
                .take_while(|before| before.shape == cell.shape)
                .count();
            cell.rank = match cells.last() {
                Some(last) if place > 0 && last.value == cell.value => last.rank,
                Some(_) | None => place as u64 + 1,
            };
            cells.push(cell);
        }
        Ok(cells)
    }
}

/// Rows, one more than shown where there are more, with their ranks.
fn ranked(
    found: &[AnyRow],
    metric: Metric,
    after: Option<Cursor>,
    limit: usize,
) -> Result<Page<RankedCell>, StoreError> {
    let mut cursor = after;
    let mut items = Vec::with_capacity(found.len());
    for row in found.get(..limit).unwrap_or(found) {
        let score: f64 = row.try_get(1)?;
        let position = cursor.map_or(0, |before| before.position) + 1;
        // The same value is the same rank, and the next is left out.
        let rank = match cursor {
            Some(before) if before.score == score => before.rank,
            Some(_) | None => position,
        };
        let mut item = cell(row, metric)?;
        item.rank = rank;
        cursor = Some(Cursor {
            position,
            rank,
            score,
            configuration_key: item.configuration.key,
        });
        items.push(item);
    }
    let next = cursor
        .filter(|_| found.len() > items.len())
        .map(Cursor::write);
    Ok(Page {
        items,
        next,
        total: None,
    })
}

/// A cell whose rank is not known yet.
fn cell(row: &AnyRow, metric: Metric) -> Result<RankedCell, StoreError> {
    Ok(RankedCell {
        rank: 0,
        value: metric.value(row.try_get(1)?),
        configuration: Configuration {
            key: row.try_get(0)?,
            kind: rows::kind(row, 2)?,
            model: rows::named(row, 3)?,
            quantization: rows::text_if_any(row, 5)?,
            engine: rows::text_if_any(row, 6)?,
            hardware: rows::named(row, 7)?,
            gpu_count: rows::unsigned_if_positive(row, 9)?,
            run_count: rows::unsigned(row, 10)?,
        },
        run_id: row.try_get(11)?,
        cell_index: rows::unsigned(row, 12)?,
        shape: rows::shape(row, 13)?,
        status: rows::word(row, 16)?,
        cache_proof: rows::word_if_any(row, 17)?,
        engine_version: row.try_get(18)?,
        author: row.try_get(19)?,
        organization: rows::named_if_any(row, 20)?,
        published_at_ms: row.try_get(22)?,
        total_tok_s: row.try_get(23)?,
        per_request_tok_s: row.try_get(24)?,
        ttft_ms_p50: row.try_get(25)?,
    })
}
