//! `openfang a2a`: manages and calls A2A agents of other servers.

use std::collections::BTreeMap;
use std::path::Path;

use openfang_kernel::config_edit::Existing;
use openfang_kernel::external_control::{ExternalAgentDetails, ListedAgent, listed_agents};
use openfang_types::a2a_status::{ExternalAgentStatus, ExternalState};
use openfang_types::config::ExternalAgent;
use openfang_types::ids::AgentName;
use openfang_types::secret::Secret;
use serde_json::json;

use super::{agent, task};
use crate::args::{A2aAddArgs, A2aCommand, AgentCommand, TaskCommand, WhoseArgs};
use crate::backend::ExternalAgents;
use crate::error::{CliError, Exit};
use crate::output::{Cell, Fields, Table, Tone, json_text, one_line};
use crate::prompt::{self, Otherwise};
use crate::registry;
use crate::session::Session;

mod accept;

pub(super) async fn run(session: &Session, command: A2aCommand) -> Result<Exit, CliError> {
    match command {
        A2aCommand::List => list(session).await,
        A2aCommand::Show { name } => show(session, &name).await,
        A2aCommand::Card { name } => card(session, &name).await,
        A2aCommand::Discover { url } => discover(session, &url).await,
        A2aCommand::Add(args) => add(session, args).await,
        A2aCommand::Remove { name } => remove(session, &name).await,
        A2aCommand::Test { name } => {
            session.output.note(&format!("looking for {name} ..."));
            let tested = ExternalAgents::open(session).await?.test(&name).await?;
            outcome(session, &tested)
        }
        A2aCommand::Accept { name } => accept::run(session, &name).await,
        A2aCommand::Send(args) => agent::run(session, AgentCommand::Send(args)).await,
        A2aCommand::Task { id } => task::run(session, TaskCommand::Show { id, whose: WhoseArgs::default() }).await,
        A2aCommand::Cancel { id } => task::run(session, TaskCommand::Cancel { id, whose: WhoseArgs::default() }).await,
    }
}

async fn list(session: &Session) -> Result<Exit, CliError> {
    let backend = ExternalAgents::open(session).await?;
    let agents = backend.list().await?;
    let output = &session.output;
    if output.is_json() {
        output.document(&json!({ "agents": agents, "total": agents.len() }))?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["NAME", "STATE", "A2A", "URL", "DESCRIPTION"]);
    for agent in &agents {
        let protocol = agent.protocol.as_deref().unwrap_or("-");
        table.row([
            (&agent.name).into(),
            state(agent),
            protocol.to_owned().into(),
            one_line(&agent.url).into(),
            (&agent.description).into(),
        ]);
    }
    output.table(&table)?;
    for agent in &agents {
        if let Some(reason) = &agent.reason {
            output.note(&format!("{}: {}", agent.name, one_line(reason)));
        }
    }
    if agents.is_empty() {
        output.note(&format!("no external agents; add one with `{}`", session.command("a2a add NAME URL")));
    } else if !backend.is_daemon() {
        output.note("no daemon is running, so no agent is looked for before it is used");
    }
    Ok(Exit::Ok)
}

async fn show(session: &Session, name: &AgentName) -> Result<Exit, CliError> {
    let details = ExternalAgents::open(session).await?.show(name).await?;
    if session.output.is_json() {
        session.output.document(&details)?;
        return Ok(Exit::Ok);
    }
    print(session, &details)?;
    accept::print(session, &details)?;
    Ok(Exit::Ok)
}

async fn card(session: &Session, name: &AgentName) -> Result<Exit, CliError> {
    let details = ExternalAgents::open(session).await?.show(name).await?;
    match &details.card {
        Some(card) if session.output.is_json() => session.output.document(card)?,
        Some(card) => {
            let value: serde_json::Value = serde_json::from_str(card.get()).unwrap_or_default();
            session
                .output
                .text(&json_text(&serde_json::to_string_pretty(&value).unwrap_or_default()))?;
        }
        None => {
            session.output.complaint(&format!("no card of {name} is known"));
            return Ok(Exit::Failed);
        }
    }
    Ok(Exit::Ok)
}

