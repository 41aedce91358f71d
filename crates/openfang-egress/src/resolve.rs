//! From names to addresses. [`Resolve`] is the question; [`SystemResolver`] asks the system.
//!
//! A guard stands between any resolver and the HTTP client: of every answer only the addresses that are within reach
//! are handed on, and those very addresses are dialled. When none is left, the error says what they were.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use openfang_types::limits::DNS_ANSWERS;

use crate::address::Special;
use crate::url::{Guard, Reach};

/// A future that a trait object can return.
pub type Resolving = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Turns names into addresses.
pub trait Resolve: Send + Sync {
    /// All addresses of a name.
    fn resolve(&self, name: &str) -> Resolving;
}

/// Asks the system: `/etc/hosts`, then DNS, as everything else on the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve(&self, name: &str) -> Resolving {
        let name = name.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// A name has addresses, and none of them may be dialled.
#[derive(Debug, thiserror::Error)]
#[error("all addresses are out of reach, such as {special}")]
pub(crate) struct NoneInReach {
    pub(crate) name: String,
    pub(crate) special: Special,
}

/// A name has no address at all, or nobody can tell.
#[derive(Debug, thiserror::Error)]
#[error("the name has no address")]
pub(crate) struct NoAddress;

/// A resolver behind a guard.
pub(crate) struct Guarded {
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) guard: Guard,
    pub(crate) reach: Reach,
}

impl reqwest::dns::Resolve for Guarded {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let resolving = self.resolver.resolve(name.as_str());
        let (guard, reach) = (self.guard.clone(), self.reach);
        Box::pin(async move {
            let answers = resolving.await.map_err(|error| {
                tracing::debug!(%error, "a name cannot be resolved");
                NoAddress
            })?;
            if answers.is_empty() {
                return Err(NoAddress.into());
            }
            let dialled = in_reach(&guard, name.as_str(), reach, answers)?;
            let dialled: reqwest::dns::Addrs = Box::new(dialled.into_iter());
            Ok(dialled)
        })
    }
}

/// The answers that may be dialled.
fn in_reach(guard: &Guard, name: &str, reach: Reach, answers: Vec<IpAddr>) -> Result<Vec<SocketAddr>, NoneInReach> {
    let mut dialled = Vec::new();
    let mut refused = None;
    for address in answers {
        match guard.admits(name, address, reach) {
            Ok(()) if dialled.len() < DNS_ANSWERS => dialled.push(SocketAddr::new(address, 0)),
            Ok(()) => break,
            Err(special) => refused = refused.or(Some(special)),
        }
    }
    match refused {
        Some(special) if dialled.is_empty() => Err(NoneInReach { name: name.to_owned(), special }),
        _ => Ok(dialled),
    }
}
