//! IPv4 addresses embedded in IPv6 addresses. Mapped and NAT64 addresses lead to the IPv4 host they carry, so that host
//! is judged. Addresses of deprecated tunnels (6to4, Teredo, ISATAP, compatible, translated) are refused. If they carry
//! a metadata address they count as metadata, so that no allow-list can open them.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::table;
use super::{Class, Special};

/// The IPv4 address that a mapped (`::ffff:a.b.c.d`) or NAT64 (`64:ff9b::a.b.c.d`) address leads to.
pub(super) fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(joined(high, low)),
        _ => None,
    }
}

pub(super) fn judge(address: Ipv6Addr) -> Option<Special> {
    if let Some(v4) = carried(address) {
        return table::v4(v4);
    }
    if let Some(hidden) = tunnelled(address).filter(|special| special.class == Class::Metadata) {
        return Some(hidden);
    }
    let isatap = is_isatap(address).then_some(Special { class: Class::Reserved, name: "ISATAP" });
    match table::v6(address) {
        // A link-local ISATAP address stays in the metadata class.
        Some(special) if special.class == Class::Metadata => Some(special),
        special => isatap.or(special),
    }
}

/// The class of the IPv4 endpoints of a tunnel, the most restricted first.
fn tunnelled(address: Ipv6Addr) -> Option<Special> {
    let judged = ends(address).into_iter().flatten().filter_map(table::v4);
    judged.max_by_key(|special| special.class == Class::Metadata)
}

fn ends(address: Ipv6Addr) -> [Option<Ipv4Addr>; 2] {
    match address.segments() {
        [0x2002, high, low, ..] => [Some(joined(high, low)), None],
        // The client's address is stored inverted.
        [0x2001, 0, high, low, .., client_high, client_low] => {
            [Some(joined(high, low)), Some(joined(!client_high, !client_low))]
        }
        [0, 0, 0, 0, 0, 0, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] => [Some(joined(high, low)), None],
        // A local NAT64 prefix can have any length; the common one puts the address at the end.
        [0x64, 0xff9b, 1, .., high, low] => [Some(joined(high, low)), None],
        [.., high, low] if is_isatap(address) => [Some(joined(high, low)), None],
        _ => [None, None],
    }
}

fn is_isatap(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [.., 0x0000 | 0x0200, 0x5efe, _, _])
}

fn joined(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from((u32::from(high) << 16) | u32::from(low))
}
