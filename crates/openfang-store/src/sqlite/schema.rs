//! Opens the file and updates its schema: forward only, each step in a transaction.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, params};
use uuid::Uuid;

use super::identity;
use crate::ResendKey;

/// Each entry migrates the schema by one version. Released entries never change.
const MIGRATIONS: [&str; 21] = [
    include_str!("../../migrations/001.sql"),
    include_str!("../../migrations/002_peer_names.sql"),
    include_str!("../../migrations/003_push.sql"),
    include_str!("../../migrations/004_users.sql"),
    include_str!("../../migrations/005_cheaper_tasks.sql"),
    include_str!("../../migrations/006_task_heads.sql"),
    include_str!("../../migrations/007_owner_bytes.sql"),
    include_str!("../../migrations/008_push_maker.sql"),
    include_str!("../../migrations/009_audit_streams.sql"),
    include_str!("../../migrations/010_kept_results.sql"),
    include_str!("../../migrations/011_remotes.sql"),
    include_str!("../../migrations/012_profiles.sql"),
    include_str!("../../migrations/013_transcripts.sql"),
    include_str!("../../migrations/014_queue.sql"),
    include_str!("../../migrations/015_approvals.sql"),
    include_str!("../../migrations/016_usage.sql"),
    include_str!("../../migrations/017_schedules.sql"),
    include_str!("../../migrations/018_events.sql"),
    include_str!("../../migrations/019_task_doors.sql"),
    include_str!("../../migrations/020_approval_askers.sql"),
    include_str!("../../migrations/021_result_scopes.sql"),
];

/// The schema version of this program.
pub(super) const KNOWN: u32 = MIGRATIONS.len() as u32;

/// The version that introduced digests of messages.
const DIGESTS: u32 = 5;
const KEYS_AT_A_TIME: i64 = 1_000;

/// How long a statement waits for another process. Our own batches take milliseconds.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(30);
/// The pause while another process creates the same file.
const BUSY_PAUSE: Duration = Duration::from_millis(5);
/// A negative number means kibibytes.
const WRITER_CACHE_KIB: i32 = -16_384;
/// `OpFg`: identifies files of OpenFang.
const APPLICATION_ID: i32 = 0x4f70_4667;

/// Why the database cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// There is none yet.
    #[error("there is no database at {path} yet; `openfang start` creates one", path = path.display())]
    Missing {
        /// Where it would be.
        path: PathBuf,
    },
    /// A newer version of the program has changed it.
    #[error("{path} has schema version {found}, and this openfang knows {known}; use a newer openfang, or restore a backup", path = path.display())]
    Newer { path: PathBuf, found: u32, known: u32 },
    /// It is somebody else's.
    #[error("{path} is not a database of openfang; move it away, or set another home", path = path.display())]
    Foreign { path: PathBuf },
    #[error("{path} is damaged ({why}); stop openfang and restore a backup with `openfang restore`, or begin with a new one with `openfang home accept`", path = path.display())]
    Damaged { path: PathBuf, why: String },
    /// The home had a database, and it is missing or empty.
    #[error("{path} {}, and this home had a database; restore a backup with `openfang restore`, or begin with a new one with `openfang home accept`", .why.as_str(), path = path.display())]
    Lost {
        path: PathBuf,
        /// What is seen of it.
        why: Loss,
    },
    /// It belongs to another home.
    #[error("{path} is the database of another home; restore a backup with `openfang restore`, or take it over with `openfang home accept`", path = path.display())]
    OtherHome { path: PathBuf },
    /// SQLite cannot open or write it.
    #[error("the database cannot be opened: {0}")]
    Sqlite(#[source] rusqlite::Error),
    /// A thread could not be started.
    #[error("a thread cannot be started: {0}")]
    Thread(#[source] std::io::Error),
}

/// How a database was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The file is not there.
    Missing,
    /// It has no bytes.
    Empty,
    /// It has no tables, because its log was lost or damaged.
    NoTables,
}

impl Loss {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Missing => "is missing",
            Self::Empty => "is empty",
            Self::NoTables => "has nothing in it (its log is lost or damaged)",
        }
    }
}

impl OpenError {
    /// What is wrong with the file, without the remedies.
    pub fn what_happened(&self) -> String {
        match self {
            Self::Lost { why, .. } => why.as_str().to_owned(),
            Self::Damaged { why, .. } => format!("is damaged ({why})"),
            Self::Foreign { .. } => "is not one of openfang".to_owned(),
            error => error.to_string(),
        }
    }
}

/// What the file must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    /// A database, or no file: then it is created.
    Anything,
    /// A database of any home.
    Database,
    /// The database of the home with this id.
    Home(Uuid),
}

impl Expected {
    const fn home(self) -> Option<Uuid> {
        match self {
            Self::Anything | Self::Database => None,
            Self::Home(home) => Some(home),
        }
    }
}

