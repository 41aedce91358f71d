//! The command line. Commands go to the daemon of the home when one runs, and work in this process when none does;
//! they cannot tell the difference.
//!
//! `args.rs` is what can be typed, `import.rs` reads the settings of other programs, `commands/` what it does, `backend.rs` who does it, `output.rs` the only place that
//! prints, `error.rs` what can go wrong and with which exit code.

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
mod view;

pub use args::Args;

use std::process::ExitCode;
use std::sync::Arc;

use args::Command;
use error::{CliError, Exit};
use openfang_types::limits::IDLE_THREAD;
use output::Output;
use session::Session;

/// Does what was asked, and says how it went.
pub fn run(args: Args) -> ExitCode {
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
