//! The limits of runs of agents with a model.

use std::time::Duration;

/// How long a run that is resumed waits for the servers of the tools that it was calling.
pub const RECOVERED_TOOLS_WAIT: Duration = Duration::from_secs(5);
/// Messages that may wait for a run that works.
pub const INBOX_MESSAGES_MAX: usize = 100;
/// Entries of a transcript that are read at a time.
pub const TRANSCRIPT_PAGE: usize = 500;
/// The size of a conversation that a run can go on with.
pub const TRANSCRIPT_READ_MAX_BYTES: usize = 48 * 1024 * 1024;
/// Calls of one answer that are run. The model is told to make the others again.
pub const ANSWER_CALLS_MAX: usize = 16;
/// Calls of one answer that run at the same time, if they only read.
pub const ANSWER_READS_AT_ONCE: usize = 8;
/// The longest answer in tokens, if neither the agent nor the model says otherwise.
pub const ANSWER_TOKENS: u32 = 8_192;
/// Ten times the characters that make a token, roughly, for what no provider has counted.
pub const TENTH_CHARS_PER_TOKEN: u64 = 35;
/// Answers that may be cut at the output limit in a row.
pub const CUT_ANSWERS_MAX: u32 = 2;
/// How often a model is told that its answer was empty.
pub const EMPTY_ANSWERS_MAX: u32 = 1;
/// How often a model may repair an answer that does not fit the schema of `[output]`.
pub const ANSWER_REPAIRS_MAX: u32 = 2;
/// The share of a budget, in percent, from which on the run says how much is used.
pub const BUDGET_WARNING_PERCENT: u64 = 80;
/// Images and sounds of one request, and their size. The oldest ones are replaced by a sentence.
pub const REQUEST_MEDIA_MAX: usize = 20;
pub const REQUEST_MEDIA_MAX_BYTES: usize = 20 * 1024 * 1024;
/// Tools beyond which a model searches for them instead of being told of each.
pub const TOOLS_OFFERED_MAX: usize = 100;
/// The same in tokens of their definitions, and as a share of the window in percent. The smaller one counts.
pub const TOOLS_OFFERED_TOKENS: u64 = 8_000;
pub const TOOLS_OFFERED_PERCENT: u64 = 10;
/// Tools that an agent can have pinned.
pub const PINNED_TOOLS_MAX: usize = 20;
/// Tools that a search shows if the caller does not say how many, and the most it shows.
pub const TOOL_SEARCH_RESULTS: usize = 5;
pub const TOOL_SEARCH_RESULTS_MAX: usize = 20;
/// The most that a search shows. Definitions that do not fit are shown with the names of their parameters.
pub const TOOL_SEARCH_CHARS: usize = 12_000;
/// What of a query and of a definition is looked at.
pub const TOOL_SEARCH_QUERY_CHARS: usize = 400;
pub const TOOL_SEARCH_TEXT_CHARS: usize = 2_000;
/// From which part of the room for a conversation on it is compacted, and how much is left then, in percent.
pub const COMPACT_AT_PERCENT: u64 = 80;
pub const COMPACT_TO_PERCENT: u64 = 50;
/// The part of the window, in percent, that a model is given to summarize.
pub const COMPACT_GIVEN_PERCENT: u64 = 70;
/// Results above this size are replaced by a sentence first.
pub const COMPACT_RESULT_TOKENS: u64 = 2_000;
/// Results above this size are replaced if nothing else makes enough room.
pub const COMPACT_SMALL_RESULT_TOKENS: u64 = 200;
/// What is shown of a result that was replaced.
pub const COMPACT_PREVIEW_CHARS: usize = 300;
/// The user's messages that stay as they are, the newest ones first.
pub const COMPACT_USER_TOKENS: u64 = 20_000;
/// The last steps that stay as they are.
pub const COMPACT_STEPS_KEPT: usize = 2;
/// The longest summary in tokens.
pub const COMPACT_SUMMARY_TOKENS: u32 = 2_048;
/// What an image and a second of sound take in a window, where no provider has said so.
pub const IMAGE_TOKENS: u64 = 1_600;
pub const AUDIO_BYTES_PER_TOKEN: u64 = 500;
/// The part of a window, in percent, that an answer can have.
pub const ANSWER_WINDOW_PERCENT: u64 = 50;
/// What is remembered of entries that a summary covers: their tasks, and calls that may have happened.
pub const COMPACT_TASKS_MAX: usize = 1_000;
pub const COMPACT_INTERRUPTED_MAX: usize = 100;
/// The ids of left-out results that a summary lists.
pub const COMPACT_HANDLES_MAX: usize = 20;
