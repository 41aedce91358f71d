//! `openfang init`: the home, the programs that use it, and the servers they have already. Every question has a flag;
//! without a terminal only what the flags ask for is done.

use openfang_kernel::config_file;
use openfang_kernel::home::FirstRun;
use serde_json::json;

use super::connect::{self, Outcome, Request, State};
use super::doctor;
use super::mcp::import_servers;
use crate::args::InitArgs;
use crate::clients::{Client, ClientRow, Form, is_installed, targets};
use crate::error::{CliError, Exit};
use crate::prompt;
use crate::session::Session;

pub(super) async fn run(session: &Session, args: InitArgs) -> Result<Exit, CliError> {
    let rows = chosen(session, &args)?;
    let output = &session.output;
    let root = session.home.root().display().to_string();
    let is_new = session.prepare_home()? == FirstRun::Yes;
    if !output.is_json() {
        output.text(&if is_new {
            format!("created {root} with config.toml and the agent starter")
        } else {
            format!("{root} exists already")
        })?;
    }
    let imported = import(session, &args).await?;
    let outcomes = connected(session, &rows, &args).await?;
    let checks = doctor::checks(session, doctor::Scope::Offline).await;
    if output.is_json() {
        output.document(&json!({
            "home": session.home.root(), "created": is_new, "imported": imported, "files": outcomes, "checks": checks,
        }))?;
    } else if output.remarks() {
        output.text("")?;
        doctor::print(session, &checks)?;
        next_steps(session, outcomes.is_empty())?;
    } else if doctor::has_failed(&checks) {
        doctor::print(session, &checks)?;
    }
    let is_bad = outcomes.iter().any(|outcome| outcome.state == State::Failed) || doctor::has_failed(&checks);
    Ok(if is_bad { Exit::Failed } else { Exit::Ok })
}

/// The programs to connect: those that were named, all with `--yes`, or those chosen on the terminal.
fn chosen(session: &Session, args: &InitArgs) -> Result<Vec<&'static ClientRow>, CliError> {
    if args.connect.iter().any(|word| word == "none") {
        return Ok(Vec::new());
    }
    if !args.connect.is_empty() {
        let row = |word: &String| {
            let unknown =
                || CliError::Usage(format!("--connect takes `none` or some of {}, not {word}", Client::words()));
            Client::from_word(word).and_then(Client::row).ok_or_else(unknown)
        };
        return args.connect.iter().map(row).collect();
    }
    let directories = config_file::directories();
    let is_found = |row: &&ClientRow| !matches!(row.form, Form::Print(_)) && is_installed(row, &directories);
    let found: Vec<&'static ClientRow> = Client::rows().iter().filter(is_found).collect();
    if args.yes || found.is_empty() {
        return Ok(found);
    }
    let titles: Vec<String> = found.iter().map(|row| row.title.to_owned()).collect();
    if !prompt::can_ask() || session.output.is_json() {
        session
            .output
            .note(&format!("found {}; connect them with --yes or --connect", titles.join(", ")));
        return Ok(Vec::new());
    }
    let all: Vec<usize> = (0..found.len()).collect();
    let chosen = prompt::choose(&session.output, "Connect which programs?", &titles, &all)?;
    Ok(chosen.into_iter().map(|index| found[index]).collect())
}

/// Imports the servers of other programs; how many were written.
async fn import(session: &Session, args: &InitArgs) -> Result<usize, CliError> {
    if args.no_import {
        return Ok(0);
    }
    import_servers(session, args.yes || args.import).await
}

async fn connected(session: &Session, rows: &[&'static ClientRow], args: &InitArgs) -> Result<Vec<Outcome>, CliError> {
    let directories = config_file::directories();
    let targets: Vec<_> = rows.iter().flat_map(|row| targets(row, &directories)).collect();
    let is_asked = args.yes || !args.connect.is_empty();
    let request = Request {
        name: "openfang".to_owned(),
        agent: None,
        profile: None,
        http: None,
        is_dry_run: false,
        replaces: false,
        asks: !is_asked && prompt::can_ask() && !session.output.is_json(),
    };
    connect::connect_all(session, &targets, &request).await
}

fn next_steps(session: &Session, connects: bool) -> Result<(), CliError> {
    let call = session.command("tool call add_numbers a=3 b=7");
    let add = session.command("mcp add NAME -- COMMAND");
    let third = if connects { session.command("connect") } else { session.command("start") };
    let what = if connects { "write it into an IDE's settings" } else { "run the daemon, for A2A and HTTP" };
    session.output.text(&format!(
        "\nnext:\n  {call:<44}  # call a tool\n  {add:<44}  # connect an MCP server\n  {third:<44}  # {what}"
    ))
}
