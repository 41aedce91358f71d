//! Limits of `shell_exec` and of its rules.

use std::time::Duration;

/// The command of a call, in bytes.
pub const EXEC_COMMAND_MAX_BYTES: usize = 64 * 1024;
/// The program and its arguments together, in words.
pub const EXEC_WORDS_MAX: usize = 1_000;
/// The program and its arguments together, in bytes. Linux takes 128 KiB in one argument.
pub const EXEC_WORDS_MAX_BYTES: usize = 120 * 1024;
/// The longest time that a call can ask for, in seconds.
pub const EXEC_TIMEOUT_MAX_SECS: u64 = 600;
/// The longest time that a call can ask for.
pub const EXEC_TIMEOUT_MAX: Duration = Duration::from_secs(EXEC_TIMEOUT_MAX_SECS);
/// What the start and the end of a program may take besides.
pub const EXEC_AROUND: Duration = Duration::from_secs(30);
/// The smallest value of `exec.output_bytes`.
pub const EXEC_OUTPUT_MIN_BYTES: usize = 1024;
/// The largest value of `exec.output_bytes`.
pub const EXEC_OUTPUT_MAX_BYTES: usize = 16 * 1024 * 1024;
/// Rules in one list of `[exec]`.
pub const EXEC_RULES_MAX: usize = 1_000;
/// A rule of `[exec]`, in bytes.
pub const EXEC_RULE_MAX_BYTES: usize = 4 * 1024;
/// Programs that one owner may have running in calls of tools.
pub const EXEC_CALLS_PER_OWNER: usize = 8;
/// How much of a command a message quotes, in characters.
pub const EXEC_SHOWN_CHARS: usize = 200;
/// Bytes of one file that a program of a tool can write.
pub const EXEC_FILE_MAX_BYTES: u64 = 1024 * 1024 * 1024;
