//! Limits of the audit log.

use std::time::Duration;

/// Rows of one audit segment; the next row opens another.
pub const AUDIT_SEGMENT_ROWS: u64 = 10_000;
/// How long an audit segment may stay open.
pub const AUDIT_SEGMENT_AGE: Duration = Duration::from_secs(24 * 3_600);
/// How long refusals that are only counted wait for their row at first; each further row of a flood waits twice as long.
pub const AUDIT_SUMMARY_FIRST: Duration = Duration::from_secs(1);
/// The longest wait for a row that counts refusals.
pub const AUDIT_SUMMARY_LONGEST: Duration = Duration::from_secs(300);
/// Owners whose refusals are counted at a time; those who have recovered are forgotten first.
pub const AUDIT_COUNTED_OWNERS: usize = 10_000;
/// Reasons that a row that counts refusals tells apart.
pub const AUDIT_SUMMARY_REASONS: usize = 32;
/// Characters that an audit row keeps of a name that is not ours, such as a tool's own name on its MCP server.
pub const AUDIT_NAME_CHARS: usize = 128;
/// Bytes of the arguments that an audit row has as text; longer ones are recorded by their digest alone.
pub const AUDIT_ARGUMENTS_BYTES: usize = 8 * 1_024;
/// Setting names that the audit row of a reload lists; further names are counted.
pub const AUDIT_RELOAD_KEYS: usize = 64;
/// Audit rows that are read at a time.
pub const AUDIT_PAGE_ROWS: usize = 1_000;
/// How often `openfang audit tail -f` looks for new rows.
pub const AUDIT_FOLLOW: Duration = Duration::from_millis(500);
