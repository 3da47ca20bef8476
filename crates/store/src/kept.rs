//! What is kept as runs are written, and could be computed from them: counts and
//! best cells.

use sqlx::{AnyConnection, Row as _, query};

use crate::StoreError;

/// Where a run counts.
pub(crate) struct RunPlace {
    pub(crate) run_key: i64,
    pub(crate) configuration_key: i64,
    pub(crate) model_key: i64,
    pub(crate) hardware_key: i64,
    pub(crate) variant_key: i64,
    pub(crate) organization_key: Option<i64>,
    pub(crate) published_at_ms: i64,
    pub(crate) sha256: String,
    pub(crate) is_hidden: bool,
}

/// Puts the run's cells where they are better. Of equal cells the earlier run's stays.
const TAKE_BEST: &str = "
INSERT INTO best_cells (configuration_key, metric, shape_key, score, run_key, cell_index)
SELECT configuration_key, metric, shape_key, score, run_key, cell_index
FROM candidates WHERE run_key = $1
ON CONFLICT (configuration_key, metric, shape_key) DO UPDATE
SET score = excluded.score, run_key = excluded.run_key, cell_index = excluded.cell_index
WHERE excluded.score > best_cells.score
    OR (excluded.score = best_cells.score AND excluded.run_key < best_cells.run_key)";

/// Puts the next best in the places that a run leaves.
const REPLACE_BEST: &str = "
INSERT INTO best_cells (configuration_key, metric, shape_key, score, run_key, cell_index)
SELECT configuration_key, metric, shape_key, score, run_key, cell_index FROM (
    SELECT c.*, ROW_NUMBER() OVER (
        PARTITION BY c.metric, c.shape_key ORDER BY c.score DESC, c.run_key, c.cell_index
    ) AS place
    FROM candidates c CROSS JOIN best_cells b
    WHERE c.configuration_key = $2 AND c.run_key <> $1
        AND b.configuration_key = $2 AND b.metric = c.metric
        AND b.shape_key = c.shape_key AND b.run_key = $1
) ranked WHERE place = 1
ON CONFLICT (configuration_key, metric, shape_key) DO UPDATE
SET score = excluded.score, run_key = excluded.run_key, cell_index = excluded.cell_index";

const COUNT_SHAPES: &str = "
INSERT INTO shape_counts (model_key, hardware_key, shape_key, cell_count)
SELECT model_key, hardware_key, shape_key, $2 FROM shape_cells WHERE run_key = $1
ON CONFLICT (model_key, hardware_key, shape_key) DO UPDATE
SET cell_count = shape_counts.cell_count + excluded.cell_count";

const COUNT_ORGANIZATION: &str = "
INSERT INTO organization_counts (organization_key, configuration_key, run_count)
VALUES ($1, $2, $3)
ON CONFLICT (organization_key, configuration_key) DO UPDATE
SET run_count = organization_counts.run_count + excluded.run_count";

/// Counts that only grow or shrink.
const COUNTED: [&str; 2] = [
    "UPDATE configurations SET run_count = run_count + $2 WHERE configuration_key = $1",
    "UPDATE variants SET run_count = run_count + $2 WHERE variant_key = $1",
];
/// Counts with the time of the newest run.
const COUNTED_WITH_TIME: [&str; 3] = [
    "UPDATE models SET run_count = run_count + 1, last_published_at_ms = CASE \
     WHEN last_published_at_ms >= $2 THEN last_published_at_ms ELSE $2 END WHERE model_key = $1",
    "UPDATE hardware SET run_count = run_count + 1, last_published_at_ms = CASE \
     WHEN last_published_at_ms >= $2 THEN last_published_at_ms ELSE $2 END WHERE hardware_key = $1",
    "UPDATE organizations SET run_count = run_count + 1, last_published_at_ms = CASE \
     WHEN last_published_at_ms >= $2 THEN last_published_at_ms ELSE $2 END \
     WHERE organization_key = $1",
];
/// The same counts when a run goes. The run must be hidden or gone already; the time is
/// looked for only where the run had it.
const UNCOUNTED_WITH_TIME: [&str; 3] = [
    "UPDATE models SET run_count = run_count - 1, last_published_at_ms = CASE \
     WHEN last_published_at_ms > $2 THEN last_published_at_ms ELSE (\
     SELECT MAX(published_at_ms) FROM runs \
     WHERE runs.model_key = $1 AND hidden_at_ms IS NULL) END WHERE model_key = $1",
    "UPDATE hardware SET run_count = run_count - 1, last_published_at_ms = CASE \
     WHEN last_published_at_ms > $2 THEN last_published_at_ms ELSE (\
     SELECT MAX(published_at_ms) FROM runs \
     WHERE runs.hardware_key = $1 AND hidden_at_ms IS NULL) END WHERE hardware_key = $1",
    "UPDATE organizations SET run_count = run_count - 1, last_published_at_ms = CASE \
     WHEN last_published_at_ms > $2 THEN last_published_at_ms ELSE (\
     SELECT MAX(published_at_ms) FROM runs \
     WHERE runs.organization_key = $1 AND hidden_at_ms IS NULL) END WHERE organization_key = $1",
];

