//! Prints a stream while it arrives: as pieces of an answer, or as log lines. With `--json` one line for each item.

use openfang_types::event::{ArtifactUpdate, EventBody, TaskEvent};
use openfang_types::ids::ArtifactId;
use openfang_types::task::{Artifact, Role, Task, TaskState};

use crate::backend::StreamUpdate;
use crate::error::CliError;
use crate::session::Session;
use crate::view::{artifact_text, message_text};

/// The format of a printed stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    /// The text of artifacts while they grow.
    Pieces,
    /// One line for each event.
    Log,
    /// Nothing but a plain message; the task is printed when it has ended.
    AtTheEnd,
}

impl Style {
    /// Whether a stream in this style is complete. An answer also ends with a question.
    const fn is_over(self, state: TaskState) -> bool {
        match self {
            Self::Pieces | Self::AtTheEnd => state.is_terminal() || state.is_interrupted(),
            Self::Log => state.is_terminal(),
        }
    }
}

/// Prints the items of a stream and builds the task from them.
pub(super) struct StreamPrinter<'a> {
    session: &'a Session,
    style: Style,
    task: Option<Task>,
    /// The artifact whose last line has no line break yet.
    open: Option<ArtifactId>,
    is_cut_off: bool,
}

impl<'a> StreamPrinter<'a> {
    pub(super) const fn pieces(session: &'a Session) -> Self {
        Self { session, style: Style::Pieces, task: None, open: None, is_cut_off: false }
    }

    pub(super) fn log(session: &'a Session) -> Self {
        Self { style: Style::Log, ..Self::pieces(session) }
    }

    pub(super) fn at_the_end(session: &'a Session) -> Self {
        Self { style: Style::AtTheEnd, ..Self::pieces(session) }
    }

    pub(super) fn show(&mut self, shown: StreamUpdate) -> Result<(), CliError> {
        if self.session.output.is_json() {
            self.session.output.json_line(&shown)?;
        } else {
            match &shown {
                StreamUpdate::Task(task) => self.show_snapshot(task)?,
                StreamUpdate::Event(event) => self.show_event(event)?,
                StreamUpdate::Message(message) => self.session.output.text(&message_text(message))?,
                StreamUpdate::Shutdown {} => {}
            }
        }
        match shown {
            StreamUpdate::Task(task) => self.task = Some(*task),
            StreamUpdate::Event(event) => {
                if let Some(task) = &mut self.task {
                    task.apply(&event.body);
                }
            }
            StreamUpdate::Shutdown {} => self.is_cut_off = true,
            StreamUpdate::Message(_) => {}
        }
        Ok(())
    }

    /// The task at the end of the stream, or `None` if the answer was a plain message.
    pub(super) fn into_task(mut self) -> Result<Option<Task>, CliError> {
        self.close_line()?;
        match self.task {
            Some(task) if self.is_cut_off || !self.style.is_over(task.status.state) => {
                Err(CliError::CutOff { id: task.id })
            }
            task => Ok(task),
        }
    }

    fn show_snapshot(&mut self, task: &Task) -> Result<(), CliError> {
        if self.style == Style::Log {
            self.line(&task.status.timestamp, &task.status.state.to_string(), status_of(&task.status))?;
        }
        task.artifacts.iter().try_for_each(|artifact| match self.style {
            Style::Pieces => self.piece(artifact, false),
            Style::Log => self.line(&task.status.timestamp, &label_of(artifact), Some(artifact_text(artifact))),
            Style::AtTheEnd => Ok(()),
        })
    }

    fn show_event(&mut self, event: &TaskEvent) -> Result<(), CliError> {
        match (&event.body, self.style) {
            (_, Style::AtTheEnd) => Ok(()),
            (EventBody::Artifact(ArtifactUpdate { artifact, append, .. }), Style::Pieces) => {
                self.piece(artifact, *append)
            }
            (EventBody::Status(_) | EventBody::Message(_), Style::Pieces) => Ok(()),
            (EventBody::Artifact(update), Style::Log) => {
                self.line(&event.at, &label_of(&update.artifact), Some(artifact_text(&update.artifact)))
            }
            (EventBody::Status(status), Style::Log) => self.line(&event.at, status.state.as_str(), status_of(status)),
            (EventBody::Message(message), Style::Log) => {
                let who = match message.role {
                    Role::User => "user",
                    Role::Agent => "agent",
                };
                self.line(&event.at, who, Some(message_text(message)))
            }
        }
    }

    fn piece(&mut self, artifact: &Artifact, append: bool) -> Result<(), CliError> {
        let text = artifact_text(artifact);
        if !append || self.open.as_ref() != Some(&artifact.artifact_id) {
            self.close_line()?;
        }
        self.session.output.piece(&text)?;
        if !text.is_empty() {
            self.open = (!text.ends_with('\n')).then(|| artifact.artifact_id.clone());
        }
        Ok(())
    }

    fn close_line(&mut self) -> Result<(), CliError> {
        if self.open.take().is_some() { self.session.output.piece("\n") } else { Ok(()) }
    }

    fn line(&self, at: &impl std::fmt::Display, what: &str, text: Option<String>) -> Result<(), CliError> {
        let text = text.unwrap_or_default();
        let line = format!("{at:.0}  {what:<14}  {}", text.trim_end().replace('\n', "\n    "));
        self.session.output.text(line.trim_end())
    }
}

fn status_of(status: &openfang_types::task::TaskStatus) -> Option<String> {
    status.message.as_ref().map(message_text)
}

fn label_of(artifact: &Artifact) -> String {
    artifact.name.clone().unwrap_or_else(|| artifact.artifact_id.to_string())
}
