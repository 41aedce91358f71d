//! Name resolution. [`Resolve`] is the interface; [`SystemResolver`] asks the system.
//!
//! A guard sits between every resolver and the HTTP client. It passes on only the addresses that may be reached, and
//! exactly those are dialled. If none is left, the error says what they were.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;

use openfang_types::limits::DNS_ANSWERS;

use crate::address::Special;
use crate::http::pinned;
use crate::url::{Guard, Reach};

/// A future that a trait object can return.
pub type Resolving = Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send>>;

/// Turns names into addresses.
pub trait Resolve: Send + Sync {
    /// All addresses of a name.
    fn resolve(&self, name: &str) -> Resolving;
}

/// Asks the system: `/etc/hosts`, then DNS.
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

/// The name has addresses, but none of them may be reached.
#[derive(Debug, thiserror::Error)]
#[error("all addresses are out of reach, such as {special}")]
pub(crate) struct NoneInReach {
    pub(crate) name: String,
    pub(crate) special: Special,
}

/// The name has no address, or resolution failed.
#[derive(Debug, thiserror::Error)]
#[error("the name has no address")]
pub(crate) struct NoAddress;

/// A resolver that filters its answers by a guard.
pub(crate) struct Guarded {
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) guard: Guard,
    pub(crate) reach: Reach,
}

/// Why there is no address to dial.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

impl Guarded {
    /// The addresses of a name that may be reached.
    pub(crate) fn addresses(&self, name: &str) -> impl Future<Output = Result<Vec<IpAddr>, BoxError>> + Send + use<> {
        let (resolving, name) = (self.resolver.resolve(name), name.to_owned());
        let (guard, reach) = (self.guard.clone(), self.reach);
        async move {
            let answers = resolving.await.map_err(|error| {
                tracing::debug!(%error, "name resolution failed");
                NoAddress
            })?;
            if answers.is_empty() {
                return Err(NoAddress.into());
            }
            Ok(in_reach(&guard, &name, reach, answers)?)
        }
    }
}

impl reqwest::dns::Resolve for Guarded {
    fn resolve(&self, name: reqwest::dns::Name) -> reqwest::dns::Resolving {
        let dialled = |addresses: Vec<IpAddr>| -> reqwest::dns::Addrs {
            Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0)))
        };
        // Dials the addresses that were resolved and checked before: a second answer may differ.
        if let Some(pinned) = pinned() {
            return Box::pin(std::future::ready(Ok(dialled(pinned))));
        }
        let resolving = self.addresses(name.as_str());
        Box::pin(async move { resolving.await.map(dialled) })
    }
}

/// The answers that may be reached.
fn in_reach(guard: &Guard, name: &str, reach: Reach, answers: Vec<IpAddr>) -> Result<Vec<IpAddr>, NoneInReach> {
    let mut dialled = Vec::new();
    let mut refused = None;
    for address in answers {
        match guard.admits(name, address, reach) {
            Ok(()) if dialled.len() < DNS_ANSWERS => dialled.push(address),
            Ok(()) => break,
            Err(special) => refused = refused.or(Some(special)),
        }
    }
    match refused {
        Some(special) if dialled.is_empty() => Err(NoneInReach { name: name.to_owned(), special }),
        _ => Ok(dialled),
    }
}
