//! The doors: adapters between a protocol's server and the kernel. They keep little, and no task.
//!
//! `mcp` serves MCP clients, `gateway` hands one MCP server through, `a2a` serves A2A clients, `cards` says to whom the
//! agents are shown and how.

use std::sync::Arc;

use openfang_mcp::server::Shared;
use prometheus_client::metrics::counter::Counter;

use self::cards::Cards;

pub mod a2a;
pub(crate) mod cards;
pub mod gateway;
pub mod mcp;

/// What the doors keep between requests.
pub(crate) struct Doors {
    cards: Cards,
    /// What all MCP servers of this process share.
    mcp_shared: Arc<Shared>,
    /// Tasks that A2A clients named and do not have.
    unknown_tasks: Counter,
}

impl Doors {
    pub(crate) const fn new(cards: Cards, mcp_shared: Arc<Shared>, unknown_tasks: Counter) -> Self {
        Self { cards, mcp_shared, unknown_tasks }
    }
}
