//! The home: where config, agents, data and workspaces are, and what the first start writes there. `record.rs` is what it
//! remembers of itself, `accept.rs` how the operator gives up what it has lost, `exposure.rs` who else may write it.

use std::fs::{self, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use uuid::Uuid;

pub use accept::{AcceptError, Acceptance};
pub use exposure::Exposure;
pub use record::{HomeLoss, RecordError};

mod accept;
mod exposure;
pub(crate) mod record;

/// The directory everything is kept in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    root: PathBuf,
    /// The key file, if it is kept elsewhere.
    key_file: Option<PathBuf>,
}

/// What the first start writes. Everything in it is a default that can be changed.
const FIRST_CONFIG: &str = "\
# OpenFang configuration. `openfang config schema` describes every key; config.example.toml shows them all.

# Where the HTTP API listens. Other machines can reach it only with a credential: set api_key first.
api_listen = \"127.0.0.1:50051\"

# Agents over A2A: other frameworks find their card at /.well-known/agent-card.json.
[a2a]
enabled = true
";

/// Follows the address where the first agent is new too, so that an agent that comes later does not take its place.
const FIRST_DEFAULT: &str = "\
\n# The agent that answers where a request names none. Without this, it is the first by name.
default_agent = \"starter\"
";

const FIRST_AGENT: &str = "\
# An agent without a model: `/tool_name {json}` calls a tool, other text goes to default_tool.
name = \"starter\"
description = \"Calls the starter tools. Try: /add_numbers {\\\"a\\\": 3, \\\"b\\\": 7}\"
default_tool = \"get_greeting\"

[model]
provider = \"direct\"

