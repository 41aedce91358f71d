//! Host and Origin: whether the request is addressed to us, and whether a page may send it. This protects a server on
//! loopback from DNS rebinding.

use std::borrow::Cow;
use std::net::{IpAddr, SocketAddr};

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, HeaderValue, Request, Uri};
use openfang_types::config::Config;

use crate::error::ApiError;

pub(super) struct Hosts {
    address: SocketAddr,
    hosts: Vec<String>,
    origins: Vec<String>,
    /// The public name of this server.
    public: Option<String>,
}

impl Hosts {
    pub(super) fn new(config: &Config, address: SocketAddr) -> Self {
        let lower = |names: &[String]| names.iter().map(|name| name.to_ascii_lowercase()).collect();
        let public = config.public_origin().map(str::to_ascii_lowercase);
        Self { address, hosts: lower(&config.allowed_hosts), origins: lower(&config.allowed_origins), public }
    }

    /// Refuses a request for another host, or from a page of another origin.
    pub(super) fn check<B>(&self, request: &Request<B>) -> Result<(), ApiError> {
        let host = named_host(request.headers(), request.uri()).ok_or_else(ApiError::wrong_host)?;
        if !self.is_ours(&host) {
            return Err(ApiError::wrong_host());
        }
        let mut origins = request.headers().get_all(ORIGIN).iter();
        match (origins.next(), origins.next()) {
            (None, _) => Ok(()),
            (Some(origin), None) if origin.to_str().is_ok_and(|origin| self.may_call(origin, &host)) => Ok(()),
            (Some(_), _) => Err(ApiError::wrong_origin()),
        }
    }

    /// The origin of the page that sends the request, if it is allowed.
    pub(super) fn page<B>(&self, request: &Request<B>) -> Option<HeaderValue> {
        let origin = request.headers().get(ORIGIN)?;
        self.check(request).is_ok().then(|| origin.clone())
    }

    fn is_ours(&self, host: &str) -> bool {
        let (name, port) = split_port(host);
        let right_port = port.is_none_or(|port| port == self.address.port());
        let ip: Option<IpAddr> = name.trim_start_matches('[').trim_end_matches(']').parse().ok();
        let is_loopback_name = name == "localhost" || ip.is_some_and(|ip| ip.is_loopback());
        if self.hosts.iter().any(|allowed| *allowed == host || (*allowed == name && right_port)) {
            return true;
        }
        if self
            .public
            .as_deref()
            .and_then(|origin| origin.split_once("://"))
            .is_some_and(|(_, ours)| ours == host)
        {
            return true;
        }
        if self.address.ip().is_loopback() {
            return is_loopback_name && right_port;
        }
        // A server that is reachable from elsewhere requires a credential, so any name is accepted unless config lists
        // the names.
        self.hosts.is_empty() || (is_loopback_name && right_port) || ip == Some(self.address.ip())
    }

    /// The exact scheme, name and port of our own pages, or of an origin in config.
    fn may_call(&self, origin: &str, host: &str) -> bool {
        let origin = origin.to_ascii_lowercase();
        self.origins.contains(&origin)
            || self.public.as_deref() == Some(&*origin)
            || origin.strip_prefix("http://") == Some(host)
    }
}

/// The single host of the request. Two hosts are refused; none is not HTTP/1.1.
fn named_host<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<Cow<'a, str>> {
    let mut named = headers.get_all(HOST).iter();
    let header = match (named.next(), named.next()) {
        (Some(host), None) => Some(lower(host.to_str().ok()?)),
        (None, _) => None,
        (Some(_), Some(_)) => return None,
    };
    let authority = uri.authority().map(|authority| lower(authority.as_str()));
    match (header, authority) {
        (Some(header), Some(authority)) if header != authority => None,
        (header, authority) => header.or(authority),
    }
}

/// Avoids a copy, because most hosts are already lower case.
fn lower(text: &str) -> Cow<'_, str> {
    let is_lower = !text.bytes().any(|byte| byte.is_ascii_uppercase());
    if is_lower { Cow::Borrowed(text) } else { Cow::Owned(text.to_ascii_lowercase()) }
}

fn split_port(host: &str) -> (&str, Option<u16>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !port.contains(']') => (name, Some(port.parse().unwrap_or(0))),
        Some(_) | None => (host, None),
    }
}

#[cfg(test)]
#[path = "host_tests.rs"]
mod tests;
