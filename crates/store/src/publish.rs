use document::RunDocument;

use crate::{Store, StoreError};

/// A run to be kept.
#[derive(Debug)]
pub struct NewRun<'run> {
    /// The document's bytes as they came: kept unchanged.
    pub content: &'run [u8],
    /// The document as the site reads it, with the flags that it adds: what ranks.
    pub document: &'run RunDocument,
    /// Who publishes; `None` for the operator.
    pub account_key: Option<i64>,
    /// On whose behalf; membership was checked.
    pub organization_key: Option<i64>,
    /// Makes a repeated upload one run; needs an account.
    pub idempotency_key: Option<&'run str>,
    /// Now, ms since 1970.
    pub published_at_ms: i64,
}

/// What became of a new run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    /// Names the run.
    pub id: String,
    /// False where the same content, or the same idempotency key, was there before.
    pub created: bool,
}

impl Store {
    /// Keeps a run: document, cells, counts and best cells, all or nothing. When
    /// this returns, the run survives the process.
    ///
    /// # Errors
    /// [`StoreError::RunExists`] for an id that has other content,
    /// [`StoreError::IdempotencyKeyReused`] for a key used with another document.
    pub async fn publish(&self, run: NewRun<'_>) -> Result<Published, StoreError> {
        todo!("{run:?}")
    }

    /// Deletes a run with its document, cells, counts and best cells; the best of
    /// those left take their places. `false` when there is none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn delete_run(&self, id: &str) -> Result<bool, StoreError> {
        todo!("{id}")
    }

    /// Hides a run, for a reason its author reads: it is in no list, count or ranking.
    /// `false` when there is none.
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
        todo!("{id} {by_account_key} {reason} {at_ms}")
    }

    /// Shows a hidden run again. `false` when there is none.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn show_run(&self, id: &str) -> Result<bool, StoreError> {
        todo!("{id}")
    }
}
