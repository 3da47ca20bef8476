use sqlx::Row;

use crate::{Store, StoreError};

/// Sign-ins under way at once; the oldest are forgotten.
const OIDC_REQUESTS_MAX: i64 = 10_000;

/// A sign-in that is under way at the OpenID provider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OidcRequest {
    /// What the ID token must hold.
    pub nonce: String,
    /// Proves to the provider that it is we who asked.
    pub pkce_verifier: String,
    /// Where to go then.
    pub next: String,
}

impl Store {
    /// Keeps a sign-in that is under way, and forgets those whose time is up.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn open_oidc_request(
        &self,
        state_sha256: &str,
        request: &OidcRequest,
        now_ms: i64,
        expires_at_ms: i64,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin_account_change().await?;
        sqlx::query(
            "DELETE FROM oidc_requests WHERE expires_at_ms <= $1 OR sha256 IN \
             (SELECT sha256 FROM oidc_requests ORDER BY expires_at_ms DESC LIMIT 1 OFFSET $2)",
        )
        .bind(now_ms)
        .bind(OIDC_REQUESTS_MAX)
        .execute(&mut *transaction)
        .await?;
        sqlx::query(
            "INSERT INTO oidc_requests (sha256, nonce, pkce_verifier, next, expires_at_ms) \
             VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(state_sha256)
        .bind(&request.nonce)
        .bind(&request.pkce_verifier)
        .bind(&request.next)
        .bind(expires_at_ms)
        .execute(&mut *transaction)
        .await?;
        Ok(transaction.commit().await?)
    }

    /// Takes the sign-in with this state: it can be finished once.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn take_oidc_request(
        &self,
        state_sha256: &str,
        now_ms: i64,
    ) -> Result<Option<OidcRequest>, StoreError> {
        let row = sqlx::query(
            "DELETE FROM oidc_requests WHERE sha256 = $1 AND expires_at_ms > $2 \
             RETURNING nonce, pkce_verifier, next",
        )
        .bind(state_sha256)
        .bind(now_ms)
        .fetch_optional(&self.write)
        .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(OidcRequest {
            nonce: row.try_get("nonce")?,
            pkce_verifier: row.try_get("pkce_verifier")?,
            next: row.try_get("next")?,
        }))
    }
}
