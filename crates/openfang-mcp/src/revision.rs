//! What each revision of MCP has, in one table, newest first. Behaviour asks the table.

use std::fmt;

/// A revision this crate speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Revision {
    /// HTTP+SSE, tools, prompts, resources.
    V2024_11_05,
    /// Streamable HTTP, batches, audio, annotations.
    V2025_03_26,
    /// Structured results, elicitation, resource links.
    V2025_06_18,
    /// Icons, streams that can be polled.
    V2025_11_25,
    /// Stateless: no handshake, no session, input asked for in results.
    V2026_07_28,
}

/// Two families of revisions that differ in how a conversation begins. It is what operators and callers choose by; what a
/// revision does differently is in its [`Facts`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// `initialize` first, perhaps a session.
    Legacy,
    /// Every request stands alone and says in `_meta` what it is.
    Modern,
}

impl Era {
    /// The word for it, in config and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }
}

/// Which structured results a revision has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Structured {
    Absent,
    Object,
    Any,
}

/// How a revision lets a server ask the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Elicitation {
    Absent,
    Forms,
    /// By forms, and by pages to visit.
    FormsAndPages,
}

/// How a server asks its client for something during a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Questions {
    /// The server sends a request, and the call waits.
    ByRequest,
    /// The result is the question, and the client calls again with the answer.
    InResult,
}

/// How a client comes to hear of changes of lists and resources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changes {
    /// Lists are told of unasked, resources after `resources/subscribe`.
    Pushed,
    /// The client asks with `subscriptions/listen`, and the answer is a stream.
    Listened,
}

/// How a call becomes a task of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskMethods {
    Absent,
    /// The call asks for it.
    Core,
    /// By an extension that the client declares: the server decides.
    Extension,
}

/// What a revision has.
#[derive(Debug)]
pub struct Facts {
    pub revision: Revision,
    /// Its name on the wire.
    pub name: &'static str,
    pub era: Era,
    /// Whether a conversation begins with `initialize`.
    pub handshake: bool,
    /// Whether a server over HTTP may give its client a session.
    pub sessions: bool,
    /// Whether every message says in `_meta`, and over HTTP in headers, what it would otherwise owe to the handshake.
    pub meta_required: bool,
    /// How a server asks during a call.
    pub questions: Questions,
    /// How changes are told.
    pub changes: Changes,
    /// Whether a client over HTTP cancels a request by closing the connection.
    pub disconnect_cancels: bool,
    /// Whether several messages may come in one array.
    pub batches: bool,
    /// Whether the transport has streams that can be resumed and sessions in a header.
    pub streamable: bool,
    /// Whether a stream begins with an event that can be resumed from.
    pub primed_streams: bool,
    /// What structured results may be.
    pub structured: Structured,
    /// Whether sound is a content block.
    pub audio: bool,
    /// Whether a pointer to a resource is a content block.
    pub resource_links: bool,
    /// Whether progress may carry a sentence.
    pub progress_messages: bool,
    /// Whether `completions` is a capability of its own.
    pub completions_capability: bool,
    /// Whether a name may come with a title.
    pub titles: bool,
    /// Whether the server may describe itself beyond name and version.
    pub descriptions: bool,
    /// How the server may ask the user.
    pub elicitation: Elicitation,
    /// How calls become tasks.
    pub tasks: TaskMethods,
    /// Whether a server declares extensions.
    pub extensions: bool,
}

