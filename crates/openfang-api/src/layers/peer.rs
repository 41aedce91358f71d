//! Who is at the other end: the socket's peer, or, behind a proxy that config trusts, the client that the proxy names.

use std::net::IpAddr;

use http::header::FORWARDED;
use http::{HeaderMap, HeaderName};
use openfang_types::config::{Config, ForwardedHeader, IpRange};

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// Whose requests are counted together: an address, or an IPv6 network, with how it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClientAddress {
    address: IpAddr,
    /// Whether it came through a trusted proxy. Such a client is never on this machine, whatever its address is there.
    is_proxied: bool,
}

impl ClientAddress {
    /// Who sends a request.
    pub(super) fn of(socket: IpAddr, headers: &HeaderMap, config: &Config) -> Self {
        let socket = socket.to_canonical();
        let is_trusted = |address: IpAddr| config.trusted_proxies.iter().any(|range: &IpRange| range.contains(address));
        if !is_trusted(socket) {
            return Self { address: socket, is_proxied: false };
        }
        // Each proxy appends whom it saw. So names are believed from the last one on, for as long as trusted proxies wrote
        // them; a proxy that names nobody speaks for itself.
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

    /// Whether it is this machine, which listens on `listen`.
    pub(super) fn is_here(self, listen: IpAddr) -> bool {
        // The unspecified address is nobody's.
        self.is_loopback() || (!self.is_proxied && self.address == listen && !listen.is_unspecified())
    }

    /// Whether it came over loopback, through no proxy.
    pub(super) const fn is_loopback(self) -> bool {
        !self.is_proxied && self.address.is_loopback()
    }

    /// The network that it is in, with others that one hand can have: those take turns.
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

    /// The same as the peer that its requests are counted for.
    pub(super) fn network(self) -> Self {
        Self { address: network_of(self.address), ..self }
    }
}

/// One subscriber has a whole IPv6 network of 64 bits; it is one peer.
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

/// Whom the proxies name, the last first; none for one that cannot be read.
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
