//! Control of the MCP servers: who may look, who may change, and what a change is: the file, the audit log and the
//! connection, in this order.
//!
//! Whoever stands as admin may change. A command line that will run on this machine is taken only from who has the
//! daemon token or runs the kernel: an API key that leaks must not become a shell.

use std::path::Path;
use std::sync::Arc;

use openfang_store::{ChangeAction, ChangeTarget};
use openfang_types::config::{McpServerConfigEntry, McpServerSettings, McpTransportEntry};
use openfang_types::ids::ServerName;
use openfang_types::mcp_status::{McpReview, McpServerStatus};
use openfang_types::nearest::nearest;
use openfang_types::principal::{AdminProof, PrincipalKind};
use tokio::time::Instant;

use crate::change::Change;
use crate::peers::upstreams::Upstreams;
use crate::settings::config_edit::{self, Edit, EditError, Existing};
use crate::{Caller, KernelError};
use shown::EntryPreview;

pub use shown::{preview, shown};
pub use tokens::take_tokens;
pub use view::{McpServerDetails, McpServerView, McpServers, McpTested};

pub(crate) mod harmless;
mod shown;
mod tokens;
mod view;

impl Upstreams {
    /// The servers that are configured, and how they are doing.
    pub(crate) fn mcp_servers(&self, caller: &Caller) -> Result<McpServers, KernelError> {
        may_look(caller)?;
        let mut statuses = self.statuses();
        let details = self.entries().into_iter().map(|entry| {
            let status = statuses.iter().position(|status| status.name == entry.name);
            self.mcp_details(&entry, status.map(|at| statuses.swap_remove(at)))
        });
        let (configured, connected) = details.map(|one| (one.configured, one.connected)).unzip();
        Ok(McpServers { configured, connected })
    }

    pub(crate) fn mcp_server_details(
        &self,
        caller: &Caller,
        name: &ServerName,
    ) -> Result<McpServerDetails, KernelError> {
        may_look(caller)?;
        Ok(self.mcp_details(&self.mcp_entry(name)?, self.status(name)))
    }

    /// What the server wrote to its stderr and what was noted about it, oldest first.
    pub(crate) fn mcp_server_log(&self, caller: &Caller, name: &ServerName) -> Result<Vec<String>, KernelError> {
        may_look(caller)?;
        let entry = self.mcp_entry(name)?;
        let sensitive = self.parts().pipeline.sensitive();
        let shown = EntryPreview::new(&sensitive);
        let lines = self.log(name).unwrap_or_default();
        Ok(lines.iter().map(|line| shown.text(&entry, line)).collect())
    }

    /// What of a server waits for the operator, with what changed.
    pub(crate) fn mcp_review(&self, caller: &Caller, name: &ServerName) -> Result<McpReview, KernelError> {
        may_look(caller)?;
        self.review(name).ok_or_else(|| self.unknown_server(name))
    }

    /// Writes a server into the configuration and connects to it.
    pub(crate) async fn add_mcp_server(
        self: &Arc<Self>,
        caller: &Caller,
        entry: McpServerConfigEntry,
        existing: Existing,
    ) -> Result<McpServerDetails, KernelError> {
        let name = entry.name.clone();
        let old = self.mcp_entry(&name).ok();
        let allowed = may_change(caller).and_then(|()| match (&old, existing) {
            (Some(_), Existing::Keep) => Err(KernelError::ServerExists(name.clone())),
            (Some(old), Existing::Replace) if is_program(old) => may_run_programs(caller),
            _ if is_program(&entry) || names_variables(&entry) => may_run_programs(caller),
            _ => Ok(()),
        });
        let servers = Arc::clone(self);
        self.parts()
            .changes
            .make(of_server(caller, ChangeAction::Add, &name), allowed, async move {
                if servers.is_ourselves(&entry).await {
                    return Err(KernelError::OwnServer(entry.name));
                }
                let to_write = entry.clone();
                let write = move |path: &Path| config_edit::rewrite(path, &[Edit::Add(&to_write, existing)]);
                servers.edit_config(write, |list| put_in(list, &entry)).await?;
                servers.put(entry.clone());
                Ok(servers.mcp_details(&entry, servers.status(&entry.name)))
            })
            .await
    }

