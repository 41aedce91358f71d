//! `openfang policy`: which calls would be allowed, and why.

use std::path::Path;

use openfang_kernel::{Explanation, ProgramRules};
use openfang_types::api::PolicyCases;
use openfang_types::config::ExecRule;
use openfang_types::ids::{AgentName, Owner, ToolName};
use openfang_types::taint::Label;

use crate::args::PolicyCommand;
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::output::{Cell, Fields, Table, Tone};
use crate::session::Session;

pub(super) async fn run(session: &Session, command: &PolicyCommand) -> Result<Exit, CliError> {
    match command {
        PolicyCommand::Explain { agent, tool, user } => explain(session, agent, tool, user.as_ref()).await,
        PolicyCommand::Test { file } => test(session, file).await,
    }
}

/// Compares verdicts with those of a file.
async fn test(session: &Session, file: &Path) -> Result<Exit, CliError> {
    let wrong = |why: String| CliError::Usage(format!("{}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let cases: PolicyCases = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let report = Backend::open(session).await?.test_policy(&cases).await?;
    if session.output.is_json() {
        session.output.document(&report)?;
    } else {
        let mut table = Table::new(&["CASE", "AGENT", "TOOL", "EXPECTED", "VERDICT", "WHY"]);
        for result in &report.results {
            let agent = result.agent.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string);
            let tone = if result.expected == result.verdict { Tone::Good } else { Tone::Bad };
            table.row([
                result.case.into(),
                agent.into(),
                (&result.tool).into(),
                result.expected.as_str().into(),
                Cell::toned(result.verdict.as_str(), tone),
                result.why.clone().unwrap_or_default().into(),
            ]);
        }
        session.output.table(&table)?;
        session
            .output
            .note(&format!("{} of {} verdicts differ", report.different, report.results.len()));
    }
    Ok(if report.different == 0 { Exit::Ok } else { Exit::Failed })
}

async fn explain(
    session: &Session,
    agent: &AgentName,
    tool: &ToolName,
    user: Option<&Owner>,
) -> Result<Exit, CliError> {
    let mut backend = Backend::open(session).await?;
    backend.in_place_of(user).await?;
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
    fields.add("asked labels", words(&explanation.asking_labels));
    if !explanation.asking_with_foreign.is_empty() {
        fields.add(
            "also asked",
            format!("{}, together with content from outside", words(&explanation.asking_with_foreign)),
        );
    }
    if explanation.approved_at_machine {
        fields.add("approved by", "somebody at this machine, with `openfang approval approve`");
    }
    fields.add(
        "audit",
        if explanation.audited_before { "a row before and a row after the call" } else { "a row after the call" },
    );
    fields.add("timeout", format!("{} s", explanation.timeout_secs));
    if let Some(programs) = &explanation.programs {
        add_programs(&mut fields, programs);
    }
    fields
}

/// The rules about programs.
fn add_programs(fields: &mut Fields, programs: &ProgramRules) {
    let rules = |rules: &[ExecRule]| {
        let texts: Vec<String> = rules.iter().map(|rule| format!("{:?}", rule.command())).collect();
        if texts.is_empty() { "none".to_owned() } else { texts.join(", ") }
    };
    fields.add("allowed commands", rules(&programs.allow));
    if let Some(own) = &programs.allow_of_agent {
        fields.add("of these, for the agent", rules(own));
    }
    let denied: Vec<String> = programs.deny.iter().map(|rule| format!("{rule:?}")).collect();
    fields.add("denied commands", if denied.is_empty() { "none".to_owned() } else { denied.join(", ") });
    fields.add("other commands", "wait for an approval at this machine");
    let walls = match (programs.sandboxed, programs.network) {
        (false, _) => Cell::toned("none: programs can do what the user of the server can", Tone::Bad),
        (true, true) => "the workspace and the network".into(),
        (true, false) => "the workspace, without network".into(),
    };
    fields.add("sandbox", walls);
}

fn words(labels: &[Label]) -> String {
    let words: Vec<&str> = labels.iter().map(|label| label.as_str()).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}
