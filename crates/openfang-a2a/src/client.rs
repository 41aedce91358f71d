//! The A2A client: finds agents, sends them messages and follows their work, in every version and over both bindings.
//!
//! [`RemoteAgent`] is an agent on another server. [`RemoteAgent::discover`] finds its card and the way to ask it,
//! [`RemoteAgent::send`] sends a message, and the [`Follower`] returns what the agent does with it as [`RemoteEvent`]s.
//! [`ClientError::delivery`] tells whether a message that failed may have arrived.
//!
//! All requests go through [`openfang_egress::http`], to the origin of the agent's URL and to origins that the settings
//! list. Nothing that an agent says can lead a request or a credential anywhere else.

pub use agent::{Outgoing, RemoteAgent};
pub use card::{PeerCard, PeerExtension, PeerInterface};
pub use discovery::{
    CardPin, DialectName, Discovery, DiscoveryError, DiscoveryRecord, ExtendedCard, ListedAgent, SignatureState,
    Validators,
};
pub use error::{ClientError, Delivery};
pub use find_card::listed_agents;
pub use follow::{Follower, RemoteEvent};
pub use interface::{Binding, Interface, Repair};
pub use recovery::Sent;
pub use settings::{Protocol, RemoteSettings, SettingsError, UnknownProtocol, Verification};
pub use simple::{A2aClient, discover_external_agents};

mod agent;
mod call;
mod card;
mod deliver;
mod discover;
mod discovery;
mod error;
mod events;
mod find_card;
mod follow;
mod interface;
mod probe;
mod recovery;
mod settings;
mod simple;
mod site;
mod verify;

#[cfg(test)]
#[path = "client_tests.rs"]
mod tests;