    /// Takes a server out of the configuration and lets it go.
    pub(crate) async fn remove_mcp_server(
        self: &Arc<Self>,
        caller: &Caller,
        name: &ServerName,
    ) -> Result<(), KernelError> {
        let servers = Arc::clone(self);
        let gone = name.clone();
        self.parts()
            .changes
            .make(of_server(caller, ChangeAction::Remove, name), may_change(caller), async move {
                let to_cut = gone.clone();
                let write = move |path: &Path| config_edit::rewrite(path, &[Edit::Remove(&to_cut)]);
                let cut = servers.edit_config(write, |list| list.retain(|held| held.name != gone));
                match cut.await {
                    Err(KernelError::UnknownServer { .. }) if servers.mcp_entry(&gone).is_ok() => {
                        return Err(KernelError::NotInFile(gone));
                    }
                    cut => cut?,
                }
                servers.remove(&gone);
                Ok(())
            })
            .await
    }

    /// Sets some settings of a server in the configuration. They are in force at once.
    pub(crate) async fn set_mcp_server(
        self: &Arc<Self>,
        caller: &Caller,
        name: &ServerName,
        settings: McpServerSettings,
    ) -> Result<McpServerDetails, KernelError> {
        let allowed = may_change(caller).and_then(|()| self.mcp_entry(name).map(drop));
        let (servers, name) = (Arc::clone(self), name.clone());
        self.parts()
            .changes
            .make(of_server(caller, ChangeAction::Set, &name), allowed, async move {
                let entry = settings.applied_to(&servers.mcp_entry(&name)?);
                let to_set = name.clone();
                let write = move |path: &Path| config_edit::rewrite(path, &[Edit::Set(&to_set, &settings)]);
                let set = servers.edit_config(write, |list| put_in(list, &entry)).await;
                set.map_err(|error| match error {
                    KernelError::UnknownServer { .. } => KernelError::NotInFile(name),
                    error => error,
                })?;
                servers.put(entry.clone());
                Ok(servers.mcp_details(&entry, servers.status(&entry.name)))
            })
            .await
    }

    /// Connects to a server anew, and returns when it is ready or has failed.
    pub(crate) async fn restart_mcp_server(
        self: &Arc<Self>,
        caller: &Caller,
        name: &ServerName,
    ) -> Result<McpServerView, KernelError> {
        let tested = self.connect_anew(caller, ChangeAction::Restart, name).await?;
        Ok(tested.server)
    }

    /// Connects to a server and says how that went. A connection that there is goes on, and so do the calls over it.
    pub(crate) async fn test_mcp_server(
        self: &Arc<Self>,
        caller: &Caller,
        name: &ServerName,
    ) -> Result<McpTested, KernelError> {
        self.connect_anew(caller, ChangeAction::Test, name).await
    }

    /// Brings back tools that wait because they are new or their definition changed: one, or all. Returns which.
    pub(crate) async fn approve_mcp_tools(
        self: &Arc<Self>,
        caller: &Caller,
        name: &ServerName,
        tool: Option<String>,
    ) -> Result<Vec<String>, KernelError> {
        let allowed = may_change(caller).and_then(|()| self.mcp_entry(name).map(drop));
        let change = match &tool {
            Some(tool) => {
                Change { caller, action: ChangeAction::Accept, target: ChangeTarget::mcp_tool(name.clone(), tool) }
            }
            None => of_server(caller, ChangeAction::Accept, name),
        };
        let (servers, server) = (Arc::clone(self), name.clone());
        self.parts()
            .changes
            .make(change, allowed, async move {
                let approved = servers.approve(&server, tool.as_deref()).await;
                approved.ok_or_else(|| servers.unknown_server(&server))
            })
            .await
    }

    async fn connect_anew(
        self: &Arc<Self>,
        caller: &Caller,
        action: ChangeAction,
        name: &ServerName,
    ) -> Result<McpTested, KernelError> {
        let entry = may_change(caller)
            .and_then(|()| self.mcp_entry(name))
            .and_then(|entry| match entry.enabled {
                true => Ok(entry),
                false => Err(KernelError::ServerDisabled(name.clone())),
            });
        let (allowed, entry) = match entry {
            Ok(entry) => (Ok(()), Some(entry)),
            Err(error) => (Err(error), None),
        };
        let (servers, server) = (Arc::clone(self), name.clone());
        self.parts()
            .changes
            .make(of_server(caller, action, name), allowed, async move {
                let begun = Instant::now();
                let probed = if action == ChangeAction::Test { servers.probe(&server).await } else { None };
                let (problem, status) = match probed {
                    Some(tried) => (tried.err(), servers.status(&server)),
                    None => (None, servers.restart(&server).await),
                };
                let (Some(status), Some(entry)) = (status, entry) else { return Err(servers.unknown_server(&server)) };
                let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
                let view = servers.mcp_view(&entry, status);
                Ok(McpTested { ok: view.connected && problem.is_none(), took_ms, server: view, problem })
            })
            .await
    }