const TABLE: [Facts; 5] = [
    Facts {
        revision: Revision::V2026_07_28,
        name: "2026-07-28",
        era: Era::Modern,
        handshake: false,
        sessions: false,
        meta_required: true,
        questions: Questions::InResult,
        changes: Changes::Listened,
        disconnect_cancels: true,
        batches: false,
        streamable: true,
        primed_streams: false,
        structured: Structured::Any,
        audio: true,
        resource_links: true,
        progress_messages: true,
        completions_capability: true,
        titles: true,
        descriptions: true,
        elicitation: Elicitation::FormsAndPages,
        tasks: TaskMethods::Extension,
        extensions: true,
    },
    Facts {
        revision: Revision::V2025_11_25,
        name: "2025-11-25",
        era: Era::Legacy,
        handshake: true,
        sessions: true,
        meta_required: false,
        questions: Questions::ByRequest,
        changes: Changes::Pushed,
        disconnect_cancels: false,
        batches: false,
        streamable: true,
        primed_streams: true,
        structured: Structured::Object,
        audio: true,
        resource_links: true,
        progress_messages: true,
        completions_capability: true,
        titles: true,
        descriptions: true,
        elicitation: Elicitation::FormsAndPages,
        tasks: TaskMethods::Core,
        extensions: true,
    },
    Facts {
        revision: Revision::V2025_06_18,
        name: "2025-06-18",
        era: Era::Legacy,
        handshake: true,
        sessions: true,
        meta_required: false,
        questions: Questions::ByRequest,
        changes: Changes::Pushed,
        disconnect_cancels: false,
        batches: false,
        streamable: true,
        primed_streams: false,
        structured: Structured::Object,
        audio: true,
        resource_links: true,
        progress_messages: true,
        completions_capability: true,
        titles: true,
        descriptions: false,
        elicitation: Elicitation::Forms,
        tasks: TaskMethods::Absent,
        extensions: false,
    },
    Facts {
        revision: Revision::V2025_03_26,
        name: "2025-03-26",
        era: Era::Legacy,
        handshake: true,
        sessions: true,
        meta_required: false,
        questions: Questions::ByRequest,
        changes: Changes::Pushed,
        disconnect_cancels: false,
        batches: true,
        streamable: true,
        primed_streams: false,
        structured: Structured::Absent,
        audio: true,
        resource_links: false,
        progress_messages: true,
        completions_capability: true,
        titles: false,
        descriptions: false,
        elicitation: Elicitation::Absent,
        tasks: TaskMethods::Absent,
        extensions: false,
    },
    Facts {
        revision: Revision::V2024_11_05,
        name: "2024-11-05",
        era: Era::Legacy,
        handshake: true,
        sessions: true,
        meta_required: false,
        questions: Questions::ByRequest,
        changes: Changes::Pushed,
        disconnect_cancels: false,
        batches: false,
        streamable: false,
        primed_streams: false,
        structured: Structured::Absent,
        audio: false,
        resource_links: false,
        progress_messages: false,
        completions_capability: false,
        titles: false,
        descriptions: false,
        elicitation: Elicitation::Absent,
        tasks: TaskMethods::Absent,
        extensions: false,
    },
];

impl Revision {
    pub const NEWEST: Self = Self::V2026_07_28;
    /// The newest one that begins with `initialize`.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;
    /// What `initialize` without a version means: the one that the first clients spoke.
    pub const UNNAMED: Self = Self::V2024_11_05;
    /// What a request without a header and without a session means.
    pub const UNSAID: Self = Self::V2025_03_26;

    pub const fn facts(self) -> &'static Facts {
        match self {
            Self::V2026_07_28 => &TABLE[0],
            Self::V2025_11_25 => &TABLE[1],
            Self::V2025_06_18 => &TABLE[2],
            Self::V2025_03_26 => &TABLE[3],
            Self::V2024_11_05 => &TABLE[4],
        }
    }

    /// All of them, newest first.
    pub fn all() -> impl Iterator<Item = Self> {
        TABLE.iter().map(|facts| facts.revision)
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Self> {
        TABLE.iter().find(|facts| facts.name == name).map(|facts| facts.revision)
    }

    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    pub const fn era(self) -> Era {
        self.facts().era
    }

    /// What `initialize` is answered with: the asked one, if it has a handshake, else the newest that has.
    pub fn negotiated(asked: Option<&str>) -> Self {
        match asked {
            None => Self::UNNAMED,
            Some(name) => Self::named(name).filter(|known| known.facts().handshake).unwrap_or(Self::NEWEST_LEGACY),
        }
    }

    /// Its place in the table of prepared answers.
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
#[path = "revision_tests.rs"]
mod tests;
