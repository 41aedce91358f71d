//! The state that the layers derive from the configuration: allowed hosts, rate limits, and the A2A server. It is
//! rebuilt when the configuration changes. A request takes one snapshot and keeps it.

use std::net::SocketAddr;
use std::sync::{Arc, PoisonError, RwLock};

use openfang_kernel::Kernel;
use openfang_kernel::a2a::A2aServer;
use openfang_types::config::Config;
use openfang_types::jsonrpc::{count_batch, is_batch};
use openfang_types::limits::MCP_BATCH;
use openfang_types::principal::Principal;

use super::host::Hosts;
use super::rate::Rates;
use crate::error::ApiError;

/// The state derived from one configuration.
pub(crate) struct Reach {
    config: Arc<Config>,
    hosts: Hosts,
    rates: Arc<Rates>,
    a2a: Option<A2aServer>,
}

impl Reach {
    fn new(kernel: &Kernel, config: Arc<Config>, address: SocketAddr, rates: Arc<Rates>) -> Self {
        let hosts = Hosts::new(&config, address);
        let a2a = kernel.a2a_server(&config);
        Self { config, hosts, rates, a2a }
    }

    /// The configuration it was derived from.
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// The base path of A2A.
    pub(crate) fn listen_path(&self) -> &str {
        &self.config.a2a.listen_path
    }

    /// The A2A server; none if it is disabled.
    pub(crate) const fn a2a(&self) -> Option<&A2aServer> {
        self.a2a.as_ref()
    }

    /// Charges the calls of a batch. The request itself was already charged as one.
    pub(crate) fn admit_batch(&self, principal: &Principal, body: &[u8]) -> Result<(), ApiError> {
        if !is_batch(body) {
            return Ok(());
        }
        let calls = count_batch(body, MCP_BATCH);
        self.rates
            .admit_calls(principal, u32::try_from(calls.saturating_sub(1)).unwrap_or(u32::MAX))
    }

    pub(super) const fn hosts(&self) -> &Hosts {
        &self.hosts
    }

    pub(super) fn rates(&self) -> &Rates {
        &self.rates
    }
}

/// The state for the current configuration.
pub(super) struct CurrentReach {
    address: SocketAddr,
    current: RwLock<Arc<Reach>>,
}

impl CurrentReach {
    pub(super) fn new(kernel: &Kernel, address: SocketAddr) -> Self {
        let config = kernel.config();
        let rates = Arc::new(Rates::new(&config.limits));
        Self { address, current: RwLock::new(Arc::new(Reach::new(kernel, config, address, rates))) }
    }

    /// The state for the current configuration, and whether it was just rebuilt.
    pub(super) fn get(&self, kernel: &Kernel) -> (Arc<Reach>, bool) {
        let current = Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner));
        if kernel.is_in_force(&current.config) {
            return (current, false);
        }
        let mut place = self.current.write().unwrap_or_else(PoisonError::into_inner);
        // Another request may have been faster, and the configuration may have changed again.
        let config = kernel.config();
        if Arc::ptr_eq(&place.config, &config) {
            return (Arc::clone(&place), false);
        }
        let rates = Rates::following(&place.rates, &config.limits);
        let next = Arc::new(Reach::new(kernel, config, self.address, rates));
        *place = Arc::clone(&next);
        (next, true)
    }
}
