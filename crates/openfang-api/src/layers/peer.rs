//! The client's address: the socket's peer or, behind a trusted proxy, the client the proxy names.

use std::net::IpAddr;

use http::header::{FORWARDED, VIA};
use http::{HeaderMap, HeaderName};
use openfang_types::config::{Config, ForwardedHeader, IpRange};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
/// Headers that proxies add to requests.
const PROXY_HEADERS: [HeaderName; 6] = [
    X_FORWARDED_FOR,
    FORWARDED,
    VIA,
    HeaderName::from_static("x-real-ip"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-proto"),
];

/// The unit of rate limiting: an address or an IPv6 network, and whether it came through a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClientAddress {
    address: IpAddr,
    /// Whether it came through a trusted proxy. Such a client is never on this machine, whatever its address is.
    is_proxied: bool,
}

impl ClientAddress {
    /// The client of a request.
    pub(super) fn of(socket: IpAddr, headers: &HeaderMap, config: &Config) -> Self {
        let socket = socket.to_canonical();
        let is_trusted = |address: IpAddr| config.trusted_proxies.iter().any(|range: &IpRange| range.contains(address));
        if !is_trusted(socket) {
            return Self { address: socket, is_proxied: false };
        }
        // Each proxy appends the address it saw. So the list is trusted from its end, as long as trusted proxies wrote
        // it. A proxy that names nobody counts as the client.
        let mut address = socket;
        for named in named(headers, config.forwarded_header) {
            let Some(named) = named else { break };
            address = named;
            if !is_trusted(named) {
                break;
            }
        }
        Self { address, is_proxied: true }
    }

    /// Whether the client is this machine, which listens on `listen`.
    pub(super) fn is_here(self, listen: IpAddr) -> bool {
        // No client has the unspecified address.
        self.is_loopback() || (!self.is_proxied && self.address == listen && !listen.is_unspecified())
    }

    /// Whether it came over loopback, without a proxy.
    pub(super) const fn is_loopback(self) -> bool {
        !self.is_proxied && self.address.is_loopback()
    }

    /// Whether a secret that lies in a file of this machine was sent from this machine. A proxy on this machine may be trusted,
    /// so its address alone does not tell, but every proxy leaves a trace in the headers and the command line does not.
    pub(super) fn may_prove_this_machine(self, headers: &HeaderMap, listen: IpAddr) -> bool {
        let has_no_trace = || PROXY_HEADERS.iter().all(|name| !headers.contains_key(name));
        self.is_here(listen) || (self.address.is_loopback() && has_no_trace())
    }

    /// The larger network of the address, which one party may control. Its members share a turn.
    pub(super) fn neighbourhood(self) -> IpAddr {
        match self.address {
            IpAddr::V4(four) => {
                let [a, b, c, _] = four.octets();
                IpAddr::from([a, b, c, 0])
            }
            IpAddr::V6(six) => {
                let [a, b, c, ..] = six.segments();
                IpAddr::from([a, b, c, 0, 0, 0, 0, 0])
            }
        }
    }

    /// The client as the unit of rate limiting.
    pub(super) fn network(self) -> Self {
        Self { address: network_of(self.address), ..self }
    }
}

/// A subscriber has a whole /64 IPv6 network, so it counts as one peer.
pub(crate) fn network_of(peer: IpAddr) -> IpAddr {
    match peer {
        IpAddr::V4(_) => peer,
        IpAddr::V6(six) if six.is_loopback() => peer,
        IpAddr::V6(six) => {
            let [a, b, c, d, ..] = six.segments();
            IpAddr::from([a, b, c, d, 0, 0, 0, 0])
        }
    }
}

/// The addresses in the proxy headers, the last first; none for an unreadable one.
fn named(headers: &HeaderMap, header: ForwardedHeader) -> impl Iterator<Item = Option<IpAddr>> {
    let name = match header {
        ForwardedHeader::XForwardedFor => &X_FORWARDED_FOR,
        ForwardedHeader::Forwarded => &FORWARDED,
    };
    let lines = headers.get_all(name).iter().rev();
    lines.flat_map(move |line| {
        let hops = line.to_str().unwrap_or("unreadable").rsplit(',');
        hops.map(move |hop| match header {
            ForwardedHeader::XForwardedFor => address(hop.trim()),
            ForwardedHeader::Forwarded => for_node(hop),
        })
    })
}

/// The node that `for=` names in one element of `Forwarded`.
fn for_node(hop: &str) -> Option<IpAddr> {
    let node = hop.split(';').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        key.trim().eq_ignore_ascii_case("for").then(|| value.trim().trim_matches('"'))
    })?;
    address(node)
}

/// An address, with or without a port.
fn address(node: &str) -> Option<IpAddr> {
    if let Ok(address) = node.parse::<IpAddr>() {
        return Some(address.to_canonical());
    }
    let address = match node.strip_prefix('[') {
        Some(six) => six.split(']').next()?,
        None => node.split(':').next()?,
    };
    address.parse::<IpAddr>().ok().map(|ip| ip.to_canonical())
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
