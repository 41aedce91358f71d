//! `openfang service`: the daemon as a service of this user, under systemd or launchd, or of the machine, under systemd.

use std::path::{Path, PathBuf};

use openfang_kernel::config_file;
use openfang_kernel::home::{create_private_directory, create_private_file};
use serde_json::json;

use super::connect::program;
use crate::args::{ServiceCommand, ServiceScope};
use crate::error::{CliError, Exit};
use crate::output::{Cell, Fields, Tone};
use crate::programs::{self, FinishedProgram};
use crate::session::Session;

mod unit;

/// The file of a service, and the manager it is for.
struct ServiceFile {
    path: PathBuf,
    text: String,
    manager: Manager,
}

/// Who starts and stops a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manager {
    /// The systemd of a user.
    User,
    /// The systemd of the machine.
    System,
    Launchd,
}

impl Manager {
    /// Runs `systemctl` with these words.
    async fn systemctl(self, words: &[&str]) -> Result<FinishedProgram, String> {
        let scope: &[&str] = if self == Self::User { &["--user"] } else { &[] };
        programs::run("systemctl", &[scope, words].concat()).await
    }

    /// The command that starts the service by hand.
    const fn start(self) -> &'static str {
        match self {
            Self::User => "systemctl --user enable --now openfang",
            Self::System => "systemctl enable --now openfang",
            Self::Launchd => "launchctl load -w ~/Library/LaunchAgents/dev.openfang.plist",
        }
    }
}

pub(super) async fn run(session: &Session, command: ServiceCommand) -> Result<Exit, CliError> {
    let of = |scope| service_file(session, scope);
    match command {
        ServiceCommand::Install { scope, dry_run: true, .. } => preview(session, &of(scope)?),
        ServiceCommand::Install { scope, no_start, .. } => install(session, &of(scope)?, no_start).await,
        ServiceCommand::Uninstall { scope } => uninstall(session, &of(scope)?).await,
        ServiceCommand::Status { scope } => status(session, &of(scope)?).await,
    }
}

fn service_file(session: &Session, scope: ServiceScope) -> Result<ServiceFile, CliError> {
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
    if scope.system {
        if cfg!(target_os = "macos") {
            return Err(CliError::Usage("--system is for systemd; leave it out".to_owned()));
        }
        let path = PathBuf::from("/etc/systemd/system/openfang.service");
        return Ok(ServiceFile { path, text: unit::system(&facts), manager: Manager::System });
    }
    Ok(if cfg!(target_os = "macos") {
        let path = directories.home.ok_or_else(none)?.join("Library/LaunchAgents/dev.openfang.plist");
        ServiceFile { path, text: unit::plist(&facts), manager: Manager::Launchd }
    } else {
        let path = directories.config.ok_or_else(none)?.join("systemd/user/openfang.service");
        ServiceFile { path, text: unit::systemd(&facts), manager: Manager::User }
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
    if file.manager != Manager::System {
        session.prepare_home()?;
    }
    write(&file.path, &file.text)?;
    let mut problem = None;
    let mut linger = None;
    if !no_start {
        problem = started(file).await.err();
        linger = if file.manager == Manager::User { no_linger().await } else { None };
    }
    let output = &session.output;
    if output.is_json() {
        output
            .document(&json!({ "path": file.path, "started": !no_start && problem.is_none(), "problem": problem }))?;
    } else {
        output.text(&format!("wrote {}", file.path.display()))?;
        match &problem {
            None if no_start => output.note(&format!("start it with `{}`", file.manager.start())),
            None => output.text("the service is enabled and running")?,
            Some(why) => {
                output.complaint(&format!("it was written but not started: {why}"));
                output.note(&format!("start it with `{}`", file.manager.start()));
            }
        }
        if let Some(user) = linger {
            output.note(&format!(
                "services of {user} stop at logout; keep them running with `loginctl enable-linger {user}`"
            ));
        }
        if file.manager == Manager::System {
            output.note(&format!("it runs as the user openfang; create it with `{}`", unit::CREATE_USER));
        }
        let system = if file.manager == Manager::System { " --system" } else { "" };
        output.note(&format!("undo: {}", session.command(&format!("service uninstall{system}"))));
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
    let steps: &[&[&str]] = match file.manager {
        Manager::Launchd => &[&["load", "-w", &path]],
        Manager::User | Manager::System => &[&["daemon-reload"], &["enable", "--now", "openfang"]],
    };
    for words in steps {
        let finished = match file.manager {
            Manager::Launchd => programs::run("launchctl", words).await?,
            Manager::User | Manager::System => file.manager.systemctl(words).await?,
        };
        if !finished.is_success {
            return Err(format!("`{}` failed: {}", words.join(" "), finished.errors));
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
    let stopped = match file.manager {
        Manager::Launchd => programs::run("launchctl", &["unload", "-w", &file.path.display().to_string()]).await,
        Manager::User | Manager::System => file.manager.systemctl(&["disable", "--now", "openfang"]).await,
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
    let is_active = match file.manager {
        Manager::Launchd => programs::run("launchctl", &["list", "dev.openfang"]).await,
        Manager::User | Manager::System => file.manager.systemctl(&["is-active", "openfang"]).await,
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