impl RunPlace {
    /// The run with this id.
    pub(crate) async fn find(
        connection: &mut AnyConnection,
        id: &str,
    ) -> Result<Option<RunPlace>, StoreError> {
        let row = query(
            "SELECT run_key, configuration_key, model_key, hardware_key, variant_key, \
             organization_key, published_at_ms, sha256, hidden_at_ms FROM runs WHERE id = $1",
        )
        .bind(id)
        .fetch_optional(connection)
        .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(RunPlace {
            run_key: row.try_get(0)?,
            configuration_key: row.try_get(1)?,
            model_key: row.try_get(2)?,
            hardware_key: row.try_get(3)?,
            variant_key: row.try_get(4)?,
            organization_key: row.try_get(5)?,
            published_at_ms: row.try_get(6)?,
            sha256: row.try_get(7)?,
            is_hidden: row.try_get::<Option<i64>, _>(8)?.is_some(),
        }))
    }

    /// Counts a run that stands in the tables and is not hidden, and lets it compete.
    pub(crate) async fn enter(&self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        self.count(connection, 1, COUNTED_WITH_TIME).await?;
        query(TAKE_BEST)
            .bind(self.run_key)
            .execute(connection)
            .await?;
        Ok(())
    }

    /// Takes a run out of counts and competition that is marked as hidden and whose
    /// cells still stand in the tables.
    pub(crate) async fn leave(&self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        self.count(connection, -1, UNCOUNTED_WITH_TIME).await?;
        query(
            "DELETE FROM shape_counts \
             WHERE model_key IN (0, $1) AND hardware_key IN (0, $2) AND cell_count = 0",
        )
        .bind(self.model_key)
        .bind(self.hardware_key)
        .execute(&mut *connection)
        .await?;
        query("DELETE FROM organization_counts WHERE configuration_key = $1 AND run_count = 0")
            .bind(self.configuration_key)
            .execute(&mut *connection)
            .await?;
        for sql in [
            REPLACE_BEST,
            "DELETE FROM best_cells WHERE configuration_key = $2 AND run_key = $1",
        ] {
            query(sql)
                .bind(self.run_key)
                .bind(self.configuration_key)
                .execute(&mut *connection)
                .await?;
        }
        Ok(())
    }

    async fn count(
        &self,
        connection: &mut AnyConnection,
        by: i64,
        with_time: [&'static str; 3],
    ) -> Result<(), StoreError> {
        let timed_keys = [
            Some(self.model_key),
            Some(self.hardware_key),
            self.organization_key,
        ];
        for (sql, key) in with_time.into_iter().zip(timed_keys) {
            let Some(key) = key else { continue };
            query(sql)
                .bind(key)
                .bind(self.published_at_ms)
                .execute(&mut *connection)
                .await?;
        }
        let keys = [self.configuration_key, self.variant_key];
        for (sql, key) in COUNTED.into_iter().zip(keys) {
            query(sql)
                .bind(key)
                .bind(by)
                .execute(&mut *connection)
                .await?;
        }
        if let Some(organization_key) = self.organization_key {
            query(COUNT_ORGANIZATION)
                .bind(organization_key)
                .bind(self.configuration_key)
                .bind(by)
                .execute(&mut *connection)
                .await?;
        }
        query(COUNT_SHAPES)
            .bind(self.run_key)
            .bind(by)
            .execute(connection)
            .await?;
        Ok(())
    }
}
