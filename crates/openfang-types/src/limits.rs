//! Every limit of the house, in one place: the fixed ones as constants, the configurable ones in [`Limits`].

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use a2a::*;
pub use approvals::*;
pub use audit::*;
pub use events::*;
pub use exec::*;
pub use external::*;
pub use files::*;
pub use labels::*;
pub use mcp::*;
pub use model::*;

pub use push::*;
pub use queue::*;
pub use results::*;
pub use run::*;
pub use schedules::*;
pub use schema::*;
pub use skills::*;
pub use terminal::*;
pub use users::*;
pub use web::*;

mod a2a;
mod approvals;
mod audit;
mod events;
mod exec;
mod external;
mod files;
mod labels;
mod mcp;
mod model;
mod push;
mod queue;
mod results;
mod run;
mod schedules;
mod schema;
mod skills;
mod terminal;
mod users;
mod web;

/// Containers within containers that a JSON document may have. Deeper ones are refused by the strict scan.
pub const JSON_MAX_DEPTH: usize = 127;
/// How many times its own size a JSON document may take when it is parsed; the strict scan estimates it.
pub const JSON_TREE_RATIO: usize = 6;
/// What every document may take when it is parsed, however small it is.
pub const JSON_TREE_FREE_BYTES: usize = 8 * 1024 * 1024;
/// How long a thread for blocking work waits for more of it: one that ends gives back the memory that its work took, and
/// what a server with thousands of tools takes once should not be held for ever.
pub const IDLE_THREAD: Duration = Duration::from_millis(500);
/// How long after a change memory is given back to the system: the allocator keeps for a second what was freed.
pub const MEMORY_SETTLED: Duration = Duration::from_millis(1_500);
/// What is so large that freeing it makes the allocator give memory back.
pub const MEMORY_LARGE_BYTES: usize = 2 * 1024 * 1024;
/// Ids that peers mint.
pub const PEER_ID_MAX_BYTES: usize = 256;
/// The longest media type of a part.
pub const MEDIA_TYPE_MAX_BYTES: usize = 255;
/// The longest name of a file in a part.
pub const FILENAME_MAX_CHARS: usize = 255;
/// Agent names: `openfang_agent_{name}` must stay within what clients accept as a tool name.
pub const AGENT_NAME_MAX_BYTES: usize = 33;
/// The length of a tool name.
pub const TOOL_NAME_MAX_BYTES: usize = 128;
/// Names of MCP servers.
pub const SERVER_NAME_MAX_BYTES: usize = 64;
/// The length of a user name.
pub const USER_NAME_MAX_BYTES: usize = 64;
/// A tool's schema: size, nesting, number of subschemas. A tool beyond any of them is not registered.
pub const SCHEMA_MAX_BYTES: usize = 64 * 1024;
/// Levels of a schema; see [`SCHEMA_MAX_BYTES`].
pub const SCHEMA_MAX_DEPTH: usize = 32;
/// Parts of a schema; see [`SCHEMA_MAX_BYTES`].
pub const SCHEMA_MAX_SUBSCHEMAS: usize = 2_000;
/// What one compiled `pattern` may take; together with a linear-time engine this bounds a hostile schema.
pub const SCHEMA_PATTERN_MAX_BYTES: usize = 1024 * 1024;
/// One value of `memory_store`.
pub const MEMORY_VALUE_MAX_BYTES: usize = 64 * 1024;
/// One key of `memory_store`.
pub const MEMORY_KEY_MAX_BYTES: usize = 256;
/// Keys one owner may keep in memory.
pub const MEMORY_KEYS_PER_OWNER: usize = 10_000;
/// Files of workspaces that one owner may have written by tools.
pub const FILES_PER_OWNER: usize = 100_000;
/// Bytes of tasks, transcripts, files, memory and kept results that one owner may keep, unless `storage.owner_bytes` says otherwise.
pub const OWNER_BYTES: u64 = 1024 * 1024 * 1024;
/// Rows the in-memory audit home keeps; the oldest go first.
pub const MEMORY_AUDIT_ROWS: usize = 10_000;
/// Tasks the in-memory task home keeps; the oldest finished go first, live ones never.
pub const MEMORY_TASKS: usize = 1_000;
/// How long a run may go on before its task can be seen, if nobody asked to see it earlier. Until then its events wait,
/// so that a quick call is one commit.
pub const TASK_UNSEEN: Duration = Duration::from_millis(50);
/// How long cancel waits for another process to stop the work there.
pub const CANCEL_ELSEWHERE: Duration = Duration::from_secs(2);
/// How often a server looks for processes that died, and for a store that works again.
pub const WATCH_OVER: Duration = Duration::from_secs(1);
/// How often a server looks whether its files were written.
pub const SETTINGS_LOOK: Duration = Duration::from_secs(2);
/// How long files must stay as they are before a server reads them: whoever writes them may not be done.
pub const SETTINGS_SETTLE: Duration = Duration::from_millis(500);
/// How long an MCP server that was replaced is kept for calls that found it just before.
pub const MCP_REPLACED_GRACE: Duration = Duration::from_secs(1);
/// How often a server evicts what is older than it keeps.
pub const RETENTION_ROUND: Duration = Duration::from_secs(3_600);
/// Bytes of all messages of one task together.
pub const TASK_MAX_BYTES: usize = 32 * 1024 * 1024;
/// Bytes of the agent cards that are kept ready; beyond that they are made anew.
pub const CARDS_KEPT_BYTES: usize = 8 * 1024 * 1024;
/// The shortest `api_key`; shorter ones can be guessed.
pub const API_KEY_MIN_BYTES: usize = 16;
/// How many processes may try a task before it fails.
pub const TASK_ATTEMPTS: u32 = 3;
/// Writes that go into one commit of the store, at most.
pub const STORE_BATCH: usize = 512;
/// From so many writes in one commit on, the next ones wait a moment for each other.
pub const STORE_CROWD: usize = 8;
/// How long they wait for each other at most.
pub const STORE_GATHER: Duration = Duration::from_millis(2);
/// How long a write that nobody waits for waits for others to share its commit. A crash may lose this much more of them.
pub const STORE_LINGER: Duration = Duration::from_millis(5);
/// Writes that may wait for the store; beyond that it is not keeping up, and says so.
pub const STORE_QUEUE: usize = 65_536;
/// Audit rows of reads and refusals that may wait; the rest of the queue is for writes that somebody waits for.
pub const STORE_QUEUE_ROWS: usize = STORE_QUEUE / 2;
/// From so many waiting writes on, the rows of each owner are counted.
pub const STORE_QUEUE_CROWDED: usize = STORE_QUEUE / 8;
/// Rows that one owner may add to a crowded queue.
pub const STORE_QUEUE_ROWS_PER_OWNER: usize = STORE_QUEUE / 16;
/// Audit rows of deeds that are kept in memory while nothing can be written.
pub const STORE_HELD_ROWS: usize = STORE_QUEUE;
/// How long a gap in the audit log waits to be written down while the store is busy.
pub const STORE_GAP_WAIT: Duration = Duration::from_secs(10);
/// Disk space that is set aside for the audit log and for what is under way; on a small disk an eighth of it.
pub const STORE_RESERVE_BYTES: u64 = 16 * 1024 * 1024;
/// What may still be added to a task while the disk is full.
pub const STORE_RESERVED_WRITE_BYTES: usize = 64 * 1024;
/// The longest write-ahead log, 1 GiB: beyond that new work waits until whoever reads an old state of the database ends.
pub const STORE_LOG_PAGES: u64 = 262_144;
/// How often a process looks whether another one wrote to the store.
pub const STORE_POLL: Duration = Duration::from_millis(100);
/// Rows counted when a list is filtered by more than its state; a larger total is shown as this many.
pub const COUNTED_ROWS: usize = 10_001;
/// Tasks on one page of a list, at most and by default.
pub const PAGE_MAX_TASKS: usize = 100;
/// Tasks of a page, unless the client asks for fewer or more.
pub const PAGE_DEFAULT_TASKS: usize = 50;
/// Bytes of the tasks on one page of a list, as they are stored. A page ends before the task that would be too much; one
/// task it always has.
pub const PAGE_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Events a stream reads from the log at a time; a slow reader costs the writer nothing and this much memory.
pub const STREAM_BATCH_EVENTS: usize = 64;
/// Bytes of these events, as they are stored, and of a task that a stream begins with. For more a stream waits for its
/// turn.
pub const STREAM_BATCH_BYTES: usize = 64 * 1024;

