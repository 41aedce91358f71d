//! `openfang connect`: puts an entry for OpenFang into the settings of IDEs and agents, and takes it out again.

use std::path::PathBuf;

use openfang_kernel::config_file::{self, Directories};
use serde::Serialize;
use serde_json::json;

use crate::args::ConnectArgs;
use crate::backend::Backend;
use crate::clients::{Client, ClientRow, Form, Target, is_installed, targets};
use crate::error::{CliError, Exit};
use crate::prompt;
use crate::session::Session;

pub(super) use entry::{arguments, program};
pub(super) use list::connected;
pub(super) use write::{Request, connect_all};

mod entry;
mod list;
mod undo;
mod write;

/// What happened to one file.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Outcome {
    client: &'static str,
    path: PathBuf,
    pub(super) state: State,
    #[serde(skip_serializing_if = "Option::is_none")]
    backup: Option<PathBuf>,
    /// How many tools the entry lists when it is started as written.
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
    /// The text to add by hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
}

/// How far a file came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum State {
    Written,
    Unchanged,
    WouldWrite,
    /// The settings are not edited; the snippet is printed.
    Printed,
    Declined,
    Restored,
    Removed,
    Failed,
}

impl Outcome {
    fn new(target: &Target, state: State) -> Self {
        let (client, path) = (target.row.word, target.path.clone());
        Self { client, path, state, backup: None, tools: None, problem: None, snippet: None }
    }

    fn failed(target: &Target, problem: impl ToString) -> Self {
        Self { problem: Some(problem.to_string()), ..Self::new(target, State::Failed) }
    }
}

pub(super) async fn run(session: &Session, args: ConnectArgs) -> Result<Exit, CliError> {
    let directories = config_file::directories();
    if args.list {
        return list::run(session, &directories);
    }
    if args.undo {
        return undo::run(session, &args).await;
    }
    let targets = chosen_targets(session, &args, &directories)?;
    if args.http && args.key.is_none() && needs_credential(session).await? {
        session.output.complaint(
            "this server wants a credential, and the entry has none; create one with --key USER, or write a header by hand",
        );
    }
    let outcomes = connect_all(session, &targets, &Request::from_args(session, &args)?).await?;
    finish(session, &outcomes)
}

/// Prints the outcomes as JSON if wanted; the exit code says whether all went well.
fn finish(session: &Session, outcomes: &[Outcome]) -> Result<Exit, CliError> {
    if session.output.is_json() {
        session.output.document(&json!({ "files": outcomes }))?;
    }
    let is_bad = outcomes.iter().any(|outcome| outcome.state == State::Failed);
    Ok(if is_bad { Exit::Failed } else { Exit::Ok })
}

/// The files of the clients that were named, all that are installed, or those chosen on the terminal.
fn chosen_targets(session: &Session, args: &ConnectArgs, directories: &Directories) -> Result<Vec<Target>, CliError> {
    let rows: Vec<&'static ClientRow> = if args.clients.is_empty() {
        let found: Vec<&'static ClientRow> =
            Client::rows().iter().filter(|row| is_installed(row, directories)).collect();
        match (args.all, found.is_empty()) {
            (_, true) => return Err(CliError::Usage(nothing_found(session))),
            (true, false) => found,
            (false, false) => choose(session, &found)?,
        }
    } else {
        args.clients.iter().filter_map(|client| client.row()).collect()
    };
    if !args.project {
        return Ok(rows.into_iter().flat_map(|row| targets(row, directories)).collect());
    }
    let here = std::env::current_dir().map_err(CliError::Input)?;
    let target = |row: &'static ClientRow| {
        let missing = || CliError::Usage(format!("{} has no settings in a project; leave --project out", row.title));
        row.project_target(&here).ok_or_else(missing)
    };
    rows.into_iter().map(target).collect()
}

/// Whether requests over HTTP need a credential.
async fn needs_credential(session: &Session) -> Result<bool, CliError> {
    let has_key = session.config(&[])?.api_key.is_some();
    Ok(has_key || !Backend::open(session).await?.users().await?.is_empty())
}

fn nothing_found(session: &Session) -> String {
    let list = session.command("connect --list");
    format!("no program is found; name one of {}, or see `{list}`", Client::words())
}

fn choose(session: &Session, found: &[&'static ClientRow]) -> Result<Vec<&'static ClientRow>, CliError> {
    if !prompt::can_ask() {
        let words: Vec<&str> = found.iter().map(|row| row.word).collect();
        return Err(CliError::Usage(format!(
            "name the programs to connect, or use --all; found: {}",
            words.join(", ")
        )));
    }
    let items: Vec<String> = found.iter().map(|row| row.title.to_owned()).collect();
    let editable = |index: &usize| !matches!(found[*index].form, Form::Print(_));
    let preselected: Vec<usize> = (0..found.len()).filter(editable).collect();
    let chosen = prompt::choose(&session.output, "Connect which?", &items, &preselected)?;
    Ok(chosen.into_iter().map(|index| found[index]).collect())
}
