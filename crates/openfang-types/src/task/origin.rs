//! In whose dialect a task was made; who asks in words that several dialects share is answered in the same.

/// Where a task comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// Our own API, the command line, or an MCP client.
    OpenFang,
    /// A2A in OpenFang's own dialect. The stored word is older than the name.
    OpenFangA2a,
    V01,
    /// A2A 0.2 and 0.3.
    V03,
    V10,
}

impl Origin {
    pub const ALL: [Self; 5] = [Self::OpenFang, Self::OpenFangA2a, Self::V01, Self::V03, Self::V10];

    /// The word that is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenFang => "openfang",
            Self::OpenFangA2a => "seed",
            Self::V01 => "a2a-0.1",
            Self::V03 => "a2a-0.3",
            Self::V10 => "a2a-1.0",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|origin| origin.as_str() == word)
    }
}

#[cfg(test)]
#[path = "origin_tests.rs"]
mod tests;