/// How much of what was last committed to a task is in memory while somebody follows it.
pub const STREAM_TAIL_BYTES: usize = 8 * 1024;

/// How often the text that an agent says bit by bit is committed.
pub const TEXT_PACE: Duration = Duration::from_millis(50);

/// How much text waits for its commit; an agent that says more waits too.
pub const TEXT_WAITING_BYTES: usize = 64 * 1024;
/// Streams of one owner that hold more at a time; the others wait until it was read.
pub const STREAMS_LARGE_PER_OWNER: usize = 2;
/// How long cancel waits for the work to stop before it records the end; the work's future is dropped by then.
pub const CANCEL_GRACE: Duration = Duration::from_millis(900);
/// How long the daemon door waits for a connection and for the first byte of an answer that is not a run.
pub const DAEMON_TIMEOUT: Duration = Duration::from_secs(5);
/// `daemon.json`; ours is a few hundred bytes.
pub const DAEMON_FILE_MAX_BYTES: u64 = 16 * 1024;
/// `home.json`; ours is a few hundred bytes.
pub const HOME_RECORD_MAX_BYTES: u64 = 16 * 1024;
/// How long `/health` stays red after a read of the database failed, and how often that leads to a full check.
pub const READ_FAILURE_SHOWN: Duration = Duration::from_secs(60);
/// What the daemon door takes of an answer to its challenge; a stranger may be sending it.
pub const DAEMON_PROOF_MAX_BYTES: usize = 64 * 1024;
/// What the daemon door takes of one answer.
pub const DAEMON_ANSWER_MAX_BYTES: usize = 64 * 1024 * 1024;
/// What the daemon door takes of one event of a stream.
pub const DAEMON_EVENT_MAX_BYTES: usize = 16 * 1024 * 1024;
/// What `--trace-wire` shows of one body.
pub const WIRE_TRACE_MAX_BYTES: usize = 2 * 1024;
/// How often `openfang stop` looks whether the daemon is gone.
pub const DAEMON_STOP_POLL: Duration = Duration::from_millis(50);
/// How long connections get, after work was interrupted at shutdown, to tell their callers so.
pub const LAST_WORD: Duration = Duration::from_secs(1);
/// How much longer than `drain_secs` a stop may take in all; then the process ends, whatever still runs.
pub const STOP_OVERTIME: Duration = Duration::from_secs(20);
/// How long it may take after a second signal.
pub const STOP_AT_ONCE: Duration = Duration::from_secs(10);
/// How often unused rate-limit keys are forgotten.
pub const RATE_LIMIT_SWEEP: Duration = Duration::from_secs(60);
/// Pause of the accept loop when the process is out of descriptors.
pub const ACCEPT_BACKOFF: Duration = Duration::from_millis(50);
/// How long a connection without a request is safe from having to make room for others.
pub const SEAT_SETTLING: Duration = Duration::from_millis(200);
/// The same for a connection that has been used.
pub const SEAT_PAUSE: Duration = Duration::from_secs(5);
/// How many connections without a request are closed at once when all connections are in use.
pub const SEATS_FREED_AT_ONCE: usize = 64;
/// How often the accept loop looks for connections without a request while all are in use.
pub const SEATS_LOOK: Duration = Duration::from_millis(50);
/// How often the log says that all connections are in use.
pub const SEATS_WARNING_PACE: Duration = Duration::from_secs(60);
/// From this size on the body of a request lies in pages of its own, which are given back when it is dropped.
pub const OWN_PAGES_FROM_BYTES: usize = 256 * 1024;
/// From this size on an answer counts for `inflight_bytes`.
pub const INFLIGHT_FROM_BYTES: usize = 64 * 1024;
/// From this size on a request is processed off the workers: it can take milliseconds.
pub const OFF_WORKER_FROM_BYTES: usize = 16 * 1024;
/// Reads of the store that may return more are made at low priority, and small reads do not wait for them.
pub const LARGE_READ_BYTES: usize = INFLIGHT_FROM_BYTES;
/// From this size on a request counts for `inflight_bytes`: a small one can take a hundred times its size when it is parsed,
/// and be held for long. Smaller ones cost nothing to count.
pub const INFLIGHT_SMALL_BYTES: usize = 1024;
/// How many times a request counts: as it came, copied, and parsed.
pub const INFLIGHT_COPIES: usize = 4;
/// How many times what is stored an answer counts until it is rendered: as it is read, parsed, and written.
pub const ANSWER_COPIES: usize = 3;
/// How long a large answer waits until there is room for it.
pub const ANSWER_ROOM_WAIT: Duration = Duration::from_secs(5);
/// What a connection is handed of a large answer at a time.
pub const INFLIGHT_PIECE_BYTES: usize = 64 * 1024;
/// The `nice` value of threads for long computations: large bodies, large tasks, schemas of others.
pub const BACKGROUND_NICENESS: i32 = 10;
/// What a client is told to wait when too much is under way.
pub const TOO_MUCH_PAUSE: Duration = Duration::from_secs(1);
/// What one answer over HTTP/2 hands to its connection at a time; the next piece follows when it was taken.
pub const HTTP2_PIECE_BYTES: usize = 16 * 1024;
/// An answer of up to so many bytes may wait at its connection after its request is over.
pub const HTTP2_SMALL_BYTES: usize = 1024;
/// What is read of a body after its request was refused, so that the peer sees the answer.
pub const UNREAD_BODY_MAX_BYTES: usize = 64 * 1024 * 1024;
/// How much of it is read at a time.
pub const UNREAD_BODY_PIECE_BYTES: usize = 16 * 1024;
/// Descriptors we ask the system for; what it grants is used.
pub const NOFILE_TARGET: u64 = 65_536;
/// A script's steps per rule; a longer one is a mistake.
pub const SCRIPT_MAX_STEPS: usize = 10_000;
/// A script's one delay.
pub const SCRIPT_MAX_DELAY: Duration = Duration::from_secs(3_600);
/// The length of a URL.
pub const URL_MAX_BYTES: usize = 8 * 1024;
/// Addresses of one name that are tried.
pub const DNS_ANSWERS: usize = 16;
/// What the HTTP door takes of one event of a stream, unless the caller says otherwise.
pub const SSE_EVENT_MAX_BYTES: usize = 10 * 1024 * 1024;
/// Events of one stream, unless the caller says otherwise.
pub const SSE_EVENTS_MAX: u64 = 1_000_000;
/// The id of an event; it is kept, and sent back to resume.
pub const SSE_ID_MAX_BYTES: usize = 4 * 1024;
/// How long the HTTP door waits for a connection: name, TCP and TLS together.
pub const HTTP_CONNECT: Duration = Duration::from_secs(10);
/// How long it waits for the head of an answer once it is connected; sending the request is part of it.
pub const HTTP_FIRST_BYTE: Duration = Duration::from_secs(30);
/// How long it waits between two pieces of a body.
pub const HTTP_IDLE: Duration = Duration::from_secs(30);
/// How long a request may take in all, with redirects, retries and the body.
pub const HTTP_TOTAL: Duration = Duration::from_secs(60);
/// What it takes of a body, decoded.
pub const HTTP_DECODED_MAX_BYTES: u64 = 5 * 1024 * 1024;
/// How many times larger than on the wire a body may become when it is decoded.
pub const HTTP_RATIO: u64 = 100;
/// Until a body has become this large, its ratio says nothing.
pub const HTTP_RATIO_FLOOR_BYTES: u64 = 64 * 1024;
/// What is decoded at a time; a bomb grows by this much beyond its limit.
pub const HTTP_DECODE_STEP_BYTES: usize = 16 * 1024;
/// Redirects that are followed.
pub const HTTP_REDIRECTS: u32 = 3;
/// Headers of an answer.
pub const HTTP_ANSWER_HEADERS: usize = 100;
/// Bytes of an answer's headers over HTTP/2; over HTTP/1 the parser has a limit of its own of the same order.
pub const HTTP_ANSWER_HEADER_BYTES: u32 = 128 * 1024;
/// What an HTTP/2 peer may send before somebody reads it: of one stream, and of the connection.
pub const HTTP2_STREAM_WINDOW: u32 = 256 * 1024;
/// The same for a whole connection; see [`HTTP2_STREAM_WINDOW`].
pub const HTTP2_CONNECTION_WINDOW: u32 = 1024 * 1024;
/// How often a request that is safe to repeat is sent, redirects included.
pub const HTTP_ATTEMPTS: u32 = 3;
/// The pause before the first repetition is random up to this; it doubles from then on.
pub const HTTP_BACKOFF: Duration = Duration::from_millis(250);
/// The longest such pause.
pub const HTTP_BACKOFF_MAX: Duration = Duration::from_secs(5);
/// The longest `Retry-After` that is waited for; with a longer one the answer is handed back.
pub const HTTP_RETRY_AFTER_MAX: Duration = Duration::from_secs(30);
/// Failures in a row after which an origin is left alone.
pub const HTTP_CIRCUIT_FAILURES: u32 = 5;
/// How long it is left alone before somebody may try again.
pub const HTTP_CIRCUIT_PAUSE: Duration = Duration::from_secs(30);
/// Origins whose failures are remembered; the healthy ones are forgotten first.
pub const HTTP_CIRCUITS: usize = 1_024;
/// How long an unused connection is kept.
pub const HTTP_POOL_IDLE: Duration = Duration::from_secs(60);
/// Unused connections kept for one origin. A gateway has as many calls under way to one server as it has callers, and a
/// connection that is thrown away between two bursts costs the next one a handshake.
pub const HTTP_POOL_PER_ORIGIN: usize = 64;
/// Child processes that one door keeps at a time; the next one is refused.
pub const CHILDREN_MAX: usize = 1_024;
/// How long a child may take from its fork to its own program: a directory on a dead network share must not hang us.
pub const CHILD_START_LIMIT: Duration = Duration::from_secs(10);
/// What a child is told before it runs its program; the system's own limit for arguments and environment is 2 MiB.
pub const CHILD_ORDER_MAX_BYTES: usize = 16 * 1024 * 1024;
/// Frames that may wait for a child to read; the next sender waits.
pub const CHILD_STDIN_QUEUE: usize = 64;
/// How long a child may take for one frame on its stdin before the stream counts as stuck.
pub const CHILD_STDIN_LIMIT: Duration = Duration::from_secs(10);
/// What is kept of a child's stderr: the end of it.
pub const CHILD_STDERR_TAIL_BYTES: usize = 64 * 1024;
/// A longer line of stderr comes in pieces of at most this size.
pub const CHILD_STDERR_LINE_BYTES: usize = 8 * 1024;
/// What a line of stderr counts for beside its bytes when a child floods it: each line is work, however short it is.
pub const CHILD_STDERR_LINE_COST: u64 = 256;
/// From so many bytes on a value of a child's environment is taken out of its stderr; shorter ones are words.
pub const CHILD_SECRET_MIN_BYTES: usize = 8;
/// How long a child gets to end by itself after its stdin was closed.
pub const CHILD_CLOSE_GRACE: Duration = Duration::from_secs(1);
/// How long it gets after TERM, before KILL.
pub const CHILD_TERM_GRACE: Duration = Duration::from_millis(500);
/// How long the end of a child is waited for after KILL; the system may hold on to it for longer.
pub const CHILD_KILL_PATIENCE: Duration = Duration::from_secs(5);
/// How long the rest of a dead child's stderr is read, and its clearing away waited for.
pub const CHILD_LAST_WORDS: Duration = Duration::from_millis(500);
/// How often a dying child is looked at, and how long what it left is removed at a time.
pub const CHILD_BURIAL_ROUND: Duration = Duration::from_millis(5);
/// Data that a tool's child may have, unless a control group limits its memory.
pub const CHILD_MEMORY_BYTES: u64 = 512 * 1024 * 1024;
/// Processes that a tool's child may start, on top of those its user has.
pub const CHILD_PROCESSES: u64 = 64;
/// Output of a program that is read at once when it is collected.
pub const CHILD_OUTPUT_BURST: u64 = 32 * 1024 * 1024;
/// Bytes a second of it from then on: reading without bound would keep a worker busy for as long as the program writes.
pub const CHILD_OUTPUT_PER_SECOND: f64 = 64.0 * 1024.0 * 1024.0;
/// What is read of such output at a time.
pub const CHILD_OUTPUT_CHUNK_BYTES: usize = 64 * 1024;
/// How long the reaper may take to answer before it counts as dead.
pub const REAPER_ANSWER: Duration = Duration::from_secs(5);
/// How often it is looked whether the reaper lives, while there are children.
pub const REAPER_WATCH: Duration = Duration::from_secs(1);
/// How long what a dead child left on disk is being removed before it stays.
pub const CHILD_SWEEP: Duration = Duration::from_secs(60);

