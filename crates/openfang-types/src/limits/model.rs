//! The limits of requests to model providers and of their answers.

use std::time::Duration;

/// How long a provider may take until its answer begins: it reads the whole prompt first.
pub const MODEL_FIRST_BYTE: Duration = Duration::from_secs(120);
/// The same for a server on this machine, which may have to load the weights first.
pub const MODEL_FIRST_BYTE_LOCAL: Duration = Duration::from_secs(300);
/// How long a provider may be silent within an answer.
pub const MODEL_IDLE: Duration = Duration::from_secs(180);
/// How long one answer may take in all.
pub const MODEL_TOTAL: Duration = Duration::from_secs(1_800);
/// The size of one answer on the wire.
pub const MODEL_ANSWER_MAX_BYTES: u64 = 32 * 1024 * 1024;
/// One entry of a transcript: the largest answer, in our form and in the provider's.
pub const TRANSCRIPT_ITEM_MAX_BYTES: usize = 64 * 1024 * 1024;
/// The size of one event of an answer. The last event of some wires repeats the whole answer.
pub const MODEL_EVENT_MAX_BYTES: usize = 16 * 1024 * 1024;
/// Events of one answer.
pub const MODEL_EVENTS_MAX: u64 = 1_000_000;
/// Blocks of one answer: texts, thoughts and calls together.
pub const MODEL_BLOCKS_MAX: usize = 4_096;
/// Tool calls of one answer.
pub const MODEL_CALLS_MAX: usize = 128;
/// What is read of a refusal.
pub const MODEL_REFUSAL_MAX_BYTES: u64 = 64 * 1024;
/// What is shown of a provider's own words.
pub const MODEL_WORDS_MAX_CHARS: usize = 600;
/// The size of one request.
pub const MODEL_REQUEST_MAX_BYTES: usize = 48 * 1024 * 1024;
/// The bound of the first random pause before a retry; it doubles from then on.
pub const MODEL_BACKOFF: Duration = Duration::from_millis(500);
/// The longest such pause, and the longest `Retry-After` that is waited for.
pub const MODEL_BACKOFF_MAX: Duration = Duration::from_secs(60);
/// Retries of a request that a busy provider refused.
pub const MODEL_RETRIES: u32 = 4;
/// Retries of a request whose answer broke off.
pub const MODEL_RETRIES_CUT: u32 = 2;
/// How long a model whose quota is used up is left alone.
pub const MODEL_LEFT_ALONE: Duration = Duration::from_secs(3_600);
/// Characters of a tool's name at a provider.
pub const MODEL_TOOL_NAME_MAX: usize = 64;
/// Characters of a tool's description on the chat wires.
pub const MODEL_DESCRIPTION_MAX_CHARS: usize = 1_000;
/// Subschemas that one tool may have after its references are inlined.
pub const MODEL_SCHEMA_MAX_NODES: usize = 4_000;
/// The name of a model at its provider.
pub const MODEL_NAME_MAX_BYTES: usize = 200;
/// The instructions of an agent, and the schema of its answers.
pub const AGENT_TEXT_MAX_BYTES: usize = 256 * 1024;
/// Fallback models of one agent.
pub const FALLBACK_MODELS_MAX: usize = 8;
/// Tags of one agent, and the characters of each.
pub const AGENT_TAGS_MAX: usize = 16;
pub const AGENT_TAG_MAX_CHARS: usize = 40;
/// Providers in the configuration.
pub const PROVIDERS_MAX: usize = 64;
/// Models whose windows and prices the configuration says.
pub const CONFIGURED_MODELS_MAX: usize = 1_000;
/// A file with an API key.
pub const API_KEY_FILE_MAX_BYTES: u64 = 16 * 1024;
/// How long a run of an agent with a model may take.
pub const RUN_MAX_SECS: u64 = 3_600;
/// The longest time that an agent may be given for a run.
pub const RUN_MOST_SECS: u64 = 7 * 86_400;
/// Requests to models in one run.
pub const RUN_MAX_STEPS: u32 = 50;
/// The most requests that an agent may be given for a run.
pub const RUN_MOST_STEPS: u32 = 10_000;
/// The longest answer that an agent may be given, in tokens.
pub const ANSWER_MOST_TOKENS: u32 = 1_000_000;
/// The window that Ollama is asked to allocate for a model whose window is not configured, in tokens.
pub const OLLAMA_CONTEXT_TOKENS: u64 = 16_384;
/// The longest answer of such a model, in tokens.
pub const OLLAMA_ANSWER_TOKENS: u64 = 4_096;
/// How long a model server on this machine may take to say which models it has.
pub const MODEL_PROBE: Duration = Duration::from_millis(300);
/// The size of such a list.
pub const MODEL_LIST_MAX_BYTES: u64 = 1024 * 1024;
/// Models of one server that are listed.
pub const MODEL_LIST_MAX: usize = 500;
/// Days that the usage of models is kept.
pub const USAGE_DAYS: u64 = 400;
/// Sums of usage in one answer.
pub const USAGE_TOTALS_MAX: usize = 1_000;
/// Rows of usage that are deleted in one commit.
pub const USAGE_DELETED_AT_ONCE: usize = 1_000;
/// The longest answer to a request that only tests a model, in tokens. Some providers refuse less.
pub const MODEL_TEST_TOKENS: u32 = 16;
/// Days of usage that are shown unless somebody asks for more.
pub const USAGE_SHOWN_DAYS: u32 = 30;

/// Characters of a text in the arguments of a call, as whoever watches a task is shown them.
pub const CALL_NOTE_CHARS: usize = 120;
/// Members of the arguments that are shown.
pub const CALL_NOTE_MEMBERS: usize = 8;
/// A smaller part of a request that a cache did not have is not mentioned: providers cache nothing below a few thousand tokens.
pub const CACHE_MISS_TOKENS: u64 = 4_096;
