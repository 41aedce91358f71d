//! The client: any server, any transport, either era.
//!
//! [`Connection`] is a conversation with a server in the revision that both speak. [`connect`] finds that out, over a
//! child process or a URL. A request that is under way is an [`Ongoing`]: it ends with an answer, or stops at questions
//! that the server has for whoever called. Above that, an upstream keeps a server healthy, and a pool gives each caller
//! a conversation of its own where the server may ask.
//!
//! What travels is kept as the peer wrote it; only what we must understand is read.

pub use capabilities::{ServerCapabilities, ServerFacts};
pub use connect::{Connecting, Endpoint, connect};
pub use connection::Connection;
pub use error::{ClientError, Withdrawn};
pub use inbox::{Notice, Question};
pub use manifest::{KeptManifest, Manifest, fingerprint};
pub use mirror::{BadMark, Mirror};
pub use ongoing::{Ongoing, Silent, Step};
pub use outgoing::{OutgoingRequest, RawMembers};
pub use relay::{Handing, Relay, Relayed};
pub use upstream::{Locator, NoEndpoint, Observer, Snapshot, Upstream, UpstreamParts};
pub use watching::Watching;

mod abandoned;
mod backoff;
mod capabilities;
mod checking;
mod connect;
mod connection;
mod discover;
mod error;
mod handshake;
mod inbox;
mod life;
mod line;
mod manifest;
mod mirror;
mod ongoing;
mod outgoing;
mod parked;
mod pool;
mod relay;
mod show;
mod slot;
mod stdio;
mod updates;
mod upstream;
mod watching;
mod web;
mod wire;
