//! The command line. Commands go to the daemon of the home when one runs, and work in this process when none does;
//! they cannot tell the difference.
//!
//! `args.rs` is what can be typed, `import.rs` reads the settings of other programs, `commands/` what it does, `backend.rs` who does it, `output.rs` the only place that
//! prints, `usage.rs` what programs are told of words that make no command, `error.rs` what can go wrong and with which exit code.

mod args;
mod backend;
mod commands;
mod error;
mod import;
mod logging;
mod mcp;
mod memory;
mod output;
mod session;
mod signals;
mod talk;
mod usage;
mod view;

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::Arc;

use args::{Args, Command, Global};
use clap::Parser as _;
use error::{CliError, Exit};
use openfang_types::limits::IDLE_THREAD;
use output::{Output, is_plain};
use session::Session;

/// Does what was typed, the program's name first. What cannot be understood is said as JSON where JSON was asked for.
pub fn typed(words: Vec<OsString>) -> ExitCode {
    logging::escape_panics();
    let wants_json = usage::wants_json(&words);
    match Args::try_parse_from(words) {
        Ok(args) => run(args),
        Err(wrong) if wants_json && wrong.use_stderr() => {
            let error = CliError::Usage(usage::in_a_line(&wrong));
            Output::new(&Global { json: true, ..Global::default() }).error(&error);
            error.exit().into()
        }
        // Words may come from elsewhere by way of a script. Plain ones are left to clap, which has colours.
        Err(wrong) if wrong.use_stderr() && !is_plain(&wrong.to_string()) => {
            Output::new(&Global::default()).usage(&wrong.to_string());
            Exit::Usage.into()
        }
        // Help, the version, and what is wrong in words for people.
        Err(said) => said.exit(),
    }
}

/// Does what was asked, and says how it went.
fn run(args: Args) -> ExitCode {
    let output = Output::new(&args.global);
    let done =
        Session::new(&args.global, output.clone()).and_then(|session| carry_out(&Arc::new(session), args.command));
    let exit = match done {
        Ok(exit) => exit,
        // Whoever read our output has seen enough (`| head`): that is no failure.
        Err(error) if error.is_broken_pipe() => Exit::Ok,
        Err(error) => {
            output.error(&error);
            error.exit()
        }
    };
    exit.into()
}

fn carry_out(session: &Arc<Session>, command: Command) -> Result<Exit, CliError> {
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
    // Work that does not end by itself must not hold up the exit.
    runtime.shutdown_background();
    done
}
