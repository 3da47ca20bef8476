use sqlx::Row;

use crate::accounts::{Account, account, account_columns};
use crate::{Store, StoreError};

/// Sessions of one account; more end the oldest.
const SESSIONS_MAX: i64 = 50;
/// When a session was last seen is written no oftener than this: 5 minutes.
const SEEN_GRAIN_MS: i64 = 5 * 60 * 1000;

/// A session to be opened.
#[derive(Debug, Clone, Copy)]
pub struct NewSession<'a> {
    /// Whose.
    pub account_key: i64,
    /// SHA-256 of the secret that the browser keeps, hex.
    pub sha256: &'a str,
    /// As the browser calls itself.
    pub browser: &'a str,
    /// Now, ms since 1970.
    pub now_ms: i64,
    /// ms since 1970.
    pub expires_at_ms: i64,
}

/// A browser that is signed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Names it in the database.
    pub session_key: i64,
    /// As the browser calls itself.
    pub browser: String,
    /// ms since 1970.
    pub created_at_ms: i64,
    /// ms since 1970, to five minutes.
    pub last_seen_at_ms: i64,
}

impl Store {
    /// Opens a session, and forgets the account's expired and surplus ones.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn open_session(&self, new: NewSession<'_>) -> Result<(), StoreError> {
        let mut transaction = self.begin_account_change().await?;
        sqlx::query(
            "DELETE FROM sessions WHERE account_key = $1 AND (expires_at_ms <= $2 OR session_key IN \
             (SELECT session_key FROM sessions WHERE account_key = $1 \
             ORDER BY session_key DESC LIMIT $3 OFFSET $4))",
        )
        .bind(new.account_key)
        .bind(new.now_ms)
        .bind(SESSIONS_MAX)
        .bind(SESSIONS_MAX - 1)
        .execute(&mut *transaction)
        .await?;
        sqlx::query(
            "INSERT INTO sessions \
             (account_key, sha256, browser, created_at_ms, last_seen_at_ms, expires_at_ms) \
             VALUES ($1, $2, $3, $4, $4, $5)",
        )
        .bind(new.account_key)
        .bind(new.sha256)
        .bind(new.browser)
        .bind(new.now_ms)
        .bind(new.expires_at_ms)
        .execute(&mut *transaction)
        .await?;
        Ok(transaction.commit().await?)
    }

    /// The account of a session that has not ended.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn session(
        &self,
        sha256: &str,
        now_ms: i64,
    ) -> Result<Option<(Account, Session)>, StoreError> {
        let row = sqlx::query(concat!(
            "SELECT session_key, browser, sessions.created_at_ms, last_seen_at_ms, ",
            account_columns!(),
            " FROM sessions JOIN accounts ON accounts.account_key = sessions.account_key \
             WHERE sha256 = $1 AND expires_at_ms > $2"
        ))
        .bind(sha256)
        .bind(now_ms)
        .fetch_optional(&self.read)
        .await?;
        let Some(row) = row else { return Ok(None) };
        let (account, session) = (account(&row)?, session(&row)?);
        if now_ms - session.last_seen_at_ms >= SEEN_GRAIN_MS {
            sqlx::query("UPDATE sessions SET last_seen_at_ms = $1 WHERE session_key = $2")
                .bind(now_ms)
                .bind(session.session_key)
                .execute(&self.write)
                .await?;
        }
        Ok(Some((account, session)))
    }

    /// An account's sessions that have not ended, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn sessions(
        &self,
        account_key: i64,
        now_ms: i64,
    ) -> Result<Vec<Session>, StoreError> {
        let rows = sqlx::query(
            "SELECT session_key, browser, created_at_ms, last_seen_at_ms FROM sessions \
             WHERE account_key = $1 AND expires_at_ms > $2 ORDER BY session_key DESC",
        )
        .bind(account_key)
        .bind(now_ms)
        .fetch_all(&self.read)
        .await?;
        Ok(rows.iter().map(session).collect::<Result<_, _>>()?)
    }

    /// Ends a session of an account. `false` when the account has none of this key.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn end_session(
        &self,
        account_key: i64,
        session_key: i64,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query("DELETE FROM sessions WHERE account_key = $1 AND session_key = $2")
            .bind(account_key)
            .bind(session_key)
            .execute(&self.write)
            .await?;
        Ok(done.rows_affected() > 0)
    }
}

fn session(row: &sqlx::any::AnyRow) -> Result<Session, sqlx::Error> {
    Ok(Session {
        session_key: row.try_get("session_key")?,
        browser: row.try_get("browser")?,
        created_at_ms: row.try_get("created_at_ms")?,
        last_seen_at_ms: row.try_get("last_seen_at_ms")?,
    })
}
