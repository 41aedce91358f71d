//! How a child ended.

use std::fmt;

/// How a child ended, and whether we ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    pub ending: Ending,
    /// Whether we ended it: by a shutdown, or because its handle was dropped.
    pub asked: bool,
}

/// How the system reports the end of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it.
    Signal(i32),
    /// Unknown: it did not die of KILL in time, or we are shutting down.
    Unknown,
}

impl Exit {
    /// Whether it ended with code 0.
    pub fn is_success(&self) -> bool {
        self.ending == Ending::Code(0)
    }

    /// The name in metrics and logs.
    pub(super) const fn word(&self) -> &'static str {
        match (self.ending, self.asked) {
            (Ending::Code(_), _) => "exited",
            (Ending::Signal(_), false) => "signalled",
            (Ending::Signal(_), true) => "killed",
            (Ending::Unknown, _) => "unknown",
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ending {
            Ending::Code(code) => write!(f, "ended with code {code}"),
            Ending::Signal(signal) if self.asked => write!(f, "was ended by us (signal {signal})"),
            Ending::Signal(signal) => write!(f, "was ended by signal {signal}"),
            Ending::Unknown => f.write_str("is gone, nobody knows how"),
        }
    }
}
