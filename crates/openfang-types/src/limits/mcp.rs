//! Limits of MCP: as a server, and toward the servers we connect to.

use std::time::Duration;

/// One MCP message, on every door.
pub const MAX_MCP_MESSAGE_SIZE: usize = 10 * 1024 * 1024;
/// The header of a frame on stdio, for peers that send one.
pub const MCP_FRAME_HEADER_BYTES: usize = 8 * 1024;
/// What is kept of a message that is too large: its beginning says whom it was for.
pub const MCP_LOST_HEAD_BYTES: usize = 256;
/// Entries on one page of a list.
pub const MCP_PAGE_ENTRIES: usize = 1_000;
/// Kinds of callers for whom the lists are kept ready.
pub const MCP_PREPARED_VIEWS: usize = 256;
/// Messages in one batch.
pub const MCP_BATCH: usize = 100;
/// An agent's answer, all blocks together: some clients take at most 1 MiB in one event.
pub const MCP_ANSWER_BYTES: usize = 1024 * 1024 - 64 * 1024;
/// Characters of what is told of a task's progress.
pub const MCP_PROGRESS_CHARS: usize = 1_000;
/// How often a task tells how far a tool call is, at most.
pub const PROGRESS_PACE: Duration = Duration::from_millis(100);
/// How often one tool call may report into its task: a call that reports for ever must not fill the log.
pub const PROGRESS_REPORTS: usize = 1_000;
/// Values that complete an argument, at most; the protocol's own number.
pub const MCP_COMPLETIONS: usize = 100;
/// How long a client may keep a list.
pub const MCP_CACHE_TTL: Duration = Duration::from_secs(60);
/// How often a client is asked within one call.
pub const MCP_INPUT_ROUNDS: usize = 10;
/// How long a client may take to bring a request's state back.
pub const MCP_STATE_TTL: Duration = Duration::from_secs(3_600);
/// States that were brought back, remembered so that none is used twice: of all owners together.
pub const MCP_USED_STATES: usize = 65_536;
/// How long a person may take to answer a question of a legacy session.
pub const MCP_ASK_TIMEOUT: Duration = Duration::from_secs(600);
/// Messages that wait for a peer, and those kept for one that comes back.
pub const MCP_LOG_EVENTS: usize = 64;
/// Bytes of the messages that wait for a peer.
pub const MCP_LOG_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of one stream that are kept, after they were sent, for a client that comes back.
pub const MCP_REPLAY_BYTES: usize = 256 * 1024;
/// Bytes of one owner that are kept for clients that come back, in all sessions together. Beyond that what was read is
/// dropped first, then what nobody reads.
pub const MCP_REPLAY_BYTES_PER_OWNER: usize = 32 * 1024 * 1024;
/// Streams of one session that can be resumed.
pub const MCP_STREAMS_PER_SESSION: usize = 16;
/// Requests of one peer that are worked on at a time.
pub const MCP_RUNNING_PER_PEER: usize = 256;
/// Resources that one session, or one listener, watches.
pub const MCP_SUBSCRIPTIONS_PER_SESSION: usize = 1_000;
/// What the subscriptions of one owner may take together; each counts its URI and [`MCP_SUBSCRIPTION_BYTES`].
pub const MCP_SUBSCRIPTION_BYTES_PER_OWNER: usize = 16 * 1024 * 1024;
/// What a subscription takes beside its URI.
pub const MCP_SUBSCRIPTION_BYTES: usize = 1_024;
/// The longest URI of a resource that can be subscribed to.
pub const MCP_URI_MAX_BYTES: usize = 8 * 1024;
/// Tasks that one listener watches.
pub const MCP_WATCHED_TASKS: usize = 64;
/// Listeners of one owner.
pub const MCP_LISTENERS_PER_OWNER: usize = 100;
/// Legacy sessions that remember something, of all owners together.
pub const MCP_SESSIONS: usize = 10_000;
/// How long a legacy session remembers without being used.
pub const MCP_SESSION_IDLE: Duration = Duration::from_secs(30 * 60);
/// How long the id of a legacy session is good.
pub const MCP_SESSION_TTL: Duration = Duration::from_secs(24 * 3_600);
/// Sessions of one owner that are remembered as ended; beyond them, all that began as early as the oldest are over.
pub const MCP_ENDED_SESSIONS: usize = 65_536;
/// Sessions of one owner that are remembered as forgotten.
pub const MCP_FORGOTTEN_SESSIONS: usize = 65_536;
/// Ended sessions that the journal may hold beyond twice those that still matter, before it is written anew.
pub const MCP_JOURNAL_SLACK: usize = 1_000;
/// Peers of the transport of 2024-11-05, of all owners together.
pub const MCP_SSE_PEERS: usize = 1_000;
/// How long an answer may take before its response becomes a stream.
pub const MCP_QUIET: Duration = Duration::from_secs(2);
/// How often a quiet stream says that it lives.
pub const MCP_KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How long a client waits before it resumes a stream.
pub const MCP_RETRY: Duration = Duration::from_millis(500);
/// Frames that wait for a client of `openfang mcp`, when they come from a daemon.
pub const MCP_RELAY_FRAMES: usize = 32;
/// How often `openfang mcp` looks whether another daemon has started in the place of one that went away.
pub const MCP_RELAY_LOOK: Duration = Duration::from_secs(1);
/// What a pipe to a server in the same process holds.
pub const MCP_PIPE_BYTES: usize = 64 * 1024;
/// What work gets that is nearly done when a peer's input ends.
pub const MCP_END_GRACE: Duration = Duration::from_secs(1);
/// One message of a server that we are connected to: a long list with one tool in it that is beyond all bounds still comes
/// through, and the others of it can be used.
pub const MCP_UPSTREAM_MESSAGE_BYTES: usize = 24 * 1024 * 1024;
/// MCP servers this house connects to.
pub const MCP_SERVERS: usize = 256;
/// Seconds a call to a server may take without a sign of progress, unless its entry says otherwise.
pub const MCP_TIMEOUT_SECS: u64 = 30;
/// Seconds a server may take to start, unless its entry says otherwise.
pub const MCP_STARTUP_SECS: u64 = 60;
/// A call to a server, however much progress it tells of.
pub const MCP_CALL_MAX: Duration = Duration::from_secs(600);
/// How long a server may stay silent on a question of the modern era before it is asked in the legacy way too.
pub const MCP_PROBE: Duration = Duration::from_secs(5);
/// How long a server that is to be added may take to say whether it is ourselves.
pub const MCP_SELF_CHECK: Duration = Duration::from_secs(2);
/// Tools, and entries of every other list, that are taken of one server.
pub const MCP_UPSTREAM_ENTRIES: usize = 10_000;
/// Pages of a server's list.
pub const MCP_UPSTREAM_PAGES: usize = 1_000;
/// A server's list, all pages together.
pub const MCP_UPSTREAM_LIST_BYTES: usize = 64 * 1024 * 1024;
/// What a server's tools say is held deflated in blocks of this size: larger ones would take longer to open for one tool,
/// smaller ones take more memory.
pub const MCP_PACK_BLOCK_BYTES: usize = 32 * 1024;
/// The description of a server's tool.
pub const MCP_DESCRIPTION_BYTES: usize = 8 * 1024;
/// What a server calls itself, and its version.
pub const MCP_IDENTITY_CHARS: usize = 256;
/// What a server wants models to know about it.
pub const MCP_INSTRUCTIONS_CHARS: usize = 64 * 1024;
/// Lines in a row on a server's stdout that are no messages.
pub const MCP_NOISE_LINES: usize = 1_000;
/// Bytes that a server may write to its stdout, to its stderr or on its event streams at once without having been asked;
/// larger than any message.
pub const MCP_UNASKED_BURST: u64 = 32 * 1024 * 1024;
/// Bytes a second of it from then on.
pub const MCP_UNASKED_PER_SECOND: f64 = 2.0 * 1024.0 * 1024.0;
/// What a message counts for at least that nobody asked for.
pub const MCP_UNASKED_MESSAGE: u64 = 4 * 1024;
/// Things told to one call that wait to be heard.
pub const MCP_TOLD: usize = 64;
/// A server that says again and again that its lists changed is asked once in this time.
pub const MCP_LIST_DEBOUNCE: Duration = Duration::from_millis(100);
/// The pause before a server is connected to again: the first, and the longest.
pub const MCP_RECONNECT: Duration = Duration::from_millis(500);
/// The longest pause between attempts; see [`MCP_RECONNECT`].
pub const MCP_RECONNECT_MAX: Duration = Duration::from_secs(60);
/// Starts of one server within [`MCP_RESTART_WINDOW`], after which it is left alone for the longest pause.
pub const MCP_RESTARTS: usize = 5;
/// The window of [`MCP_RESTARTS`] in time.
pub const MCP_RESTART_WINDOW: Duration = Duration::from_secs(60);
/// Questions of a server that come this close to each other are put to the client together.
pub const MCP_QUESTIONS_GATHER: Duration = Duration::from_millis(50);
/// Calls that wait for an answer of their client, per server.
pub const MCP_PARKED: usize = 1_000;
/// Of which one owner's.
pub const MCP_PARKED_PER_OWNER: usize = 32;
/// How long a call waits for an answer of its client.
pub const MCP_PARKED_TTL: Duration = Duration::from_secs(600);
/// Connections to one server that may ask its callers.
pub const MCP_POOL: usize = 64;
/// Calls that wait until one of these connections is free.
pub const MCP_POOL_WAITING: usize = 1_024;
/// See [`MCP_POOL_WAITING`]; one caller must not take all places in the line.
pub const MCP_POOL_WAITING_PER_OWNER: usize = 256;
/// How long such a connection is kept without a call.
pub const MCP_POOL_IDLE: Duration = Duration::from_secs(60);
/// Resources that a server tells of in one conversation of a caller's own; the shared one has no such bound.
pub const MCP_POOL_WATCHED: usize = 64;
/// Updates of a resource that come this close to each other, in whichever conversations with its server, are told as one.
pub const MCP_UPDATE_GATHER: Duration = Duration::from_millis(50);
/// How often a command looks whether a server that it has added is ready.
pub const MCP_SETTLE_POLL: Duration = Duration::from_millis(100);
/// How long a server that was added may take until somebody begins to connect to it.
pub const MCP_SETTLE_GRACE: Duration = Duration::from_secs(1);
/// A file of another program from which servers are taken over.
pub const MCP_IMPORT_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Log lines of a server that are kept for `openfang mcp logs`.
pub const MCP_SERVER_LOG_LINES: usize = 1_000;
/// Bytes of these lines, of one server.
pub const MCP_SERVER_LOG_BYTES: usize = 1024 * 1024;
/// How long a server may be silent on a connection that waits for it; the time of a call is shorter and rules.
pub const MCP_HTTP_SILENCE: Duration = Duration::from_secs(3_600);
/// The id that a server gives a session over HTTP.
pub const MCP_SESSION_ID_BYTES: usize = 1_024;
/// How long a conversation waits for the stream of what the server says of its own accord, before it goes on without.
pub const MCP_LISTEN: Duration = Duration::from_millis(500);
/// The pause before a broken stream is resumed, unless the server asks for another.
pub const MCP_RESUME: Duration = Duration::from_secs(1);
/// The shortest such pause, whatever the server asks for.
pub const MCP_RESUME_MIN: Duration = Duration::from_millis(50);
/// Attempts to resume a stream that bring nothing new.
pub const MCP_RESUME_ATTEMPTS: u32 = 5;
/// Answers to questions of one server that are on their way at a time.
pub const MCP_REPLIES: usize = 16;
/// How long such an answer may take to be delivered.
pub const MCP_REPLY: Duration = Duration::from_secs(30);
/// How long a server may take to hear that a session is over.
pub const MCP_GOODBYE: Duration = Duration::from_secs(2);
/// What is read of a body that says why not.
pub const MCP_REFUSAL_BYTES: usize = 4 * 1024;
/// Characters of it that people are shown.
pub const MCP_REFUSAL_SHOWN: usize = 200;

