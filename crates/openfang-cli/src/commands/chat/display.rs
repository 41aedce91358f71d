//! The events of a chat as somebody reads them: a terminal, a pipe, or a program.
//!
//! The answer is the result and goes to standard output. What is said beside it is a hint and goes to standard error; `--quiet`
//! silences it.

use openfang_types::task::TaskState;

use super::events::ChatEvent;
use super::figures::{call_line, miss_line, usage_line};
use crate::error::CliError;
use crate::output::{Output, one_line};
use crate::waiting::Waiting;

/// Prints the events of one turn.
pub(super) struct Display<'a> {
    output: &'a Output,
    /// The line that says what is waited for.
    waiting: Option<&'a Waiting>,
    /// Whether the last line of the answer has no end yet.
    is_open: bool,
}

impl<'a> Display<'a> {
    pub(super) const fn new(output: &'a Output, waiting: Option<&'a Waiting>) -> Self {
        Self { output, waiting, is_open: false }
    }

    pub(super) fn show(&mut self, event: &ChatEvent) -> Result<(), CliError> {
        if self.output.is_json() {
            return self.output.json_line(event);
        }
        if let Some(waiting) = self.waiting {
            waiting.end();
        }
        match event {
            ChatEvent::Text { text, again } => self.text(text, *again)?,
            ChatEvent::Calls { tools } => {
                self.close()?;
                self.wait_for(format!("{} …", tools.join(", ")));
            }
            ChatEvent::Call(call) => {
                self.close()?;
                self.output.note(&format!("  {}", call_line(call)));
                self.wait_for("thinking".to_owned());
            }
            ChatEvent::Progress { text } if self.waiting.is_some() => self.wait_for(one_line(text)),
            ChatEvent::Progress { text } | ChatEvent::Note { text } => {
                self.close()?;
                self.output.note(&format!("  {}", one_line(text)));
            }
            ChatEvent::Usage(usage) => {
                self.close()?;
                self.output.note(&usage_line(usage));
                if let Some(miss) = miss_line(usage) {
                    self.output.note(&miss);
                }
            }
            ChatEvent::End { state, text } => self.end(*state, text.as_deref())?,
            ChatEvent::Decision { tool, decision, why, .. } => {
                self.close()?;
                self.output.complaint(&format!("{} {decision}: {why}", one_line(tool)));
            }
            ChatEvent::Conversation { .. } | ChatEvent::Approval(_) => {}
        }
        Ok(())
    }

    /// Ends the last line of the answer.
    pub(super) fn close(&mut self) -> Result<(), CliError> {
        if std::mem::take(&mut self.is_open) { self.output.piece("\n") } else { Ok(()) }
    }

    /// Whether a line that says what is waited for can stand here.
    pub(super) const fn is_free(&self) -> bool {
        !self.is_open
    }

    fn wait_for(&self, what: String) {
        if let Some(waiting) = self.waiting {
            waiting.say(what);
        }
    }

    fn text(&mut self, text: &str, again: bool) -> Result<(), CliError> {
        if again {
            self.close()?;
            self.output.note("(the answer broke off and begins again)");
        }
        self.output.piece(text)?;
        self.is_open = !text.ends_with('\n');
        Ok(())
    }

    fn end(&mut self, state: TaskState, text: Option<&str>) -> Result<(), CliError> {
        self.close()?;
        match (state, text) {
            (TaskState::Failed | TaskState::Rejected | TaskState::Canceled, text) => {
                let why = text.map(|text| format!(": {text}")).unwrap_or_default();
                self.output.complaint(&format!("{state}{why}"));
                Ok(())
            }
            (_, Some(text)) => self.output.text(text),
            (_, None) => Ok(()),
        }
    }
}
