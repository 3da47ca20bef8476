use std::fmt;
use std::path::Path;
use std::str::FromStr;

use sqlx::any::AnyPoolOptions;
use sqlx::{Any, AnyConnection, AnyPool, AssertSqlSafe, Connection as _, Transaction};

use crate::StoreError;

/// Readers of SQLite at once.
const SQLITE_READERS: u32 = 4;
/// Memory for pages of each connection to SQLite, KiB.
const SQLITE_CACHE_KIB: u32 = 24 * 1024;
/// Pages of a new SQLite file: rows of cells and documents are read by the page.
const SQLITE_PAGE_BYTES: u32 = 8192;
/// Connections to PostgreSQL at once, of each of the two pools.
const POSTGRES_CONNECTIONS: u32 = 8;

/// Which database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// In a file of this machine.
    Sqlite,
    /// A server, which several sites can share.
    Postgres,
}

impl Dialect {
    /// SQLite keeps no statistics to choose an index by, and is told ` INDEXED BY …`.
    pub(crate) fn using(self, index: &'static str) -> &'static str {
        match self {
            Dialect::Sqlite => index,
            Dialect::Postgres => "",
        }
    }
}

/// `sqlite:PATH` or `postgres://…`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

impl FromStr for DatabaseUrl {
    type Err = StoreError;

    fn from_str(text: &str) -> Result<DatabaseUrl, StoreError> {
        let known = ["sqlite:", "postgres://", "postgresql://"]
            .into_iter()
            .any(|scheme| text.len() > scheme.len() && text.starts_with(scheme));
        if known {
            Ok(DatabaseUrl(text.to_owned()))
        } else {
            Err(StoreError::Url(without_access(text).to_owned()))
        }
    }
}

impl DatabaseUrl {
    /// The file of a SQLite database; `None` for a server, or for one in memory.
    #[must_use]
    pub fn file(&self) -> Option<&Path> {
        let path = self.0.strip_prefix("sqlite:")?;
        let path = path.strip_prefix("//").unwrap_or(path);
        let path = path.split('?').next().unwrap_or(path);
        (path != ":memory:").then(|| Path::new(path))
    }

    /// Which database it names.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        if self.0.starts_with("sqlite:") {
            Dialect::Sqlite
        } else {
            Dialect::Postgres
        }
    }
}

/// The address without what may be a password.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.dialect(), self.0.split_once("://")) {
            (Dialect::Postgres, Some((scheme, rest))) => {
                write!(f, "{scheme}://{}", without_access(rest))
            }
            (Dialect::Postgres | Dialect::Sqlite, _) => f.write_str(&self.0),
        }
    }
}

/// An address without user, password and parameters.
fn without_access(address: &str) -> &str {
    let place = address.rsplit_once('@').map_or(address, |(_, place)| place);
    place.split('?').next().unwrap_or(place)
}

/// The registry's database. Cloning shares its connections.
#[derive(Debug, Clone)]
pub struct Store {
    /// For reading.
    pub(crate) read: AnyPool,
    /// For writing: one connection on SQLite, which knows one writer at a time.
    pub(crate) write: AnyPool,
    pub(crate) dialect: Dialect,
}

impl Store {
    /// Connects, makes a SQLite file that is not there, and brings the tables to
    /// this version.
    ///
    /// # Errors
    /// When the database cannot be reached or migrated.
    pub async fn open(url: &DatabaseUrl) -> Result<Store, StoreError> {
        sqlx::any::install_default_drivers();
        let dialect = url.dialect();
        probe(url, dialect).await?;
        let (readers, writers) = match dialect {
            Dialect::Sqlite => (SQLITE_READERS, 1),
            Dialect::Postgres => (POSTGRES_CONNECTIONS, POSTGRES_CONNECTIONS),
        };
        let write = pool(url, dialect, writers).await?;
        match dialect {
            Dialect::Sqlite => sqlx::migrate!("migrations/sqlite").run(&write).await?,
            Dialect::Postgres => sqlx::migrate!("migrations/postgres").run(&write).await?,
        }
        let read = pool(url, dialect, readers).await?;
        Ok(Store {
            read,
            write,
            dialect,
        })
    }

