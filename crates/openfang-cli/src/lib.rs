//! The command line. A command uses the daemon of the home if one is running, else a kernel in this process, with the same
//! result.
//!
//! `args.rs` declares commands and flags, `commands/` implements them, `backend.rs` chooses daemon or kernel, `clients.rs` is the table of
//! other programs, `import.rs` reads their settings and `connect.rs` writes to them, `remote.rs` is a server on another machine, `output.rs` prints, `usage.rs` formats usage errors, and `error.rs` maps errors to exit codes.

mod args;
mod backend;
mod clients;
mod commands;
mod connect;
mod diff;
mod error;
mod import;
mod log_file;
mod logging;
mod mcp;
mod memory;
mod names;
mod notify;
mod output;
mod programs;
mod prompt;
mod registry;
mod remote;
mod session;
mod signals;
mod suggest;
mod talk;
mod task_ref;
mod temporary_home;
mod times;
mod usage;
mod view;
mod waiting;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use args::{Args, Command, Global};
use clap::CommandFactory as _;
use clap_complete::env::CompleteEnv;
use error::{CliError, Exit};
use openfang_types::limits::IDLE_THREAD;
use output::{Output, is_plain};
use session::Session;

/// Runs a command line; the first word is the program's name. With `--json`, usage errors are JSON too.
pub fn typed(words: Vec<OsString>) -> ExitCode {
    logging::escape_panics();
    let wants_json = usage::wants_json(&words);
    if completed(&words) {
        return ExitCode::SUCCESS;
    }
    match usage::parsed(words) {
        Ok(args) => run(args),
        Err(wrong) if wants_json && wrong.use_stderr() => {
            let error = CliError::Usage(usage::in_a_line(&wrong));
            Output::new(&Global { json: true, ..Global::default() }).error(&error);
            error.exit().into()
        }
        // A script may pass untrusted words. clap prints plain ones itself, with colors.
        Err(wrong) if wrong.use_stderr() && !is_plain(&wrong.to_string()) => {
            Output::new(&Global::default()).usage(&wrong.to_string());
            Exit::Usage.into()
        }
        // Help, the version, and usage errors.
        Err(said) => said.exit(),
    }
}

/// Answers a shell that asks for completions. It does so by a variable, so it costs others nothing.
fn completed(words: &[OsString]) -> bool {
    let here = std::env::current_dir().ok();
    let asked = CompleteEnv::with_factory(Args::command).var(commands::COMPLETE_VARIABLE).bin("openfang");
    asked.try_complete(words.iter().cloned(), here.as_deref()).unwrap_or(false)
}

/// Runs a parsed command and prints its error.
fn run(mut args: Args) -> ExitCode {
    let output = Output::new(&args.global);
    let done = commands::choose_server(&mut args.global, &args.command)
        .and_then(|()| Session::new(&args.global, output.clone()))
        .map(|session| session.only_reading(commands::only_reads(&args.command)))
        .and_then(|session| run_command(&Arc::new(session), args.command));
    let exit = match done {
        Ok(exit) => exit,
        // The reader closed the pipe, as `| head` does: not a failure.
        Err(error) if error.is_broken_pipe() => Exit::Ok,
        Err(error) => {
            output.error(&error);
            error.exit()
        }
    };
    exit.into()
}

fn run_command(session: &Arc<Session>, command: Command) -> Result<Exit, CliError> {
    let mut builder = match command {
        Command::Start(_) => tokio::runtime::Builder::new_multi_thread(),
        _ => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = builder.enable_all().thread_keep_alive(IDLE_THREAD).build().map_err(CliError::Runtime)?;
    let done = runtime.block_on(async {
        let done = commands::run(session, command).await;
        session.close().await;
        done
    });
    // Work that does not end must not delay the exit.
    runtime.shutdown_background();
    done
}
