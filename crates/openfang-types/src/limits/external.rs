//! Limits of agents on other servers.

use std::time::Duration;

/// How many external agents a home may have.
pub const EXTERNAL_AGENTS: usize = 2_000;
/// Default timeout until the first byte of an external agent's answer, in seconds.
pub const EXTERNAL_TIMEOUT_SECS: u64 = 30;
/// Default time that a task of an external agent may go on without a sign of life, in seconds.
pub const EXTERNAL_IDLE_SECS: u64 = 300;
/// Default time that a task of an external agent may take, in seconds.
pub const EXTERNAL_MAX_SECS: u64 = 3_600;
/// Default number of messages that may be under way to an external agent.
pub const EXTERNAL_MAX_LIVE: usize = 64;
/// How many questions of an external agent one task carries to its caller.
pub const EXTERNAL_QUESTIONS: usize = 10;
/// How many external agents are looked for at the same time.
pub const EXTERNAL_DISCOVERIES: usize = 256;
/// How often the card of an agent that cannot be reached is asked for again: from this, doubling.
pub const EXTERNAL_RETRY_FIRST: Duration = Duration::from_secs(5);
/// The longest pause between two attempts to reach an agent.
pub const EXTERNAL_RETRY_MAX: Duration = Duration::from_secs(600);
/// How often an agent is told of a cancel.
pub const EXTERNAL_CANCEL_TRIES: u32 = 3;
/// The pause before an agent is told of a cancel again.
pub const EXTERNAL_CANCEL_PAUSE: Duration = Duration::from_secs(1);
/// How long after a message was sent a list of the agent's tasks must show it. Only then its absence proves that the
/// message did not arrive.
pub const EXTERNAL_LIST_SETTLED: Duration = Duration::from_secs(30);
/// What is shown of an external agent's description, in characters.
pub const EXTERNAL_DESCRIPTION_CHARS: usize = 500;
/// How many skills of an external agent are shown to models.
pub const EXTERNAL_SKILLS: usize = 8;
/// What is shown of a skill's description, in characters.
pub const EXTERNAL_SKILL_CHARS: usize = 120;
/// How many skills of an agent are tools of their own, in our cards and of external agents.
pub const SKILL_TOOLS: usize = 64;
/// The size of the schemas of all these skills, in bytes.
pub const SKILL_SCHEMAS_BYTES: usize = 256 * 1024;
/// How many URLs that callers name an owner may have under way.
pub const FOREIGN_AGENT_CALLS: usize = 4;
/// The first pause before an agent is asked again whether somebody signed in; it doubles.
pub const EXTERNAL_SIGN_IN_FIRST: Duration = Duration::from_millis(500);
/// The longest pause before an agent is asked again whether somebody signed in.
pub const EXTERNAL_SIGN_IN_MAX: Duration = Duration::from_secs(15);
/// How long an agent is asked whether somebody signed in. After that only a message continues the task.
pub const EXTERNAL_SIGN_IN_TOTAL: Duration = Duration::from_secs(24 * 60 * 60);
/// How many tasks of one owner are followed while somebody signs in elsewhere.
pub const EXTERNAL_SIGN_INS: usize = 100;
/// The longest URL of a page where an agent wants a sign-in.
pub const SIGN_IN_URL_MAX_CHARS: usize = 4_000;
/// How long a call waits for an agent after its user opened the agent's page, if the call itself has no limit.
pub const EXTERNAL_SIGN_IN_CALL: Duration = Duration::from_secs(50);
/// The longest pause between two looks at a task whose agent pushes its changes. Some agents send a push only once.
pub const EXTERNAL_PUSHED_POLL_MAX: Duration = Duration::from_secs(60);
/// The body of a push that an agent sends. Its content is not used.
pub const EXTERNAL_PUSH_BODY_BYTES: usize = 1024 * 1024;
/// How many pushes a second are taken for one task.
pub const EXTERNAL_PUSHES_PER_SEC: u32 = 10;
/// Longer than any task of an external agent may take.
pub const EXTERNAL_MAX: Duration = Duration::from_secs(8 * 86_400);
/// The first pause before an agent is asked again whether a message arrived; it doubles.
pub const EXTERNAL_ASK_FIRST: Duration = Duration::from_millis(250);
/// The longest pause before an agent is asked again whether a message arrived.
pub const EXTERNAL_ASK_MAX: Duration = Duration::from_secs(5);
/// Files in the result of a task up to this size are in the result itself; larger ones are linked.
pub const TASK_INLINE_BYTES: usize = 1024 * 1024;
/// How often a caller who waits for an external agent hears of it at least.
pub const EXTERNAL_NOTICE: Duration = Duration::from_secs(10);
/// How many owners' calls to agents at URLs are remembered.
pub const FOREIGN_AGENT_OWNERS: usize = 10_000;
/// How many tasks at URLs are remembered for each owner.
pub const FOREIGN_AGENT_TASKS: usize = 100;
/// How many OpenFang instances an MCP tool may have been listed through before the one that lists it now.
pub const MCP_VIA: usize = 4;
/// The longest name that a client of MCP may give its conversation, in characters.
pub const CLIENT_CONVERSATION_CHARS: usize = 256;
