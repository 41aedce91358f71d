//! `openfang policy`: which calls would be allowed, and why.

use openfang_kernel::Explanation;
use openfang_types::taint::Label;

use crate::args::PolicyCommand;
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::output::{Cell, Fields, Tone};
use crate::session::Session;

pub(super) async fn run(session: &Session, command: &PolicyCommand) -> Result<Exit, CliError> {
    let PolicyCommand::Explain { agent, tool, user } = command;
    let mut backend = Backend::open(session).await?;
    backend.in_place_of(user.as_ref()).await?;
    let explanation = backend.explain(agent, tool).await?;
    if session.output.is_json() {
        session.output.document(&explanation)?;
    } else {
        session.output.fields(&fields_of(&explanation))?;
        if let Some(server) = explanation.server.as_ref().filter(|_| explanation.quarantined) {
            session.output.note(&format!(
                "it is new or its definition changed: review it with `openfang mcp review {server}`, and accept it with `openfang mcp accept {server}`"
            ));
        }
        if !explanation.granted {
            let manifest = session.home.agents().join(agent.as_str()).join("agent.toml");
            session
                .output
                .note(&format!("to grant it, add \"{tool}\" to [capabilities] tools in {}", manifest.display()));
        }
    }
    Ok(if explanation.granted && !explanation.quarantined { Exit::Ok } else { Exit::Failed })
}

fn fields_of(explanation: &Explanation) -> Fields {
    let patterns = if explanation.patterns.is_empty() { "none".to_owned() } else { explanation.patterns.join(", ") };
    let mut fields = Fields::default();
    fields.add("agent", &explanation.agent);
    fields.add("tool", &explanation.tool);
    fields.add(
        "granted",
        if explanation.granted { Cell::toned("yes", Tone::Good) } else { Cell::toned("no", Tone::Bad) },
    );
    if explanation.quarantined {
        fields.add("quarantined", Cell::toned("yes", Tone::Bad));
    }
    fields.add("patterns", patterns);
    fields.add("sink", format!("{}: {}", explanation.sink, explanation.rule));
    fields.add("refused labels", words(&explanation.refusing_labels));
    if !explanation.refusing_with_foreign.is_empty() {
        fields.add(
            "also refused",
            format!("{}, together with a foreign label", words(&explanation.refusing_with_foreign)),
        );
    }
    fields.add(
        "audit",
        if explanation.audited_before { "a row before and a row after the call" } else { "a row after the call" },
    );
    fields.add("timeout", format!("{} s", explanation.timeout_secs));
    fields
}

fn words(labels: &[Label]) -> String {
    let words: Vec<&str> = labels.iter().map(|label| label.as_str()).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}
