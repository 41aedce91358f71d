//! The proxy for operator URLs. Foreign URLs never use one: a proxy would resolve names behind the checks.

use reqwest::NoProxy;

/// Hosts that are never reached through a proxy.
const THIS_MACHINE: &str = "localhost,127.0.0.0/8,::1";

/// Which URLs go through the proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyScope {
    /// Those with https, as `HTTPS_PROXY` means.
    Https,
    /// Those with https and those with http.
    All,
}

/// A proxy for operator URLs.
#[derive(Debug, Clone)]
pub struct OperatorProxy(reqwest::Proxy);

/// The URL of a proxy cannot be used. It is not quoted, because it may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the proxy is not a URL such as http://proxy.example.org:3128")]
pub struct BadProxy;

impl OperatorProxy {
    /// A proxy at a URL. `except` lists hosts, `.suffixes` and ranges that are reached directly, as `NO_PROXY` does; this
    /// machine always is.
    pub fn new(url: &str, scope: ProxyScope, except: &str) -> Result<Self, BadProxy> {
        let is_url = ["http://", "https://"].iter().any(|scheme| url.starts_with(scheme));
        let proxy = match scope {
            _ if !is_url => return Err(BadProxy),
            ProxyScope::Https => reqwest::Proxy::https(url),
            ProxyScope::All => reqwest::Proxy::all(url),
        };
        let direct = NoProxy::from_string(&format!("{THIS_MACHINE},{except}"));
        Ok(Self(proxy.map_err(|_| BadProxy)?.no_proxy(direct)))
    }

    pub(super) fn to_reqwest(&self) -> reqwest::Proxy {
        self.0.clone()
    }
}
