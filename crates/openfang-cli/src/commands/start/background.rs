//! `openfang start --background`: starts the daemon, waits until it listens, and leaves it running.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};

use openfang_egress::daemon::Daemon;
use openfang_egress::process::BackgroundProcess;
use openfang_kernel::home::create_private_directory;
use openfang_types::limits::{BACKGROUND_LOG_BYTES, BACKGROUND_POLL, BACKGROUND_START};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::args::StartArgs;
use crate::error::{CliError, Exit};
use crate::session::Session;

/// The daemon writes its log to the file that `openfang logs` reads.
const LOG_TO_FILE: (&str, &str) = ("OPENFANG_LOG__FILE", "true");

pub(super) async fn run(session: &Session, args: &StartArgs) -> Result<Exit, CliError> {
    if let Some(daemon) = session.daemon().await? {
        let (pid, address, stop) = (daemon.pid(), daemon.address(), session.command("stop"));
        return Err(CliError::AlreadyRunning { pid, address, stop });
    }
    let said = said_file(session)?;
    let mut process = BackgroundProcess::start(&arguments(session, args), &[LOG_TO_FILE], &said)?;
    let listening = timeout(BACKGROUND_START, until_it_listens(session, &mut process)).await;
    let daemon = match listening {
        Ok(Some(daemon)) => daemon?,
        Ok(None) => return Err(CliError::NotStarted { why: words_of(said)? }),
        Err(_) => {
            let why = "it does not listen yet; look at `openfang logs`, and stop it with `openfang stop`".to_owned();
            return Err(CliError::NotStarted { why });
        }
    };
    let (address, pid, version) = (daemon.address(), daemon.pid(), daemon.version());
    if session.output.is_json() {
        let home = session.home.root();
        let ready = json!({ "address": address, "pid": pid, "version": version, "home": home });
        session.output.document(&ready)?;
        return Ok(Exit::Ok);
    }
    session
        .output
        .text(&format!("openfang {version} is listening on http://{address} (pid {pid})"))?;
    let (stop, logs) = (session.command("stop"), session.command("logs -f"));
    session.output.note(&format!("stop it with `{stop}`; `{logs}` shows its log"));
    Ok(Exit::Ok)
}

/// The daemon once it listens; none if the process has ended.
async fn until_it_listens(session: &Session, process: &mut BackgroundProcess) -> Option<Result<Daemon, CliError>> {
    loop {
        match session.daemon().await {
            Ok(Some(daemon)) => return Some(Ok(daemon)),
            // A daemon that is starting is silent for a moment.
            Ok(None) | Err(CliError::Daemon(_)) => {}
            Err(error) => return Some(Err(error)),
        }
        match process.ended() {
            Ok(None) => sleep(BACKGROUND_POLL).await,
            Ok(Some(_)) => return None,
            Err(error) => return Some(Err(error.into())),
        }
    }
}

fn arguments(session: &Session, args: &StartArgs) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec!["--home".into(), session.home.root().into()];
    if let Some(level) = &session.log_level {
        arguments.extend(["--log-level".into(), level.into()]);
    }
    arguments.push("start".into());
    if let Some(address) = args.listen {
        arguments.extend(["--listen".into(), address.to_string().into()]);
    }
    arguments
}

/// A file for what the daemon says before its log begins.
fn said_file(session: &Session) -> Result<File, CliError> {
    let path = session.home.log().with_file_name("start.txt");
    if let Some(directory) = path.parent() {
        create_private_directory(directory)?;
    }
    let mut options = File::options();
    options.create(true).write(true).read(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    Ok(options.open(&path)?)
}

/// The last words of a daemon that has ended.
fn words_of(mut said: File) -> Result<String, CliError> {
    let length = said.metadata()?.len();
    said.seek(SeekFrom::Start(length.saturating_sub(BACKGROUND_LOG_BYTES)))?;
    let mut words = Vec::new();
    said.read_to_end(&mut words)?;
    let words = String::from_utf8_lossy(&words);
    let words = words.trim().trim_start_matches("openfang: ");
    Ok(if words.is_empty() { "it ended without a word; look at `openfang logs`".to_owned() } else { words.to_owned() })
}
