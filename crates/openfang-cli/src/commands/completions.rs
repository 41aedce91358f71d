//! `openfang completions`: what a shell needs to complete our commands, and the names of agents, tools and servers.

use std::path::PathBuf;

use clap_complete::Shell;
use clap_complete::env::Shells;
use openfang_kernel::config_file;
use serde_json::json;

use crate::args::CompletionsArgs;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// The variable by which a script asks this program for candidates.
pub(crate) const VARIABLE: &str = "_OPENFANG_COMPLETE";

pub(super) fn run(session: &Session, args: &CompletionsArgs) -> Result<Exit, CliError> {
    if !args.install && !args.undo {
        session.output.text(&script(args.shell)?)?;
        return Ok(Exit::Ok);
    }
    let path = place(args.shell)?;
    let (verb, changed) = match (args.dry_run, args.undo) {
        (true, _) => ("would write", false),
        (false, true) => ("removed", remove(&path)?),
        (false, false) => ("wrote", write(&path, &script(args.shell)?)?),
    };
    if session.output.is_json() {
        session.output.document(&json!({ "path": path, "changed": changed }))?;
        return Ok(Exit::Ok);
    }
    session.output.text(&format!("{verb} {}", path.display()))?;
    if verb == "wrote" {
        let undo = session.command(&format!("completions {} --undo", args.shell));
        session.output.note(&format!("new shells use it; undo: {undo}"));
    }
    Ok(Exit::Ok)
}

/// A script that asks this program, so that names are complete too.
fn script(shell: Shell) -> Result<String, CliError> {
    let shells = Shells::builtins();
    let name = shell.to_string();
    let completer = shells
        .completer(&name)
        .ok_or_else(|| CliError::Usage(format!("completions for {name} do not exist")))?;
    let mut script = Vec::new();
    completer.write_registration(VARIABLE, "openfang", "openfang", "openfang", &mut script)?;
    Ok(String::from_utf8_lossy(&script).into_owned())
}

/// Where a shell looks for completions of the user.
fn place(shell: Shell) -> Result<PathBuf, CliError> {
    let directories = config_file::directories();
    let none = || CliError::Usage("no home directory of the user is known; set HOME".to_owned());
    let home = directories.home.ok_or_else(none)?;
    let config = directories.config.unwrap_or_else(|| home.join(".config"));
    match shell {
        Shell::Bash => Ok(home.join(".local/share/bash-completion/completions/openfang")),
        Shell::Zsh => Ok(home.join(".local/share/zsh/site-functions/_openfang")),
        Shell::Fish => Ok(config.join("fish/completions/openfang.fish")),
        shell => Err(CliError::Usage(format!(
            "{shell} has no directory for completions; add the output of `openfang completions {shell}` to its profile"
        ))),
    }
}

fn write(path: &std::path::Path, script: &str) -> Result<bool, CliError> {
    std::fs::create_dir_all(path.parent().unwrap_or(path))?;
    std::fs::write(path, script)?;
    Ok(true)
}

fn remove(path: &std::path::Path) -> Result<bool, CliError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        outcome => outcome.map(|()| true).map_err(CliError::Output),
    }
}
