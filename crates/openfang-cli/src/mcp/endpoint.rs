//! What `openfang mcp` serves: this much of the home or one MCP server, narrowed by a profile if there is one.

use std::io;

use http::{Method, StatusCode};
use openfang_egress::daemon::Daemon;
use openfang_kernel::gateway::{GatewayServer, Gateways};
use openfang_kernel::mcp::{McpServer, View};
use openfang_kernel::mcp_control::McpServerDetails;
use openfang_kernel::{Caller, Kernel, KernelError};
use openfang_types::ids::{ProfileName, ServerName};
use openfang_types::mcp_status::McpServerState;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::backend::{refusal, typed};
use crate::error::CliError;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) content: Content,
    pub(crate) profile: Option<ProfileName>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    Home(View),
    /// One MCP server, under its own names.
    Server(ServerName),
}

/// An endpoint in this process, with its caller.
pub(crate) enum LocalServer {
    Home(McpServer, Caller),
    Server(GatewayServer, Caller),
}

impl Endpoint {
    /// The path of the daemon that serves the same.
    pub(crate) fn path(&self) -> String {
        let profile = self.profile.as_ref().map(|profile| format!("profile={profile}"));
        let (path, members) = match &self.content {
            Content::Home(view) => ("/mcp".to_owned(), members_of(view)),
            Content::Server(name) => (format!("/mcp/servers/{name}"), None),
        };
        let query: Vec<String> = members.into_iter().chain(profile).collect();
        if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
    }

    /// Fails at once for a profile or a server that the daemon does not have, rather than with every request of the IDE.
    pub(crate) async fn check(&self, daemon: &Daemon) -> Result<(), CliError> {
        if let Content::Server(name) = &self.content {
            let answer = daemon.request(Method::GET, &format!("/api/mcp/servers/{name}"), None).await?;
            let details: McpServerDetails = typed(&answer)?;
            refuse_disabled(&details, "")?;
        }
        if self.profile.is_none() {
            return Ok(());
        }
        // Without a session there is nothing to get; with an unknown profile there is no such endpoint.
        let answer = daemon.request(Method::GET, &self.path(), None).await?;
        if answer.status == StatusCode::NOT_FOUND { Err(refusal(&answer)) } else { Ok(()) }
    }

    /// The same in this process.
    pub(crate) async fn open(&self, kernel: &Kernel, caller: Caller) -> Result<LocalServer, CliError> {
        let trace = caller.trace;
        let refused = |error: &KernelError| CliError::refused(error, trace);
        let operator = caller.clone();
        let caller = match &self.profile {
            Some(profile) => kernel.narrowed(caller, profile).map_err(|error| refused(&error))?,
            None => caller,
        };
        match &self.content {
            Content::Home(view) => Ok(LocalServer::Home(kernel.mcp_server(view.clone()), caller)),
            Content::Server(name) => {
                let details = kernel.mcp_server_details(&operator, name).map_err(|error| refused(&error))?;
                refuse_disabled(&details, trace)?;
                let unknown = || refused(&KernelError::UnknownServer { name: name.clone(), nearest: None });
                let server = Gateways::new(kernel).get(&caller, name.as_str()).await;
                Ok(LocalServer::Server(server.ok_or_else(unknown)?, caller))
            }
        }
    }
}

/// What a query says of a view. Everything is what `/mcp` shows without one.
fn members_of(view: &View) -> Option<String> {
    match view {
        View::Everything => None,
        View::Agents => Some("tools=false".to_owned()),
        View::Agent { name, tools } => Some(format!("agent={name}&tools={tools}")),
        View::Lazy(inner) => {
            let inner = members_of(inner).map(|members| format!("{members}&")).unwrap_or_default();
            Some(format!("{inner}lazy=true"))
        }
    }
}

impl LocalServer {
    /// Serves a client until its input ends.
    pub(crate) async fn serve<R, W>(self, input: R, output: W) -> io::Result<()>
    where
        R: AsyncRead + Unpin + Send,
        W: AsyncWrite + Unpin + Send,
    {
        match self {
            Self::Home(server, caller) => server.serve_stdio(caller, input, output).await,
            Self::Server(server, caller) => server.serve_stdio(caller, input, output).await,
        }
    }
}

fn refuse_disabled(details: &McpServerDetails, trace: impl ToString) -> Result<(), CliError> {
    match details.connected.state {
        McpServerState::Disabled => {
            Err(CliError::refused(&KernelError::ServerDisabled(details.configured.name.clone()), trace))
        }
        McpServerState::Configured
        | McpServerState::Starting
        | McpServerState::Ready
        | McpServerState::Degraded
        | McpServerState::Failed => Ok(()),
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
mod tests;
