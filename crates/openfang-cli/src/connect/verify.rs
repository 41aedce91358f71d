//! Starts an entry as a program with a desktop's environment would, and lists its tools.
//!
//! Programs that are started from a desktop have a short PATH and none of the shell's variables. An entry that works in a
//! terminal can fail there, so it is tried like that.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use openfang_egress::process::{
    DoorConfig, Environment, EnvironmentKind, Launch, ProcessDoor, ProcessMetrics, Program, Surroundings,
};
use openfang_mcp::capabilities::ClientCapabilities;
use openfang_mcp::client::{Connecting, Endpoint, RawMembers, connect};
use openfang_mcp::counts::Counts;
use openfang_types::limits::CONNECT_VERIFY;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio_util::task::TaskTracker;

/// The PATH of programs that are started from a desktop.
const DESKTOP_PATH: &str = "/usr/bin:/bin:/usr/sbin:/sbin";

/// What an entry that works has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Verified {
    pub(crate) tools: usize,
    pub(crate) took: Duration,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolPage {
    tools: Vec<Box<RawValue>>,
    #[serde(default)]
    next_cursor: Option<String>,
}

/// Starts the program and asks for its tools; the reason if that fails.
pub(crate) async fn verify(command: &str, args: &[String], user: Option<&Path>) -> Result<Verified, String> {
    let begun = Instant::now();
    let tracker = TaskTracker::new();
    let door = ProcessDoor::open(DoorConfig::of_this_system(), tracker.clone(), ProcessMetrics::default())
        .map_err(|error| error.to_string())?;
    let home = user.map(|user| ("HOME", user.as_os_str().to_owned()));
    let variables = home.into_iter().chain([("PATH", DESKTOP_PATH.into())]);
    let environment = Environment::build(EnvironmentKind::McpServer, &[], &Surroundings::of(variables))
        .map_err(|error| error.to_string())?;
    let directory = user.map_or_else(|| PathBuf::from("/"), Path::to_owned);
    let program = Program::resolve(command, environment.path(), &directory).map_err(|error| error.to_string())?;
    let mut launch = Launch::new(program, environment, directory);
    launch.arguments = args.iter().map(Into::into).collect();
    let connecting = Connecting {
        endpoint: Endpoint::Program { door, launch: Box::new(launch) },
        redactor: Arc::default(),
        only: None,
        known: None,
        declared: ClientCapabilities::default(),
        patience: CONNECT_VERIFY,
        tracker,
        counts: Arc::new(Counts::default()),
    };
    let connection = connect(connecting).await.map_err(|(error, last)| match last.last() {
        Some(line) => format!("{error}; it said: {}", crate::output::one_line(line)),
        None => error.to_string(),
    })?;
    let mut tools = 0;
    let mut cursor: Option<String> = None;
    loop {
        let members = RawMembers::none().with_some("cursor", cursor.as_ref());
        let page = connection
            .ask("tools/list", members, CONNECT_VERIFY)
            .await
            .map_err(|error| error.to_string())?;
        let page: ToolPage = serde_json::from_str(page.get()).map_err(|error| error.to_string())?;
        tools += page.tools.len();
        cursor = page.next_cursor;
        if cursor.is_none() || begun.elapsed() > CONNECT_VERIFY {
            break;
        }
    }
    connection.close("verified");
    Ok(Verified { tools, took: begun.elapsed() })
}
