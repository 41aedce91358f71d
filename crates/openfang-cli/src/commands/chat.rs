//! `openfang chat`: a conversation with an agent, at a terminal or line by line.
//!
//! ```text
//! line ──> Chat::send ──> stream of the task ──> TurnReader ──> ChatEvent ──> Display
//!   ^                                                │
//!   └──────── settled ── a question or an approval? ─┘ answered here, and the task goes on
//! ```
//!
//! The work is the server's: a chat that ends leaves it going, and `--continue` takes it up again. Without a daemon the work is
//! done in this process.

use openfang_types::ids::AgentName;
use openfang_types::limits::CHAT_AGENTS_LOOKED_AT;

use crate::args::ChatArgs;
use crate::backend::Backend;
use crate::error::{CliError, Exit};
use crate::session::Session;
use crate::suggest;
use conversation::Chat;

mod choices;
mod conversation;
mod display;
mod editor;
mod events;
mod figures;
mod history;
mod lines;
mod questions;
mod reader;
mod resume;
mod slash;
mod terminal;
mod turn;

pub(super) async fn run(session: &Session, args: ChatArgs) -> Result<Exit, CliError> {
    let backend = Backend::open(session).await?;
    let name = match args.agent.clone() {
        Some(name) => name,
        None => default_agent(session, &backend).await?,
    };
    let agent = match backend.agent(&name).await {
        Ok(view) => view,
        Err(error) => return Err(suggest::for_agent(&backend, error, &name).await),
    };
    if let Some(model) = &args.model {
        conversation::check_model(&agent, model)?;
        // Says what is wrong before the first message does.
        backend.model(model).await?;
    }
    let mut chat = Chat::new(session, backend, agent, args.model.clone());
    if terminal::is_there(session) { terminal::run(&mut chat, &args).await } else { lines::run(&mut chat, &args).await }
}

/// The agent that is meant where none is named: the default one if it has a model, else the only one with a model, else the
/// default one.
async fn default_agent(session: &Session, backend: &Backend) -> Result<AgentName, CliError> {
    let configured = match session.remote {
        Some(_) => None,
        None => session.usable_config(&[])?.config.default_agent,
    };
    let names: Vec<AgentName> = backend.agents().await?.into_iter().map(|agent| agent.name).collect();
    let configured = configured.filter(|name| names.contains(name));
    let mut with_model = Vec::new();
    for name in names.iter().take(CHAT_AGENTS_LOOKED_AT) {
        if backend.agent(name).await.is_ok_and(|view| view.agent.model.provider.has_model()) {
            with_model.push(name.clone());
        }
    }
    if let Some(name) = configured.as_ref().filter(|name| with_model.contains(name)) {
        return Ok(name.clone());
    }
    match (with_model.as_slice(), configured, names.as_slice()) {
        ([only], _, _) | ([], None, [only]) => Ok(only.clone()),
        ([], Some(name), _) => Ok(name),
        (_, _, []) => {
            let new = session.command("agent new NAME");
            Err(CliError::Usage(format!("there are no agents to talk to; create one with `{new}`")))
        }
        (_, _, names) => {
            let names: Vec<&str> = names.iter().map(AgentName::as_str).collect();
            Err(CliError::Usage(format!("name the agent to talk to: {}", names.join(", "))))
        }
    }
}