/// The limits that config may change, under `[limits]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Maximum characters of text in one tool result. Longer text is truncated, with a marker.
    pub tool_result_chars: usize,
    /// Maximum bytes of one image, audio, file or structured block of a result. A larger block is replaced by a marker.
    pub tool_result_block_bytes: usize,
    /// Seconds for which the removed part of a result stays readable for its owner; 0 keeps nothing.
    pub kept_result_secs: u64,
    /// Maximum steps of one check of arguments or of a result against the schema of an MCP tool.
    pub schema_check_steps: u64,
    /// Maximum characters of the listed name of an MCP tool. Clients add a prefix of their own.
    pub max_tool_name: usize,
    /// Timeout of a plain tool, in seconds.
    pub tool_timeout_secs: u64,
    /// Timeout of a tool that runs an agent, in seconds.
    pub run_timeout_secs: u64,
    /// Maximum depth of agents that call agents.
    pub agent_depth: u8,
    /// Maximum live tasks of one owner. The next one is refused.
    pub live_tasks_per_owner: usize,
    /// Maximum open event streams of one owner.
    pub streams_per_owner: usize,
    /// Maximum remembered legacy MCP sessions of one owner. The least used one is dropped for a new one.
    pub mcp_sessions_per_owner: usize,
    /// Maximum open `/sse` streams of one owner.
    pub sse_streams_per_owner: usize,
    /// Maximum MCP request states that one owner can use in an hour.
    pub request_states_per_owner: usize,
    /// Maximum connections of one owner to one interactive MCP server.
    pub conversations_per_owner: usize,
    /// Maximum bytes of large requests and responses in flight. One owner can use half of it. A request counts four
    /// times; a stored task counts three times until it is rendered.
    pub inflight_bytes: usize,
    /// Maximum bytes of a request body.
    pub body_bytes: usize,
    /// Seconds until a client must have sent its headers. An idle connection is closed after the same time, over HTTP/2
    /// after up to twice the time.
    pub header_read_secs: u64,
    /// Seconds until a client must have sent its body.
    pub body_read_secs: u64,
    /// Maximum number of request headers.
    pub headers: usize,
    /// Maximum bytes of all request headers together.
    pub header_bytes: usize,
    /// Maximum number of connections. When all are in use, those without a request are closed for new ones.
    pub connections: usize,
    /// Maximum connections of one peer. A peer is an IPv4 address or an IPv6 /64 network. Loopback is exempt.
    pub connections_per_peer: usize,
    /// Maximum HTTP/2 streams of one connection.
    pub http2_streams: u32,
    /// Requests per second of one peer, counted before authentication. Loopback is exempt.
    pub rate_per_peer: u32,
    /// Burst of requests of one peer.
    pub rate_per_peer_burst: u32,
    /// Calls per second of one principal. A request is one call, and each message of a batch is one call.
    pub rate_per_principal: u32,
    /// Burst of calls of one principal.
    pub rate_per_principal_burst: u32,
    /// Cost of a failed authentication for the peer, in requests. Loopback is not exempt.
    pub failed_credential_cost: u32,
    /// Budget of wrong passwords of one peer. It refills over ten minutes. Loopback is not exempt.
    pub login_attempts_per_peer: u32,
    /// Budget of wrong passwords for one account, from peers that never logged in to it. It refills over ten minutes.
    pub login_attempts_per_account: u32,
    /// Burst of audit rows about refusals of one owner. Further refusals are counted, and the counts are written.
    pub refusal_rows: u32,
    /// Audit rows about refusals of one owner per hour, after the burst.
    pub refusal_rows_per_hour: u32,
    /// Seconds between keep-alive comments on an event stream.
    pub stream_keep_alive_secs: u64,
    /// Seconds after which a client that reads nothing of a response is disconnected; over HTTP/2 its stream is closed.
    /// Event streams can be resumed.
    pub write_stall_secs: u64,
    /// Seconds that running work gets to finish when the server stops.
    pub drain_secs: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            tool_result_chars: 50_000,
            tool_result_block_bytes: 1024 * 1024,
            kept_result_secs: 24 * 3_600,
            schema_check_steps: 20_000_000,
            max_tool_name: 48,
            tool_timeout_secs: 60,
            run_timeout_secs: 600,
            agent_depth: 4,
            live_tasks_per_owner: 1_000,
            streams_per_owner: 500,
            mcp_sessions_per_owner: 1_000,
            sse_streams_per_owner: 100,
            request_states_per_owner: 4_096,
            conversations_per_owner: 8,
            inflight_bytes: 98 * 1024 * 1024,
            body_bytes: 10 * 1024 * 1024,
            header_read_secs: 10,
            body_read_secs: 60,
            headers: 64,
            header_bytes: 16 * 1024,
            connections: 4_096,
            connections_per_peer: 256,
            http2_streams: 100,
            rate_per_peer: 50,
            rate_per_peer_burst: 200,
            rate_per_principal: 100,
            rate_per_principal_burst: 500,
            failed_credential_cost: 10,
            login_attempts_per_peer: 20,
            login_attempts_per_account: 100,
            refusal_rows: 1_000,
            refusal_rows_per_hour: 100,
            stream_keep_alive_secs: 15,
            write_stall_secs: 30,
            drain_secs: 30,
        }
    }
}

impl Limits {
    /// What a plain tool may take.
    pub const fn tool_timeout(&self) -> Duration {
        Duration::from_secs(self.tool_timeout_secs)
    }

    /// What a run of an agent may take.
    pub const fn run_timeout(&self) -> Duration {
        Duration::from_secs(self.run_timeout_secs)
    }

    /// How long a client may take nothing of an answer.
    pub const fn write_stall(&self) -> Duration {
        Duration::from_secs(self.write_stall_secs)
    }

    /// What running work gets at shutdown.
    pub const fn drain(&self) -> Duration {
        Duration::from_secs(self.drain_secs)
    }
}