[capabilities]
tools = [\"get_greeting\", \"current_time\", \"is_admin\", \"get_counter\", \"add_numbers\"]
";

impl Home {
    /// The home at a directory, which need not exist yet.
    pub const fn at(root: PathBuf) -> Self {
        Self { root, key_file: None }
    }

    /// The same home, with its key in a file elsewhere. Such a key is never created here.
    #[must_use]
    pub fn with_key_file(self, path: PathBuf) -> Self {
        Self { key_file: Some(path), ..self }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn config(&self) -> PathBuf {
        self.root.join("config.toml")
    }

    /// One directory per agent.
    pub fn agents(&self) -> PathBuf {
        self.root.join("agents")
    }

    /// Skills that the operator put there, one directory each.
    pub fn skills(&self) -> PathBuf {
        self.root.join("skills")
    }

    /// What is remembered of skills, and their private copies.
    pub fn skill_data(&self) -> PathBuf {
        self.data().join("skill_trust")
    }

    /// The key all others are derived from.
    pub fn secret_key(&self) -> PathBuf {
        self.key_file.clone().unwrap_or_else(|| self.own_key())
    }

    /// Whether the key is kept elsewhere.
    pub const fn has_key_elsewhere(&self) -> bool {
        self.key_file.is_some()
    }

    fn own_key(&self) -> PathBuf {
        self.data().join("secret.key")
    }

    /// The stored secrets, each sealed.
    pub fn secrets(&self) -> PathBuf {
        self.data().join("secrets.json")
    }

    /// Held while the stored secrets are changed.
    pub(crate) fn secrets_lock(&self) -> PathBuf {
        self.data().join("secrets.lock")
    }

    pub fn database(&self) -> PathBuf {
        self.data().join("openfang.db")
    }

    /// What was written to the database and is not in its file yet.
    fn database_log(&self) -> PathBuf {
        PathBuf::from(format!("{}-wal", self.database().display()))
    }

    /// What the home remembers of itself. Not below `data`, so that it is there when that is not.
    pub(crate) fn record(&self) -> PathBuf {
        self.root.join("home.json")
    }

    /// Held while the record is written.
    pub(crate) fn record_lock(&self) -> PathBuf {
        self.data().join("home.lock")
    }

    /// Where MCP servers run: an empty place, so that one that is told to look around here finds nothing.
    pub(crate) fn servers(&self) -> PathBuf {
        self.root.join("servers")
    }

    /// What is remembered of MCP servers.
    pub fn mcp(&self) -> PathBuf {
        self.data().join("mcp")
    }

    /// What is remembered of external agents.
    pub fn external_agents(&self) -> PathBuf {
        self.data().join("a2a")
    }

    /// Which MCP sessions were ended.
    pub(crate) fn ended_sessions(&self) -> PathBuf {
        self.data().join("ended_sessions")
    }

    /// One lock per process.
    pub(crate) fn nodes(&self) -> PathBuf {
        self.data().join("nodes")
    }

    /// Whether there is anything that only a start makes. A home with a `home.json` need not be asked.
    pub(crate) fn has_had_database(&self) -> bool {
        let database = self.database();
        let log = PathBuf::from(format!("{}-wal", database.display()));
        // What cannot be looked at is there.
        [database, log, self.own_key()].iter().any(|path| path.try_exists().unwrap_or(true))
    }

    /// Held by the process that makes the database of a new home, until the home remembers it. Blocks.
    pub(crate) fn first_start(&self) -> Result<std::fs::File, HomeError> {
        let path = self.data().join("first-start.lock");
        let lock = open_lock(&path).and_then(|lock| lock.lock().map(|()| lock));
        lock.map_err(|cause| HomeError::new(path, cause))
    }

    /// Held by the one process that listens.
    fn listener(&self) -> PathBuf {
        self.data().join("listener.lock")
    }

    /// Where a running server says how to reach it.
    pub fn daemon(&self) -> PathBuf {
        self.root.join("daemon.json")
    }

    /// The log of the daemon, where `log.file` wants one.
    pub fn log(&self) -> PathBuf {
        self.data().join("log").join("openfang.jsonl")
    }

    /// Variables for the daemon.
    pub fn environment_file(&self) -> PathBuf {
        self.root.join(".env")
    }

    /// The keys of servers on other machines.
    pub fn server_keys(&self) -> PathBuf {
        self.root.join("servers.json")
    }

    /// Where the file tools work.
    pub fn workspaces(&self) -> PathBuf {
        self.root.join("workspaces")
    }

    fn data(&self) -> PathBuf {
        self.root.join("data")
    }

    /// What no tool may touch, wherever it is reached from.
    pub fn protected(&self) -> Vec<PathBuf> {
        let database = self.database();
        let beside = |suffix: &str| PathBuf::from(format!("{}{suffix}", database.display()));
        let mut files =
            vec![self.config(), self.agents(), self.data(), self.secret_key(), self.daemon(), self.record()];
        files.extend([self.environment_file(), self.server_keys(), self.skills()]);
        files.extend([beside("-wal"), beside("-shm"), beside("-journal"), database.clone()]);
        files
    }

    /// Takes the role of the one process that listens; it is given back when this is dropped, or the process ends.
    pub fn listen(&self) -> Result<ListenerRole, ListenError> {
        let path = self.listener();
        let wrong = |cause| ListenError::Unusable(HomeError::new(path.clone(), cause));
        let lock = open_lock(&path).map_err(wrong)?;
        match lock.try_lock() {
            Ok(()) => Ok(ListenerRole { _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(ListenError::Taken),
            Err(TryLockError::Error(cause)) => Err(wrong(cause)),
        }
    }

    /// Writes what a home needs, and leaves alone what is there. Says whether the starter agent is new.
    pub fn prepare(&self) -> Result<FirstRun, HomeError> {
        for directory in [self.root.clone(), self.data()] {
            create_private_directory(&directory).map_err(|cause| HomeError { path: directory, cause })?;
        }
        if self.agents().exists() {
            write_new(&self.config(), FIRST_CONFIG)?;
            return Ok(FirstRun::No);
        }
        let (before, after) = FIRST_CONFIG.split_once("\n\n# Agents over A2A").unwrap_or((FIRST_CONFIG, ""));
        write_new(&self.config(), &format!("{before}\n{FIRST_DEFAULT}\n# Agents over A2A{after}"))?;
        let starter = self.agents().join("starter");
        create_private_directory(&starter).map_err(|cause| HomeError { path: starter.clone(), cause })?;
        write_new(&starter.join("agent.toml"), FIRST_AGENT)?;
        Ok(FirstRun::Yes)
    }
}

/// The role of the one process that listens.
#[derive(Debug)]
pub struct ListenerRole {
    _lock: std::fs::File,
}

/// Why the role cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// Another process has it.
    #[error("another openfang is already serving this home; stop it with `openfang stop`, or use another home")]
    Taken,
    /// The lock cannot be used.
    #[error(transparent)]
    Unusable(HomeError),
}

/// Whether the home was just written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstRun {
    Yes,
    No,
}

/// The home cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path} cannot be written: {cause}", path = path.display())]
pub struct HomeError {
    path: PathBuf,
    #[source]
    cause: io::Error,
}

impl HomeError {
    pub(crate) const fn new(path: PathBuf, cause: io::Error) -> Self {
        Self { path, cause }
    }
}

fn write_new(path: &Path, text: &str) -> Result<(), HomeError> {
    let made = create_private_file(path).and_then(|mut file| file.write_all(text.as_bytes()));
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        outcome => outcome.map_err(|cause| HomeError::new(path.to_owned(), cause)),
    }
}

/// A file that is only locked, never read.
pub(crate) fn open_lock(path: &Path) -> io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// A new file that only its owner can read.
pub fn create_private_file(path: &Path) -> io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Puts bytes in the place of a file, as a whole. Only their owner can read them.
pub fn replace_private_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension(format!("new-{}", Uuid::new_v4().simple()));
    let placed = create_private_file(&beside)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.write_all(b"\n")).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&beside, path))
        // The name is only on disk with its directory.
        .and_then(|()| path.parent().map_or(Ok(()), |directory| fs::File::open(directory)?.sync_all()));
    placed.inspect_err(|_| drop(fs::remove_file(&beside)))
}

/// A directory and its missing parents, which only their owner can use.
pub fn create_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
