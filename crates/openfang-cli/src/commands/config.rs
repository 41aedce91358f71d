//! `openfang config`: what is configured, whether it is right, and what could be. Nothing here writes anything.

use openfang_kernel::{maintenance, strict_toml};
use openfang_types::config::Config;
use serde_json::{Value, json};

use crate::args::ConfigCommand;
use crate::error::{CliError, Exit};
use crate::session::Session;

pub(super) fn run(session: &Session, command: &ConfigCommand) -> Result<Exit, CliError> {
    match command {
        ConfigCommand::Check => check(session)?,
        ConfigCommand::Show => show(session)?,
        ConfigCommand::Path => path(session)?,
        ConfigCommand::Schema => session.output.document(&schema())?,
    }
    Ok(Exit::Ok)
}

/// Faults come out as the error they are, all of them.
fn check(session: &Session) -> Result<(), CliError> {
    session.check_exposure()?;
    let exposure = session.config(&[])?.exposure();
    if let Some(problem) = exposure
        && !maintenance::has_users(&session.home)?
    {
        return Err(session.faulty(&[], problem));
    }
    let path = session.home.config();
    let exists = path.exists();
    if session.output.is_json() {
        return session.output.document(&json!({ "ok": true, "path": path, "exists": exists }));
    }
    let path = path.display();
    session.output.text(&if exists {
        format!("ok: {path}")
    } else {
        format!("ok: no {path}, every key has its default")
    })
}

/// Secrets show as `[redacted]`: their type knows no other way.
fn show(session: &Session) -> Result<(), CliError> {
    let config = session.config(&[])?;
    if session.output.is_json() {
        return session.output.document(&config);
    }
    let text = toml::to_string(&config).map_err(std::io::Error::other)?;
    session.output.text(&text)
}

fn path(session: &Session) -> Result<(), CliError> {
    let path = session.home.config();
    if session.output.is_json() {
        return session.output.document(&json!({ "path": path }));
    }
    session.output.text(&path.display().to_string())
}

fn schema() -> Value {
    let mut schema = strict_toml::schema_of::<Config>();
    schema["title"] = json!("OpenFang configuration (config.toml)");
    schema
}
