//! `openfang completions`: what a shell needs to complete our commands.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Args;
use crate::error::{CliError, Exit};
use crate::session::Session;

pub(super) fn run(session: &Session, shell: Shell) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "openfang", &mut script);
    session.output.text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}
