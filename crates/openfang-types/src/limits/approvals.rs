//! Limits of approvals: calls that wait for a person.

use std::time::Duration;

/// How long a call waits for a decision, and an approved call for being made.
pub const APPROVAL_LASTS: Duration = Duration::from_mins(15);
/// Calls of one task that wait for a decision at a time.
pub const APPROVALS_PER_TASK: usize = 10;
/// Calls of one owner that wait for a decision at a time.
pub const APPROVALS_PER_OWNER: usize = 50;
/// Calls of one credential, through one agent or none, that wait for a decision at a time, unless they are of a person's task.
pub const APPROVALS_PER_ASKER: usize = 10;
/// Places among those of an owner that only calls of persons take.
pub const APPROVALS_FOR_PERSONS: usize = 10;
/// Approvals of one owner that are kept, those included that were decided or have expired. The oldest of these make room.
pub const APPROVALS_KEPT_PER_OWNER: usize = 200;
/// How long an approval is kept after it has expired.
pub const APPROVAL_KEPT: Duration = Duration::from_hours(24);
/// Bytes of arguments that a person can be shown. A call with more cannot be approved.
pub const APPROVAL_ARGUMENTS_BYTES: usize = 16 * 1024;
/// Approvals that are listed at a time.
pub const APPROVALS_LISTED: usize = 500;
/// Bytes of what the user said that arguments of calls are compared with, for a run. What is beyond them is not compared.
pub const USER_WORDS_BYTES: usize = 64 * 1024;
/// Characters that a value must have to count as the user's own words.
pub const USER_WORDS_MIN_CHARS: usize = 3;
