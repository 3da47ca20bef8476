/// Why the store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database refused, broke or could not be reached.
    #[error("the database failed: {0}")]
    Database(sqlx::Error),
    /// The disk that the database is on is full. Nothing was kept.
    #[error("there is no room on the disk of the database: {0}")]
    NoRoom(sqlx::Error),
    /// A migration failed.
    #[error("the database could not be brought to this version: {0}")]
    Migration(#[from] sqlx::migrate::MigrateError),
    /// The address of the database is not one.
    #[error("`{0}` is no database: write sqlite:PATH or postgres://USER@HOST/NAME")]
    Url(String),
    /// A cursor that this store did not give.
    #[error("`{0}` is no page of this list: leave `after` out for the first page")]
    Cursor(String),
    /// A run with this id is published with other content.
    #[error("a run with the id {0} is published already, with other content")]
    RunExists(String),
    /// The idempotency key was used for another upload.
    #[error("the idempotency key was used for another document")]
    IdempotencyKeyReused,
    /// A number or name that no column holds.
    #[error("{0} cannot be stored")]
    Unstorable(String),
    /// An export could not be written or read.
    #[error("the export: {0}")]
    ExportFile(#[from] std::io::Error),
    /// An export is not one, or not of this version.
    #[error("line {line} of the export: {why}")]
    Export {
        /// From 1.
        line: u64,
        /// What is wrong, and what to do.
        why: String,
    },
    /// An import would mix with what is there.
    #[error("the database is not empty (the table {0} has rows): import into a new one")]
    NotEmpty(String),
    /// What was imported does not hold together.
    #[error("what was imported does not hold together: {0}")]
    ImportDiffers(String),
    /// What is stored does not read back.
    #[error("what is stored of {what} is damaged: {why}")]
    Damaged {
        /// A run, a table.
        what: String,
        /// What is wrong.
        why: String,
    },
}

/// SQLite's `SQLITE_FULL` and PostgreSQL's `disk_full`.
const NO_ROOM: [&str; 2] = ["13", "53100"];

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> StoreError {
        let code = error.as_database_error().and_then(|error| error.code());
        if code.is_some_and(|code| NO_ROOM.contains(&code.as_ref())) {
            StoreError::NoRoom(error)
        } else {
            StoreError::Database(error)
        }
    }
}
