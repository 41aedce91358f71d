//! Limits of the command line: what it reads, waits for and keeps.

use std::time::Duration;

/// A settings file of another program that an entry is written to.
pub const CONNECT_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// How long an entry that was written may take to start and to list its tools.
pub const CONNECT_VERIFY: Duration = Duration::from_secs(20);
/// How long a program of the system, such as `systemctl`, may take.
pub const PROGRAM_PATIENCE: Duration = Duration::from_secs(60);
/// How often `openfang status --watch` draws its screen.
pub const STATUS_TICK: Duration = Duration::from_secs(1);
/// The size at which a log file is replaced by a new one.
pub const LOG_FILE_BYTES: u64 = 10 * 1024 * 1024;
/// How many log files are kept.
pub const LOG_FILES: usize = 10;
/// How many of the latest tasks are searched for the beginning of an id.
pub const TASK_REF_SEARCHED: usize = 1_000;
/// How often a line that says what is waited for is written anew.
pub const WAITING_TICK: Duration = Duration::from_millis(120);
/// What takes less than this needs no such line.
pub const WAITING_GRACE: Duration = Duration::from_millis(300);
/// How long one check of `openfang doctor` may take.
pub const DOCTOR_CHECK: Duration = Duration::from_secs(5);
/// With less free space than this, `openfang doctor` warns.
pub const DOCTOR_FREE_BYTES: u64 = 500_000_000;
/// With a larger log of the database than this, `openfang doctor` warns.
pub const DOCTOR_LOG_BYTES: u64 = 256_000_000;
/// How long `openfang connect` keeps backups of settings, which contain tokens.
pub const CONNECT_BACKUP_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
/// How long a key is valid that `openfang connect` creates for a program.
pub const CLIENT_KEY_AGE: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// How long a server on another machine may work on a request of the command line. The server has limits of its own.
pub const REMOTE_WORK: Duration = Duration::from_secs(3_600);
/// The most servers whose keys are stored.
pub const REMOTE_KEYS: usize = 100;
/// The largest file of such keys that is read.
pub const REMOTE_KEYS_FILE_MAX_BYTES: u64 = 256 * 1024;
/// How long `start --background` waits until the daemon listens. Recovery after a crash can take a while.
pub const BACKGROUND_START: Duration = Duration::from_secs(60);
/// The pause between two looks at a daemon that is starting.
pub const BACKGROUND_POLL: Duration = Duration::from_millis(50);
/// How much of the last words of a daemon that did not start is shown.
pub const BACKGROUND_LOG_BYTES: u64 = 8 * 1024;
/// The largest `.env` file of a home.
pub const ENV_FILE_MAX_BYTES: u64 = 64 * 1024;
/// Agents that `openfang chat` looks at to find the one with a model.
pub const CHAT_AGENTS_LOOKED_AT: usize = 50;
/// Characters of a call on a line of `openfang chat`.
pub const CHAT_CALL_LINE_CHARS: usize = 160;
/// Lines that the history of `openfang chat` keeps.
pub const CHAT_HISTORY_LINES: usize = 1_000;
/// Bytes of that history that are read. A longer file is cut to its end.
pub const CHAT_HISTORY_BYTES: u64 = 1024 * 1024;
/// Bytes of one line that the history keeps.
pub const CHAT_HISTORY_LINE_BYTES: usize = 16 * 1024;
/// How long `openfang chat` waits for a turn that was stopped to end.
pub const CHAT_STOP: Duration = Duration::from_secs(10);
/// Decisions and questions that one message may lead to.
pub const CHAT_QUESTIONS: usize = 100;
/// Characters of a message that `openfang chat --continue` repeats.
pub const CHAT_RECALL_CHARS: usize = 500;
