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
/// Tools that a model is offered; some providers take no more.
pub const MODEL_TOOLS_MAX: usize = 128;
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
