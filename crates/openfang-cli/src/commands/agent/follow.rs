//! Waiting for the answer of an agent: what is waited for is shown, and Ctrl-C says what goes on and how to stop it.

use std::cell::Cell;

use openfang_types::ids::TaskId;
use openfang_types::limits::CANCEL_GRACE;
use openfang_types::task::{Task, TaskState};
use tokio::time::timeout;

use crate::backend::{Backend, Outgoing, StreamUpdate};
use crate::commands::stream_printer::StreamPrinter;
use crate::error::{CliError, Exit};
use crate::output::one_line;
use crate::session::Session;
use crate::signals::Signals;
use crate::view::{artifact_text, status_text};
use crate::waiting::Waiting;

/// Sends a message and waits until the task ends or asks for something. With `streams`, text is printed as it arrives.
pub(super) async fn send(
    session: &Session,
    backend: &Backend,
    message: Outgoing,
    streams: bool,
) -> Result<Exit, CliError> {
    let agent = message.agent.clone();
    let waiting = Waiting::new(&session.output, format!("waiting for {agent}"));
    let id: Cell<Option<TaskId>> = Cell::new(None);
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let answered = async {
        let mut following = backend.send_streaming(message).await?;
        let mut printer = if streams { StreamPrinter::pieces(session) } else { StreamPrinter::at_the_end(session) };
        while let Some(update) = following.next().await? {
            if let StreamUpdate::Task(task) = &update {
                id.set(Some(task.id));
                waiting.say(format!("{agent} works on task {}", task.id));
            }
            if streams {
                waiting.end();
            }
            printer.show(update)?;
        }
        waiting.end();
        printer.into_task()
    };
    let is_free = || !streams || id.get().is_none();
    let answered = tokio::select! {
        answered = answered => answered,
        never = waiting.show(is_free) => match never {},
        stop = signals.next() => {
            waiting.end();
            interrupted(session, backend, id.get()).await;
            return Ok(stop.exit());
        }
    };
    waiting.end();
    let Some(task) = answered? else { return Ok(Exit::Ok) };
    if !session.output.is_json() {
        if !streams {
            print_artifacts(session, &task)?;
        }
        tell_end(session, &task)?;
    }
    Ok(crate::commands::task::exit_of(task.status.state))
}

/// Says what became of the task: a daemon goes on with it, and without one it is canceled.
async fn interrupted(session: &Session, backend: &Backend, id: Option<TaskId>) {
    let output = &session.output;
    match (backend, id) {
        (_, None) => output.announce("stopped before the agent had begun"),
        (Backend::Daemon(_), Some(id)) => {
            let (watch, cancel) =
                (session.command(&format!("task watch {id}")), session.command(&format!("task cancel {id}")));
            output.announce(&format!("task {id} goes on in the daemon\n  watch it: {watch}\n  stop it:  {cancel}"));
        }
        (Backend::InProcess(_), Some(id)) => {
            let canceled = timeout(CANCEL_GRACE, backend.cancel(id)).await;
            let state = canceled.ok().and_then(Result::ok).map(|task| task.status.state);
            output.announce(&match state {
                Some(state) => format!("task {id} {state}, because no daemon is running to go on with it"),
                None => format!("task {id} stopped with this command, because no daemon is running"),
            });
        }
    }
}

/// Prints each artifact with its name. A text that is also the failure message is left out, because it is printed at the
/// end.
fn print_artifacts(session: &Session, task: &Task) -> Result<(), CliError> {
    let said = if task.status.state == TaskState::Failed { status_text(task) } else { None };
    for artifact in &task.artifacts {
        let text = artifact_text(artifact);
        if text.is_empty() || Some(&text) == said.as_ref() {
            continue;
        }
        if let Some(name) = &artifact.name {
            session.output.note(&format!("{}:", one_line(name)));
        }
        session.output.text(&text)?;
    }
    Ok(())
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
