//! The servers of this process and its cards: the names under which the doors are asked.

use std::net::SocketAddr;
use std::sync::Arc;

use openfang_a2a::card::{CardDocument, CardForm};
use openfang_types::config::Config;
use openfang_types::ids::AgentName;
use openfang_types::principal::Principal;

use super::Kernel;
use crate::doors::Doors;
use crate::doors::a2a::A2aServer;
use crate::doors::mcp::{McpServer, Ticks, View};

impl Kernel {
    /// A server that shows this much of the house. Its work is the kernel's: it is waited for, and interrupted.
    pub fn mcp_server(&self, view: View) -> McpServer {
        self.parts.doors.mcp_server(view)
    }

    /// An A2A server on this kernel, if this config wants one.
    pub fn a2a_server(&self, config: &Config) -> Option<A2aServer> {
        self.parts.doors.a2a_server(config)
    }

    /// Ticks whenever there are other tools.
    pub fn tool_changes(&self) -> Ticks {
        self.parts.doors.tool_changes()
    }

    /// What an agent says about itself, to this viewer; without one it is the public card. Without an agent it is the card
    /// of the one that answers where none is named, or a placeholder. None: A2A is off, or there is no such agent as far
    /// as the viewer is concerned.
    pub fn card(
        &self,
        who: Option<&Principal>,
        agent: Option<&AgentName>,
        form: CardForm,
    ) -> Option<Arc<CardDocument>> {
        self.parts.doors.card(who, agent, form)
    }

    /// The cards of all agents that this principal may talk to, by name, for clients of every version.
    pub fn cards(&self, who: &Principal) -> Vec<Arc<CardDocument>> {
        self.parts.doors.cards(who)
    }

    /// The agents that this viewer is shown, as a catalogue; without a viewer those that strangers are shown. None: A2A is
    /// off.
    pub fn catalogue(&self, who: Option<&Principal>) -> Option<Arc<CardDocument>> {
        self.parts.doors.catalogue(who)
    }

    /// The keys that signatures of cards are checked with; none: cards are not signed.
    pub fn card_jwks(&self) -> Option<Arc<CardDocument>> {
        self.parts.doors.card_jwks()
    }

    /// The agent that answers where none is named: the configured one, else the first by name, among those that are there
    /// for this viewer.
    pub fn default_agent(&self, who: Option<&Principal>) -> Option<AgentName> {
        self.parts.doors.default_agent(who)
    }

    /// Says where the server of this process listens; the port may be known only now.
    pub fn listens_on(&self, address: SocketAddr) {
        self.parts.doors.listens_on(address);
    }

    /// The address under which others reach this server, without a slash at its end.
    pub fn base_url(&self) -> String {
        self.parts.doors.base_url()
    }

    /// The doors, for servers that are made on demand.
    pub(crate) fn doors(&self) -> &Doors {
        &self.parts.doors
    }
}
