//! One turn: a message goes out, and what comes back is shown until the task ends or asks for something. Ctrl-C stops the turn,
//! and a second one leaves the chat.

use std::cell::{Cell, RefCell};
use std::pin::pin;

use openfang_types::ids::{ContextId, TaskId};
use openfang_types::limits::CHAT_STOP;
use openfang_types::task::{Part, Task, TaskState};
use tokio::time::timeout;

use super::conversation::{Chat, ChatTotals};
use super::display::Display;
use super::events::ChatEvent;
use super::questions;
use super::reader::TurnReader;
use crate::backend::{Backend, Outgoing, StreamUpdate};
use crate::error::{CliError, Exit};
use crate::signals::{Signals, Stop};
use crate::view::status_text;
use crate::waiting::Waiting;

/// How a turn ended for whoever watches it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TurnEnd {
    /// The task has ended, or asks for something.
    Settled,
    /// Whoever watched it has left.
    Left(Exit),
}

/// What a turn begins with.
enum TurnStart {
    Message(Outgoing),
    Task(TaskId),
}

impl Chat<'_> {
    /// Sends a message and shows what comes of it.
    pub(super) async fn send(&mut self, parts: Vec<Part>, signals: &mut Signals) -> Result<TurnEnd, CliError> {
        let message = self.message(parts);
        let known = self.task.clone().filter(|_| message.task.is_some());
        let reader = known.map(TurnReader::knowing).unwrap_or_default();
        self.watch((TurnStart::Message(message), reader), signals).await
    }

    /// Shows what comes of the task from now on.
    pub(super) async fn follow(&mut self, task: Task, signals: &mut Signals) -> Result<TurnEnd, CliError> {
        let id = task.id;
        self.watch((TurnStart::Task(id), TurnReader::knowing(task)), signals).await
    }

    /// Shows a task from its beginning to its end.
    pub(super) async fn follow_all(&mut self, id: TaskId, signals: &mut Signals) -> Result<TurnEnd, CliError> {
        self.watch((TurnStart::Task(id), TurnReader::default()), signals).await
    }

    async fn watch(
        &mut self,
        (start, reader): (TurnStart, TurnReader),
        signals: &mut Signals,
    ) -> Result<TurnEnd, CliError> {
        let output = &self.session.output;
        let waiting = Waiting::new(output, format!("waiting for {}", self.agent.agent.name));
        let id = Cell::new(None);
        let context = RefCell::new(None);
        let is_free = Cell::new(true);
        let display = Display::new(output, output.can_rewrite().then_some(&waiting));
        let watched = WatchedTurn { backend: &self.backend, totals: &mut self.totals, display, reader };
        let read = {
            let mut reading = pin!(watched.read(start, (&id, &context, &is_free)));
            let mut is_stopping = false;
            loop {
                tokio::select! {
                    biased;
                    read = &mut reading => break Ok(read),
                    stop = signals.next() => {
                        waiting.end();
                        if is_stopping || stop == Stop::Terminate || !stop_task(&self.backend, id.get(), signals).await {
                            break Err(stop.exit());
                        }
                        is_stopping = true;
                    }
                    never = waiting.show(|| is_free.get()) => match never {},
                }
            }
        };
        waiting.end();
        // Also if the server is gone before the answer is whole: the conversation is there.
        self.context = context.take().or_else(|| self.context.take());
        let task = match read {
            Ok(read) => read?,
            Err(exit) => {
                say_what_goes_on(self, id.get());
                return Ok(TurnEnd::Left(exit));
            }
        };
        if let Some(task) = task {
            self.context = Some(task.context_id.clone());
            self.task = Some(task);
        }
        Ok(TurnEnd::Settled)
    }
}

/// What is known of a turn while it is read: its task, its conversation, and whether a line of the terminal is free.
type TurnCells<'a> = (&'a Cell<Option<TaskId>>, &'a RefCell<Option<ContextId>>, &'a Cell<bool>);

/// A task that is being read.
struct WatchedTurn<'a> {
    backend: &'a Backend,
    totals: &'a mut ChatTotals,
    display: Display<'a>,
    reader: TurnReader,
}

impl WatchedTurn<'_> {
    /// Reads until the task has settled. None if the answer needed no task.
    async fn read(mut self, start: TurnStart, seen: TurnCells<'_>) -> Result<Option<Task>, CliError> {
        let followed = self.follow(start, seen).await;
        self.display.close()?;
        followed?;
        self.finish()
    }

    async fn follow(&mut self, start: TurnStart, (id, seen_context, is_free): TurnCells<'_>) -> Result<(), CliError> {
        // The stream of a message ends when the task has settled; that of a task, when it has ended.
        let ends_by_itself = matches!(start, TurnStart::Message(_));
        let mut following = match start {
            TurnStart::Message(message) => self.backend.send_streaming(message).await?,
            TurnStart::Task(task) => {
                id.set(Some(task));
                self.backend.follow(task).await?
            }
        };
        while let Some(update) = following.next().await? {
            if let StreamUpdate::Task(task) = &update
                && id.replace(Some(task.id)) != Some(task.id)
            {
                let (agent, context) = (task.agent.clone(), task.context_id.clone());
                seen_context.replace(Some(context.clone()));
                self.display.show(&ChatEvent::Conversation { agent, context, task: task.id })?;
            }
            for event in self.reader.take(update) {
                if let ChatEvent::Usage(usage) = &event {
                    self.totals.add(usage);
                }
                self.display.show(&event)?;
                is_free.set(self.display.is_free());
            }
            if self.reader.is_settled() && !ends_by_itself {
                break;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Option<Task>, CliError> {
        let Some(task) = self.reader.task().cloned() else { return Ok(None) };
        if self.reader.is_cut_off || !self.reader.is_settled() {
            return Err(CliError::CutOff { id: task.id });
        }
        let is_asked_below = questions::asks_in_parts(&task);
        let text = status_text(&task).filter(|_| !is_asked_below);
        let state = task.status.state;
        self.display.show(&ChatEvent::End { state, text })?;
        Ok(Some(task))
    }
}

/// Stops a task, and says whether to go on reading: not if there is no task, or a second signal came.
async fn stop_task(backend: &Backend, id: Option<TaskId>, signals: &mut Signals) -> bool {
    let Some(id) = id else { return false };
    tokio::select! {
        // What the task says about its end is read from its stream.
        stopped = timeout(CHAT_STOP, backend.cancel(id)) => stopped.is_ok(),
        _ = signals.next() => false,
    }
}

/// Says what becomes of a turn that nobody watches any more.
fn say_what_goes_on(chat: &Chat<'_>, id: Option<TaskId>) {
    let output = &chat.session.output;
    match (&chat.backend, id) {
        (_, None) => output.announce("left before the agent had begun"),
        (Backend::Daemon(_), Some(_)) => {
            let again = chat.session.command(&format!("chat {} --continue", chat.agent.agent.name));
            output.announce(&format!("the server goes on with what is left to do; take it up again with `{again}`"));
        }
        (Backend::InProcess(_), Some(_)) => output.announce("stopped: no daemon is running that could go on"),
    }
}

/// Whether a task ended as it should.
pub(super) const fn is_success(state: TaskState) -> bool {
    match state {
        TaskState::Completed => true,
        TaskState::Submitted
        | TaskState::Working
        | TaskState::InputRequired
        | TaskState::AuthRequired
        | TaskState::Failed
        | TaskState::Canceled
        | TaskState::Rejected => false,
    }
}
