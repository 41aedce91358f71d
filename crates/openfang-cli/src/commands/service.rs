//! `openfang service`: the daemon as a service of this user, under systemd or launchd.

use std::path::{Path, PathBuf};

use openfang_kernel::config_file;
use openfang_kernel::home::{create_private_directory, create_private_file};
use serde_json::json;

use super::connect::program;
use crate::args::ServiceCommand;
use crate::error::{CliError, Exit};
use crate::output::{Cell, Fields, Tone};
use crate::programs;
use crate::session::Session;

mod unit;

/// The file of a service, and the manager it is for.
struct ServiceFile {
    path: PathBuf,
    text: String,
}

pub(super) async fn run(session: &Session, command: ServiceCommand) -> Result<Exit, CliError> {
    let file = service_file(session)?;
    match command {
        ServiceCommand::Install { dry_run: true, .. } => preview(session, &file),
        ServiceCommand::Install { no_start, .. } => install(session, &file, no_start).await,
        ServiceCommand::Uninstall => uninstall(session, &file).await,
        ServiceCommand::Status => status(session, &file).await,
    }
}

fn service_file(session: &Session) -> Result<ServiceFile, CliError> {
    let directories = config_file::directories();
    let none = || CliError::Usage("no home directory of the user is known; set HOME".to_owned());
    let facts = unit::Facts {
        program: program()?,
        home: session.home.root().to_owned(),
        is_default_home: session.is_default_home(),
        search_path: config_file::search_path().to_string_lossy().into_owned(),
        drain_secs: session.config(&[]).map_or(30, |config| config.limits.drain_secs),
    };
    if cfg!(windows) {
        return Err(CliError::Usage(
            "services are for Linux and macOS; on Windows use Task Scheduler, or systemd in WSL".to_owned(),
        ));
    }
    Ok(if cfg!(target_os = "macos") {
        let path = directories.home.ok_or_else(none)?.join("Library/LaunchAgents/dev.openfang.plist");
        ServiceFile { path, text: unit::plist(&facts) }
    } else {
        let path = directories.config.ok_or_else(none)?.join("systemd/user/openfang.service");
        ServiceFile { path, text: unit::systemd(&facts) }
    })
}

fn preview(session: &Session, file: &ServiceFile) -> Result<Exit, CliError> {
    if session.output.is_json() {
        session
            .output
            .document(&json!({ "path": file.path, "text": file.text, "written": false }))?;
    } else {
        session.output.note(&format!("would write {}:", file.path.display()));
        session.output.text(&file.text)?;
    }
    Ok(Exit::Ok)
}

async fn install(session: &Session, file: &ServiceFile, no_start: bool) -> Result<Exit, CliError> {
    session.prepare_home()?;
    write(&file.path, &file.text)?;
    let mut problem = None;
    let mut linger = None;
    if !no_start {
        problem = started(file).await.err();
        linger = no_linger().await;
    }
    let output = &session.output;
    if output.is_json() {
        output
            .document(&json!({ "path": file.path, "started": !no_start && problem.is_none(), "problem": problem }))?;
    } else {
        output.text(&format!("wrote {}", file.path.display()))?;
        match &problem {
            None if no_start => output.note(&format!("start it with `{}`", unit::START)),
            None => output.text("the service is enabled and running")?,
            Some(why) => {
                output.complaint(&format!("it was written but not started: {why}"));
                output.note(&format!("start it with `{}`", unit::START));
            }
        }
        if let Some(user) = linger {
            output.note(&format!(
                "services of {user} stop at logout; keep them running with `loginctl enable-linger {user}`"
            ));
        }
        output.note(&format!("undo: {}", session.command("service uninstall")));
    }
    Ok(if problem.is_none() { Exit::Ok } else { Exit::Failed })
}

