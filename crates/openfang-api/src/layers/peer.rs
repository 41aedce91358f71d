//! Who is at the other end: the socket's peer, or, behind a proxy that config trusts, whom that proxy names.

use std::net::IpAddr;

use http::HeaderMap;
use http::header::FORWARDED;

/// The address that limits count and that decides whether a caller is local.
pub(super) fn of(socket: IpAddr, headers: &HeaderMap, trusted: &[IpAddr]) -> IpAddr {
    let socket = socket.to_canonical();
    if !trusted.contains(&socket) {
        return socket;
    }
    // The proxy appends whom it saw; everything before that is hearsay, also when the last hop names nobody.
    let last = headers.get_all(FORWARDED).iter().next_back().and_then(|value| value.to_str().ok());
    match last.and_then(|value| named_peer(value.rsplit(',').next()?)) {
        // Somebody behind the proxy is never local, whatever it is called there.
        Some(peer) if peer.is_loopback() => IpAddr::from([0, 0, 0, 0]),
        Some(peer) => peer,
        None => IpAddr::from([0, 0, 0, 0]),
    }
}

fn named_peer(hop: &str) -> Option<IpAddr> {
    let node = hop.split(';').find_map(|pair| {
        let (key, value) = pair.split_once('=')?;
        key.trim().eq_ignore_ascii_case("for").then(|| value.trim().trim_matches('"'))
    })?;
    let address = match node.strip_prefix('[') {
        Some(six) => six.split(']').next()?,
        None => node.split(':').next()?,
    };
    address.parse::<IpAddr>().ok().map(|ip| ip.to_canonical())
}

#[cfg(test)]
#[path = "peer_tests.rs"]
mod tests;
