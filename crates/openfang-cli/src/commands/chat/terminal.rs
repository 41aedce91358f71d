//! A chat at a terminal: a line editor, questions and approvals where they come up.

use std::io::{self, IsTerminal as _};

use openfang_types::api::ApprovalView;
use openfang_types::limits::CHAT_QUESTIONS;
use openfang_types::task::Part;

use super::choices::{self, ApprovalChoice};
use super::conversation::Chat;
use super::editor::{LineEditor, TypedLine};
use super::history::ChatHistory;
use super::questions;
use super::slash::{self, ChatLine, NextStep};
use super::turn::TurnEnd;
use crate::args::ChatArgs;
use crate::error::{CliError, Exit};
use crate::output::SavedTerminal;
use crate::session::Session;
use crate::signals::Signals;

/// Whether somebody sits at a terminal.
pub(super) fn is_there(session: &Session) -> bool {
    !session.output.is_json() && io::stdin().is_terminal() && io::stdout().is_terminal()
}

pub(super) async fn run(chat: &mut Chat<'_>, args: &ChatArgs) -> Result<Exit, CliError> {
    // Restored however the chat ends: the editor may be in the middle of a line.
    let _terminal = SavedTerminal::unchanged();
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let editor = LineEditor::start(&chat.session.output, ChatHistory::of(&chat.session.home))?;
    greet(chat);
    let mut desk = Desk { chat, editor, signals: &mut signals };
    let left = desk.talk(args).await;
    if let (Ok(_) | Err(CliError::Daemon(_) | CliError::CutOff { .. } | CliError::Remote { .. }), Some(_)) =
        (&left, &chat.context)
    {
        let again = chat.session.command(&format!("chat {} --continue", chat.agent.agent.name));
        chat.session.output.note(&format!("take the conversation up again with `{again}`"));
    }
    left
}

fn greet(chat: &Chat<'_>) {
    let agent = &chat.agent.agent;
    let model = chat.model_name().map(|model| format!(", {model}")).unwrap_or_default();
    chat.session
        .output
        .note(&format!("{}{model}; /help lists commands, Ctrl-D leaves", agent.name));
}

/// Who sits at the terminal, and what there is on it.
struct Desk<'d, 'c, 's> {
    chat: &'d mut Chat<'c>,
    editor: LineEditor,
    signals: &'s mut Signals,
}

