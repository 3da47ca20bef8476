use sqlx::Row;

use crate::{Hidden, Store, StoreError};

/// Hidden runs that are listed.
const HIDDEN_LISTED_MAX: i64 = 500;

/// A run that is not shown, for those who decide about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenRun {
    /// Names the run.
    pub id: String,
    /// Its model.
    pub model: String,
    /// Name of the account that published it.
    pub account: Option<String>,
    /// Why, and since when.
    pub hidden: Hidden,
    /// Name of the administrator who hid it.
    pub by: Option<String>,
}

impl Store {
    /// Runs that are hidden, the latest first; at most 500 of them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn hidden_runs(&self) -> Result<Vec<HiddenRun>, StoreError> {
        let rows = sqlx::query(
            "SELECT runs.id AS run_id, models.id AS model_id, author.name AS author_name, \
             hidden_at_ms, hidden_reason, moderator.name AS moderator_name FROM runs \
             JOIN models ON models.model_key = runs.model_key \
             LEFT JOIN accounts author ON author.account_key = runs.account_key \
             LEFT JOIN accounts moderator ON moderator.account_key = runs.hidden_by_account_key \
             WHERE hidden_at_ms IS NOT NULL ORDER BY hidden_at_ms DESC LIMIT $1",
        )
        .bind(HIDDEN_LISTED_MAX)
        .fetch_all(&self.read)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(HiddenRun {
                    id: row.try_get("run_id")?,
                    model: row.try_get("model_id")?,
                    account: row.try_get("author_name")?,
                    hidden: Hidden {
                        at_ms: row.try_get("hidden_at_ms")?,
                        reason: row
                            .try_get::<Option<String>, _>("hidden_reason")?
                            .unwrap_or_default(),
                    },
                    by: row.try_get("moderator_name")?,
                })
            })
            .collect()
    }
}