    /// One edit of the file at a time; the file is small, but the disk may be slow. What is in force follows it.
    async fn edit_config(
        &self,
        edit: impl FnOnce(&Path) -> Result<(), EditError> + Send + 'static,
        follow: impl FnOnce(&mut Vec<McpServerConfigEntry>) + Send,
    ) -> Result<(), KernelError> {
        let _alone = self.parts().settings.alone().await;
        let path = self.parts().home.config();
        let edited = tokio::task::spawn_blocking(move || edit(&path)).await;
        let edited = edited.unwrap_or_else(|_| Err(EditError::Unwritable("the edit failed; see the log".to_owned())));
        if edited.is_ok() {
            self.parts().settings.take_over_servers(follow);
        }
        edited.map_err(|error| match error {
            EditError::Exists(name) => KernelError::ServerExists(name),
            EditError::Unknown(name) => self.unknown_server(&name),
            error => KernelError::ConfigEdit(error),
        })
    }

    fn mcp_entry(&self, name: &ServerName) -> Result<McpServerConfigEntry, KernelError> {
        let found = self.entries().into_iter().find(|entry| entry.name == *name);
        found.ok_or_else(|| self.unknown_server(name))
    }

    fn unknown_server(&self, name: &ServerName) -> KernelError {
        let entries = self.entries();
        let nearest = nearest(name.as_str(), entries.iter().map(|entry| entry.name.as_str()));
        KernelError::UnknownServer { name: name.clone(), nearest: nearest.and_then(|held| held.parse().ok()) }
    }

    fn mcp_details(&self, entry: &McpServerConfigEntry, status: Option<McpServerStatus>) -> McpServerDetails {
        let status = status.unwrap_or_else(|| view::not_connected(&entry.name));
        McpServerDetails {
            configured: EntryPreview::new(&self.parts().pipeline.sensitive()).entry(entry),
            connected: self.mcp_view(entry, status),
        }
    }

    fn mcp_view(&self, entry: &McpServerConfigEntry, status: McpServerStatus) -> McpServerView {
        let sensitive = self.parts().pipeline.sensitive();
        let shown = EntryPreview::new(&sensitive);
        McpServerView::new(status, |text| shown.text(entry, text))
    }
}

fn of_server<'a>(caller: &'a Caller, action: ChangeAction, name: &ServerName) -> Change<'a> {
    Change { caller, action, target: ChangeTarget::McpServer { name: name.clone() } }
}

/// Puts an entry into a list, in the place of one of the same name.
fn put_in(servers: &mut Vec<McpServerConfigEntry>, entry: &McpServerConfigEntry) {
    match servers.iter_mut().find(|held| held.name == entry.name) {
        Some(held) => *held = entry.clone(),
        None => servers.push(entry.clone()),
    }
}

fn is_program(entry: &McpServerConfigEntry) -> bool {
    matches!(entry.transport, McpTransportEntry::Stdio { .. })
}

/// Whether the entry would send variables of this machine somewhere.
fn names_variables(entry: &McpServerConfigEntry) -> bool {
    match &entry.transport {
        McpTransportEntry::Stdio { .. } => true,
        McpTransportEntry::Sse { url, headers } | McpTransportEntry::Http { url, headers } => {
            url.contains("${") || headers.values().any(|value| value.expose().contains("${"))
        }
    }
}

fn may_look(caller: &Caller) -> Result<(), KernelError> {
    match caller.principal.standing() {
        PrincipalKind::Admin(_) | PrincipalKind::Local => Ok(()),
        PrincipalKind::User(_) => Err(KernelError::NotPermitted("only the admin can list MCP servers")),
    }
}

fn may_change(caller: &Caller) -> Result<(), KernelError> {
    match caller.principal.standing() {
        PrincipalKind::Admin(_) => Ok(()),
        PrincipalKind::Local | PrincipalKind::User(_) => Err(KernelError::NotPermitted(
            "only the admin can change MCP servers; send the api_key, or use the command line of the server's machine",
        )),
    }
}

fn may_run_programs(caller: &Caller) -> Result<(), KernelError> {
    match caller.principal.standing() {
        PrincipalKind::Admin(AdminProof::DaemonToken | AdminProof::InProcess) => Ok(()),
        PrincipalKind::Admin(AdminProof::ApiKey) | PrincipalKind::Local | PrincipalKind::User(_) => {
            Err(KernelError::NotPermitted(
                "a server that runs a program or uses environment variables can be added on the command line of the server's machine only",
            ))
        }
    }
}

#[cfg(test)]
#[path = "mcp_control_tests.rs"]
mod tests;
