use sqlx::Row;
use sqlx::any::AnyRow;

use crate::{Store, StoreError};

/// Terminals that ask at once; more are refused until some are answered or too old.
const DEVICE_REQUESTS_MAX: i64 = 10_000;
/// What a terminal that asks too often has to add to its interval (RFC 8628, 3.5).
const SLOW_DOWN_S: i64 = 5;

/// A terminal that asks to be signed in.
#[derive(Debug, Clone, Copy)]
pub struct NewDeviceRequest<'a> {
    /// SHA-256 of the code that the terminal keeps, hex.
    pub sha256: &'a str,
    /// The code that its owner types.
    pub user_code: &'a str,
    /// As the terminal calls itself.
    pub client: &'a str,
    /// Asks to read.
    pub may_read: bool,
    /// Asks to publish.
    pub may_publish: bool,
    /// How long it waits between two polls.
    pub interval_s: i64,
    /// Now, ms since 1970.
    pub now_ms: i64,
    /// ms since 1970.
    pub expires_at_ms: i64,
}

/// What a terminal asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceRequest {
    /// As it calls itself.
    pub client: String,
    /// Asks to read.
    pub may_read: bool,
    /// Asks to publish.
    pub may_publish: bool,
}

/// What a terminal that polls is told, in RFC 8628's terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DevicePoll {
    /// `authorization_pending`
    Pending,
    /// `slow_down`
    SlowDown,
    /// `access_denied`
    Denied,
    /// `expired_token`; also a code that was used, or that nobody gave.
    Expired,
    /// The token is kept.
    Approved,
    /// The account has as many tokens as it may have.
    TooManyTokens,
}

impl Store {
    /// Keeps a terminal's request, and forgets those whose time is up. `false` when
    /// there are too many, or the user code is in use.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn open_device_request(&self, new: NewDeviceRequest<'_>) -> Result<bool, StoreError> {
        let mut transaction = self.begin_account_change().await?;
        sqlx::query("DELETE FROM device_requests WHERE expires_at_ms <= $1")
            .bind(new.now_ms)
            .execute(&mut *transaction)
            .await?;
        let done = sqlx::query(
            "INSERT INTO device_requests \
             (sha256, user_code, client, may_read, may_publish, state, interval_s, expires_at_ms) \
             SELECT $1, $2, $3, $4, $5, 'pending', $6, $7 \
             WHERE (SELECT COUNT(*) FROM device_requests) < $8 ON CONFLICT DO NOTHING",
        )
        .bind(new.sha256)
        .bind(new.user_code)
        .bind(new.client)
        .bind(i64::from(new.may_read))
        .bind(i64::from(new.may_publish))
        .bind(new.interval_s)
        .bind(new.expires_at_ms)
        .bind(DEVICE_REQUESTS_MAX)
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    /// What the terminal with this user code asks for, while nobody has answered.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn device_request(
        &self,
        user_code: &str,
        now_ms: i64,
    ) -> Result<Option<DeviceRequest>, StoreError> {
        let row = sqlx::query(
            "SELECT client, may_read, may_publish FROM device_requests \
             WHERE user_code = $1 AND state = 'pending' AND expires_at_ms > $2",
        )
        .bind(user_code)
        .bind(now_ms)
        .fetch_optional(&self.read)
        .await?;
        Ok(row.as_ref().map(request).transpose()?)
    }

    /// Answers a terminal, once. `false` when it does not ask any more.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn answer_device_request(
        &self,
        user_code: &str,
        account_key: i64,
        approved: bool,
        now_ms: i64,
    ) -> Result<bool, StoreError> {
        let done = sqlx::query(
            "UPDATE device_requests SET state = $1, account_key = $2 \
             WHERE user_code = $3 AND state = 'pending' AND expires_at_ms > $4",
        )
        .bind(if approved { "approved" } else { "denied" })
        .bind(account_key)
        .bind(user_code)
        .bind(now_ms)
        .execute(&self.write)
        .await?;
        Ok(done.rows_affected() > 0)
    }

    /// A terminal polls. If its owner said yes, the token with this hash is kept for it
    /// and the request is gone: it works once.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn poll_device_request(
        &self,
        sha256: &str,
        token_sha256: &str,
        now_ms: i64,
    ) -> Result<DevicePoll, StoreError> {
        let mut transaction = self.begin_account_change().await?;
        // Written first, so that two polls with one code come one after the other.
        let row = sqlx::query(
            "UPDATE device_requests SET state = state WHERE sha256 = $1 AND expires_at_ms > $2 \
             RETURNING state, client, may_read, may_publish, interval_s, polled_at_ms, account_key",
        )
        .bind(sha256)
        .bind(now_ms)
        .fetch_optional(&mut *transaction)
        .await?;
        let Some(row) = row else {
            return Ok(DevicePoll::Expired);
        };
        let state: String = row.try_get("state")?;
        let account_key: Option<i64> = row.try_get("account_key")?;
        let poll = match (state.as_str(), account_key) {
            ("approved", Some(account_key)) => {
                let asked = request(&row)?;
                let kept = crate::tokens::insert(
                    &mut transaction,
                    crate::NewToken {
                        account_key,
                        sha256: token_sha256,
                        name: &asked.client,
                        may_read: asked.may_read,
                        may_publish: asked.may_publish,
                        now_ms,
                        expires_at_ms: None,
                    },
                );
                if kept.await? {
                    DevicePoll::Approved
                } else {
                    DevicePoll::TooManyTokens
                }
            }
            ("pending", _) => wait(&mut transaction, sha256, &row, now_ms).await?,
            _ => DevicePoll::Denied,
        };
        if !matches!(poll, DevicePoll::Pending | DevicePoll::SlowDown) {
            sqlx::query("DELETE FROM device_requests WHERE sha256 = $1")
                .bind(sha256)
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(poll)
    }
}

/// Notes when a terminal polled, and whether that was too soon.
async fn wait(
    connection: &mut sqlx::AnyConnection,
    sha256: &str,
    row: &AnyRow,
    now_ms: i64,
) -> Result<DevicePoll, sqlx::Error> {
    let interval_s: i64 = row.try_get("interval_s")?;
    let polled_at_ms: Option<i64> = row.try_get("polled_at_ms")?;
    let too_soon = polled_at_ms.is_some_and(|at_ms| now_ms - at_ms < interval_s * 1000);
    sqlx::query("UPDATE device_requests SET polled_at_ms = $1, interval_s = $2 WHERE sha256 = $3")
        .bind(now_ms)
        .bind(if too_soon {
            interval_s + SLOW_DOWN_S
        } else {
            interval_s
        })
        .bind(sha256)
        .execute(&mut *connection)
        .await?;
    Ok(if too_soon {
        DevicePoll::SlowDown
    } else {
        DevicePoll::Pending
    })
}

fn request(row: &AnyRow) -> Result<DeviceRequest, sqlx::Error> {
    Ok(DeviceRequest {
        client: row.try_get("client")?,
        may_read: row.try_get::<i64, _>("may_read")? != 0,
        may_publish: row.try_get::<i64, _>("may_publish")? != 0,
    })
}
