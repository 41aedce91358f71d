//! The MCP servers this house is connected to: each kept healthy, each with a name for every tool.
//!
//! What a server has enters the catalogue whenever it changes; what it had before is shown while it starts. A tool that
//! is not what it was is noticed, and taken away where the operator wants that.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};
use std::time::Duration;

use openfang_mcp::capabilities::ClientCapabilities;
use openfang_mcp::client::{Observer, Relay, Upstream, UpstreamParts};
use openfang_mcp::host::Change;
use openfang_mcp::listing::Entry;
use openfang_mcp::naming::{format_mcp_tool_name, unique_names};
use openfang_mcp::revision::Era;
use openfang_runtime::mcp_tool::listed_via;
use openfang_runtime::server_tools::names_of;
use openfang_runtime::tool_source::ToolSource;
use openfang_types::config::{McpProtocol, McpServerConfigEntry};
use openfang_types::ids::{ServerName, ToolName};
use openfang_types::limits::MCP_VIA;
use openfang_types::mcp_status::{McpReview, McpServerStatus};
use openfang_types::names::Names;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use connected::Connected;
use kept::ServerMemory;
use log::ServerLog;
use place::EntryPlace;
use reach::Reach;
use secrets::ServerSecrets;

mod approved;
mod connected;
mod following;
mod kept;
mod log;
mod offered;
mod ourselves;
mod place;
mod reach;
mod secrets;

pub(crate) use connected::Connected as ConnectedServer;
pub(crate) use offered::{Offered, Offerings, ServerOffer, is_ours};
pub(crate) use reach::PeerParts;

/// How long a command waits for servers of which nothing is known yet.
const ACQUAINTANCE: Duration = Duration::from_secs(20);
/// How long servers get to end when the house closes.
const PARTING: Duration = Duration::from_secs(5);

