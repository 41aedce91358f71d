//! `openfang policy`: what would be allowed, and why, before it is tried.

use openfang_kernel::Explanation;
use openfang_types::taint::Label;

use crate::args::PolicyCommand;
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::output::{Cell, Fields, Tone};
use crate::session::Session;

pub(super) async fn run(session: &Session, command: &PolicyCommand) -> Result<Exit, CliError> {
    let PolicyCommand::Explain { agent, tool } = command;
    let said = Backend::open(session).await?.explain(agent, tool).await?;
    if session.output.is_json() {
        session.output.document(&said)?;
    } else {
        session.output.fields(&fields_of(&said))?;
        if let Some(server) = said.server.as_ref().filter(|_| said.quarantined) {
            session.output.note(&format!(
                "its definition changed: look at it with `openfang mcp show {server}`, and accept it with `openfang mcp approve {server}`"
            ));
        }
        if !said.granted {
            let manifest = session.home.agents().join(agent.as_str()).join("agent.toml");
            session
                .output
                .note(&format!("to grant it, add \"{tool}\" to [capabilities] tools in {}", manifest.display()));
        }
    }
    Ok(Exit::Ok)
}

fn fields_of(said: &Explanation) -> Fields {
    let patterns = if said.patterns.is_empty() { "none".to_owned() } else { said.patterns.join(", ") };
    let mut fields = Fields::default();
    fields.add("agent", &said.agent);
    fields.add("tool", &said.tool);
    fields.add("granted", if said.granted { Cell::toned("yes", Tone::Good) } else { Cell::toned("no", Tone::Bad) });
    if said.quarantined {
        fields.add("quarantined", Cell::toned("yes", Tone::Bad));
    }
    fields.add("patterns", patterns);
    fields.add("sink", format!("{}: {}", said.sink, said.rule));
    fields.add("refused with", words(&said.refusing_labels));
    if !said.refusing_with_foreign.is_empty() {
        fields.add("and with", format!("{}, when something foreign is there too", words(&said.refusing_with_foreign)));
    }
    fields.add("audit", if said.audited_before { "a row before the call, and its end" } else { "one row at the end" });
    fields.add("timeout", format!("{} s", said.timeout_secs));
    fields
}

fn words(labels: &[Label]) -> String {
    let words: Vec<&str> = labels.iter().map(|label| label.as_str()).collect();
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}
