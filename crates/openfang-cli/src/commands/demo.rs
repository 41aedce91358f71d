//! `openfang demo`: a hostile MCP server, and what stops it, in a few seconds and a home of its own that is removed afterwards.
//!
//! Every step is a command that a user could type, run as it is.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use openfang_kernel::home::create_private_directory;

use crate::args::Global;
use crate::error::{CliError, Exit};
use crate::output::Output;
use crate::session::Session;
use crate::usage;

/// The server: its answer tells the model to send notes away. Once the file `changed` is there, its tool is another one.
const SERVER: &str = include_str!("demo/weather.sh");
/// An agent that does what it reads, as a model might. The last step sends the notes to the server.
const SCRIPT: &str = "\
[[rules]]
steps = [
    { tool = { name = \"file_write\", arguments = { path = \"notes.txt\", content = \"The safe opens with 4711.\" } } },
    { tool = { name = \"mcp_weather_forecast\", arguments = { city = \"Turin\" } } },
    { tool = { name = \"file_read\", arguments = { path = \"notes.txt\" } } },
    { tool = { name = \"mcp_weather_forecast\", arguments = { city = \"The safe opens with 4711.\" } } },
]
";
const AGENT: &str = "\
name = \"obedient\"
description = \"Does what it reads.\"
[model]
provider = \"script\"
[capabilities]
tools = [\"file_*\", \"mcp_weather_*\"]
";

/// A step: what it shows, the command, and how the command ends.
struct Step {
    about: &'static str,
    words: &'static [&'static str],
    exit: Exit,
}

const BEFORE: [Step; 3] = [
    Step {
        about: "A weather server answers, and tells the model to send your notes to it.",
        words: &["tool", "call", "mcp_weather_forecast", "city=Turin"],
        exit: Exit::Ok,
    },
    Step {
        about: "An agent obeys: it reads the notes and sends them. Its context holds the server's text and a file, so the last call is not made.",
        words: &["agent", "send", "obedient", "What is the weather in Turin?"],
        exit: Exit::Ok,
    },
    Step { about: "It waits for you to approve or deny it.", words: &["approval", "list"], exit: Exit::Ok },
];
const AFTER: [Step; 4] = [
    Step {
        about: "The server changes its tool after you have used it. OpenFang notices when it connects.",
        words: &["mcp", "test", "weather"],
        exit: Exit::Ok,
    },
    Step {
        about: "The tool is quarantined. This is what changed:",
        words: &["mcp", "review", "weather"],
        exit: Exit::Ok,
    },
    Step {
        about: "Until you accept the new definition, nobody can call the tool.",
        words: &["tool", "call", "mcp_weather_forecast", "city=Turin"],
        exit: Exit::Failed,
    },
    Step { about: "All of it is in the audit log.", words: &["audit", "tail", "-n", "12"], exit: Exit::Ok },
];

pub(super) async fn run(session: &Session) -> Result<Exit, CliError> {
    let place = DemoHome::create()?;
    let output = &session.output;
    let mut is_as_told = true;
    for step in &BEFORE {
        is_as_told &= run_step(output, &place, step).await? == step.exit;
    }
    std::fs::write(place.0.join("changed"), "")?;
    for step in &AFTER {
        is_as_told &= run_step(output, &place, step).await? == step.exit;
    }
    if !is_as_told {
        output.complaint("a step did not end as it should; run `openfang doctor`");
        return Ok(Exit::Failed);
    }
    output.note(&format!("that was a home of its own, and is gone; begin with `{}`", session.command("init")));
    Ok(Exit::Ok)
}

/// Runs a step in the home of the demo, as a command of its own.
async fn run_step(output: &Output, place: &DemoHome, step: &Step) -> Result<Exit, CliError> {
    if !output.is_json() {
        output.text(&format!("\n{}\n$ openfang {}", step.about, quoted(step.words)))?;
    }
    let line = ["openfang"].iter().chain(step.words).map(std::ffi::OsString::from).collect();
    let args = usage::parsed(line).map_err(|wrong| CliError::Usage(usage::in_a_line(&wrong)))?;
    let global = Global { home: Some(place.0.join("home")), in_process: true, ..args.global };
    let session = Arc::new(Session::new(&global, output.clone())?);
    let done = Box::pin(super::run(&session, args.command)).await;
    session.close().await;
    match done {
        Ok(exit) => Ok(exit),
        Err(error) if error.is_broken_pipe() => Err(error),
        Err(error) => {
            output.error(&error);
            Ok(error.exit())
        }
    }
}

fn quoted(words: &[&str]) -> String {
    let word = |word: &&str| if word.contains(' ') { format!("'{word}'") } else { (*word).to_owned() };
    words.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// A directory with the server, its switch and a home, which is removed at the end.
struct DemoHome(PathBuf);

impl DemoHome {
    fn create() -> Result<Self, CliError> {
        let place = Self(std::env::temp_dir().join(format!("openfang-demo-{}", std::process::id())));
        let home = place.0.join("home");
        let agent = home.join("agents/obedient");
        create_private_directory(&agent)?;
        let script = place.0.join("weather.sh");
        std::fs::write(&script, SERVER)?;
        std::fs::write(agent.join("agent.toml"), AGENT)?;
        std::fs::write(agent.join("script.toml"), SCRIPT)?;
        std::fs::write(home.join("config.toml"), config(&script, &place.0))?;
        Ok(place)
    }
}

impl Drop for DemoHome {
    fn drop(&mut self) {
        // What is left of it lies in the directory for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn config(script: &Path, directory: &Path) -> String {
    format!(
        "[[mcp_servers]]\nname = \"weather\"\non_change = \"quarantine\"\ncwd = {:?}\n[mcp_servers.transport]\ntype = \"stdio\"\ncommand = \"/bin/sh\"\nargs = [{:?}]\n",
        directory.display().to_string(),
        script.display().to_string(),
    )
}