/// The servers, by name.
pub(crate) struct Upstreams {
    /// Itself, for servers that have news.
    this: Weak<Self>,
    parts: PeerParts,
    reach: Arc<Reach>,
    /// Where what is remembered of them lies.
    directory: PathBuf,
    servers: RwLock<BTreeMap<ServerName, Arc<Connected>>>,
    /// Servers that are being connected to in order to take the place of another of the same name.
    coming: Mutex<BTreeMap<ServerName, Arc<Connected>>>,
    /// Held by whoever brings what the servers have to the catalogue: the last one must have seen everything.
    naming: Mutex<()>,
    /// What the servers have besides tools.
    offerings: Offerings,
    /// Held by whoever writes down or forgets what a server has.
    writing: Arc<Mutex<()>>,
    /// Whether servers are connected to as soon as they are known; else when they are first used.
    is_eager: AtomicBool,
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Upstreams {
    pub(crate) fn new(parts: PeerParts) -> Arc<Self> {
        let tracker = TaskTracker::new();
        Arc::new_cyclic(|this| Self {
            this: Weak::clone(this),
            reach: Arc::new(Reach::new(&parts, tracker.clone())),
            directory: parts.home.mcp(),
            parts,
            servers: RwLock::default(),
            coming: Mutex::default(),
            naming: Mutex::default(),
            offerings: Offerings::default(),
            writing: Arc::default(),
            is_eager: AtomicBool::new(false),
            tracker,
            stop: CancellationToken::new(),
        })
    }

    /// The entries, by name.
    pub(crate) fn entries(&self) -> Vec<McpServerConfigEntry> {
        self.all().iter().map(|server| server.current_entry()).collect()
    }

    /// How the servers are doing, by name.
    pub(crate) fn statuses(&self) -> Vec<McpServerStatus> {
        self.all().iter().map(|server| server.status()).collect()
    }

    /// How one server is doing.
    pub(crate) fn status(&self, name: &ServerName) -> Option<McpServerStatus> {
        self.get(name).map(|server| server.status())
    }

    /// The server of that name, also if it is disabled.
    pub(crate) fn get(&self, name: &ServerName) -> Option<Arc<Connected>> {
        self.servers.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Knows a server from now on, in the place of one of the same name. A connection that can serve it stays.
    pub(crate) fn put(&self, entry: McpServerConfigEntry) {
        self.forget_coming(&entry.name);
        if let Some(known) = self.get(&entry.name).filter(|known| entry.connects_like(&known.entry)) {
            known.select(entry.tools);
            self.list_tools();
            known.upstream().announce(Change::Tools);
            return;
        }
        let name = entry.name.clone();
        let alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        // What was approved a moment ago may not be written down yet, and the new one reads what is.
        if let Some(before) = self.get(&name) {
            before.write_down(&self.directory);
            before.retire();
        }
        let server = Arc::new(self.connected(entry));
        let mut servers = self.servers.write().unwrap_or_else(PoisonError::into_inner);
        let before = servers.insert(name, Arc::clone(&server));
        drop((servers, alone));
        if let Some(before) = before {
            self.let_go(before);
        }
        self.list_tools();
        if self.is_eager.load(Ordering::SeqCst) && server.entry.enabled {
            server.upstream().start();
        }
    }

    /// Lets a server go, and forgets what it had. Whether there was one.
    pub(crate) fn remove(&self, name: &ServerName) -> bool {
        let removed = self.servers.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        self.forget_coming(name);
        let Some(server) = removed else { return false };
        self.let_go(Arc::clone(&server));
        let alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        server.retire();
        ServerMemory::forget(&self.directory, name);
        drop(alone);
        self.list_tools();
        true
    }

    /// Connects to all of them, in the background and at the same time. The log says what came of it.
    pub(crate) fn connect_all(&self) {
        self.is_eager.store(true, Ordering::SeqCst);
        let servers = self.enabled();
        for server in &servers {
            server.upstream().start();
        }
        if servers.is_empty() {
            return;
        }
        self.tracker.spawn(async move {
            let settled =
                futures_util::future::join_all(servers.iter().map(|server| server.upstream().settled())).await;
            let tools: usize = settled.iter().map(|snapshot| snapshot.manifest.tools.entries().len()).sum();
            tracing::info!(tools, servers = servers.len(), "{tools} MCP tools are available");
        });
    }

    /// Connects to those of which nothing is known yet, and waits until it is.
    pub(crate) async fn acquaint(&self) {
        let unknown: Vec<_> = self.enabled().into_iter().filter(|server| !server.is_known()).collect();
        futures_util::future::join_all(unknown.iter().map(|server| async {
            server.upstream().start();
            if timeout(ACQUAINTANCE, server.upstream().settled()).await.is_err() {
                tracing::warn!(server = %server.entry.name, "an MCP server is slow to start; its tools are not known yet");
            }
        }))
        .await;
    }

    /// Tries another connection to a server that is connected; none if it is not.
    pub(crate) async fn probe(&self, name: &ServerName) -> Option<Result<(), String>> {
        let server = self.get(name)?;
        let is_connected = server.upstream().snapshot().facts.is_some();
        if is_connected { Some(server.upstream().probe().await) } else { None }
    }

    /// Connects anew, and returns when the server is ready or has failed.
    pub(crate) async fn restart(&self, name: &ServerName) -> Option<McpServerStatus> {
        let server = self.get(name)?;
        server.upstream().restart();
        server.upstream().settled().await;
        Some(server.status())
    }

    /// What the server wrote to its stderr and what we noted about it, oldest first.
    pub(crate) fn log(&self, name: &ServerName) -> Option<Vec<String>> {
        self.get(name).map(|server| server.log())
    }

    /// What of a server waits for the operator.
    pub(crate) fn review(&self, name: &ServerName) -> Option<McpReview> {
        self.get(name).map(|server| server.review())
    }

    /// Brings back tools that wait to be approved: the one of that name, or all. Returns which.
    pub(crate) async fn approve(&self, name: &ServerName, tool: Option<&str>) -> Option<Vec<String>> {
        let server = self.get(name)?;
        let approved = server.approve(tool);
        self.write_down(&server);
        self.list_tools();
        server.upstream().announce(Change::Tools);
        Some(approved)
    }

    /// Ends all conversations, and the programs with them.
    pub(crate) async fn close(&self) {
        self.stop.cancel();
        for server in self.all() {
            server.upstream().stop();
        }
        self.stop_coming();
        self.tracker.close();
        // What has not ended by then ends with this process.
        let _ = timeout(PARTING, self.tracker.wait()).await;
    }

    /// What this room was made with.
    pub(super) const fn parts(&self) -> &PeerParts {
        &self.parts
    }

    /// What the servers have besides tools.
    pub(crate) const fn offerings(&self) -> &Offerings {
        &self.offerings
    }

    /// What lives as long as the servers do runs here.
    pub(crate) const fn tracker(&self) -> &TaskTracker {
        &self.tracker
    }

    fn connected(&self, entry: McpServerConfigEntry) -> Connected {
        let secrets = Arc::new(ServerSecrets::new(self.parts.pipeline.sensitive().redactor(), &entry));
        let (kept, manifest) = ServerMemory::read(&self.directory, &entry, &secrets.redactor());
        let log = Arc::new(ServerLog::new(Arc::clone(&self.parts.clock), Arc::clone(&secrets)));
        let parts = UpstreamParts {
            conversations: self.reach.settings().config().limits.conversations_per_owner,
            counts: Arc::clone(&self.parts.counts),
            name: entry.name.to_string(),
            place: Arc::new(EntryPlace::new(entry.clone(), Arc::clone(&self.reach), Arc::clone(&log), secrets)),
            timeout: entry.timeout(),
            startup: entry.startup_timeout(),
            declared: if entry.interactive { ClientCapabilities::everything() } else { ClientCapabilities::NONE },
            instance: Some(self.parts.instance.clone()),
            only: only_era(&entry),
            known: [Era::Legacy, Era::Modern]
                .into_iter()
                .find(|era| kept.era.as_deref() == Some(era.as_str())),
            manifest,
            observer: Arc::new(Noticing { servers: Weak::clone(&self.this), name: entry.name.clone() }),
            tracker: self.tracker.clone(),
            stop: self.stop.child_token(),
        };
        let relay = Relay::new(Upstream::new(parts), entry.interactive);
        Connected::new(entry, relay, log, kept)
    }

    /// Something about a server changed.
    fn noticed(&self, name: &ServerName) {
        let Some(server) = self.get(name) else { return };
        server.note_state();
        let Some(changed) = server.look_again() else { return };
        changed.iter().for_each(|tool| server.report_change(&self.parts, tool));
        self.write_down(&server);
        self.list_tools();
    }

    /// Gives every tool and prompt of every server its name, and the catalogue all tools.
    pub(crate) fn list_tools(&self) {
        let _alone = self.naming.lock().unwrap_or_else(PoisonError::into_inner);
        let servers: Vec<_> = self.enabled().into_iter().map(|server| (server.tools(), server)).collect();
        let pairs = servers
            .iter()
            .flat_map(|(tools, server)| tools.names().map(|tool| (server.entry.name.as_str(), tool)));
        let mut names = unique_names(pairs, self.reach.settings().config().limits.max_tool_name);
        let mut listed = Vec::new();
        for (tools, server) in &servers {
            let prefix = format_mcp_tool_name(server.entry.name.as_str(), "").len();
            let mut named =
                Names::with_room(tools.entries().len(), tools.names().map(|tool| tool.len() + prefix).sum());
            let may_lead_back = server.may_be_openfang();
            for (entry, (name, is_hashed)) in tools.entries().zip(names.by_ref()) {
                let tool = entry.name();
                if may_lead_back && self.leads_back(entry) {
                    tracing::debug!(server = %server.entry.name, tool, "a tool leads back to this OpenFang, or too far");
                    named.push("");
                    continue;
                }
                if is_hashed {
                    tracing::debug!(server = %server.entry.name, tool, name, "a tool has a name with a hash");
                }
                // A name that is none leaves its place empty.
                named.push(if name.parse::<ToolName>().is_ok() { &name } else { "" });
            }
            let all = servers.iter().map(|(_, other)| &other.entry.name);
            listed.push(server.named(tools, named, names_of(&server.entry.name, all)) as Arc<dyn ToolSource>);
        }
        let longest = self.reach.settings().config().limits.max_tool_name;
        let waiting = servers.iter().flat_map(|(_, server)| server.quarantined(longest));
        let new_words = servers.iter().flat_map(|(_, server)| server.with_new_words());
        self.parts.pipeline.catalog().quarantine().replace(waiting, new_words);
        self.offerings
            .look_at(servers.iter().map(|(_, server)| Arc::clone(server)).collect(), longest);
        self.parts.pipeline.catalog().replace(|origin| origin.server().is_some(), listed);
    }

    /// Whether a tool of another OpenFang is one of ours, or came through too many. Two servers that are connected to each other
    /// would list each other's tools again and again.
    fn leads_back(&self, tool: &Entry) -> bool {
        let via = listed_via(tool);
        via.contains(&self.parts.instance) || via.len() >= MCP_VIA
    }

    fn write_down(&self, server: &Arc<Connected>) {
        let (directory, server) = (self.directory.clone(), Arc::clone(server));
        let writing = Arc::clone(&self.writing);
        server.note_news();
        let write = move || {
            let _alone = writing.lock().unwrap_or_else(PoisonError::into_inner);
            server.write_down(&directory);
        };
        match tokio::runtime::Handle::try_current() {
            Ok(_) => drop(self.tracker.spawn_blocking(write)),
            Err(_) => write(),
        }
    }

    fn enabled(&self) -> Vec<Arc<Connected>> {
        let mut servers = self.all();
        servers.retain(|server| server.entry.enabled);
        servers
    }

    fn all(&self) -> Vec<Arc<Connected>> {
        self.servers.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}

/// The only era that is spoken with a server, if its entry says so.
const fn only_era(entry: &McpServerConfigEntry) -> Option<Era> {
    match entry.protocol {
        McpProtocol::Auto => None,
        McpProtocol::Legacy => Some(Era::Legacy),
        McpProtocol::Modern => Some(Era::Modern),
    }
}

/// Brings a server's changes to the registry.
struct Noticing {
    servers: Weak<Upstreams>,
    name: ServerName,
}

impl Observer for Noticing {
    fn changed(&self) {
        if let Some(servers) = self.servers.upgrade() {
            servers.noticed(&self.name);
        }
    }
}

#[cfg(test)]
#[path = "upstreams_tests.rs"]
mod tests;
