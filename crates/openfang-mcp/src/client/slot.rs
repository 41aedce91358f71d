//! Where a request waits for its answer, and for what it is told meanwhile.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openfang_types::limits::MCP_TOLD;
use serde_json::value::RawValue;
use tokio::sync::Notify;

use super::ClientError;
use super::inbox::Question;
use crate::meta::LogLevel;

/// What a request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expected {
    Answer,
    /// An answer, and log lines before it: nobody else calls on the connection.
    Lines,
    /// An answer, and log lines and questions before it: whoever calls can be asked.
    Questions,
    /// The end of what is told meanwhile, which may never come.
    End,
}

/// What a request hears.
pub(super) enum Heard {
    /// How far it is.
    Progress {
        progress: f64,
        total: Option<f64>,
        message: Option<String>,
    },
    Log {
        level: LogLevel,
        logger: Option<String>,
        data: Box<RawValue>,
    },
    /// The server asks something.
    Question(Question),
    Answer(Result<Box<RawValue>, ClientError>),
}

/// One place to wait. One waits; anybody may fill it.
#[derive(Default)]
pub(super) struct Slot {
    inside: Mutex<Inside>,
    changed: Notify,
}

#[derive(Default)]
struct Inside {
    told: VecDeque<Heard>,
    answer: Option<Result<Box<RawValue>, ClientError>>,
}

impl Slot {
    /// Tells something; whether there was room. What is not heard in time is lost.
    pub(super) fn tell(&self, heard: Heard) -> bool {
        let mut inside = self.lock();
        if inside.told.len() >= MCP_TOLD {
            return false;
        }
        inside.told.push_back(heard);
        drop(inside);
        self.changed.notify_one();
        true
    }

    /// Answers. The first answer counts.
    pub(super) fn answer(&self, answer: Result<Box<RawValue>, ClientError>) {
        self.lock().answer.get_or_insert(answer);
        self.changed.notify_one();
    }

    /// What comes next. Everything told is heard before the answer.
    pub(super) async fn next(&self) -> Heard {
        loop {
            let changed = self.changed.notified();
            if let Some(heard) = self.take() {
                return heard;
            }
            changed.await;
        }
    }

    pub(super) fn take(&self) -> Option<Heard> {
        let mut inside = self.lock();
        inside.told.pop_front().or_else(|| inside.answer.take().map(Heard::Answer))
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
