//! `openfang agent`: lists agents and sends messages to them.

use openfang_types::ids::{AgentName, TaskId};
use serde_json::json;

use super::argument_or_stdin;
use crate::args::{AgentCommand, SendArgs};
use crate::backend::{AgentView, Backend, DaemonBackend, Outgoing, Reply};
use crate::error::{CliError, Exit};
use crate::output::{Fields, Table};
use crate::session::Session;
use crate::suggest;
use crate::task_ref::TaskRef;
use crate::view::message_text;

mod follow;
mod new;

pub(super) async fn run(session: &Session, command: AgentCommand) -> Result<Exit, CliError> {
    match command {
        AgentCommand::New(args) => new::run(session, &args),
        AgentCommand::List => list(session).await,
        AgentCommand::Show { name, user } => {
            let mut backend = Backend::open(session).await?;
            backend.in_place_of(user.as_ref()).await?;
            match backend.agent(&name).await {
                Ok(view) => show(session, &view),
                Err(error) => Err(suggest::for_agent(&backend, error, &name).await),
            }
        }
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
        session.output.note(&format!(
            "no agents in {}; create one with `{}`",
            place.display(),
            session.command("agent new NAME")
        ));
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
    let model = agent.model.model.as_ref().map(|model| format!("/{model}")).unwrap_or_default();
    fields.add("model", format!("{}{model}", agent.model.provider));
    if !agent.fallback_models.is_empty() {
        let others = agent.fallback_models.iter().map(|other| format!("{}/{}", other.provider, other.model));
        fields.add("then", others.collect::<Vec<_>>().join(", "));
    }
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
    let SendArgs { name, text, task, no_wait, stream } = args;
    let text = argument_or_stdin(text)?;
    let backend = match no_wait {
        true => Backend::Daemon(DaemonBackend::open(session, "agent send --no-wait").await?),
        false => Backend::open(session).await?,
    };
    let task = match task {
        Some(task) => Some(task_of_agent(session, &backend, &task, &name).await?),
        None => None,
    };
    let message = Outgoing { task, ..Outgoing::text(name.clone(), text) };
    let sent = match (&backend, no_wait) {
        (Backend::Daemon(daemon), true) => submit(session, daemon, message).await,
        _ if session.output.is_json() && !stream => send_for_json(session, &backend, message).await,
        _ => follow::send(session, &backend, message, stream).await,
    };
    match sent {
        Err(error) => Err(suggest::for_agent(&backend, error, &name).await),
        sent => sent,
    }
}

/// The id of a task to continue. Another agent's task is named as such before anything is sent.
async fn task_of_agent(
    session: &Session,
    backend: &Backend,
    task: &TaskRef,
    agent: &AgentName,
) -> Result<TaskId, CliError> {
    let id = task.resolve(backend).await?;
    let held = backend.task(id).await?;
    if held.agent == *agent {
        return Ok(id);
    }
    let right = session.command(&format!("agent send {} --task {id} 'TEXT'", held.agent));
    Err(CliError::Usage(format!("task {id} belongs to the agent {}; use `{right}`", held.agent)))
}

async fn send_for_json(session: &Session, backend: &Backend, message: Outgoing) -> Result<Exit, CliError> {
    let reply = backend.send(message).await?;
    session.output.document(&reply)?;
    Ok(match &reply {
        Reply::Task(task) => super::task::exit_of(task.status.state),
        Reply::Message(_) => Exit::Ok,
    })
}

async fn submit(session: &Session, daemon: &DaemonBackend, message: Outgoing) -> Result<Exit, CliError> {
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
