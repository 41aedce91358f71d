//! The implementation of the commands, one file each.

use std::io::Read as _;
use std::sync::Arc;

use openfang_types::limits::Limits;

use crate::args::Command;
use crate::error::{CliError, Exit};
use crate::logging;
use crate::session::Session;

mod a2a;
mod agent;
mod approval;
mod audit;
mod backup;
mod chat;
mod completions;
mod config;
mod connect;
mod db;
mod demo;
mod doctor;
mod event;
mod home;
mod init;
mod key;
mod login;
mod logs;
mod manual;
mod mcp;
mod model;
mod policy;
mod queue;
mod reach;
mod reload;
mod restore;
mod schedule;
mod secret;
mod service;
mod skill;
mod start;
mod status;
mod stop;
mod stream_printer;
mod task;
mod tool;
mod usage;
mod user;

pub(crate) use completions::VARIABLE as COMPLETE_VARIABLE;
pub(crate) use reach::{choose_server, only_reads};

/// Runs a command. Only `start` uses the log settings of config.toml; see [`Session::command_log`].
pub(crate) async fn run(session: &Arc<Session>, command: Command) -> Result<Exit, CliError> {
    if !matches!(command, Command::Start(_)) {
        let _ = logging::start(&session.command_log(), &session.output);
    }
    match command {
        Command::Init(args) => init::run(session, args).await,
        Command::Connect(args) => connect::run(session, args).await,
        Command::Start(args) => start::run(session, &args).await,
        Command::Stop => stop::run(session).await,
        Command::Demo => demo::run(session).await,
        Command::Reload => reload::run(session).await,
        Command::Doctor(args) => doctor::run(session, &args).await,
        Command::Status { watch } => status::run(session, watch).await,
        Command::Service(command) => service::run(session, command).await,
        Command::Logs(args) => logs::run(session, &args).await,
        Command::Mcp(args) => mcp::run(session, args).await,
        Command::A2a(command) => a2a::run(session, command).await,
        Command::Agent(command) => agent::run(session, command).await,
        Command::Chat(args) => chat::run(session, args).await,
        Command::Model(command) => model::run(session, command).await,
        Command::Usage(args) => usage::run(session, &args).await,
        Command::Tool(command) => tool::run(session, command).await,
        Command::Task(command) => task::run(session, command).await,
        Command::Queue(command) => queue::run(session, command).await,
        Command::Schedule(command) => schedule::run(session, command).await,
        Command::Event(command) => event::run(session, command).await,
        Command::User(command) => user::run(session, command).await,
        Command::Key(command) => key::run(session, command).await,
        Command::Login { server } => login::log_in(session, &server).await,
        Command::Logout { server } => login::log_out(session, &server),
        Command::Approval(command) => approval::run(session, &command).await,
        Command::Skill(command) => skill::run(session, command).await,
        Command::Secret(command) => secret::run(session, command).await,
        Command::Config(command) => config::run(session, &command),
        Command::Policy(command) => policy::run(session, &command).await,
        Command::Audit(command) => audit::run(session, &command).await,
        Command::Backup { path, with_key } => backup::run(session, &path, with_key),
        Command::Restore { path, yes } => restore::run(session, &path, yes),
        Command::Db(command) => db::run(session, &command),
        Command::Home(command) => home::run(session, &command).await,
        Command::Completions(args) => completions::run(session, &args),
        Command::Openapi => {
            session.output.document(&openfang_api::openapi_document())?;
            Ok(Exit::Ok)
        }
        Command::Manual { directory } => manual::run(session, &directory),
    }
}

/// The argument, or standard input if the argument is `-`, up to the default body limit of the server.
fn argument_or_stdin(argument: String) -> Result<String, CliError> {
    if argument != "-" {
        return Ok(argument);
    }
    let limit = Limits::default().body_bytes;
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(limit as u64 + 1)
        .read_to_string(&mut text)
        .map_err(CliError::Input)?;
    if text.len() > limit {
        return Err(CliError::Usage(format!("standard input exceeds {limit} bytes; send less at a time")));
    }
    // The final line break is not part of the message.
    if text.ends_with('\n') {
        text.truncate(text.trim_end_matches(['\n', '\r']).len());
    }
    Ok(text)
}
