//! The home directory, its secret key, the configuration and the agents.

use std::path::Path;

use openfang_kernel::config_file::ConfigError;
use openfang_kernel::home::Exposure;
use openfang_kernel::strict_toml::Fault;
use openfang_kernel::{MissingKey, check_agents, maintenance, missing_keys, unmatched_in_profiles};
use openfang_types::config::{Config, ConfigProblem};

use super::Check;
use super::repair::Repair;
use crate::error::CliError;
use crate::session::Session;

/// What protects a server that other machines can reach.
const CREDENTIAL: &str = "set api_key, or add a user with `openfang user add`";
/// The bits of others than the owner.
const OTHERS: u32 = 0o077;

pub(super) fn checks(session: &Session) -> Vec<Check> {
    let root = session.home.root();
    if !root.exists() {
        let text = format!("{} does not exist yet", root.display());
        return vec![Check::warn("home", text, session.command("init"))];
    }
    let mut found = vec![directory(session, root)];
    found.extend(secret_key(session));
    found.extend(exposure(session));
    found.extend(config(session));
    found.push(agents(session));
    found.extend(default_agent(session));
    found.extend(models(session));
    found.extend(profiles(session));
    found
}

/// Names in profiles that match nothing.
fn profiles(session: &Session) -> Vec<Check> {
    let Ok(config) = session.config(&[]) else { return Vec::new() };
    let fix = format!("correct it in {}", session.home.config().display());
    let warn =
        |problem: ConfigProblem| Check::warn("profile", format!("{}: {}", problem.key, problem.why), fix.clone());
    unmatched_in_profiles(&session.home, &config).into_iter().map(warn).collect()
}

fn directory(session: &Session, root: &Path) -> Check {
    if !root.is_dir() {
        let text = format!("{} is not a directory", root.display());
        return Check::fail("home", text, "choose another home with --home");
    }
    let probe = root.join(format!(".doctor.{}", std::process::id()));
    if let Err(cause) = std::fs::write(&probe, "").and_then(|()| std::fs::remove_file(&probe)) {
        let text = format!("{} cannot be written: {cause}", root.display());
        return Check::fail("home", text, "change its owner with `chown`, or choose another home with --home");
    }
    match mode_of(root) {
        Some(mode) if mode & OTHERS != 0 => {
            let text = format!("{} is open to other users (mode {mode:03o})", root.display());
            Check::fail("home", text, "").repaired_by(Repair::Mode { path: root.to_owned(), mode: 0o700 })
        }
        _ => Check::ok("home", session.home.root().display().to_string()),
    }
}

fn secret_key(session: &Session) -> Option<Check> {
    let path = session.home.secret_key();
    let was_there = session.home.root().join("home.json").exists();
    match (path.exists(), mode_of(&path)) {
        (false, _) if was_there => Some(Check::fail(
            "secret.key",
            format!("{} is missing, and this home had one", path.display()),
            format!("restore it from a backup, or run `{}`", session.command("home accept")),
        )),
        (false, _) => None,
        (true, Some(mode)) if mode & OTHERS != 0 => {
            let text = format!("{} can be used by other users (mode {mode:03o})", path.display());
            Some(Check::fail("secret.key", text, "").repaired_by(Repair::Mode { path, mode: 0o600 }))
        }
        (true, _) => Some(Check::ok("secret.key", "present, for its owner only")),
    }
}

/// Files and directories that others may write. The home itself is checked before.
fn exposure(session: &Session) -> Vec<Check> {
    let own_mode = |path: &Path| path == session.home.root() || path == session.home.secret_key();
    let found = match session.home.exposures() {
        Ok(found) => found,
        Err(worst) => vec![worst],
    };
    let check = |exposure: Exposure| {
        let text = exposure.to_string();
        let (fact, fix) = text.split_once("; ").unwrap_or((&text, "change its mode or owner"));
        match &exposure {
            Exposure::Everybody { path, .. } | Exposure::Group { path, .. } if own_mode(path) => None,
            Exposure::Everybody { path, mode } | Exposure::Group { path, mode }
                if path.starts_with(session.home.root()) =>
            {
                let repair = Repair::Mode { path: path.clone(), mode: mode & 0o755 };
                Some(Check::fail("permissions", fact, fix).repaired_by(repair))
            }
            Exposure::Everybody { .. } => Some(Check::fail("permissions", fact, fix)),
            Exposure::Group { .. } | Exposure::Owner { .. } => Some(Check::warn("permissions", fact, fix)),
        }
    };
    found.into_iter().filter_map(check).collect()
}

