//! Going on with an earlier conversation: where it stands is shown, and work that is still going on is watched.

use openfang_kernel::SystemClock;
use openfang_types::clock::Clock as _;
use openfang_types::limits::CHAT_RECALL_CHARS;
use openfang_types::task::{Role, Task, TaskState};

use super::conversation::Chat;
use super::display::Display;
use super::events::ChatEvent;
use super::questions;
use super::reader::TurnReader;
use super::turn::TurnEnd;
use crate::args::ChatArgs;
use crate::backend::{StreamUpdate, TaskQuery};
use crate::error::CliError;
use crate::output::one_line;
use crate::signals::Signals;
use crate::times::ago;
use crate::view::{message_text, status_text};

impl Chat<'_> {
    /// Goes on with the conversation that the arguments name, if they name one.
    pub(super) async fn take_up(&mut self, args: &ChatArgs, signals: &mut Signals) -> Result<TurnEnd, CliError> {
        if !args.goes_on && args.context.is_none() {
            return Ok(TurnEnd::Settled);
        }
        let name = self.agent.agent.name.clone();
        let query = TaskQuery { agent: Some(name.clone()), state: None, context: args.context.clone(), limit: 1 };
        let latest = self.backend.tasks(&query).await?.tasks.into_iter().next();
        let Some(latest) = latest else {
            return match &args.context {
                Some(context) => {
                    let why = format!("there is no conversation {:?} with {name}", context.as_str());
                    Err(CliError::Usage(format!("{why}; `openfang task list --agent {name}` lists your tasks")))
                }
                None => {
                    self.session
                        .output
                        .note(&format!("there is no earlier conversation with {name}; this one is new"));
                    Ok(TurnEnd::Settled)
                }
            };
        };
        let task = self.backend.task(latest.id).await?;
        self.context = Some(task.context_id.clone());
        self.recall(&task);
        let is_terminal = super::terminal::is_there(self.session);
        if matches!(task.status.state, TaskState::Submitted | TaskState::Working) {
            self.backend.take_over_tasks().await?;
            return self.follow_all(task.id, signals).await;
        }
        // Without a terminal, the answers to the lines that are read are the output, and no earlier one is.
        if is_terminal {
            self.show_settled(&task)?;
        }
        self.task = Some(task);
        Ok(TurnEnd::Settled)
    }

    /// Repeats the last message of the user.
    fn recall(&self, task: &Task) {
        let output = &self.session.output;
        let changed = ago(task.status.timestamp, SystemClock.now());
        output.note(&format!("conversation {}, {} {changed}", task.context_id, task.status.state));
        // A decision on a call has no words.
        let words = |part: &openfang_types::task::Part| part.as_text().is_some();
        let said = task
            .history
            .iter()
            .rev()
            .find(|said| said.role == Role::User && said.parts.iter().any(words));
        if let Some(said) = said {
            let text = message_text(said);
            let short: String = text.chars().take(CHAT_RECALL_CHARS).collect();
            let more = if short.len() < text.len() { "…" } else { "" };
            output.note(&format!("> {}{more}", one_line(&short)));
        }
    }

    /// Shows what came of a task that nobody works on now.
    fn show_settled(&self, task: &Task) -> Result<(), CliError> {
        let mut display = Display::new(&self.session.output, None);
        let (agent, context) = (task.agent.clone(), task.context_id.clone());
        display.show(&ChatEvent::Conversation { agent, context, task: task.id })?;
        let mut reader = TurnReader::default();
        let shown = reader.take(StreamUpdate::Task(Box::new(task.clone())));
        shown.iter().try_for_each(|event| display.show(event))?;
        let text = status_text(task).filter(|_| !questions::asks_in_parts(task));
        display.show(&ChatEvent::End { state: task.status.state, text })
    }
}
