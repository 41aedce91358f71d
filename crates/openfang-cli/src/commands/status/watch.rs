//! `openfang status --watch`: one screen that is drawn anew every second. `q` or Ctrl-C ends it.

use std::time::Instant;

use openfang_kernel::SystemClock;
use openfang_kernel::maintenance::{AuditEntry, AuditFilter, AuditLog, AuditOutcome};
use openfang_types::clock::Clock as _;
use openfang_types::limits::STATUS_TICK;
use openfang_types::mcp_status::McpServerState;
use openfang_types::task::{Task, TaskState};
use serde_json::{Value, json};
use tokio::time::sleep;

use rates::{CallCounts, CallRates, Rates};

use crate::backend::{Backend, DaemonBackend, Servers, TaskQuery};
use crate::error::{CliError, Exit};
use crate::output::{Cell, Screen, Table, Tone, one_line};
use crate::session::Session;
use crate::signals::Signals;
use crate::times::ago;
use crate::view::status_text;

mod rates;

/// How many tasks and refusals are shown.
const LATEST: usize = 5;

/// What one screen shows.
struct Snapshot {
    daemon: Option<Value>,
    servers: Vec<(String, McpServerState, String)>,
    counts: Vec<(TaskState, usize)>,
    tasks: Vec<Task>,
    rates: Option<CallRates>,
    refusals: Vec<AuditEntry>,
}

pub(super) async fn run(session: &Session) -> Result<Exit, CliError> {
    let (mut screen, mut rates) = (Screen::open(&session.output), Rates::default());
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    loop {
        let snapshot = gather(session, &mut rates).await?;
        if session.output.is_json() {
            session.output.json_line(&document(&snapshot))?;
        } else {
            draw(session, &screen, &snapshot)?;
        }
        tokio::select! {
            () = sleep(STATUS_TICK) => {}
            () = screen.quit() => return Ok(Exit::Ok),
            _ = signals.next() => return Ok(Exit::Ok),
        }
    }
}

async fn gather(session: &Session, rates: &mut Rates) -> Result<Snapshot, CliError> {
    let filter = AuditFilter { outcome: Some("refused".to_owned()), ..AuditFilter::default() };
    let refusals = AuditLog::open(&session.home)
        .and_then(|log| log.latest(LATEST, &filter))
        .unwrap_or_default();
    let (servers, counts, tasks) = (Vec::new(), Vec::new(), Vec::new());
    let mut snapshot = Snapshot { daemon: None, servers, counts, tasks, rates: None, refusals };
    let Some(daemon) = session.daemon().await? else { return Ok(snapshot) };
    snapshot.daemon = Some(json!({ "version": daemon.version(), "address": daemon.address(), "pid": daemon.pid() }));
    let backend = Backend::Daemon(DaemonBackend::new(daemon));
    for state in [TaskState::Working, TaskState::InputRequired, TaskState::Completed, TaskState::Failed] {
        let query = TaskQuery { agent: None, state: Some(state), context: None, limit: 1 };
        snapshot.counts.push((state, backend.tasks(&query).await?.total));
    }
    snapshot.tasks = backend
        .tasks(&TaskQuery { agent: None, state: None, context: None, limit: LATEST })
        .await?
        .tasks;
    let Backend::Daemon(daemon) = backend else { return Ok(snapshot) };
    snapshot.rates = rates.since_last(Instant::now(), CallCounts::of(&daemon.metrics().await?));
    for view in Servers::Daemon(daemon).list().await?.connected {
        let quarantined = view.tools.iter().filter(|tool| tool.quarantined).count();
        let text = match (&view.reason, quarantined) {
            (Some(reason), _) if !view.connected => one_line(reason),
            (_, 0) => format!("{} tools", view.tools_count),
            (_, some) => format!("{} tools, {some} quarantined", view.tools_count),
        };
        snapshot.servers.push((view.name.to_string(), view.state, text));
    }
    Ok(snapshot)
}

fn document(snapshot: &Snapshot) -> Value {
    let Snapshot { daemon, servers, counts, tasks, rates, refusals } = snapshot;
    let servers = servers
        .iter()
        .map(|(name, state, text)| json!({ "name": name, "state": state, "text": text }));
    let counts = counts.iter().map(|(state, count)| (state.as_str().to_owned(), json!(count)));
    json!({
        "running": daemon.is_some(), "daemon": daemon, "servers": servers.collect::<Vec<_>>(),
        "tasks": { "counts": counts.collect::<serde_json::Map<_, _>>(), "latest": tasks }, "rates": rates, "refusals": refusals,
    })
}

fn draw(session: &Session, screen: &Screen, snapshot: &Snapshot) -> Result<(), CliError> {
    let output = &session.output;
    screen.clear()?;
    let now = SystemClock.now();
    match &snapshot.daemon {
        None => output.text(&format!("no daemon is running on {}", session.home.root().display()))?,
        Some(daemon) => {
            let text = |key: &str| daemon[key].as_str().unwrap_or_default().to_owned();
            let (version, address, pid) = (text("version"), text("address"), &daemon["pid"]);
            output.text(&format!("openfang {version} at http://{address} (pid {pid})"))?;
        }
    }
    let counts: Vec<String> = snapshot
        .counts
        .iter()
        .map(|(state, count)| format!("{count} {}", state.as_str()))
        .collect();
    if !counts.is_empty() {
        output.text(&format!("tasks: {}", counts.join(", ")))?;
    }
    if let Some(CallRates { calls, unsuccessful }) = &snapshot.rates {
        output.text(&format!("calls: {calls:.1} a second, {unsuccessful:.1} of them refused or failed"))?;
    }
    if !snapshot.servers.is_empty() {
        let mut table = Table::new(&["SERVER", "STATE", ""]);
        for (name, state, text) in &snapshot.servers {
            let tone = if *state == McpServerState::Failed { Tone::Bad } else { Tone::Plain };
            table.row([name.into(), Cell::toned(state.as_str(), tone), text.into()]);
        }
        output.text("")?;
        output.table(&table)?;
    }
    if !snapshot.tasks.is_empty() {
        let mut table = Table::new(&["TASK", "STATE", "AGENT", "CHANGED", "MESSAGE"]);
        for task in &snapshot.tasks {
            let changed = ago(task.status.timestamp, now);
            let message = status_text(task).unwrap_or_default();
            table.row([
                task.id.into(),
                task.status.state.as_str().into(),
                (&task.agent).into(),
                changed.into(),
                message.into(),
            ]);
        }
        output.text("")?;
        output.table(&table)?;
    }
    if !snapshot.refusals.is_empty() {
        output.text("\nlast refusals")?;
        for row in snapshot.refusals.iter().filter_map(|entry| entry.row().ok()) {
            output.text(&format!("  {}  {}  {}  {}", ago(row.at, now), row.owner, row.subject, why(&row.outcome)))?;
        }
    }
    screen.hint("q quits")
}

fn why(outcome: &AuditOutcome) -> &str {
    match outcome {
        AuditOutcome::Refused(why) => why,
        _ => "refused",
    }
}