/// Opens the file for writing, if it is as expected. Returns its home.
pub(super) fn open(path: &Path, expected: Expected) -> Result<(Connection, Uuid), OpenError> {
    let judge = |error| judged(path, error);
    match expected {
        Expected::Database | Expected::Home(_) => identity::has_bytes(path)?,
        Expected::Anything => create_private(path),
    }
    let mut connection = Connection::open(path).map_err(judge)?;
    // Kept until the database is known to be the right one: closing it would remove a log that may still be needed.
    keep_log(&connection, true).map_err(judge)?;
    set_up(&connection).map_err(judge)?;
    // Checked before anything is written: a foreign file is not changed.
    let found = version(&connection, path)?;
    if expected != Expected::Anything {
        identity::has_tables(path, found)?;
    }
    if let Some(home) = expected.home() {
        identity::belongs(&connection, path, home)?;
    }
    use_log(&connection).map_err(judge)?;
    // The writer reads random ids, so a larger cache saves more than it costs.
    connection.pragma_update(None, "cache_size", WRITER_CACHE_KIB).map_err(judge)?;
    // Done by `checkpoint.rs`.
    connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(judge)?;
    let home = migrate(&mut connection, path, expected.home())?;
    identity::has_schema(&connection, path)?;
    keep_log(&connection, false).map_err(judge)?;
    Ok((connection, home))
}

/// Whether the log is kept when the last connection closes.
fn keep_log(connection: &Connection, stays: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, stays).map(|_| ())
}

/// Opens an existing file for reading.
pub(super) fn open_read_only(path: &Path) -> Result<Connection, OpenError> {
    let judge = |error| judged(path, error);
    if !path.exists() {
        return Err(OpenError::Missing { path: path.to_owned() });
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(judge)?;
    set_up(&connection).map_err(judge)?;
    match version(&connection, path)? {
        // Another process is still creating it.
        0 => Err(OpenError::Missing { path: path.to_owned() }),
        _ => Ok(connection),
    }
}

/// The settings of every connection. Each commit is synced before it is acknowledged.
pub(super) fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    // Plans must not depend on values, or each value would need a new prepared statement.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

/// Enables the write-ahead log. SQLite does not wait while another process does the same, so this retries.
fn use_log(connection: &Connection) -> rusqlite::Result<()> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && Instant::now() < deadline => {}
            done => return done,
        }
        #[expect(clippy::disallowed_methods, reason = "opening a database blocks, and here two of them meet")]
        std::thread::sleep(BUSY_PAUSE);
    }
}

fn migrate(connection: &mut Connection, path: &Path, home: Option<Uuid>) -> Result<Uuid, OpenError> {
    let judge = |error| judged(path, error);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(judge)?;
    let found = version(&transaction, path)?;
    for (version, migration) in (1..).zip(MIGRATIONS).skip(found as usize) {
        transaction.execute_batch(migration).map_err(judge)?;
        if version == DIGESTS {
            digest_resend_keys(&transaction).map_err(judge)?;
        }
    }
    if found < KNOWN {
        transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(judge)?;
        transaction.pragma_update(None, "user_version", KNOWN).map_err(judge)?;
    }
    let home = identity::assign_home(&transaction, home).map_err(judge)?;
    transaction.commit().map_err(judge)?;
    Ok(home)
}

/// Runs every migration on an empty database.
pub(super) fn make(connection: &Connection) -> rusqlite::Result<()> {
    MIGRATIONS.iter().try_for_each(|migration| connection.execute_batch(migration))
}

/// Lets messages from before the upgrade be recognized when they are sent again.
fn digest_resend_keys(connection: &Connection) -> rusqlite::Result<()> {
    let mut some = connection.prepare("SELECT n, resend_key FROM a2a_tasks WHERE n > ?1 ORDER BY n LIMIT ?2")?;
    let mut update = connection.prepare("UPDATE a2a_tasks SET resend_key = ?2 WHERE n = ?1")?;
    let mut last = 0;
    loop {
        let found = some.query_map([last, KEYS_AT_A_TIME], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let found = found.collect::<rusqlite::Result<Vec<(i64, String)>>>()?;
        let Some((n, _)) = found.last() else { return Ok(()) };
        last = *n;
        for (n, text) in found {
            update.execute(params![n, ResendKey::of(&text).as_bytes()])?;
        }
    }
}

/// The schema version, if the file is ours and not newer; 0 if it is empty.
fn version(connection: &Connection, path: &Path) -> Result<u32, OpenError> {
    let judge = |error| judged(path, error);
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(judge)?;
    let whose: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(judge)?;
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(judge)?;
    if whose != APPLICATION_ID && tables > 0 {
        return Err(OpenError::Foreign { path: path.to_owned() });
    }
    if found > KNOWN {
        return Err(OpenError::Newer { path: path.to_owned(), found, known: KNOWN });
    }
    Ok(found)
}

/// Damage has its own error, because its remedy is a backup.
pub(super) fn judged(path: &Path, error: rusqlite::Error) -> OpenError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            OpenError::Damaged { path: path.to_owned(), why: error.to_string() }
        }
        _ => OpenError::Sqlite(error),
    }
}

/// Creates the file readable by its owner only. SQLite gives the log the same mode.
fn create_private(path: &Path) {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    // If this fails, opening the file reports why.
    let _ = options.open(path);
}
