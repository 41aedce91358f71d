//! `openfang approval`: calls that wait for a person. What is decided on is what was shown.

use openfang_kernel::SystemClock;
use openfang_types::api::{ApprovalView, DecisionKind};
use openfang_types::clock::Clock as _;
use openfang_types::ids::TaskId;
use serde_json::json;

use crate::args::ApprovalCommand;
use crate::backend::{Backend, StreamUpdate};
use crate::error::{CliError, Exit};
use crate::output::{Fields, Table};
use crate::session::Session;
use crate::times::ago;

pub(super) async fn run(session: &Session, command: &ApprovalCommand) -> Result<Exit, CliError> {
    let backend = Backend::open(session).await?;
    let known = backend.approvals().await?;
    match command {
        ApprovalCommand::List { all } => list(session, known, *all),
        ApprovalCommand::Show { id } => {
            let shown = find(&known, id)?;
            if session.output.is_json() {
                session.output.document(shown)?;
            } else {
                session.output.fields(&fields_of(shown))?;
            }
            Ok(Exit::Ok)
        }
        ApprovalCommand::Approve { id } => decide(session, &backend, find(&known, id)?, DecisionKind::Approve).await,
        ApprovalCommand::Deny { id } => decide(session, &backend, find(&known, id)?, DecisionKind::Deny).await,
    }
}

fn list(session: &Session, known: Vec<ApprovalView>, all: bool) -> Result<Exit, CliError> {
    let listed: Vec<ApprovalView> = known.into_iter().filter(|approval| all || approval.state == "pending").collect();
    if session.output.is_json() {
        session.output.document(&json!({ "approvals": listed }))?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["APPROVAL", "ASKED", "OWNER", "AGENT", "TOOL", "STATE", "WHY"]);
    let now = SystemClock.now();
    for approval in &listed {
        let agent = approval.agent.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
        table.row([
            approval.id.to_string().into(),
            ago(approval.made, now).into(),
            (&approval.owner).into(),
            agent.into(),
            (&approval.tool).into(),
            approval.state.clone().into(),
            approval.reason.clone().into(),
        ]);
    }
    session.output.table(&table)?;
    if listed.is_empty() {
        session
            .output
            .note("no call waits for a decision; `openfang approval list --all` shows earlier ones");
    }
    Ok(Exit::Ok)
}

async fn decide(
    session: &Session,
    backend: &Backend,
    shown: &ApprovalView,
    decision: DecisionKind,
) -> Result<Exit, CliError> {
    if !session.output.is_json() {
        session.output.fields(&fields_of(shown))?;
    }
    let decided = backend.decide_approval(shown, decision).await?;
    if session.output.is_json() {
        session.output.document(&decided)?;
        if let (Backend::InProcess(_), Some(task)) = (backend, decided.task) {
            work_here(session, backend, task).await?;
        }
        return Ok(Exit::Ok);
    }
    session.output.text(&format!("{} {}", decided.state, decided.tool))?;
    match decided.task {
        Some(task) if matches!(backend, Backend::InProcess(_)) => work_here(session, backend, task).await?,
        Some(_) => session.output.note("the task goes on"),
        None if decision == DecisionKind::Approve => {
            session
                .output
                .note("it is made when the caller makes the same call again, within 15 minutes");
        }
        None => {}
    }
    Ok(Exit::Ok)
}

/// Without a daemon, the task goes on in this process, which stays for it.
async fn work_here(session: &Session, backend: &Backend, id: TaskId) -> Result<(), CliError> {
    session.output.note("the task goes on here, because no daemon is running");
    let mut following = backend.follow(id).await?;
    while let Some(update) = following.next().await? {
        let state = match &update {
            StreamUpdate::Task(task) => Some(task.status.state),
            StreamUpdate::Event(event) => event.body.state(),
            StreamUpdate::Message(_) | StreamUpdate::Shutdown {} => None,
        };
        if let Some(state) = state.filter(|state| state.is_terminal() || state.is_interrupted()) {
            session.output.note(&format!("task {id} {state}"));
            break;
        }
    }
    Ok(())
}

/// The one approval whose id begins so.
fn find<'a>(known: &'a [ApprovalView], id: &str) -> Result<&'a ApprovalView, CliError> {
    let wanted = id.to_ascii_lowercase();
    let mut found = known
        .iter()
        .filter(|approval| !wanted.is_empty() && approval.id.to_string().starts_with(&wanted));
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => {
            Err(CliError::Usage(format!("more than one approval begins with {id:?}; give more of the id")))
        }
        (None, _) => {
            Err(CliError::Usage(format!("there is no approval {id:?}; `openfang approval list --all` shows them")))
        }
    }
}

/// Everything that a person decides on. Nothing is cut, and characters that are not seen are escaped.
pub(super) fn fields_of(shown: &ApprovalView) -> Fields {
    let mut fields = Fields::default();
    fields.add("approval", shown.id.to_string());
    fields.add("state", shown.state.clone());
    fields.add("owner", &shown.owner);
    if let Some(agent) = &shown.agent {
        fields.add("agent", agent);
    }
    fields.add("tool", &shown.tool);
    fields.add("arguments", visible(&shown.arguments.to_string()));
    fields.add("digest", shown.digest.clone());
    fields.add("why", shown.reason.clone());
    for label in shown.labels.iter() {
        let sources = shown.labels.sources(label).map(ToString::to_string).unwrap_or_default();
        fields.add("carries", format!("{label} (from {sources})"));
    }
    if shown.at_machine {
        fields.add("approved by", "somebody at this machine only, because it executes");
    }
    fields.add("asked", shown.made.to_string());
    fields.add("expires", shown.expires.to_string());
    if let (Some(by), Some(at)) = (&shown.decided_by, &shown.decided_at) {
        fields.add("decided", format!("by {by} at {at}"));
    }
    fields
}

/// A JSON text in which every character is seen.
pub(super) fn visible(json: &str) -> String {
    json.chars()
        .map(|c| {
            let is_hidden = openfang_types::unseen::is_invisible(c) || openfang_types::unseen::is_obeyed(c);
            if is_hidden { c.escape_unicode().to_string() } else { c.to_string() }
        })
        .collect()
}
