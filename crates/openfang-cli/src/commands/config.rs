//! `openfang config`: checks and shows the configuration. Nothing here writes a file.

use openfang_kernel::config_file::{ConfigError, Overlay};
use openfang_kernel::strict_toml::{Fault, Faults};
use openfang_kernel::{check_agents, maintenance, strict_toml, unmatched_in_profiles};
use openfang_types::config::Config;
use serde_json::{Value, json};

use crate::args::ConfigCommand;
use crate::error::{CheckFault, CliError, Exit};
use crate::session::Session;

pub(super) fn run(session: &Session, command: &ConfigCommand) -> Result<Exit, CliError> {
    match command {
        ConfigCommand::Check => check(session)?,
        ConfigCommand::Show => show(session)?,
        ConfigCommand::Example => example(session)?,
        ConfigCommand::Path => path(session)?,
        ConfigCommand::Schema => session.output.document(&schema())?,
    }
    Ok(Exit::Ok)
}

/// Reports all faults as one error: first of the configuration, then of the agents and their scripts.
fn check(session: &Session) -> Result<(), CliError> {
    session.check_exposure()?;
    let configured = checked_config(session);
    let usable = session.usable_config(&[]).map(|usable| usable.config).unwrap_or_default();
    let agents = check_agents(&session.home, &usable)?;
    let mut faults = match configured {
        Ok(()) if agents.is_empty() => Vec::new(),
        Err(error) if agents.is_empty() => return Err(error),
        Ok(()) => Vec::new(),
        Err(CliError::Config(ConfigError::Faulty(Faults(faults)))) => {
            let fault = |fault: Fault| CheckFault { text: fault.to_string(), key: Some(fault.key) };
            faults.into_iter().map(fault).collect()
        }
        Err(error) => vec![CheckFault { key: None, text: error.to_string() }],
    };
    faults.extend(agents.into_iter().map(|failed| CheckFault { key: None, text: failed.reason }));
    if !faults.is_empty() {
        return Err(CliError::FailedCheck(faults));
    }
    let path = session.home.config();
    let exists = path.exists();
    let overlays = session.overlays(&[]);
    if session.output.is_json() {
        let overlaid = |overlay: &Overlay| json!({ "key": overlay.key, "by": overlay.place.to_string() });
        let overlaid: Vec<Value> = overlays.iter().map(overlaid).collect();
        return session
            .output
            .document(&json!({ "ok": true, "path": path, "exists": exists, "overlaid": overlaid }));
    }
    for overlay in &overlays {
        session
            .output
            .note(&format!("{} is set by {}, which overrides the file", overlay.key, overlay.place));
    }
    for problem in unmatched_in_profiles(&session.home, &session.config(&[])?) {
        session.output.complaint(&format!("{}: {}", problem.key, problem.why));
    }
    let path = path.display();
    session.output.text(&if exists {
        format!("ok: {path}")
    } else {
        format!("ok: {path} does not exist, so every key has its default")
    })
}

fn checked_config(session: &Session) -> Result<(), CliError> {
    let exposure = session.config(&[])?.exposure();
    match exposure {
        Some(problem) if !maintenance::has_users(&session.home)? => Err(session.faulty(&[], problem)),
        Some(_) | None => Ok(()),
    }
}

/// Secrets are printed as `[redacted]`: their type has no other serialization.
fn show(session: &Session) -> Result<(), CliError> {
    let config = session.config(&[])?;
    if session.output.is_json() {
        return session.output.document(&config);
    }
    let text = toml::to_string(&config).map_err(std::io::Error::other)?;
    for overlay in session.overlays(&[]) {
        session.output.text(&format!("# {} comes from {}", overlay.key, overlay.place))?;
    }
    let path = session.home.config();
    let file = if path.exists() { path.display().to_string() } else { "the defaults".to_owned() };
    session
        .output
        .text(&format!("# everything else comes from {file}, or is the default\n"))?;
    session.output.text(&text)
}

/// The file that the documentation refers to, as this version has it.
fn example(session: &Session) -> Result<(), CliError> {
    const EXAMPLE: &str = include_str!("../../../../config.example.toml");
    if session.output.is_json() {
        return session.output.document(&json!({ "text": EXAMPLE }));
    }
    session.output.text(EXAMPLE)
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