    /// A transaction that reads one state of the database, whatever is written meanwhile.
    pub(crate) async fn begin_reading(&self) -> Result<Transaction<'static, Any>, StoreError> {
        Ok(match self.dialect {
            Dialect::Sqlite => self.read.begin().await?,
            Dialect::Postgres => {
                let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
                self.read.begin_with(begin).await?
            }
        })
    }

    /// A transaction that writes runs: one at a time, over all sites of a database, so
    /// that counts and bests are right and no two wait for each other.
    pub(crate) async fn begin_writing(&self) -> Result<Transaction<'static, Any>, StoreError> {
        match self.dialect {
            Dialect::Sqlite => Ok(self.write.begin_with("BEGIN IMMEDIATE").await?),
            Dialect::Postgres => {
                let mut transaction = self.write.begin().await?;
                sqlx::query("LOCK TABLE documents IN SHARE ROW EXCLUSIVE MODE")
                    .execute(&mut *transaction)
                    .await?;
                Ok(transaction)
            }
        }
    }

    /// Which database it is.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }
}

/// Opens one connection and says why it cannot: a pool tries for half a minute and
/// then says only that it did.
async fn probe(url: &DatabaseUrl, dialect: Dialect) -> Result<(), StoreError> {
    let mut connection = match dialect {
        Dialect::Sqlite => AnyConnection::connect(&made_if_missing(url)).await?,
        Dialect::Postgres => AnyConnection::connect(&url.0).await?,
    };
    if dialect == Dialect::Sqlite {
        sqlx::raw_sql("PRAGMA busy_timeout = 10000; SELECT count(*) FROM sqlite_schema;")
            .execute(&mut connection)
            .await?;
    }
    connection.close().await?;
    Ok(())
}

/// The address of a SQLite file that is made where there is none.
fn made_if_missing(url: &DatabaseUrl) -> String {
    let separator = if url.0.contains('?') { '&' } else { '?' };
    format!("{}{separator}mode=rwc", url.0)
}

async fn pool(url: &DatabaseUrl, dialect: Dialect, most: u32) -> Result<AnyPool, StoreError> {
    let options = AnyPoolOptions::new()
        .max_connections(most)
        .after_release(|connection, _| {
            Box::pin(async move {
                if !connection.is_in_transaction() {
                    return Ok(true);
                }
                // A rollback may be under way. Where the disk is full SQLite has ended
                // the transaction by itself and has none to roll back: a connection that
                // still counts one is no good for the next.
                connection.ping().await?;
                Ok(!connection.is_in_transaction())
            })
        });
    let pool = match dialect {
        Dialect::Sqlite => {
            options
                .after_connect(|connection, _| {
                    Box::pin(async move {
                        // FULL: what is acknowledged survives the machine, not only the process.
                        sqlx::raw_sql(AssertSqlSafe(format!(
                            "PRAGMA busy_timeout = 10000; PRAGMA page_size = {SQLITE_PAGE_BYTES}; \
                             PRAGMA journal_mode = WAL; \
                             PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; \
                             PRAGMA cache_size = -{SQLITE_CACHE_KIB};"
                        )))
                        .execute(&mut *connection)
                        .await?;
                        Ok(())
                    })
                })
                .connect(&made_if_missing(url))
                .await?
        }
        Dialect::Postgres => options.connect(&url.0).await?,
    };
    Ok(pool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_repeated() {
        let mistyped = "postgers://ann:secret@db.example/runs?password=secret";
        let error = mistyped.parse::<DatabaseUrl>().unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
        assert!(
            error.contains("`db.example/runs` is no database"),
            "{error}"
        );

        let right: DatabaseUrl = "postgres://ann:secret@db.example/runs".parse().unwrap();
        assert_eq!(right.to_string(), "postgres://db.example/runs");
    }
}