async fn discover(session: &Session, url: &str) -> Result<Exit, CliError> {
    if !url.contains("://") {
        return agents_in_file(session, url);
    }
    let found = ExternalAgents::open(session).await?.discover(url).await?;
    if session.output.is_json() {
        session.output.document(&found)?;
        return Ok(Exit::Ok);
    }
    let mut fields = Fields::default();
    let card = found
        .agent
        .as_ref()
        .and_then(|card| serde_json::from_str::<serde_json::Value>(card.get()).ok());
    let said = |member: &str| {
        let text = card.as_ref().and_then(|card| card.get(member)).and_then(|text| text.as_str());
        text.map(one_line)
    };
    fields.add("name", said("name").unwrap_or_else(|| "(no card)".to_owned()));
    if let Some(description) = said("description") {
        fields.add("description", description);
    }
    fields.add("endpoint", one_line(&found.endpoint));
    fields.add("protocol", one_line(&found.protocol));
    session.output.fields(&fields)?;
    session
        .output
        .note(&format!("add it with `{}`", session.command(&format!("a2a add NAME {}", one_line(url)))));
    Ok(Exit::Ok)
}

/// Prints the agents of a card or a catalogue in a file.
fn agents_in_file(session: &Session, path: &str) -> Result<Exit, CliError> {
    let unusable = |why: &str| CliError::Usage(format!("{path} cannot be used: {}", one_line(why)));
    let document = registry::file(Path::new(path)).map_err(|why| unusable(&why))?;
    let agents = listed_agents(&document).ok_or_else(|| unusable("it is neither an agent card nor a catalogue"))?;
    let output = &session.output;
    if output.is_json() {
        let row = |agent: &ListedAgent| json!({ "name": agent.name, "url": agent.url });
        output.document(&json!({ "agents": agents.iter().map(row).collect::<Vec<_>>() }))?;
        return Ok(Exit::Ok);
    }
    let mut table = Table::new(&["NAME", "URL"]);
    for agent in &agents {
        table.row([one_line(&agent.name).into(), one_line(agent.url.as_deref().unwrap_or("-")).into()]);
    }
    output.table(&table)?;
    output.note(&format!("add one with `{}`", session.command("a2a add NAME URL")));
    Ok(Exit::Ok)
}

async fn add(session: &Session, args: A2aAddArgs) -> Result<Exit, CliError> {
    let existing = if args.replace { Existing::Replace } else { Existing::Keep };
    let entry = entry_of(args)?;
    let backend = ExternalAgents::open(session).await?;
    let added = backend.add(entry, existing).await?;
    let path = session.home.config();
    let name = &added.configured.name;
    session.output.announce(&format!("wrote {name} to {}", path.display()));
    let exit = outcome(session, &added)?;
    if exit == Exit::Failed && !session.output.is_json() {
        let remove = session.command(&format!("a2a remove {name}"));
        let question = format!("Keep {name} in config.toml? The daemon retries it.");
        if !prompt::can_ask() {
            session.output.note(&format!("{name} is kept and retried; remove it with `{remove}`"));
        } else if !prompt::confirm(&session.output, &question, Otherwise::No)? {
            backend.remove(name).await?;
            session.output.text(&format!("removed {name} from {}", path.display()))?;
        }
    }
    if !backend.is_daemon() {
        session.output.note(session.effect().await);
    }
    Ok(exit)
}

async fn remove(session: &Session, name: &AgentName) -> Result<Exit, CliError> {
    ExternalAgents::open(session).await?.remove(name).await?;
    let path = session.home.config();
    if session.output.is_json() {
        session.output.document(&json!({ "path": path, "removed": name }))?;
    } else {
        session.output.text(&format!("removed {name} from {}", path.display()))?;
    }
    Ok(Exit::Ok)
}

