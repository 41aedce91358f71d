//! A request that is under way.

use std::sync::Arc;
use std::time::Duration;

use openfang_types::call::{CallListener, LogLevel};
use openfang_types::limits::{MCP_CALL_MAX, MCP_QUESTIONS_GATHER};
use serde_json::value::RawValue;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::slot::{Heard, Slot};
use super::wire::Carried;
use super::{ClientError, Connection, Question};

#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl CallListener for Silent {
    fn progress(&self, _: f64, _: Option<f64>, _: Option<&str>) {}

    fn log(&self, _: LogLevel, _: Option<&str>, _: &RawValue) {}

    fn level(&self) -> Option<LogLevel> {
        None
    }
}

/// How far a request came.
#[derive(Debug)]
pub enum Step {
    Done(Box<RawValue>),
    /// To questions that must be answered first, with [`Connection::reply`].
    OutgoingRequest(Vec<Question>),
}

/// A request that is under way. Dropped before its end, it is noted as abandoned, and the server is told.
pub struct Ongoing {
    connection: Connection,
    id: i64,
    slot: Arc<Slot>,
    exchange: Exchange,
    timeout: Duration,
    /// However much progress it makes.
    hard: Instant,
    is_settled: bool,
}

/// The part of a request that the wire works on.
enum Exchange {
    /// Worked on while somebody waits.
    Here(Carried),
    /// Worked on by itself.
    Away(JoinHandle<()>),
    /// Done; the answer comes, or came, through the inbox.
    Over,
}

impl Ongoing {
    pub(super) fn new(connection: Connection, id: i64, slot: Arc<Slot>, exchange: Carried, timeout: Duration) -> Self {
        let hard = Instant::now() + longest(timeout);
        Self { connection, id, slot, exchange: Exchange::Here(exchange), timeout, hard, is_settled: false }
    }

    /// The connection it runs on.
    pub const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Goes on until there is an answer, or a question. Questions that come close to each other come together.
    pub async fn advance(&mut self, listener: &dyn CallListener) -> Result<Step, ClientError> {
        let mut patience = Instant::now() + self.timeout;
        let mut questions: Vec<Question> = Vec::new();
        loop {
            let until = patience.min(self.hard);
            let step = tokio::select! {
                biased;
                heard = self.slot.next() => Ok(heard),
                carried = self.exchange.carried() => Err(carried),
                () = sleep_until(until) => {
                    if questions.is_empty() {
                        let is_hard = self.hard <= patience;
                        return Err(ClientError::TimedOut(if is_hard { longest(self.timeout) } else { self.timeout }));
                    }
                    return Ok(Step::OutgoingRequest(questions));
                }
            };
            match step {
                Ok(Heard::Answer(answer)) => {
                    self.is_settled = true;
                    return answer.map(Step::Done);
                }
                Ok(Heard::Progress { progress, total, message }) => {
                    listener.progress(progress, total, message.as_deref());
                    if questions.is_empty() {
                        patience = Instant::now() + self.timeout;
                    }
                }
                Ok(Heard::Log { level, logger, data }) => listener.log(level, logger.as_deref(), &data),
                Ok(Heard::Question(question)) => {
                    questions.push(question);
                    patience = Instant::now() + MCP_QUESTIONS_GATHER;
                }
                Err(Ok(())) => self.exchange = Exchange::Over,
                Err(Err(error)) => {
                    self.is_settled = true;
                    self.exchange = Exchange::Over;
                    self.connection.inbox().forget(self.id);
                    return Err(error);
                }
            }
        }
    }

    /// Lets the wire work on while nobody waits: a person is being asked, and that may take a while.
    pub fn detach(&mut self) {
        let exchange = std::mem::replace(&mut self.exchange, Exchange::Over);
        self.exchange = match exchange {
            Exchange::Here(carried) => {
                let (connection, id) = (self.connection.clone(), self.id);
                Exchange::Away(self.connection.tracker().spawn(async move {
                    if let Err(error) = carried.await {
                        connection.inbox().fail(id, error);
                    }
                }))
            }
            other => other,
        };
        self.hard = Instant::now() + longest(self.timeout);
    }
}

/// How long a request may take whatever progress it makes.
fn longest(timeout: Duration) -> Duration {
    MCP_CALL_MAX.max(timeout)
}

impl Exchange {
    /// Ends when the wire is done with it, and never if it is done already.
    async fn carried(&mut self) -> Result<(), ClientError> {
        match self {
            Self::Here(carried) => carried.await,
            Self::Away(_) | Self::Over => std::future::pending().await,
        }
    }
}

impl Drop for Ongoing {
    fn drop(&mut self) {
        if let Exchange::Away(task) = &self.exchange {
            task.abort();
        }
        if !self.is_settled {
            self.connection.abandon(self.id);
        }
    }
}

#[cfg(test)]
#[path = "ongoing_tests.rs"]
mod tests;