/// Writes the file, in the place of an earlier one.
fn write(path: &Path, text: &str) -> Result<(), CliError> {
    use std::io::Write as _;
    let cannot = |cause| CliError::Usage(format!("cannot write {}: {cause}", path.display()));
    create_private_directory(path.parent().unwrap_or(path)).map_err(cannot)?;
    let beside = path.with_extension(format!("{}.new", std::process::id()));
    let _ = std::fs::remove_file(&beside);
    let written = create_private_file(&beside).and_then(|mut file| file.write_all(text.as_bytes()));
    written.and_then(|()| std::fs::rename(&beside, path)).map_err(cannot)
}

/// Makes the manager read the file and start the service.
async fn started(file: &ServiceFile) -> Result<(), String> {
    let path = file.path.display().to_string();
    let steps: &[(&str, &[&str])] = if cfg!(target_os = "macos") {
        &[("launchctl", &["load", "-w", &path])]
    } else {
        &[("systemctl", &["--user", "daemon-reload"]), ("systemctl", &["--user", "enable", "--now", "openfang"])]
    };
    for (command, arguments) in steps {
        let finished = programs::run(command, arguments).await?;
        if !finished.is_success {
            return Err(format!("{command} {} failed: {}", arguments.join(" "), finished.errors));
        }
    }
    Ok(())
}

/// The user whose services stop at logout, if that is known.
async fn no_linger() -> Option<String> {
    let shown = programs::run("loginctl", &["show-user", "--property=Linger", "--property=Name"])
        .await
        .ok()?;
    let value = |key: &str| shown.output.lines().find_map(|line| line.strip_prefix(key));
    (value("Linger=") == Some("no")).then(|| value("Name=").unwrap_or("$USER").to_owned())
}

async fn uninstall(session: &Session, file: &ServiceFile) -> Result<Exit, CliError> {
    if !file.path.exists() {
        session.output.text("the service is not installed")?;
        return Ok(Exit::Ok);
    }
    let stopped = match cfg!(target_os = "macos") {
        true => programs::run("launchctl", &["unload", "-w", &file.path.display().to_string()]).await,
        false => programs::run("systemctl", &["--user", "disable", "--now", "openfang"]).await,
    };
    std::fs::remove_file(&file.path)?;
    let is_stopped = stopped.is_ok_and(|finished| finished.is_success);
    if session.output.is_json() {
        session
            .output
            .document(&json!({ "path": file.path, "removed": true, "stopped": is_stopped }))?;
    } else {
        session.output.text(&format!("removed {}", file.path.display()))?;
        if !is_stopped {
            session
                .output
                .note(&format!("no service manager answered; stop a daemon with `{}`", session.command("stop")));
        }
    }
    Ok(Exit::Ok)
}

async fn status(session: &Session, file: &ServiceFile) -> Result<Exit, CliError> {
    let is_installed = file.path.exists();
    let is_current = std::fs::read_to_string(&file.path).is_ok_and(|text| text == file.text);
    let is_active = match cfg!(target_os = "macos") {
        true => programs::run("launchctl", &["list", "dev.openfang"]).await,
        false => programs::run("systemctl", &["--user", "is-active", "openfang"]).await,
    };
    let is_active = is_active.is_ok_and(|finished| finished.is_success);
    let is_running = session.daemon().await?.is_some();
    if session.output.is_json() {
        session.output.document(&json!({
            "installed": is_installed, "current": is_current, "active": is_active, "path": file.path,
            "daemonRunning": is_running,
        }))?;
    } else {
        let word = |held: bool| if held { Cell::toned("yes", Tone::Good) } else { Cell::toned("no", Tone::Waiting) };
        let mut fields = Fields::default();
        fields.add("installed", word(is_installed));
        fields.add("active", word(is_active));
        fields.add("daemon answers", word(is_running));
        fields.add("unit", file.path.display());
        session.output.fields(&fields)?;
        if !is_installed {
            session.output.note(&format!("install it with `{}`", session.command("service install")));
        } else if !is_current {
            let again = session.command("service install");
            session
                .output
                .note(&format!("the unit differs from what this version writes; renew it with `{again}`"));
        }
    }
    Ok(if is_installed { Exit::Ok } else { Exit::NotRunning })
}
