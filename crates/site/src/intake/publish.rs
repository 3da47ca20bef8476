//! From a document to a run of the registry.

use jiff::Timestamp;
use store::{NewRun, Published, StoreError};

use super::Received;
use crate::site::Site;

/// Who publishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Publisher<'who> {
    /// The account; `None` for the operator of the site.
    pub account_key: Option<i64>,
    /// On whose behalf; that the account may is checked before.
    pub organization_key: Option<i64>,
    /// Makes a repeated upload one run; needs an account.
    pub idempotency_key: Option<&'who str>,
}

/// Keeps a run. When this returns, it survives the process.
///
/// # Errors
/// [`StoreError::RunExists`] for an id that has other content,
/// [`StoreError::IdempotencyKeyReused`] for a key used with another document, and
/// when the database fails.
pub async fn publish(
    site: &Site,
    received: &Received,
    publisher: Publisher<'_>,
) -> Result<Published, StoreError> {
    site.store
        .publish(NewRun {
            content: &received.content,
            document: &received.document,
            account_key: publisher.account_key,
            organization_key: publisher.organization_key,
            idempotency_key: publisher.idempotency_key,
            published_at_ms: Timestamp::now().as_millisecond(),
        })
        .await
}
