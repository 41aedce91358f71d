//! Limits of A2A.

use std::time::Duration;

/// A token or a credential that a peer wants to be sent along with pushes.
pub const A2A_PUSH_SECRET_MAX_BYTES: usize = 4 * 1024;
/// Tasks that the bounded map of the A2A library keeps.
pub const A2A_TASK_STORE: usize = 1_000;
/// What is kept of an error that a peer answers with.
pub const A2A_PEER_ERROR_MAX_CHARS: usize = 500;
/// An agent card, or another document of discovery, as it is served.
pub const A2A_CARD_MAX_BYTES: u64 = 1024 * 1024;
/// The time for one document of discovery, from the connection to its last byte.
pub const A2A_CARD_TOTAL: Duration = Duration::from_secs(10);
/// Interfaces that are read from one card; the rest is ignored.
pub const A2A_CARD_INTERFACES: usize = 64;
/// Skills that are read from one card; the rest is ignored.
pub const A2A_CARD_SKILLS: usize = 256;
/// Signatures of one card that are checked.
pub const A2A_CARD_SIGNATURES: usize = 8;
/// Keys that are read from one key set.
pub const A2A_CARD_KEYS: usize = 64;
/// Security schemes and extensions that are read from one card.
pub const A2A_CARD_ENTRIES: usize = 64;
/// A name, a description or another text of a card.
pub const A2A_CARD_TEXT_MAX_CHARS: usize = 4_000;
/// How long a card is fresh if its server does not say.
pub const A2A_CARD_AGE: Duration = Duration::from_secs(300);
/// The shortest time a card is fresh, whatever its server says.
pub const A2A_CARD_AGE_MIN: Duration = Duration::from_secs(60);
/// The longest time a card is fresh, whatever its server says.
pub const A2A_CARD_AGE_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// How often a card is fetched again because its agent did not understand a request.
pub const A2A_CARD_REFETCH: Duration = Duration::from_secs(60);
/// The time for one probe of an agent's version.
pub const A2A_PROBE_TOTAL: Duration = Duration::from_secs(10);
/// The time until an external agent has to begin its answer, by default.
pub const A2A_CLIENT_TIMEOUT: Duration = Duration::from_secs(30);
/// The time an external agent may work without a sign of life, by default.
pub const A2A_CLIENT_IDLE: Duration = Duration::from_secs(300);
/// After this time without an event a task is looked at beside its stream, which may only be kept open.
pub const A2A_CLIENT_LOOK: Duration = Duration::from_secs(30);
/// The time an external agent may work on one message, by default.
pub const A2A_CLIENT_TOTAL: Duration = Duration::from_secs(3_600);
/// One event of an agent's stream.
pub const A2A_CLIENT_EVENT_BYTES: usize = 10 * 1024 * 1024;
/// One answer of an agent: a task with all its artifacts, or a page of tasks.
pub const A2A_CLIENT_ANSWER_BYTES: u64 = 72 * 1024 * 1024;
/// Events that are read from an agent during one turn of a task.
pub const A2A_CLIENT_EVENTS: u64 = 100_000;
/// Bytes of artifacts that are read from an agent during one turn of a task.
pub const A2A_CLIENT_ARTIFACT_BYTES: usize = 50 * 1024 * 1024;
/// Artifacts that one task of an agent may have.
pub const A2A_CLIENT_ARTIFACTS: usize = 1_000;
/// Messages of a task's history that are kept while the task is followed.
pub const A2A_CLIENT_HISTORY: usize = 1_000;
/// After this time without a byte, a stream is given up and the task is fetched.
pub const A2A_CLIENT_SILENCE: Duration = Duration::from_secs(60);
/// The first pause between two looks at a task that has no stream.
pub const A2A_POLL: Duration = Duration::from_millis(100);
/// The longest pause between two looks at a task that has no stream.
pub const A2A_POLL_MAX: Duration = Duration::from_secs(5);
/// The longest pause between two looks that an agent can ask for.
pub const A2A_RETRY_AFTER_MAX: Duration = Duration::from_secs(60);
/// Events of a stream that are taken in together when they arrive together.
pub const A2A_TOGETHER: usize = 64;
/// Streams of one task that may end without an event before the task is polled instead.
pub const A2A_EMPTY_STREAMS: u32 = 3;
/// The time to tell an agent that its work is not wanted any more.
pub const A2A_CANCEL_TOTAL: Duration = Duration::from_secs(10);
/// Tasks on one page when the tasks of an agent are searched.
pub const A2A_SEARCH_PAGE: usize = 50;
/// Pages of an agent's tasks that are searched.
pub const A2A_SEARCH_PAGES: usize = 20;
/// Answers up to this size are read at once; larger ones on a thread of their own.
pub const A2A_INLINE_READ_BYTES: usize = 64 * 1024;
/// Cards that are fetched at the same time.
pub const A2A_DISCOVERIES: usize = 64;
/// The longest query for agents.
pub const AGENT_QUERY_MAX_CHARS: usize = 1_000;
/// The words of a query for agents.
pub const AGENT_QUERY_WORDS: usize = 16;
/// Entries of the catalogue that this server publishes.
pub const CATALOGUE_ENTRIES: usize = 1_000;
/// Skills that an entry of the catalogue names.
pub const CATALOGUE_TAGS: usize = 16;
/// The time for everything that is asked to find an agent.
pub const A2A_DISCOVERY_TOTAL: Duration = Duration::from_secs(60);