impl Desk<'_, '_, '_> {
    async fn talk(&mut self, args: &ChatArgs) -> Result<Exit, CliError> {
        let quiet = SavedTerminal::without_echo();
        let taken_up = self.chat.take_up(args, self.signals).await?;
        drop(quiet);
        if let TurnEnd::Left(exit) = self.settle(taken_up).await? {
            return Ok(exit);
        }
        let mut was_interrupted = false;
        loop {
            let prompt = format!("{}> ", self.chat.agent.agent.name);
            let typed = tokio::select! {
                typed = self.editor.line(prompt) => typed?,
                stop = self.signals.next() => return Ok(stop.exit()),
            };
            let line = match typed {
                TypedLine::End => return Ok(Exit::Ok),
                TypedLine::Interrupted if was_interrupted => return Ok(Exit::Interrupted),
                TypedLine::Interrupted => {
                    was_interrupted = true;
                    self.chat.session.output.note("press Ctrl-C again, or Ctrl-D, to leave");
                    continue;
                }
                TypedLine::Line(line) => line,
            };
            was_interrupted = false;
            match self.take_line(&line).await {
                Ok(TurnEnd::Left(exit)) => return Ok(exit),
                Ok(TurnEnd::Settled) => {}
                // What was refused can be done otherwise; a server that is gone ends the chat.
                Err(error @ (CliError::Refused(_) | CliError::Usage(_))) => self.chat.session.output.error(&error),
                Err(error) => return Err(error),
            }
        }
    }

    async fn take_line(&mut self, line: &str) -> Result<TurnEnd, CliError> {
        let next = match slash::parse(line, self.chat.has_model()) {
            ChatLine::Message if line.trim().is_empty() => NextStep::Read,
            ChatLine::Message => NextStep::Send(vec![Part::text(line)]),
            ChatLine::Command(name, argument) => self.chat.command(name, argument).await?,
            ChatLine::Unknown(near) => {
                let near = near.map(|near| format!("did you mean {near}? ")).unwrap_or_default();
                let output = &self.chat.session.output;
                output.complaint(&format!(
                    "there is no such command; {near}/help lists them; a space before the slash sends it"
                ));
                NextStep::Read
            }
        };
        match next {
            NextStep::Read => Ok(TurnEnd::Settled),
            NextStep::Send(parts) => {
                let end = self.send(parts).await?;
                self.settle(end).await
            }
            NextStep::Decide(kind, id) => {
                let Some(shown) = self.find(&id).await? else { return Ok(TurnEnd::Settled) };
                let end = self.decided((&shown, kind)).await?;
                self.settle(end).await
            }
        }
    }

    /// Sends a message. What is typed meanwhile is not shown, and waits for the next line.
    async fn send(&mut self, parts: Vec<Part>) -> Result<TurnEnd, CliError> {
        let _quiet = SavedTerminal::without_echo();
        self.chat.send(parts, self.signals).await
    }

    async fn decided(
        &mut self,
        decision: (&ApprovalView, openfang_types::api::DecisionKind),
    ) -> Result<TurnEnd, CliError> {
        let _quiet = SavedTerminal::without_echo();
        self.chat.decide(decision, self.signals).await
    }

    /// The call that is meant: the one whose id begins so, or the first one that waits.
    async fn find(&mut self, id: &str) -> Result<Option<ApprovalView>, CliError> {
        let mut pending = self.chat.pending().await?;
        pending.retain(|view| view.id.to_string().starts_with(&id.to_ascii_lowercase()));
        if pending.is_empty() {
            self.chat.session.output.complaint("no call of this conversation waits for an approval");
            return Ok(None);
        }
        Ok(Some(pending.remove(0)))
    }

    /// Asks what the task asks, until it asks nothing more.
    async fn settle(&mut self, mut end: TurnEnd) -> Result<TurnEnd, CliError> {
        for _ in 0..CHAT_QUESTIONS {
            if end != TurnEnd::Settled {
                return Ok(end);
            }
            let asked = self.chat.asked().await?;
            if let Some(shown) = asked.iter().find(|view| view.state == "pending").cloned() {
                match choices::ask(&self.chat.session.output, &self.editor, &shown).await? {
                    ApprovalChoice::Decided(kind) => end = self.decided((&shown, kind)).await?,
                    ApprovalChoice::Later => {
                        let later = "not decided: /approve or /deny decides, and a message goes on without the call";
                        self.chat.session.output.note(later);
                        return Ok(TurnEnd::Settled);
                    }
                }
                continue;
            }
            if let Some(decided) = asked.iter().find(|view| matches!(view.state.as_str(), "approved" | "denied")) {
                end = self.send(vec![Chat::look_again(decided)]).await?;
                continue;
            }
            if !asked.is_empty() {
                self.chat
                    .session
                    .output
                    .note("nobody decided in time; a message goes on without the call");
                return Ok(TurnEnd::Settled);
            }
            let asked = self.chat.task.as_ref().map(questions::in_task).unwrap_or_default();
            if asked.is_empty() {
                return Ok(TurnEnd::Settled);
            }
            let mut answers = Vec::new();
            for question in asked {
                let intro = format!("{} asks: ", self.chat.agent.agent.name);
                let answer = self.editor.form(intro, question.params.clone()).await?;
                answers.push(question.answer(answer));
            }
            end = self.send(answers).await?;
        }
        Ok(end)
    }
}
