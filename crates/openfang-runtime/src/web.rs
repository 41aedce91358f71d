//! The web for tools: the door they fetch through, how many fetches an owner may have under way, and how a response becomes
//! text.

use openfang_egress::http::HttpDoor;
use openfang_types::limits::WEB_CALLS_PER_OWNER;
use openfang_types::secret::Secret;

use crate::call_room::CallRoom;

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

/// Room for the calls to the web of each owner.
pub(crate) fn calls() -> CallRoom {
    CallRoom::new(WEB_CALLS_PER_OWNER, "calls to the web are under way")
}
