//! Calls that wait for a person. The turn ends with the question, and the decision begins the next turn: nothing waits in
//! memory. What is decided is read from the store; a message only says that it is time to look.

use openfang_store::{Approval, ApprovalState, StoreError};
use openfang_types::ids::ApprovalId;
use openfang_types::taint::Labels;
use openfang_types::task::{Message, Part, TaskState};
use serde_json::{Value, json};

use super::halt::Halt;
use super::parts;
use super::work::Work;
use crate::answerer::{Ending, Turn};
use crate::transcript::{AskedCall, CallOutcome, TranscriptBody};

/// The member of a data part that holds an approval.
const APPROVAL: &str = "approval";

/// Whether a message holds nothing but decisions on calls.
pub(super) fn is_decision(message: &Message) -> bool {
    let is_about_approval = |part: &Part| part.as_data().is_some_and(|data| data.get(APPROVAL).is_some());
    !message.parts.is_empty() && message.parts.iter().all(is_about_approval)
}

impl Work<'_> {
    /// Ends the turn with a question about calls of the newest answer.
    pub(super) async fn ask_for(&mut self, undecided: Vec<(String, ApprovalId)>) -> Result<Ending, Halt> {
        let mut parts = Vec::new();
        for (_, id) in &undecided {
            if let Some(approval) = self.approval(*id).await? {
                parts.extend(question(&approval));
            }
        }
        self.meter.asked(self.run, self.chain.target(), undecided.len());
        let calls = undecided
            .into_iter()
            .map(|(call, id)| AskedCall { call, approval: id.to_string() })
            .collect();
        self.conversation.record(TranscriptBody::Asked { calls }, Labels::none()).await?;
        Ok(Ending::of_parts(TaskState::InputRequired, parts))
    }

    /// Gives calls that wait for a person a result, because something else is asked first.
    pub(super) async fn leave_undecided(&mut self, undecided: Vec<(String, ApprovalId)>) -> Result<(), Halt> {
        for (call, id) in undecided {
            let why = format!(
                "not made: a person has to approve it (approval {id}), and another call asks something first; make this call again"
            );
            self.give_error(&call, why).await?;
        }
        Ok(())
    }

    /// Goes on with calls that a person was asked about: the approved ones are made as they were shown. Whoever writes a
    /// message in the place of a decision has not approved.
    pub(super) async fn resume_asked(&mut self, asked: Vec<AskedCall>, turn: &Turn<'_>) -> Result<(), Halt> {
        let has_words = !is_decision(turn.message);
        self.goes_on = !has_words;
        let mut undecided = Vec::new();
        for AskedCall { call, approval } in asked {
            let found = match approval.parse::<ApprovalId>() {
                Ok(id) => self.approval(id).await?,
                Err(_) => None,
            };
            match found {
                Some(found) if found.state == ApprovalState::Approved => {
                    self.decided(&found, true).await?;
                    self.approved.insert(call, found.id);
                }
                Some(found) if found.state == ApprovalState::Denied => {
                    self.decided(&found, false).await?;
                    self.deny(&call, &found, "the user did not approve it").await?;
                }
                Some(found) if found.state == ApprovalState::Pending && has_words => {
                    self.deny(&call, &found, "the user wrote a message instead of approving it").await?;
                }
                Some(found) if found.state == ApprovalState::Pending => undecided.push((call, found.id)),
                Some(_) | None => {
                    let why = "not made: nobody approved it in time; make the call again if it is still needed";
                    self.give_error(&call, why.to_owned()).await?;
                }
            }
        }
        let (calls, decided_with) = self.approved_calls();
        let ran = if calls.is_empty() { Ok(()) } else { self.run_calls(calls, decided_with).await };
        match ran {
            Ok(()) if !undecided.is_empty() => Err(self.ask_for(undecided).await?.into()),
            ran => ran,
        }
    }

    fn approved_calls(&self) -> (Vec<openfang_model::Call>, Labels) {
        let Some(newest) = self.conversation.newest_calls() else { return (Vec::new(), Labels::none()) };
        let decided_with = newest.decided_with.clone();
        let states = newest.calls.into_iter();
        let approved = states.filter(|state| self.approved.contains_key(&state.call.id) && !state.is_done);
        (approved.map(|state| state.call).collect(), decided_with)
    }

    async fn approval(&self, id: ApprovalId) -> Result<Option<Approval>, Halt> {
        let owner = self.run.cx.principal.owner();
        let unreadable = |error: StoreError| Halt::failed(error.to_string());
        self.run.pipeline.approval_of(owner, id).await.map_err(unreadable)
    }

    async fn decided(&mut self, approval: &Approval, is_approved: bool) -> Result<(), Halt> {
        let body = TranscriptBody::Decided { approval: approval.id.to_string(), is_approved };
        self.conversation.record(body, Labels::none()).await
    }

    async fn deny(&mut self, call: &str, approval: &Approval, reason: &str) -> Result<(), Halt> {
        let outcome = CallOutcome::Denied { reason: reason.to_owned() };
        let arguments: Value = serde_json::from_str(&approval.arguments).unwrap_or_default();
        self.tell_call((&approval.tool, &arguments), &outcome, 0).await;
        self.conversation.record_outcome(call, (outcome, 0), Labels::none()).await
    }

    async fn give_error(&mut self, call: &str, why: String) -> Result<(), Halt> {
        let outcome = CallOutcome::Returned { parts: vec![parts::words(why)], is_error: true };
        self.conversation.record_outcome(call, (outcome, 0), Labels::none()).await
    }
}

/// A question about a call: a sentence, and the call for programs.
fn question(approval: &Approval) -> [Part; 2] {
    let (id, tool) = (approval.id, &approval.tool);
    let text =
        format!("{tool} waits for an approval: {}. Decide with `openfang approval approve {id}`", approval.reason);
    let arguments: Value = serde_json::from_str(&approval.arguments).unwrap_or_default();
    let call = json!({
        "id": id,
        "tool": tool,
        "arguments": arguments,
        "digest": approval.digests.call,
        "labels": approval.labels,
        "expires": approval.expires,
    });
    [Part::text(text), Part::data(json!({ APPROVAL: call }))]
}

#[cfg(test)]
#[path = "approvals_tests.rs"]
mod tests;
