//! Limits of checks against JSON Schemas that others write.

use std::time::Duration;

/// Subschemas that one value may be held against without looking into it, references followed: `allOf`, `anyOf`, `$ref`
/// and the like multiply.
pub const SCHEMA_MAX_EXPANSION: u64 = 10_000;
/// How many of these may stand in a row, one within the other. Each takes a piece of the stack, at each level of a value.
pub const SCHEMA_MAX_CHAIN: usize = 64;
/// What all patterns of one schema may take, compiled; they share it evenly.
pub const SCHEMA_PATTERNS_MAX_BYTES: usize = 8 * 1024 * 1024;
/// Checks of at most this many steps are made where they come up; longer ones get a thread.
pub const SCHEMA_INLINE_STEPS: usize = 10_000;
/// Steps of finding out why a value does not fit: each keeps something until the answer is written.
pub const SCHEMA_PROBLEM_STEPS: u64 = 20_000;
/// How deep a check may go there: the levels of the value times the longest row of subschemas.
pub const SCHEMA_INLINE_DEPTH: usize = 128;
/// An expansion up to this size costs nothing extra; a wider schema has fewer steps in proportion.
pub const SCHEMA_USUAL_EXPANSION: u64 = 100;
/// Checks against the schemas of one MCP server that run at a time on threads of their own.
pub const SCHEMA_CHECKS_PER_SERVER: usize = 2;
/// How many of them are one owner's.
pub const SCHEMA_CHECKS_PER_OWNER: usize = 1;
/// A structured result of at most this size is read where it comes up.
pub const SCHEMA_INLINE_BYTES: usize = 16 * 1024;
/// How long a call waits for its check, the line before it included.
pub const SCHEMA_CHECK_TIME: Duration = Duration::from_secs(10);
/// The stack of such a thread: a value nested as deep as allowed, against a chain as long as allowed.
pub const SCHEMA_CHECK_STACK_BYTES: usize = 64 * 1024 * 1024;
