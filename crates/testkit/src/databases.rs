use std::io::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use sqlx::{AnyConnection, AssertSqlSafe, Connection as _, Executor as _};
use tempfile::TempDir;

/// Names the PostgreSQL server that tests use, `postgres://USER@HOST/NAME`.
/// `scripts/postgres start` starts one.
pub const POSTGRES_VARIABLE: &str = "TOKGRID_TEST_POSTGRES";

/// Why there is no database to test with.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// A folder for SQLite.
    #[error("no folder for a database: {0}")]
    Folder(#[from] std::io::Error),
    /// The server.
    #[error("PostgreSQL, named by {POSTGRES_VARIABLE}: {0}")]
    Postgres(#[from] sqlx::Error),
}

/// An empty database of this test alone, gone when it is dropped or removed.
#[derive(Debug)]
pub struct FreshDatabase {
    url: String,
    home: Home,
}

#[derive(Debug)]
enum Home {
    Sqlite(#[expect(dead_code, reason = "the folder lasts as long as it is held")] TempDir),
    Postgres { server: String, schema: String },
}

impl FreshDatabase {
    /// A file of SQLite.
    ///
    /// # Errors
    /// When there is no folder for it.
    pub fn sqlite() -> Result<FreshDatabase, DatabaseError> {
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("tokgrid.db");
        Ok(FreshDatabase {
            url: format!("sqlite:{}", file.display()),
            home: Home::Sqlite(folder),
        })
    }

    /// A schema of its own on the server that the environment names; `None`, and a
    /// line that says so, where it names none.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub async fn postgres() -> Result<Option<FreshDatabase>, DatabaseError> {
        let Ok(server) = std::env::var(POSTGRES_VARIABLE) else {
            writeln!(
                std::io::stderr(),
                "NOT TESTED ON POSTGRESQL: {POSTGRES_VARIABLE} is not set (scripts/postgres start)"
            )?;
            return Ok(None);
        };
        let schema = unused_name();
        on_server(&server, format!("CREATE SCHEMA {schema}")).await?;
        let separator = if server.contains('?') { '&' } else { '?' };
        Ok(Some(FreshDatabase {
            url: format!("{server}{separator}options[search_path]={schema}"),
            home: Home::Postgres { server, schema },
        }))
    }

    /// Where it is, as `--db` takes it.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Removes it from the server. A file goes by itself.
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub async fn remove(self) -> Result<(), DatabaseError> {
        match self.home {
            Home::Sqlite(_) => Ok(()),
            Home::Postgres { server, schema } => {
                on_server(&server, format!("DROP SCHEMA {schema} CASCADE")).await
            }
        }
    }
}

/// Runs a test's body on a fresh SQLite database and on a fresh PostgreSQL one, the
/// latter where the environment names a server.
///
/// # Errors
/// When there is no database to test with.
pub async fn on_both(body: impl AsyncFn(String)) -> Result<(), DatabaseError> {
    let sqlite = FreshDatabase::sqlite()?;
    body(sqlite.url().to_owned()).await;
    sqlite.remove().await?;
    if let Some(postgres) = FreshDatabase::postgres().await? {
        body(postgres.url().to_owned()).await;
        postgres.remove().await?;
    }
    Ok(())
}

async fn on_server(server: &str, sql: String) -> Result<(), DatabaseError> {
    sqlx::any::install_default_drivers();
    let mut connection = AnyConnection::connect(server).await?;
    connection
        .execute(sqlx::raw_sql(AssertSqlSafe(sql)))
        .await?;
    connection.close().await?;
    Ok(())
}

/// No other test, of this process or another, has it.
fn unused_name() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let since_1970 = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    format!(
        "test_{}_{}_{number}",
        std::process::id(),
        since_1970.as_nanos()
    )
}
