//! `openfang start`: the daemon, in the foreground. The configuration is checked before a socket is opened, and
//! `daemon.json` exists exactly as long as the daemon listens.

use std::convert::Infallible;
use std::path::PathBuf;
use std::pin::pin;

use openfang_api::{Server, Stopped};
use openfang_egress::daemon::DaemonFile;
use openfang_kernel::config_file::UsableConfig;
use openfang_kernel::home::FirstRun;
use openfang_kernel::maintenance::{AuditFilter, AuditLog};
use openfang_kernel::{Boot, Kernel};
use openfang_types::config::LogFormat;
use openfang_types::limits::STOP_OVERTIME;
use openfang_types::principal::{AdminProof, Principal};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::args::StartArgs;
use crate::error::{CliError, Exit};
use crate::logging::{self, LogFilter};
use crate::session::{Session, flag};
use crate::signals::{Hangups, Signals, Stop, watch_over_stop};
use crate::{memory, notify};

mod background;
mod env_file;

pub(super) async fn run(session: &Session, args: &StartArgs) -> Result<Exit, CliError> {
    if args.background {
        return background::run(session, args).await;
    }
    env_file::apply(&session.home.environment_file())?;
    let first_run = session.prepare_home()?;
    let listen = args.listen.map(|address| flag("--listen", "api_listen", &address.to_string()));
    let UsableConfig { config, failed_servers } = session.usable_config(listen.as_slice())?;
    let log_filter = logging::start_daemon(&config.log, &session.output, &session.home.log());
    if let Some(daemon) = session.daemon().await? {
        let (pid, address, stop) = (daemon.pid(), daemon.address(), session.command("stop"));
        return Err(CliError::AlreadyRunning { pid, address, stop });
    }

    let role = session.home.listen()?;
    let overlays = session.overlays(listen.as_slice());
    let boot = Boot::new(session.home.clone(), config).overlays(overlays).failed_servers(failed_servers);
    let kernel = boot.start()?;
    if let Some(problem) = kernel.exposure() {
        return Err(session.faulty(listen.as_slice(), problem));
    }
    kernel.keep_protection()?;
    let address = kernel.config().api_listen;
    let signals = Signals::listen().map_err(CliError::Runtime)?;
    let hangups = Hangups::listen().map_err(CliError::Runtime)?;
    let allowed = kernel.config().limits.drain() + STOP_OVERTIME;
    watch_over_stop(allowed, end_in_any_case).map_err(CliError::Runtime)?;
    let server = Server::bind(kernel.clone()).await.map_err(|cause| CliError::Listen { address, cause })?;
    let announcement = DaemonAnnouncement::write(session, &kernel, &server)?;
    greet(session, &kernel, &announcement.file, first_run)?;
    notify::ready();
    let tool_changes = kernel.tool_changes();
    kernel.start_background_agents();
    let exit = tokio::select! {
        exit = serve(session, &kernel, server, signals) => exit,
        never = memory::give_back(tool_changes) => match never {},
        never = follow_files(&kernel, hangups, log_filter) => match never {},
    };
    kernel.close().await;
    drop((announcement, role));
    Ok(exit)
}

/// `daemon.json`, removed when this is dropped, unless another daemon has written its own meanwhile.
struct DaemonAnnouncement {
    path: PathBuf,
    file: DaemonFile,
}

impl DaemonAnnouncement {
    fn write(session: &Session, kernel: &Kernel, server: &Server) -> Result<Self, CliError> {
        let file = DaemonFile {
            pid: std::process::id(),
            address: server.address(),
            token: kernel.daemon_token().clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        };
        let path = session.home.daemon();
        file.write(&path)?;
        Ok(Self { path, file })
    }
}

impl Drop for DaemonAnnouncement {
    fn drop(&mut self) {
        // A file that stays behind is recognized as stale, because no process proves to know its token.
        let _ = self.file.remove(&self.path);
    }
}

/// Serves until a signal, then lets running work finish. A second signal does not wait.
async fn serve(session: &Session, kernel: &Kernel, server: Server, mut signals: Signals) -> Exit {
    let stop = CancellationToken::new();
    let mut running = pin!(server.run(stop.clone()));
    tokio::select! {
        _ = &mut running => return Exit::Ok,
        _ = signals.next() => {}
    }
    let config = kernel.config();
    // Where the log is JSON, standard error has nothing else.
    let announce = |text: &str| match config.log.format {
        LogFormat::Json => tracing::info!("{text}"),
        LogFormat::Text => session.output.announce(text),
    };
    let seconds = config.limits.drain_secs;
    announce(&format!("stopping: running work has {seconds} s to finish; press Ctrl-C again to stop immediately"));
    stop.cancel();
    tokio::select! {
        stopped = &mut running => {
            announce(match stopped {
                Stopped::Finished => "stopped",
                Stopped::Interrupted => "stopped; tasks that were still running are marked as interrupted",
            });
            Exit::Ok
        }
        signal = signals.next() => {
            announce("stopped immediately");
            signal.exit()
        }
    }
}

/// Reads the files again at each `SIGHUP`, and logs as the configuration in force says.
async fn follow_files(kernel: &Kernel, mut hangups: Hangups, log_filter: LogFilter) -> Infallible {
    let mut config = kernel.config();
    loop {
        tokio::select! {
            () = hangups.next() => kernel.reload_by_signal().await,
            next = kernel.config_after(&config) => {
                log_filter.follow(next.log.level);
                config = next;
            }
        }
    }
}

/// Exits although some work did not stop. The next start recovers as it does after a crash.
fn end_in_any_case(signal: Stop) {
    tracing::error!("the shutdown took too long; exiting now");
    std::process::exit(i32::from(signal.exit().code()));
}

/// Prints the address, and after the first run the next steps.
fn greet(session: &Session, kernel: &Kernel, file: &DaemonFile, first_run: FirstRun) -> Result<(), CliError> {
    let output = &session.output;
    let (address, pid, version) = (file.address, file.pid, &file.version);
    let root = session.home.root().display();
    if output.is_json() {
        let ready = json!({ "address": address, "pid": pid, "version": version, "home": session.home.root() });
        return output.json_line(&ready);
    }
    if kernel.config().log.format == LogFormat::Json {
        tracing::info!(%address, pid, %version, home = %root, "listening");
        return Ok(());
    }
    let agents = kernel.agents(&Principal::admin(AdminProof::InProcess)).len();
    output.announce(&format!("openfang {version} is listening on http://{address} (pid {pid})"));
    output.announce(&format!("home: {root}, agents: {agents}; stop with Ctrl-C or `{}`", session.command("stop")));
    if first_run == FirstRun::Yes || is_unused(session) {
        let made =
            if first_run == FirstRun::Yes { "first run: created config.toml and the agent starter. " } else { "" };
        let greeting = session.command("agent send starter 'Ada'");
        let call = session.command("tool call add_numbers a=3 b=7");
        let config = session.home.config();
        output.announce(&format!(
            "\n{made}Next, in another terminal:\n  {greeting}\n  {call}\n  edit {}",
            config.display()
        ));
    }
    Ok(())
}

/// Whether nothing was ever done with this home, such as after a first start that failed.
fn is_unused(session: &Session) -> bool {
    let rows = AuditLog::open(&session.home).and_then(|log| log.latest(1, &AuditFilter::default()));
    rows.is_ok_and(|rows| rows.is_empty())
}