/// Patterns in one list of tools of an MCP server.
pub const MCP_TOOL_PATTERNS: usize = 1000;

/// The length of a pattern of tools of an MCP server.
pub const MCP_TOOL_PATTERN_BYTES: usize = 256;

/// The accepted definition of a changed tool, which is kept for a comparison.
pub const MCP_KEPT_DEFINITION_BYTES: usize = 64 * 1024;
/// How long a call whose task was handed over can be joined by the same call.
pub const HANDED_OVER_TIME: Duration = Duration::from_secs(15 * 60);
/// The most calls of one owner that can be joined.
pub const HANDED_OVER_PER_OWNER: usize = 64;
/// The most calls of one owner that go on after their client gave them up.
pub const DETACHED_PER_OWNER: usize = 16;
/// The longest that a client can wait with `openfang_task`, in seconds.
pub const TASK_WAIT_MAX_SECS: u64 = 55;

/// How long a call that may become a task has for a plain result.
pub const CALL_TASK_GRACE: Duration = Duration::from_secs(1);
/// How long such a task can be asked for, from its creation on.
pub const CALL_TASK_TTL: Duration = Duration::from_secs(3600);
/// How often a client should look at a task, from each age on.
pub const CALL_TASK_POLLS: [(Duration, Duration); 3] = [
    (Duration::ZERO, Duration::from_millis(500)),
    (Duration::from_secs(10), Duration::from_secs(2)),
    (Duration::from_secs(60), Duration::from_secs(5)),
];
/// How long the result of a call that became a task is kept for its client.
pub const HELD_CALL_TTL: Duration = Duration::from_secs(600);
/// How long a canceled call that asked something may take to end by itself.
pub const HELD_CALL_PARTING: Duration = Duration::from_secs(2);
/// How often a client should look at such a call.
pub const HELD_CALL_POLL: Duration = Duration::from_millis(500);
/// Calls that are held for one owner, and the bytes of their results. Beyond that clients wait for their results.
pub const HELD_CALLS_PER_OWNER: usize = 32;
pub const HELD_CALL_BYTES_PER_OWNER: usize = 8 << 20;
/// How often a task of a server is looked at: at most, and at least.
pub const UPSTREAM_TASK_POLL: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));
/// How long a call that became a task of a server may take.
pub const UPSTREAM_TASK_MAX: Duration = Duration::from_secs(24 * 3600);
/// The time to tell a server that its task is not wanted any more.
pub const UPSTREAM_TASK_CANCEL: Duration = Duration::from_secs(10);
