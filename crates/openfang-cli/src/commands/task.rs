//! `openfang task`: the caller's own tasks, whichever process created them, and those of users for the operator.

use openfang_kernel::SystemClock;
use openfang_types::clock::Clock as _;
use openfang_types::task::{Role, Task, TaskState};
use serde_json::json;

use super::stream_printer::StreamPrinter;
use crate::args::{TaskCommand, TaskListArgs, WhoseArgs};
use crate::backend::{Backend, TaskQuery};
use crate::error::{CliError, Exit};
use crate::output::{Cell, Fields, Table, Tone};
use crate::session::Session;
use crate::task_ref::TaskRef;
use crate::times::ago;
use crate::view::{artifact_text, message_text, status_text};

mod everybody;

pub(super) async fn run(session: &Session, command: TaskCommand) -> Result<Exit, CliError> {
    match command {
        TaskCommand::List(args) if args.all => everybody::list(session, &args).await,
        TaskCommand::List(args) => list(session, &args).await,
        TaskCommand::Show { id, whose } => show(session, &id, &whose).await,
        TaskCommand::Watch { id, whose } => watch(session, &id, &whose).await,
        TaskCommand::Cancel { id, whose } => cancel(session, &id, &whose).await,
    }
}

/// The exit code of a command that waited for a task.
pub(super) const fn exit_of(state: TaskState) -> Exit {
    match state {
        TaskState::Failed | TaskState::Canceled | TaskState::Rejected => Exit::Failed,
        TaskState::Submitted
        | TaskState::Working
        | TaskState::InputRequired
        | TaskState::AuthRequired
        | TaskState::Completed => Exit::Ok,
    }
}

async fn backend_for(session: &Session, whose: &WhoseArgs) -> Result<Backend, CliError> {
    let mut backend = Backend::open(session).await?;
    backend.in_place_of(whose.user.as_ref()).await?;
    Ok(backend)
}

fn query_of(args: &TaskListArgs) -> TaskQuery {
    let limit = usize::try_from(args.limit).unwrap_or(usize::MAX);
    TaskQuery { agent: args.agent.clone(), state: args.state, context: None, limit }
}

async fn list(session: &Session, args: &TaskListArgs) -> Result<Exit, CliError> {
    let wanted = query_of(args);
    let listing = backend_for(session, &args.whose).await?.tasks(&wanted).await?;
    if session.output.is_json() {
        session.output.document(&listing)?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["ID", "STATE", "AGENT", "CHANGED", "MESSAGE"]);
    let now = SystemClock.now();
    for task in &listing.tasks {
        let message = status_text(task).unwrap_or_default();
        let changed = ago(task.status.timestamp, now);
        table.row([
            task.id.into(),
            state_cell(task.status.state),
            (&task.agent).into(),
            changed.into(),
            message.into(),
        ]);
    }
    session.output.table(&table)?;
    let (shown, total) = (listing.tasks.len(), listing.total);
    if total == 0 {
        session.output.note("no matching tasks; create one with `openfang agent send`");
    } else if shown < total {
        session.output.note(&format!("showing {shown} of {total}; use --limit {total} for all"));
    }
    Ok(Exit::Ok)
}

async fn show(session: &Session, task: &TaskRef, whose: &WhoseArgs) -> Result<Exit, CliError> {
    let backend = backend_for(session, whose).await?;
    let task = backend.task(task.resolve(&backend).await?).await?;
    let output = &session.output;
    if output.is_json() {
        output.document(&json!({ "task": task }))?;
        return Ok(Exit::Ok);
    }
    let mut fields = Fields::default();
    fields.add("id", task.id);
    fields.add("state", state_cell(task.status.state));
    fields.add("agent", &task.agent);
    fields.add("context", &task.context_id);
    let changed = task.status.timestamp;
    fields.add("changed", format!("{changed:.0} ({})", ago(changed, SystemClock.now())));
    output.fields(&fields)?;
    for message in &task.history {
        let who = match message.role {
            Role::User => "user",
            Role::Agent => "agent",
        };
        output.text(&format!("\n{who}: {}", message_text(message)))?;
    }
    if let Some(text) = status_text(&task) {
        output.text(&format!("\nagent: {text}"))?;
    }
    for artifact in &task.artifacts {
        let name = artifact.name.as_deref().unwrap_or(artifact.artifact_id.as_str());
        output.text(&format!("\nartifact {name}:\n{}", artifact_text(artifact)))?;
    }
    Ok(Exit::Ok)
}

async fn watch(session: &Session, task: &TaskRef, whose: &WhoseArgs) -> Result<Exit, CliError> {
    let backend = backend_for(session, whose).await?;
    let id = task.resolve(&backend).await?;
    let mut following = backend.follow(id).await?;
    let mut printer = StreamPrinter::log(session);
    while let Some(shown) = following.next().await? {
        printer.show(shown)?;
    }
    Ok(printer.into_task()?.map_or(Exit::Ok, |task: Task| exit_of(task.status.state)))
}

async fn cancel(session: &Session, task: &TaskRef, whose: &WhoseArgs) -> Result<Exit, CliError> {
    let backend = backend_for(session, whose).await?;
    let id = task.resolve(&backend).await?;
    let task = backend.cancel(id).await?;
    if session.output.is_json() {
        session.output.document(&json!({ "task": task }))?;
    } else {
        session.output.text(&format!("task {id} {}", task.status.state))?;
    }
    Ok(Exit::Ok)
}

fn state_cell(state: TaskState) -> Cell {
    let tone = match state {
        TaskState::Submitted | TaskState::Working => Tone::Plain,
        TaskState::InputRequired | TaskState::AuthRequired => Tone::Waiting,
        TaskState::Completed => Tone::Good,
        TaskState::Failed | TaskState::Rejected => Tone::Bad,
        TaskState::Canceled => Tone::Faint,
    };
    Cell::toned(state, tone)
}
