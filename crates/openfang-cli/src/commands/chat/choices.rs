//! Calls that wait for a person: shown as they are, and decided on by their digest.

use openfang_types::api::{ApprovalView, DecisionKind};
use openfang_types::task::Task;
use serde_json::Value;

use super::conversation::Chat;
use super::editor::{LineEditor, Typed};
use super::turn::TurnEnd;
use crate::commands::approval::fields_of;
use crate::error::CliError;
use crate::output::Output;
use crate::signals::Signals;

/// The ids of the approvals that a task waits for.
pub(super) fn asked_in(task: &Task) -> Vec<String> {
    if !task.status.state.is_interrupted() {
        return Vec::new();
    }
    let parts = task.status.message.iter().flat_map(|message| &message.parts);
    parts
        .filter_map(|part| part.as_data()?.get("approval")?.get("id")?.as_str().map(str::to_owned))
        .collect()
}

/// What a person chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    Decided(DecisionKind),
    /// Nothing was chosen: the call goes on waiting.
    Later,
}

impl Chat<'_> {
    /// The calls of this conversation that wait for a person, as the server has them.
    pub(super) async fn pending(&self) -> Result<Vec<ApprovalView>, CliError> {
        let asked = self.task.as_ref().map(asked_in).unwrap_or_default();
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.backend.approvals().await?;
        let is_asked = |view: &ApprovalView| view.state == "pending" && asked.contains(&view.id.to_string());
        Ok(known.into_iter().filter(is_asked).collect())
    }

    /// Decides on a call as it was shown, and shows how the task goes on.
    pub(super) async fn decide(
        &mut self,
        (shown, kind): (&ApprovalView, DecisionKind),
        signals: &mut Signals,
    ) -> Result<TurnEnd, CliError> {
        let before = self.task.clone();
        self.backend.decide_approval(shown, kind).await?;
        match before {
            Some(task) if shown.task == Some(task.id) => self.follow(task, signals).await,
            Some(_) | None => Ok(TurnEnd::Settled),
        }
    }
}

/// Shows a call and asks about it.
pub(super) async fn ask(output: &Output, editor: &LineEditor, shown: &ApprovalView) -> Result<Choice, CliError> {
    output.announce(&format!("\n{} waits for your approval: {}", shown.tool, shown.reason));
    output.announce(&format!("  {}", call_of(shown)));
    let labels = shown.labels.iter().map(|label| {
        let sources = shown.labels.sources(label).map(ToString::to_string).unwrap_or_default();
        format!("{label} (from {sources})")
    });
    output.announce(&format!("  carries {}", labels.collect::<Vec<_>>().join(", ")));
    loop {
        let typed = editor.choice("approve this one call? y / n / show: ".to_owned()).await?;
        let Typed::Line(word) = typed else { return Ok(Choice::Later) };
        match word.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(Choice::Decided(DecisionKind::Approve)),
            "n" | "no" => return Ok(Choice::Decided(DecisionKind::Deny)),
            "s" | "show" => output.fields(&fields_of(shown))?,
            _ => output.announce("type y to approve, n to deny, show for everything about it; Ctrl-C decides later"),
        }
    }
}

/// The call, whole, with every character seen.
fn call_of(shown: &ApprovalView) -> String {
    let arguments = match &shown.arguments {
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| format!("{}={value}", Value::from(name.as_str()));
            members.iter().map(member).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    };
    crate::commands::approval::visible(&format!("{}({arguments})", shown.tool))
}
