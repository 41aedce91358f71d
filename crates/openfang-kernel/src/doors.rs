//! The doors: adapters between a protocol's server and the kernel. They keep little, and no task.
//!
//! `mcp` serves MCP clients, `gateway` hands one MCP server through, `a2a` serves A2A clients, `cards` says to whom the
//! agents are shown and how.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};

use openfang_mcp::host::Call;
use openfang_mcp::server::Shared;
use openfang_runtime::context::CallContext;
use openfang_runtime::pipeline::Pipeline;
use openfang_types::clock::{Clock, IdSource};
use prometheus_client::metrics::counter::Counter;

use self::cards::Cards;
use self::held_calls::HeldCalls;
use self::mcp::SkillQuarantine;
use crate::access::Access;
use crate::drain::Life;
use crate::events::Events;
use crate::execute_tool::DirectCalls;
use crate::peers::upstreams::Upstreams;
use crate::settings::{LiveSettings, Settings};
use crate::tasks::Tasks;
use crate::{Caller, chain};

pub mod a2a;
pub(crate) mod cards;
pub mod gateway;
mod held_calls;
mod holding;
pub mod mcp;

/// The doors, and the little that they keep between requests. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Doors {
    inner: Arc<Inner>,
}

struct Inner {
    cards: Cards,
    /// What all MCP servers of this process share.
    mcp_shared: Arc<Shared>,
    /// Tasks that A2A clients named and do not have.
    unknown_tasks: Counter,
    /// Where the server of this process listens, once it does.
    address: OnceLock<SocketAddr>,
    settings: Arc<LiveSettings>,
    access: Access,
    tasks: Tasks,
    events: Events,
    upstreams: Arc<Upstreams>,
    calls: DirectCalls,
    pipeline: Arc<Pipeline>,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn IdSource>,
    life: Life,
    held_calls: HeldCalls,
    /// Skills of servers that are left out.
    skill_quarantine: SkillQuarantine,
}

/// What the doors are made with.
pub(crate) struct DoorsParts {
    pub(crate) cards: Cards,
    pub(crate) mcp_shared: Arc<Shared>,
    pub(crate) unknown_tasks: Counter,
    pub(crate) settings: Arc<LiveSettings>,
    pub(crate) access: Access,
    pub(crate) tasks: Tasks,
    pub(crate) events: Events,
    pub(crate) upstreams: Arc<Upstreams>,
    pub(crate) calls: DirectCalls,
    pub(crate) pipeline: Arc<Pipeline>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) life: Life,
}

impl Doors {
    pub(crate) fn new(parts: DoorsParts) -> Self {
        let DoorsParts { cards, mcp_shared, unknown_tasks, settings, access, tasks, .. } = parts;
        let DoorsParts { events, upstreams, calls, pipeline, clock, ids, life, .. } = parts;
        let address = OnceLock::new();
        let inner = Inner {
            cards,
            mcp_shared,
            unknown_tasks,
            address,
            settings,
            access,
            tasks,
            events,
            upstreams,
            calls,
            pipeline,
            clock,
            ids,
            life,
            held_calls: HeldCalls::default(),
            skill_quarantine: SkillQuarantine::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Says where the server of this process listens; the port may be known only now.
    pub(crate) fn listens_on(&self, address: SocketAddr) {
        // Who listens twice is still reached at the first.
        let _ = self.inner.address.set(address);
    }

    /// The address under which others reach this server, without a slash at its end.
    pub(crate) fn base_url(&self) -> String {
        let settings = self.inner.settings();
        let address = self.inner.address.get().copied().unwrap_or(settings.config().api_listen);
        match &settings.config().public_url {
            Some(url) => url.trim_end_matches('/').to_owned(),
            None => format!("http://{address}"),
        }
    }
}

impl Inner {
    /// The settings in force.
    fn settings(&self) -> Arc<Settings> {
        self.settings.current()
    }

    /// The context of a direct call that nobody waits for on the way.
    fn context(&self, caller: &Caller) -> CallContext {
        self.tasks.context(caller)
    }

    /// The caller of an MCP request, with what its `_meta` says about where it comes from.
    fn caller_of<'c>(&self, call: &Call<'c, Caller>) -> Cow<'c, Caller> {
        chain::caller_of_meta(self.pipeline.outward_calls(), call.caller, call.meta.map(|meta| &**meta))
    }
}
