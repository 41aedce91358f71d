//! The web for tools: the door they fetch through, how many fetches an owner may have under way, and how a response becomes
//! text.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openfang_egress::http::HttpDoor;
use openfang_types::ids::Owner;
use openfang_types::limits::WEB_CALLS_PER_OWNER;
use openfang_types::secret::Secret;

use crate::tools::ToolFailure;

pub(crate) mod charset;
mod escape;
pub(crate) mod markdown;
pub(crate) mod page;
pub(crate) mod refusal;
pub(crate) mod search;

/// Opens the way to the web; the kernel implements it.
pub trait Web: Send + Sync {
    /// The door to URLs that callers and models name, as `[web]` wants it, or why there is none.
    fn door(&self) -> Result<HttpDoor, String>;
    /// The door to URLs of the operator.
    fn operator_door(&self) -> Result<HttpDoor, String>;
    /// The key of a search provider, which is in this variable of the environment.
    fn search_key(&self, variable: &str) -> Option<Secret>;
}

/// Calls to the web that are under way, by owner.
#[derive(Default)]
pub(crate) struct WebCalls {
    live: Mutex<HashMap<Owner, usize>>,
}

/// A call that is under way, until this is dropped.
pub(crate) struct WebCall<'a> {
    calls: &'a WebCalls,
    owner: Owner,
}

impl WebCalls {
    /// Room for one more call of an owner.
    pub(crate) fn begin(&self, owner: &Owner) -> Result<WebCall<'_>, ToolFailure> {
        let mut live = self.lock();
        let calls = live.entry(owner.clone()).or_default();
        if *calls >= WEB_CALLS_PER_OWNER {
            let why = format!("{WEB_CALLS_PER_OWNER} calls to the web are under way already; wait for one to end");
            return Err(ToolFailure::new(why));
        }
        *calls += 1;
        Ok(WebCall { calls: self, owner: owner.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Owner, usize>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for WebCall<'_> {
    fn drop(&mut self) {
        let mut live = self.calls.lock();
        if let Some(calls) = live.get_mut(&self.owner) {
            *calls = calls.saturating_sub(1);
            if *calls == 0 {
                live.remove(&self.owner);
            }
        }
    }
}

#[cfg(test)]
#[path = "web_tests.rs"]
mod tests;
