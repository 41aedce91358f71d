//! Why a turn goes no further.

use openfang_types::task::TaskState;

use crate::answerer::{Ending, RunStopped};
use crate::transcript::TranscriptError;

/// The end of a turn, from wherever it is decided.
pub(super) enum Halt {
    /// The task has ended meanwhile: there is nothing more to say.
    Stopped,
    Ended(Box<Ending>),
}

impl Halt {
    pub(super) fn failed(why: impl Into<String>) -> Self {
        Ending::saying(TaskState::Failed, why).into()
    }
}

impl From<RunStopped> for Halt {
    fn from(RunStopped: RunStopped) -> Self {
        Self::Stopped
    }
}

impl From<Ending> for Halt {
    fn from(ending: Ending) -> Self {
        Self::Ended(Box::new(ending))
    }
}

impl From<TranscriptError> for Halt {
    fn from(error: TranscriptError) -> Self {
        Self::failed(error.to_string())
    }
}
