use document::RunDocument;
use sqlx::{AnyConnection, Row as _, query};

use crate::columns::RunColumns;
use crate::content::Content;
use crate::kept::RunPlace;
use crate::statement::Statement;
use crate::{Store, StoreError, cell_rows, naming};

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
    /// [`StoreError::IdempotencyKeyReused`] for a key used with another document,
    /// [`StoreError::Unstorable`] for what no column holds.
    pub async fn publish(&self, run: NewRun<'_>) -> Result<Published, StoreError> {
        let mut published = self.publish_many(std::slice::from_ref(&run)).await?;
        published.pop().ok_or(sqlx::Error::RowNotFound.into())
    }

    /// Keeps several runs in one transaction, in this order: all or none.
    ///
    /// # Errors
    /// As [`Store::publish`].
    pub async fn publish_many(&self, runs: &[NewRun<'_>]) -> Result<Vec<Published>, StoreError> {
        // Read and compressed before anybody has to wait.
        let prepared: Vec<Prepared<'_>> =
            runs.iter().map(Prepared::of).collect::<Result<_, _>>()?;
        let mut transaction = self.begin_writing().await?;
        let mut published = Vec::with_capacity(runs.len());
        for run in &prepared {
            published.push(run.publish(&mut transaction).await?);
        }
        transaction.commit().await?;
        Ok(published)
    }
}

/// A run with all that can be known of it without the database.
struct Prepared<'run> {
    run: &'run NewRun<'run>,
    columns: RunColumns,
    content: Content,
}

impl<'run> Prepared<'run> {
    fn of(run: &'run NewRun<'run>) -> Result<Prepared<'run>, StoreError> {
        Ok(Prepared {
            run,
            columns: RunColumns::of(run.document)?,
            content: Content::of(run.content)?,
        })
    }

    async fn publish(&self, connection: &mut AnyConnection) -> Result<Published, StoreError> {
        if let Some(id) = self.answered_before(connection).await? {
            return Ok(Published { id, created: false });
        }
        if let Some(id) = self.same_content(connection).await? {
            self.keep_idempotency_key(connection, &id).await?;
            return Ok(Published { id, created: false });
        }
        let id = &self.columns.id;
        if RunPlace::find(connection, id).await?.is_some() {
            return Err(StoreError::RunExists(id.clone()));
        }
        self.content.insert(connection).await?;
        let place = self.insert_run(connection).await?;
        cell_rows::insert(connection, place.run_key, &self.columns.cells).await?;
        place.enter(connection).await?;
        self.keep_idempotency_key(connection, id).await?;
        Ok(Published {
            id: id.clone(),
            created: true,
        })
    }

    /// The account and key of a repeatable upload.
    fn idempotency(&self) -> Option<(i64, &str)> {
        self.run.account_key.zip(self.run.idempotency_key)
    }

    async fn answered_before(
        &self,
        connection: &mut AnyConnection,
    ) -> Result<Option<String>, StoreError> {
        let Some((account_key, key)) = self.idempotency() else {
            return Ok(None);
        };
        let row = query(
            "SELECT request_sha256, run_id FROM idempotency_keys \
             WHERE account_key = $1 AND idempotency_key = $2",
        )
        .bind(account_key)
        .bind(key)
        .fetch_optional(connection)
        .await?;
        let Some(row) = row else { return Ok(None) };
        if row.try_get::<String, _>(0)? != self.content.sha256 {
            return Err(StoreError::IdempotencyKeyReused);
        }
        Ok(Some(row.try_get(1)?))
    }

    async fn same_content(
        &self,
        connection: &mut AnyConnection,
    ) -> Result<Option<String>, StoreError> {
        let row = query("SELECT id FROM runs WHERE sha256 = $1")
            .bind(self.content.sha256.as_str())
            .fetch_optional(connection)
            .await?;
        Ok(row.map(|row| row.try_get(0)).transpose()?)
    }

    async fn keep_idempotency_key(
        &self,
        connection: &mut AnyConnection,
        id: &str,
    ) -> Result<(), StoreError> {
        let Some((account_key, key)) = self.idempotency() else {
            return Ok(());
        };
        query(
            "INSERT INTO idempotency_keys \
             (account_key, idempotency_key, request_sha256, run_id, created_at_ms) \
             VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(account_key)
        .bind(key)
        .bind(self.content.sha256.as_str())
        .bind(id)
        .bind(self.run.published_at_ms)
        .execute(connection)
        .await?;
        Ok(())
    }

    async fn insert_run(&self, connection: &mut AnyConnection) -> Result<RunPlace, StoreError> {
        let columns = &self.columns;
        let model_key = naming::model(connection, &columns.model).await?;
        let hardware_key = naming::hardware(connection, &columns.hardware).await?;
        let variant_key = naming::variant(connection, columns).await?;
        let configuration_key =
            naming::configuration(connection, model_key, hardware_key, variant_key).await?;
        let mut statement = Statement::new(
            "INSERT INTO runs (id, sha256, published_at_ms, measured_at_ms, configuration_key, \
             model_key, hardware_key, variant_key, account_key, organization_key, author, \
             engine_version, cell_count, context_tokens_max, concurrency_max, decode_tok_s_max, \
             prefill_tok_s_max) VALUES (",
        );
        let cell_count = i64::try_from(columns.cells.len()).unwrap_or(i64::MAX);
        statement
            .bind_all([columns.id.as_str(), self.content.sha256.as_str()])?
            .push(", ")
            .bind_all([Some(self.run.published_at_ms), columns.measured_at_ms])?
            .push(", ")
            .bind_all([configuration_key, model_key, hardware_key, variant_key])?
            .push(", ")
            .bind_all([self.run.account_key, self.run.organization_key])?
            .push(", ")
            .bind_all([&columns.author, &columns.engine_version].map(Option::as_deref))?
            .push(", ")
            .bind_all([
                Some(cell_count),
                columns.context_tokens_max,
                columns.concurrency_max,
            ])?
            .push(", ")
            .bind_all([columns.decode_tok_s_max, columns.prefill_tok_s_max])?
            .push(") RETURNING run_key");
        let row = statement.query_once().fetch_one(connection).await?;
        Ok(RunPlace {
            run_key: row.try_get(0)?,
            configuration_key,
            model_key,
            hardware_key,
            variant_key,
            organization_key: self.run.organization_key,
            published_at_ms: self.run.published_at_ms,
            sha256: self.content.sha256.clone(),
            is_hidden: false,
        })
    }
}
