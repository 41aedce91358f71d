//! The table of special ranges. The narrowest range that contains an address decides. An IPv6 address in none of them
//! is public inside 2000::/3 and reserved outside. Sources: the IANA special-purpose registries of both families, and
//! the documented metadata addresses of cloud providers.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{IpNet, Ipv4Net, Ipv6Net};

use super::{Class, Special};
use Class::{Local, Metadata, Reserved};

type Row = (IpNet, Class, &'static str);

const fn v4_row(address: [u8; 4], length: u8, class: Class, name: &'static str) -> Row {
    let [a, b, c, d] = address;
    (IpNet::V4(Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, d), length)), class, name)
}

const fn v6_row(address: [u16; 8], length: u8, class: Class, name: &'static str) -> Row {
    let [a, b, c, d, e, f, g, h] = address;
    (IpNet::V6(Ipv6Net::new_assert(Ipv6Addr::new(a, b, c, d, e, f, g, h), length)), class, name)
}

const TABLE: &[Row] = &[
    v4_row([0, 0, 0, 0], 8, Reserved, "this network"),
    v4_row([10, 0, 0, 0], 8, Local, "private network"),
    v4_row([100, 64, 0, 0], 10, Local, "carrier-grade NAT"),
    v4_row([100, 100, 100, 200], 32, Metadata, "Alibaba Cloud metadata"),
    v4_row([127, 0, 0, 0], 8, Local, "loopback"),
    v4_row([168, 63, 129, 16], 32, Metadata, "Azure platform services"),
    v4_row([169, 254, 0, 0], 16, Metadata, "link-local"),
    v4_row([172, 16, 0, 0], 12, Local, "private network"),
    v4_row([192, 0, 0, 0], 24, Reserved, "IETF protocol assignments"),
    v4_row([192, 0, 0, 192], 32, Metadata, "Oracle Cloud metadata"),
    v4_row([192, 0, 2, 0], 24, Reserved, "documentation"),
    v4_row([192, 31, 196, 0], 24, Reserved, "AS112"),
    v4_row([192, 52, 193, 0], 24, Reserved, "multicast tunnels"),
    v4_row([192, 88, 99, 0], 24, Reserved, "6to4 relay"),
    v4_row([192, 168, 0, 0], 16, Local, "private network"),
    v4_row([192, 175, 48, 0], 24, Reserved, "AS112"),
    v4_row([198, 18, 0, 0], 15, Reserved, "benchmarking"),
    v4_row([198, 51, 100, 0], 24, Reserved, "documentation"),
    v4_row([203, 0, 113, 0], 24, Reserved, "documentation"),
    v4_row([224, 0, 0, 0], 4, Reserved, "multicast"),
    v4_row([240, 0, 0, 0], 4, Reserved, "future use"),
    v4_row([255, 255, 255, 255], 32, Reserved, "broadcast"),
    v6_row([0, 0, 0, 0, 0, 0, 0, 0], 96, Reserved, "IPv4-compatible"),
    v6_row([0, 0, 0, 0, 0, 0, 0, 0], 128, Reserved, "unspecified"),
    v6_row([0, 0, 0, 0, 0, 0, 0, 1], 128, Local, "loopback"),
    v6_row([0, 0, 0, 0, 0xffff, 0, 0, 0], 96, Reserved, "IPv4-translated"),
    v6_row([0x64, 0xff9b, 1, 0, 0, 0, 0, 0], 48, Reserved, "local NAT64"),
    v6_row([0x100, 0, 0, 0, 0, 0, 0, 0], 64, Reserved, "discard"),
    v6_row([0x100, 0, 0, 1, 0, 0, 0, 0], 64, Reserved, "dummy prefix"),
    v6_row([0x2001, 0, 0, 0, 0, 0, 0, 0], 23, Reserved, "IETF protocol assignments"),
    v6_row([0x2001, 0, 0, 0, 0, 0, 0, 0], 32, Reserved, "Teredo"),
    v6_row([0x2001, 2, 0, 0, 0, 0, 0, 0], 48, Reserved, "benchmarking"),
    v6_row([0x2001, 0x10, 0, 0, 0, 0, 0, 0], 28, Reserved, "ORCHID"),
    v6_row([0x2001, 0x20, 0, 0, 0, 0, 0, 0], 28, Reserved, "ORCHIDv2"),
    v6_row([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32, Reserved, "documentation"),
    v6_row([0x2002, 0, 0, 0, 0, 0, 0, 0], 16, Reserved, "6to4"),
    v6_row([0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0], 48, Reserved, "AS112"),
    v6_row([0x3ffe, 0, 0, 0, 0, 0, 0, 0], 16, Reserved, "6bone"),
    v6_row([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20, Reserved, "documentation"),
    v6_row([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16, Reserved, "segment routing"),
    v6_row([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7, Local, "unique local"),
    v6_row([0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254], 128, Metadata, "EC2 metadata"),
    v6_row([0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254], 128, Metadata, "Google Cloud metadata"),
    v6_row([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10, Metadata, "link-local"),
    v6_row([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10, Reserved, "site-local"),
    v6_row([0xff00, 0, 0, 0, 0, 0, 0, 0], 8, Reserved, "multicast"),
];

const GLOBAL_UNICAST: Ipv6Net = Ipv6Net::new_assert(Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// The class of an IPv4 address by the table.
pub(super) fn v4(address: Ipv4Addr) -> Option<Special> {
    narrowest(IpAddr::V4(address))
}

/// The class of an IPv6 address by the table, regardless of embedded addresses.
pub(super) fn v6(address: Ipv6Addr) -> Option<Special> {
    narrowest(IpAddr::V6(address)).or_else(|| {
        (!GLOBAL_UNICAST.contains(&address)).then_some(Special { class: Reserved, name: "not global unicast" })
    })
}

/// Whether the range contains only metadata addresses, so that an allow-list entry for it would have no effect.
pub(crate) fn is_all_metadata(range: &IpNet) -> bool {
    TABLE.iter().any(|(net, class, _)| *class == Metadata && net.contains(range))
}

fn narrowest(address: IpAddr) -> Option<Special> {
    let holding = TABLE.iter().filter(|(net, ..)| net.contains(&address));
    holding
        .max_by_key(|(net, ..)| net.prefix_len())
        .map(|&(_, class, name)| Special { class, name })
}

#[cfg(test)]
pub(super) fn rows() -> impl Iterator<Item = (IpNet, Special)> {
    TABLE.iter().map(|&(net, class, name)| (net, Special { class, name }))
}
