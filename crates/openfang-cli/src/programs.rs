//! Runs a program of the system to its end, such as `systemctl`.

use std::path::PathBuf;

use openfang_egress::process::{
    DoorConfig, Environment, EnvironmentKind, Launch, ProcessDoor, ProcessMetrics, Program, Surroundings,
};
use openfang_types::limits::PROGRAM_PATIENCE;
use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

/// Variables that lead a program to the session of the user.
const SESSION_VARIABLES: [&str; 2] = ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];
/// More output than this is cut.
const OUTPUT_BYTES: u64 = 64 * 1024;

/// What a program printed, and whether it succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FinishedProgram {
    pub(crate) is_success: bool,
    pub(crate) output: String,
    pub(crate) errors: String,
}

/// Runs a program with the variables of the user's session; the reason if it cannot be started.
pub(crate) async fn run(command: &str, arguments: &[&str]) -> Result<FinishedProgram, String> {
    let tracker = TaskTracker::new();
    let door = ProcessDoor::open(DoorConfig::of_this_system(), tracker, ProcessMetrics::default())
        .map_err(|error| error.to_string())?;
    let ours = Surroundings::ours();
    let session: Vec<String> = SESSION_VARIABLES.iter().map(|name| (*name).to_owned()).collect();
    // A variable that is not set is left out.
    let set = session
        .into_iter()
        .filter(|name| Environment::build(EnvironmentKind::McpServer, std::slice::from_ref(name), &ours).is_ok());
    let environment = Environment::build(EnvironmentKind::McpServer, &set.collect::<Vec<_>>(), &ours)
        .map_err(|error| error.to_string())?;
    let program =
        Program::resolve(command, environment.path(), &PathBuf::from("/")).map_err(|error| error.to_string())?;
    let mut launch = Launch::new(program, environment, PathBuf::from("/"));
    launch.arguments = arguments.iter().map(Into::into).collect();
    let mut child = door.start(launch).await.map_err(|error| error.to_string())?;
    child.stdin().close();
    let mut output = String::new();
    let finished = async {
        if let Some(stdout) = child.take_stdout() {
            let _ = stdout.take(OUTPUT_BYTES).read_to_string(&mut output).await;
        }
        child.wait().await
    };
    let exit = timeout(PROGRAM_PATIENCE, finished).await.map_err(|_| format!("{command} does not end"))?;
    Ok(FinishedProgram { is_success: exit.is_success(), output, errors: child.stderr_tail().trim().to_owned() })
}
