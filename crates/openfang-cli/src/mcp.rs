//! What stands behind `openfang mcp`: the daemon of the home when one runs, a kernel in this process when none does.
//!
//! With a daemon the frames of the IDE are relayed to its `/mcp`, see [`relay`]. Without one this process is the server.

use http::Method;
use openfang_egress::daemon::Daemon;
use openfang_kernel::{Caller, Kernel};
use openfang_types::ids::AgentName;
use openfang_types::nearest::nearest;
use openfang_types::principal::Door;
use serde::Deserialize;

use crate::backend::InProcess;
use crate::error::{CliError, Refusal};
use crate::session::Session;

pub(crate) mod endpoint;
pub(crate) mod relay;

/// Who does the work for an IDE.
pub(crate) enum McpBackend {
    /// The daemon of the home.
    Daemon(Daemon),
    /// A kernel in this process.
    InProcess(Kernel, Caller),
}

impl McpBackend {
    /// The daemon, or else a kernel in this process.
    pub(crate) async fn open(session: &Session) -> Result<Self, CliError> {
        if !session.in_process
            && let Some(daemon) = session.daemon().await?
        {
            return Ok(Self::Daemon(daemon.through(Door::Mcp)));
        }
        session.prepare_home()?;
        let (kernel, caller) = InProcess::start(session, session.home.clone(), session.config(&[])?)?.into_parts();
        kernel.begin_acquaintance();
        Ok(Self::InProcess(kernel, Caller { door: Door::Mcp, ..caller }))
    }

    /// Fails at once for an agent that does not exist, rather than with every request of the IDE.
    pub(crate) async fn check_agent(&self, name: &AgentName) -> Result<(), CliError> {
        let names: Vec<AgentName> = match self {
            Self::Daemon(daemon) => {
                let answer = daemon.request(Method::GET, "/api/agents", None).await?;
                let agents: Agents = serde_json::from_slice(&answer.body).unwrap_or_default();
                agents.agents.into_iter().map(|agent| agent.name).collect()
            }
            Self::InProcess(kernel, caller) => {
                kernel.agents(&caller.principal).into_iter().map(|agent| agent.name).collect()
            }
        };
        if names.is_empty() || names.contains(name) {
            return Ok(());
        }
        let meant = nearest(name.as_str(), names.iter().map(AgentName::as_str));
        let meant = meant.map(|meant| format!(" (did you mean {meant}?)")).unwrap_or_default();
        let message = format!("there is no agent {name}{meant}");
        Err(CliError::Refused(Refusal { code: "unknown_agent".to_owned(), message, trace: None }))
    }
}

/// The answer of the daemon, as far as it is needed here.
#[derive(Default, Deserialize)]
struct Agents {
    agents: Vec<NamedAgent>,
}

#[derive(Deserialize)]
struct NamedAgent {
    name: AgentName,
}
