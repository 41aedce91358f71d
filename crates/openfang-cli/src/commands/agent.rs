//! `openfang agent`: lists agents and sends messages to them.

use openfang_types::task::{Task, TaskState};
use serde_json::json;

use super::argument_or_stdin;
use super::stream_printer::StreamPrinter;
use crate::args::{AgentCommand, SendArgs};
use crate::backend::{AgentView, Backend, DaemonBackend, Outgoing, Reply};
use crate::error::{CliError, Exit};
use crate::output::{Fields, Table};
use crate::session::Session;
use crate::view::{artifact_text, message_text, status_text};

pub(super) async fn run(session: &Session, command: AgentCommand) -> Result<Exit, CliError> {
    match command {
        AgentCommand::List => list(session).await,
        AgentCommand::Show { name } => show(session, &Backend::open(session).await?.agent(&name).await?),
        AgentCommand::Send(args) => send(session, args).await,
    }
}

async fn list(session: &Session) -> Result<Exit, CliError> {
    let backend = Backend::open(session).await?;
    let (agents, failed) = (backend.agents().await?, backend.failed_agents().await?);
    if session.output.is_json() {
        session.output.document(&json!({ "agents": agents, "failed": failed }))?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["NAME", "DESCRIPTION"]);
    for agent in &agents {
        table.row([(&agent.name).into(), (&agent.description).into()]);
    }
    session.output.table(&table)?;
    for failed in &failed {
        let state = if failed.is_in_force { "is invalid, and its previous version stays in use" } else { "is invalid" };
        session.output.complaint(&format!("{} {state}: {}", failed.name, failed.reason));
    }
    if agents.is_empty() {
        let place = session.home.agents();
        session
            .output
            .note(&format!("no agents; create a directory with an agent.toml in {}", place.display()));
    }
    Ok(Exit::Ok)
}

fn show(session: &Session, view: &AgentView) -> Result<Exit, CliError> {
    if session.output.is_json() {
        session.output.document(view)?;
        return Ok(Exit::Ok);
    }
    let agent = &view.agent;
    let names: Vec<&str> = view.tools.iter().map(|tool| tool.as_str()).collect();
    let mut fields = Fields::default();
    fields.add("name", &agent.name);
    fields.add("description", &agent.description);
    fields.add("model", agent.model.provider.as_str());
    if let Some(tool) = &agent.default_tool {
        fields.add("plain text", format!("handled by {tool}"));
    }
    fields.add("tools", if names.is_empty() { "none".to_owned() } else { names.join(", ") });
    session.output.fields(&fields)?;
    session
        .output
        .note(&format!("send a message: {}", session.command(&format!("agent send {} 'TEXT'", agent.name))));
    Ok(Exit::Ok)
}

async fn send(session: &Session, args: SendArgs) -> Result<Exit, CliError> {
    let text = argument_or_stdin(args.text)?;
    let message = Outgoing { agent: args.name, text, task: args.task };
    if args.no_wait {
        return submit(session, message).await;
    }
    let backend = Backend::open(session).await?;
    if args.stream {
        return stream(session, &backend, message).await;
    }
    let reply = backend.send(message).await?;
    if session.output.is_json() {
        session.output.document(&reply)?;
        return Ok(exit_of(&reply));
    }
    match &reply {
        Reply::Message(message) => session.output.text(&message_text(message))?,
        Reply::Task(task) => {
            for text in artifact_texts(task) {
                session.output.text(&text)?;
            }
            tell_end(session, task)?;
        }
    }
    Ok(exit_of(&reply))
}

async fn submit(session: &Session, message: Outgoing) -> Result<Exit, CliError> {
    let daemon = DaemonBackend::open(session, "agent send --no-wait").await?;
    let reply = daemon.submit(message).await?;
    if session.output.is_json() {
        session.output.document(&reply)?;
        return Ok(Exit::Ok);
    }
    match reply {
        Reply::Message(message) => session.output.text(&message_text(&message))?,
        Reply::Task(task) => {
            session.output.text(&task.id.to_string())?;
            session
                .output
                .note(&format!("watch it: {}", session.command(&format!("task watch {}", task.id))));
        }
    }
    Ok(Exit::Ok)
}

async fn stream(session: &Session, backend: &Backend, message: Outgoing) -> Result<Exit, CliError> {
    let mut following = backend.send_streaming(message).await?;
    let mut printer = StreamPrinter::pieces(session);
    while let Some(shown) = following.next().await? {
        printer.show(shown)?;
    }
    match printer.into_task()? {
        Some(task) => {
            if !session.output.is_json() {
                tell_end(session, &task)?;
            }
            Ok(exit_of(&Reply::Task(Box::new(task))))
        }
        None => Ok(Exit::Ok),
    }
}

/// The texts of the artifacts. A text that is also the failure message is left out, because it is printed at the end.
fn artifact_texts(task: &Task) -> Vec<String> {
    let said = if task.status.state == TaskState::Failed { status_text(task) } else { None };
    task.artifacts
        .iter()
        .map(artifact_text)
        .filter(|text| !text.is_empty() && Some(text) != said.as_ref())
        .collect()
}

/// Prints the state of the task: the agent's message as a result, the rest as a hint.
fn tell_end(session: &Session, task: &Task) -> Result<(), CliError> {
    let output = &session.output;
    let (id, state, said) = (task.id, task.status.state, status_text(task));
    match state {
        TaskState::Failed | TaskState::Rejected | TaskState::Canceled => {
            let why = said.map(|text| format!(": {text}")).unwrap_or_default();
            output.complaint(&format!("task {id} {state}{why}"));
            return Ok(());
        }
        TaskState::Submitted
        | TaskState::Working
        | TaskState::InputRequired
        | TaskState::AuthRequired
        | TaskState::Completed => {}
    }
    if let Some(text) = said {
        output.text(&text)?;
    }
    output.note(&format!("task {id} {state}"));
    if state.is_interrupted() {
        let command = session.command(&format!("agent send {} --task {id} 'TEXT'", task.agent));
        output.note(&format!("the task is waiting for your answer: {command}"));
    }
    Ok(())
}

fn exit_of(reply: &Reply) -> Exit {
    match reply {
        Reply::Task(task) => super::task::exit_of(task.status.state),
        Reply::Message(_) => Exit::Ok,
    }
}
