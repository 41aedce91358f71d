//! `openfang completions`: what a shell needs to complete our commands.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Args;
use crate::error::{CliError, Exit};
use crate::output::Output;

pub(crate) fn run(output: &Output, shell: Shell) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "openfang", &mut script);
    output.text(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}
