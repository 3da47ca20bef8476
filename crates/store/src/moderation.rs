use sqlx::{Any, Transaction, query};

use crate::kept::RunPlace;
use crate::{Store, StoreError};

/// What goes with a run: its rows, and names that no other run has.
const DELETED: [(&str, Key); 8] = [
    ("DELETE FROM cells WHERE run_key = $1", Key::Run),
    (
        "DELETE FROM idempotency_keys WHERE run_id = (SELECT id FROM runs WHERE run_key = $1)",
        Key::Run,
    ),
    ("DELETE FROM runs WHERE run_key = $1", Key::Run),
    (
        "DELETE FROM documents WHERE sha256 = $1 \
         AND NOT EXISTS (SELECT 1 FROM runs WHERE sha256 = $1)",
        Key::Content,
    ),
    (
        "DELETE FROM configurations WHERE configuration_key = $1 \
         AND NOT EXISTS (SELECT 1 FROM runs WHERE configuration_key = $1)",
        Key::Configuration,
    ),
    (
        "DELETE FROM models WHERE model_key = $1 \
         AND NOT EXISTS (SELECT 1 FROM configurations WHERE model_key = $1)",
        Key::Model,
    ),
    (
        "DELETE FROM hardware WHERE hardware_key = $1 \
         AND NOT EXISTS (SELECT 1 FROM configurations WHERE hardware_key = $1)",
        Key::Hardware,
    ),
    (
        "DELETE FROM variants WHERE variant_key = $1 \
         AND NOT EXISTS (SELECT 1 FROM configurations WHERE variant_key = $1)",
        Key::Variant,
    ),
];

/// What a statement is about.
#[derive(Clone, Copy)]
enum Key {
    Run,
    Content,
    Configuration,
    Model,
    Hardware,
    Variant,
}

impl Store {
    /// Deletes a run with its document, cells, counts and best cells; the best of
    /// those left take their places. `false` when there is none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn delete_run(&self, id: &str) -> Result<bool, StoreError> {
        let mut transaction = self.begin_writing().await?;
        let Some(place) = RunPlace::find(&mut transaction, id).await? else {
            return Ok(false);
        };
        if !place.is_hidden {
            // Its author's wish needs no reason, and the mark goes with the run.
            query("UPDATE runs SET hidden_at_ms = 0 WHERE run_key = $1")
                .bind(place.run_key)
                .execute(&mut *transaction)
                .await?;
            place.leave(&mut transaction).await?;
        }
        delete_rows(&mut transaction, &place).await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Hides a run, for a reason its author reads: it is in no list, count or ranking.
    /// Of a hidden run the reason is replaced. `false` when there is none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn hide_run(
        &self,
        id: &str,
        by_account_key: i64,
        reason: &str,
        at_ms: i64,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.begin_writing().await?;
        let Some(place) = RunPlace::find(&mut transaction, id).await? else {
            return Ok(false);
        };
        query(
            "UPDATE runs SET hidden_at_ms = $2, hidden_reason = $3, hidden_by_account_key = $4 \
             WHERE run_key = $1",
        )
        .bind(place.run_key)
        .bind(at_ms)
        // PostgreSQL has no zero byte in texts.
        .bind(reason.replace('\0', ""))
        .bind(by_account_key)
        .execute(&mut *transaction)
        .await?;
        if !place.is_hidden {
            place.leave(&mut transaction).await?;
        }
        transaction.commit().await?;
        Ok(true)
    }

    /// Shows a hidden run again. `false` when there is none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn show_run(&self, id: &str) -> Result<bool, StoreError> {
        let mut transaction = self.begin_writing().await?;
        let Some(place) = RunPlace::find(&mut transaction, id).await? else {
            return Ok(false);
        };
        if place.is_hidden {
            query(
                "UPDATE runs SET hidden_at_ms = NULL, hidden_reason = NULL, \
                 hidden_by_account_key = NULL WHERE run_key = $1",
            )
            .bind(place.run_key)
            .execute(&mut *transaction)
            .await?;
            place.enter(&mut transaction).await?;
            transaction.commit().await?;
        }
        Ok(true)
    }
}

async fn delete_rows(
    transaction: &mut Transaction<'static, Any>,
    place: &RunPlace,
) -> Result<(), StoreError> {
    for (sql, key) in DELETED {
        let statement = match key {
            Key::Content => query(sql).bind(place.sha256.as_str()),
            Key::Run => query(sql).bind(place.run_key),
            Key::Configuration => query(sql).bind(place.configuration_key),
            Key::Model => query(sql).bind(place.model_key),
            Key::Hardware => query(sql).bind(place.hardware_key),
            Key::Variant => query(sql).bind(place.variant_key),
        };
        statement.execute(&mut **transaction).await?;
    }
    Ok(())
}