fn config(session: &Session) -> Vec<Check> {
    let path = session.home.config();
    let edit = || format!("edit {}, then run `{}`", path.display(), session.command("config check"));
    match session.config(&[]) {
        Ok(config) => {
            let mut found = vec![Check::ok("config", path.display().to_string())];
            let has_users = maintenance::has_users(&session.home).unwrap_or(true);
            match config.exposure() {
                Some(problem) if !has_users => {
                    let text = format!("{}: {}", problem.key, problem.why);
                    found.push(Check::fail("exposure", text, CREDENTIAL));
                }
                _ if !config.api_listen.ip().is_loopback() => found.push(Check::warn(
                    "exposure",
                    format!("the server listens on {}, without TLS of its own", config.api_listen),
                    "put a proxy with TLS in front of it, and set public_url",
                )),
                _ => {}
            }
            found
        }
        Err(CliError::Config(ConfigError::Faulty(faults))) => {
            let check = |fault: &Fault| {
                let text = fault.to_string();
                let needs_credential = fault.key == "api_listen" && text.contains("api_key");
                let fix = if needs_credential { CREDENTIAL.to_owned() } else { edit() };
                Check::fail("config", text, fix)
            };
            faults.0.iter().map(check).collect()
        }
        Err(error) => vec![Check::fail("config", error.to_string(), edit())],
    }
}

/// The configuration, or the default one if it is invalid: the check of the configuration says so.
fn usable(session: &Session) -> Config {
    session.usable_config(&[]).map(|usable| usable.config).unwrap_or_default()
}

/// Whether the models of agents have their keys, as far as this process can see.
fn models(session: &Session) -> Option<Check> {
    let (agents, missing) = missing_keys(&session.home, &usable(session));
    if agents == 0 {
        return None;
    }
    let Some(first) = missing.first() else {
        let count = if agents == 1 { "1 agent has a model".to_owned() } else { format!("{agents} agents have models") };
        return Some(Check::ok("models", format!("{count}, with API keys where they are needed")));
    };
    let shown = |one: &MissingKey| format!("{} of the agent {}: {}", one.reference, one.agent, one.reason);
    let text = missing.iter().map(shown).collect::<Vec<_>>().join("; ");
    let fix = format!(
        "set the variable where the daemon is started, or store the key; `{}` tells more",
        session.command(&format!("model show {}", first.reference))
    );
    Some(Check::warn("models", format!("{text} (as seen from this shell)"), fix))
}

/// The agent that answers where none is named has to be there.
fn default_agent(session: &Session) -> Option<Check> {
    let name = usable(session).default_agent?;
    if session.home.agents().join(name.as_str()).is_dir() {
        return None;
    }
    let text = format!("default_agent names {name}, and there is no such agent in {}", session.home.agents().display());
    let fix = format!(
        "correct it in {}, or run `{}`",
        session.home.config().display(),
        session.command(&format!("agent new {name}"))
    );
    Some(Check::fail("agents", text, fix))
}

fn agents(session: &Session) -> Check {
    let place = session.home.agents();
    match check_agents(&session.home, &usable(session)) {
        Ok(failed) if failed.is_empty() => {
            let count = std::fs::read_dir(&place).map_or(0, |entries| entries.flatten().count());
            Check::ok("agents", format!("{count} in {}", place.display()))
        }
        Ok(failed) => {
            let reasons: Vec<String> = failed.iter().map(|one| one.reason.clone()).collect();
            Check::fail(
                "agents",
                reasons.join("; "),
                format!("edit it, then run `{}`", session.command("config check")),
            )
        }
        Err(error) => Check::fail("agents", error.to_string(), format!("check {}", place.display())),
    }
}

#[cfg(unix)]
fn mode_of(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;
    path.metadata().ok().map(|found| found.mode() & 0o777)
}

#[cfg(not(unix))]
fn mode_of(_: &Path) -> Option<u32> {
    None
}