fn entry_of(args: A2aAddArgs) -> Result<ExternalAgent, CliError> {
    let mut headers = BTreeMap::new();
    for header in &args.header {
        let Some((name, value)) = header.split_once(':') else {
            return Err(CliError::Usage("a header is 'NAME: VALUE'".to_owned()));
        };
        headers.insert(name.trim().to_owned(), Secret::new(value.trim().to_owned()));
    }
    let usual = ExternalAgent::new(args.name, args.url);
    Ok(ExternalAgent {
        endpoint: args.endpoint,
        protocol: args.protocol.unwrap_or_default(),
        headers,
        origins: args.origin,
        description: args.description.unwrap_or_default(),
        trusted: args.trusted,
        public: args.public,
        on_change: args.on_change.unwrap_or_default(),
        ..usual
    })
}

/// Prints how an agent is doing; exit code 1 if it cannot be used.
fn outcome(session: &Session, details: &ExternalAgentDetails) -> Result<Exit, CliError> {
    let agent = &details.agent;
    if session.output.is_json() {
        session.output.document(details)?;
    } else {
        print(session, details)?;
    }
    Ok(if matches!(agent.state, ExternalState::Failed | ExternalState::Quarantined) { Exit::Failed } else { Exit::Ok })
}

fn print(session: &Session, details: &ExternalAgentDetails) -> Result<(), CliError> {
    let (entry, agent) = (&details.configured, &details.agent);
    let mut fields = Fields::default();
    fields.add("name", &agent.name);
    fields.add("url", one_line(&agent.url));
    fields.add("state", state(agent));
    if let Some(reason) = &agent.reason {
        fields.add("reason", one_line(reason));
    }
    if let Some(name) = &agent.card_name {
        fields.add("calls itself", one_line(&format!("{name} {}", agent.version)));
    }
    if !agent.description.is_empty() {
        fields.add("description", one_line(&agent.description));
    }
    if let (Some(endpoint), Some(protocol)) = (&agent.endpoint, &agent.protocol) {
        fields.add("endpoint", one_line(&format!("{endpoint} (A2A {protocol})")));
    }
    if let Some(signature) = &agent.signature {
        fields.add("signature", one_line(signature));
    }
    if !agent.repairs.is_empty() {
        fields.add("corrected", one_line(&agent.repairs.join("; ")));
    }
    if !entry.headers.is_empty() {
        fields.add("headers", entry.headers.keys().map(String::as_str).collect::<Vec<_>>().join(", "));
    }
    let options =
        [(agent.trusted, "trusted"), (agent.public, "public"), (entry.push, "push"), (entry.resend, "resend")];
    let options: Vec<&str> = options.into_iter().filter(|(is_set, _)| *is_set).map(|(_, word)| word).collect();
    if !options.is_empty() {
        fields.add("options", options.join(", "));
    }
    fields.add("tool", &agent.tool);
    session.output.fields(&fields)?;
    if !agent.skills.is_empty() {
        let mut table = Table::new(&["SKILL", "DESCRIPTION"]);
        for skill in &agent.skills {
            table.row([(&skill.name).into(), (&skill.description).into()]);
        }
        session.output.text("")?;
        session.output.table(&table)?;
    }
    if agent.state == ExternalState::Quarantined {
        let accept = session.command(&format!("a2a accept {}", agent.name));
        session
            .output
            .note(&format!("the agent is not used before you accept its card with `{accept}`"));
    }
    Ok(())
}

fn state(agent: &ExternalAgentStatus) -> Cell {
    let tone = match agent.state {
        ExternalState::Ready => Tone::Good,
        ExternalState::Discovering | ExternalState::Stale | ExternalState::Degraded => Tone::Waiting,
        ExternalState::Failed | ExternalState::Quarantined => Tone::Bad,
        ExternalState::Configured => Tone::Plain,
    };
    Cell::toned(agent.state.as_str(), tone)
}
