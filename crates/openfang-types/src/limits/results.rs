//! Limits of kept results: what results of tools lost on their way.

/// Results that one owner may keep at a time.
pub const RESULTS_PER_OWNER: usize = 1_000;
/// Kept results take at most this part of what an owner may keep: tasks and files need the rest.
pub const RESULTS_SHARE: u64 = 4;
/// Expired results that are deleted in one commit.
pub const RESULTS_DELETED_AT_ONCE: usize = 100;
/// Characters of a result that are left for the marker of a text that is cut; of a short limit, half of it.
pub const RESULT_MARKER_CHARS: usize = 240;
