//! Agents at URLs that callers name. Such a URL is a stranger's: it reaches public addresses only and gets no configured
//! credential. Only whoever proved to be the operator on this machine may name any URL.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use openfang_a2a::client::{RemoteAgent, RemoteSettings};
use openfang_types::ids::{Owner, TaskName};
use openfang_types::limits::{FOREIGN_AGENT_CALLS, FOREIGN_AGENT_OWNERS, FOREIGN_AGENT_TASKS};
use openfang_types::principal::{AdminProof, Principal, PrincipalKind};

use crate::tools::ToolFailure;

/// Opens connections to agents; the kernel implements it.
pub trait ForeignAgents: Send + Sync {
    /// The agent with these settings, or why there is no way to it.
    fn connect(&self, settings: RemoteSettings) -> Result<RemoteAgent, String>;
}

/// Who names a URL: the settings for it.
pub(crate) fn settings_for(principal: &Principal, url: &str) -> RemoteSettings {
    match principal.standing() {
        PrincipalKind::Admin(AdminProof::DaemonToken | AdminProof::InProcess) => RemoteSettings::operator(url),
        PrincipalKind::Admin(AdminProof::ApiKey) | PrincipalKind::Local | PrincipalKind::User(_) => {
            RemoteSettings::foreign(url)
        }
    }
}

/// The calls to such agents: how many each owner has under way, and which tasks came of them.
#[derive(Default)]
pub(crate) struct ForeignCalls {
    owners: Mutex<HashMap<Owner, OwnerCalls>>,
}

#[derive(Default)]
struct OwnerCalls {
    live: usize,
    /// The tasks that were begun, with the URL of each; the oldest is forgotten first.
    begun: VecDeque<(String, TaskName)>,
}

/// A call that is under way, until this is dropped.
pub(crate) struct ForeignCall<'a> {
    calls: &'a ForeignCalls,
    owner: Owner,
}

impl ForeignCalls {
    /// Room for one more call of an owner.
    pub(crate) fn begin(&self, owner: &Owner) -> Result<ForeignCall<'_>, ToolFailure> {
        let mut owners = self.lock();
        if owners.len() >= FOREIGN_AGENT_OWNERS && !owners.contains_key(owner) {
            owners.retain(|_, calls| calls.live > 0);
        }
        let calls = owners.entry(owner.clone()).or_default();
        if calls.live >= FOREIGN_AGENT_CALLS {
            let why =
                format!("{FOREIGN_AGENT_CALLS} calls to agents at URLs are under way already; wait for one to end");
            return Err(ToolFailure::new(why));
        }
        calls.live += 1;
        Ok(ForeignCall { calls: self, owner: owner.clone() })
    }

    /// Remembers a task that was begun for an owner.
    pub(crate) fn remember(&self, owner: &Owner, url: &str, task: TaskName) {
        let mut owners = self.lock();
        let begun = &mut owners.entry(owner.clone()).or_default().begun;
        if begun.len() >= FOREIGN_AGENT_TASKS {
            begun.pop_front();
        }
        begun.push_back((url.to_owned(), task));
    }

    /// Whether a task at a URL was begun for this owner.
    pub(crate) fn knows(&self, owner: &Owner, url: &str, task: &TaskName) -> bool {
        let owners = self.lock();
        owners
            .get(owner)
            .is_some_and(|calls| calls.begun.iter().any(|(at, known)| at == url && known == task))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, OwnerCalls>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ForeignCall<'_> {
    fn drop(&mut self) {
        if let Some(calls) = self.calls.lock().get_mut(&self.owner) {
            calls.live = calls.live.saturating_sub(1);
        }
    }
}

#[cfg(test)]
#[path = "foreign_agents_tests.rs"]
mod tests;
