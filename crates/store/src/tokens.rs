use sqlx::any::AnyRow;
use sqlx::{AnyConnection, Row};

use crate::accounts::{Account, account, account_columns};
use crate::{Store, StoreError};

/// Tokens of one account.
pub const TOKENS_MAX: i64 = 50;
/// When a token was last used is written no oftener than this: a minute.
const USED_GRAIN_MS: i64 = 60 * 1000;

/// A token to be kept.
#[derive(Debug, Clone, Copy)]
pub struct NewToken<'a> {
    /// Whose.
    pub account_key: i64,
    /// SHA-256 of the token, hex.
    pub sha256: &'a str,
    /// What its owner calls it.
    pub name: &'a str,
    /// May read what its account sees.
    pub may_read: bool,
    /// May publish and delete runs.
    pub may_publish: bool,
    /// Now, ms since 1970.
    pub now_ms: i64,
    /// ms since 1970; `None` for one that does not expire.
    pub expires_at_ms: Option<i64>,
}

/// A token of a program, without the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Names it in the database.
    pub token_key: i64,
    /// What its owner calls it.
    pub name: String,
    /// May read what its account sees.
    pub may_read: bool,
    /// May publish and delete runs.
    pub may_publish: bool,
    /// ms since 1970.
    pub created_at_ms: i64,
    /// ms since 1970; `None` for one that does not expire.
    pub expires_at_ms: Option<i64>,
    /// ms since 1970, to a minute.
    pub last_used_at_ms: Option<i64>,
}

/// The columns that [`token`] reads.
macro_rules! token_columns {
    () => {
        "token_key, tokens.name, may_read, may_publish, tokens.created_at_ms, expires_at_ms, \
         last_used_at_ms"
    };
}

impl Store {
    /// Keeps a token. `false` when the account has [`TOKENS_MAX`] already.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn create_token(&self, new: NewToken<'_>) -> Result<bool, StoreError> {
        let mut connection = self.write.acquire().await?;
        Ok(insert(&mut connection, new).await?)
    }

    /// The token with this hash, expired or not, and its account.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn token(&self, sha256: &str) -> Result<Option<(Account, Token)>, StoreError> {
        let row = sqlx::query(concat!(
            "SELECT ",
            token_columns!(),
            ", ",
            account_columns!(),
            " FROM tokens JOIN accounts ON accounts.account_key = tokens.account_key \
             WHERE sha256 = $1"
        ))
        .bind(sha256)
        .fetch_optional(&self.read)
        .await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some((account(&row)?, token(&row)?)))
    }

    /// Notes that a token is used.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn note_token_used(&self, token: &Token, now_ms: i64) -> Result<(), StoreError> {
        let noted_ms = token.last_used_at_ms.unwrap_or(i64::MIN);
        if now_ms.saturating_sub(noted_ms) < USED_GRAIN_MS {
            return Ok(());
        }
        sqlx::query("UPDATE tokens SET last_used_at_ms = $1 WHERE token_key = $2")
            .bind(now_ms)
            .bind(token.token_key)
            .execute(&self.write)
            .await?;
        Ok(())
    }

    /// An account's tokens, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn tokens(&self, account_key: i64) -> Result<Vec<Token>, StoreError> {
        let rows = sqlx::query(concat!(
            "SELECT ",
            token_columns!(),
            " FROM tokens WHERE account_key = $1 ORDER BY token_key DESC"
        ))
        .bind(account_key)
        .fetch_all(&self.read)
        .await?;
        Ok(rows.iter().map(token).collect::<Result<_, _>>()?)
    }

    /// Revokes a token of an account. `false` when the account has none of this key.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn revoke_token(&self, account_key: i64, token_key: i64) -> Result<bool, StoreError> {
        let done = sqlx::query("DELETE FROM tokens WHERE account_key = $1 AND token_key = $2")
            .bind(account_key)
            .bind(token_key)
            .execute(&self.write)
            .await?;
        Ok(done.rows_affected() > 0)
    }
}

/// Keeps a token, if the account may have one more.
pub(crate) async fn insert(
    connection: &mut AnyConnection,
    new: NewToken<'_>,
) -> Result<bool, sqlx::Error> {
    let done = sqlx::query(
        "INSERT INTO tokens \
             (account_key, sha256, name, may_read, may_publish, created_at_ms, expires_at_ms) \
             SELECT $1, $2, $3, $4, $5, $6, $7 \
             WHERE (SELECT COUNT(*) FROM tokens WHERE account_key = $1) < $8",
    )
    .bind(new.account_key)
    .bind(new.sha256)
    .bind(new.name)
    .bind(i64::from(new.may_read))
    .bind(i64::from(new.may_publish))
    .bind(new.now_ms)
    .bind(new.expires_at_ms)
    .bind(TOKENS_MAX)
    .execute(&mut *connection)
    .await?;
    Ok(done.rows_affected() > 0)
}

fn token(row: &AnyRow) -> Result<Token, sqlx::Error> {
    Ok(Token {
        token_key: row.try_get("token_key")?,
        name: row.try_get("name")?,
        may_read: row.try_get::<i64, _>("may_read")? != 0,
        may_publish: row.try_get::<i64, _>("may_publish")? != 0,
        created_at_ms: row.try_get("created_at_ms")?,
        expires_at_ms: row.try_get("expires_at_ms")?,
        last_used_at_ms: row.try_get("last_used_at_ms")?,
    })
}
