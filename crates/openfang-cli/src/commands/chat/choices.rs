//! Calls that wait for a person: shown as they are, and decided on by their digest.

use openfang_types::api::{ApprovalView, DecisionKind};
use openfang_types::task::{Part, Task};
use serde_json::{Value, json};

use super::conversation::Chat;
use super::editor::{LineEditor, TypedLine};
use super::turn::TurnEnd;
use crate::commands::approval::fields_of;
use crate::error::CliError;
use crate::output::{Output, one_line};
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
pub(super) enum ApprovalChoice {
    Decided(DecisionKind),
    /// Nothing was chosen: the call goes on waiting.
    Later,
}

impl Chat<'_> {
    /// The calls of this conversation that wait for a person.
    pub(super) async fn pending(&self) -> Result<Vec<ApprovalView>, CliError> {
        let mut asked = self.asked().await?;
        asked.retain(|view| view.state == "pending");
        Ok(asked)
    }

    /// The calls that the task waits for, as the server has them.
    pub(super) async fn asked(&self) -> Result<Vec<ApprovalView>, CliError> {
        let asked = self.task.as_ref().map(asked_in).unwrap_or_default();
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.backend.approvals().await?;
        Ok(known.into_iter().filter(|view| asked.contains(&view.id.to_string())).collect())
    }

    /// Lets a task go on whose call was decided on by somebody who did not live to see it go on.
    pub(super) fn look_again(decided: &ApprovalView) -> Part {
        Part::data(json!({ "approval": decided.id, "decision": decided.state, "digest": decided.digest }))
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
pub(super) async fn ask(
    output: &Output,
    editor: &LineEditor,
    shown: &ApprovalView,
) -> Result<ApprovalChoice, CliError> {
    let labels = shown.labels.iter().map(|label| {
        let sources = shown.labels.sources(label).map(ToString::to_string).unwrap_or_default();
        format!("{label} (from {sources})")
    });
    // Shown also with `--quiet`: nobody decides on what they have not seen.
    output.question(&format!(
        "\n{} waits for your approval: {}\n  {}\n  carries {}\n",
        shown.tool,
        one_line(&shown.reason),
        call_of(shown),
        one_line(&labels.collect::<Vec<_>>().join(", "))
    ));
    loop {
        let typed = editor.choice("approve this one call? y / n / show: ".to_owned()).await?;
        let TypedLine::Line(word) = typed else { return Ok(ApprovalChoice::Later) };
        match word.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(ApprovalChoice::Decided(DecisionKind::Approve)),
            "n" | "no" => return Ok(ApprovalChoice::Decided(DecisionKind::Deny)),
            "s" | "show" => output.fields(&fields_of(shown))?,
            _ => output.question("type y to approve, n to deny, show for everything about it; Ctrl-C decides later\n"),
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
