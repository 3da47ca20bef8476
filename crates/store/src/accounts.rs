use sqlx::any::AnyRow;
use sqlx::{Any, Row, Transaction};

use crate::{Dialect, Store, StoreError};

/// A person or a machine that publishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Names it in the database.
    pub account_key: i64,
    /// What people call it: lower case.
    pub name: String,
    /// May hide runs and see hidden ones.
    pub is_administrator: bool,
    /// Can sign in with a password.
    pub has_password: bool,
    /// The OpenID provider it signs in with.
    pub oidc_issuer: Option<String>,
    /// ms since 1970.
    pub created_at_ms: i64,
}

/// An account to be made.
#[derive(Debug, Clone, Copy)]
pub struct NewAccount<'a> {
    /// Lower case.
    pub name: &'a str,
    /// Argon2id, in PHC form.
    pub password_hash: Option<&'a str>,
    /// Issuer and subject at an OpenID provider.
    pub oidc: Option<(&'a str, &'a str)>,
    /// Now, ms since 1970.
    pub created_at_ms: i64,
}

/// The columns that [`account`] reads.
macro_rules! account_columns {
    () => {
        "accounts.account_key, accounts.name AS account_name, accounts.is_administrator, \
         CASE WHEN accounts.password_hash IS NULL THEN 0 ELSE 1 END AS has_password, \
         accounts.oidc_issuer, accounts.created_at_ms AS account_created_at_ms"
    };
}
pub(crate) use account_columns;

/// Reads the columns of [`account_columns`].
pub(crate) fn account(row: &AnyRow) -> Result<Account, sqlx::Error> {
    Ok(Account {
        account_key: row.try_get("account_key")?,
        name: row.try_get("account_name")?,
        is_administrator: row.try_get::<i64, _>("is_administrator")? != 0,
        has_password: row.try_get::<i64, _>("has_password")? != 0,
        oidc_issuer: row.try_get("oidc_issuer")?,
        created_at_ms: row.try_get("account_created_at_ms")?,
    })
}

impl Store {
    /// A transaction that changes accounts and what is theirs.
    pub(crate) async fn begin_account_change(
        &self,
    ) -> Result<Transaction<'static, Any>, StoreError> {
        Ok(match self.dialect {
            Dialect::Sqlite => self.write.begin_with("BEGIN IMMEDIATE").await?,
            Dialect::Postgres => self.write.begin().await?,
        })
    }

    /// Makes an account; the first one of a database is its administrator, however
    /// many are made at once. `None` when the name, or the person at the OpenID
    /// provider, has one already.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn create_account(&self, new: NewAccount<'_>) -> Result<Option<Account>, StoreError> {
        let mut transaction = self.begin_account_change().await?;
        if self.dialect == Dialect::Postgres {
            // One statement of SQLite sees and writes at once; here somebody could come between.
            sqlx::query("LOCK TABLE accounts IN SHARE ROW EXCLUSIVE MODE")
                .execute(&mut *transaction)
                .await?;
        }
        let (issuer, subject) = new.oidc.unzip();
        let row = sqlx::query(concat!(
            "INSERT INTO accounts \
             (name, password_hash, oidc_issuer, oidc_subject, is_administrator, created_at_ms) \
             SELECT $1, $2, $3, $4, \
             CASE WHEN EXISTS (SELECT 1 FROM accounts) THEN 0 ELSE 1 END, $5 \
             WHERE true ON CONFLICT DO NOTHING RETURNING ",
            account_columns!()
        ))
        .bind(new.name)
        .bind(new.password_hash)
        .bind(issuer)
        .bind(subject)
        .bind(new.created_at_ms)
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(row.as_ref().map(account).transpose()?)
    }

    /// The account with this name.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn account_by_name(&self, name: &str) -> Result<Option<Account>, StoreError> {
        let row = sqlx::query(concat!(
            "SELECT ",
            account_columns!(),
            " FROM accounts WHERE name = $1"
        ))
        .bind(name)
        .fetch_optional(&self.read)
        .await?;
        Ok(row.as_ref().map(account).transpose()?)
    }

    /// The account of a person at an OpenID provider.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn account_by_oidc(
        &self,
        issuer: &str,
        subject: &str,
    ) -> Result<Option<Account>, StoreError> {
        let row = sqlx::query(concat!(
            "SELECT ",
            account_columns!(),
            " FROM accounts WHERE oidc_issuer = $1 AND oidc_subject = $2"
        ))
        .bind(issuer)
        .bind(subject)
        .fetch_optional(&self.read)
        .await?;
        Ok(row.as_ref().map(account).transpose()?)
    }

    /// The hash of an account's password, where it has one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn password_hash(&self, name: &str) -> Result<Option<String>, StoreError> {
        let row = sqlx::query("SELECT password_hash FROM accounts WHERE name = $1")
            .bind(name)
            .fetch_optional(&self.read)
            .await?;
        Ok(row
            .map(|row| row.try_get::<Option<String>, _>("password_hash"))
            .transpose()?
            .flatten())
    }

    /// Sets an account's password and ends its sessions, but for the one named.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_password(
        &self,
        account_key: i64,
        password_hash: &str,
        kept_session_sha256: &str,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin_account_change().await?;
        sqlx::query("UPDATE accounts SET password_hash = $1 WHERE account_key = $2")
            .bind(password_hash)
            .bind(account_key)
            .execute(&mut *transaction)
            .await?;
        sqlx::query("DELETE FROM sessions WHERE account_key = $1 AND sha256 <> $2")
            .bind(account_key)
            .bind(kept_session_sha256)
            .execute(&mut *transaction)
            .await?;
        Ok(transaction.commit().await?)
    }
}
