//! Every way to write an address that strangers must not reach: a table of addresses times a table of spellings.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::address::Class::{self, Local, Metadata, Reserved};

/// A host as it stands in a URL.
#[derive(Debug, Clone)]
pub(super) struct Form {
    pub(super) host: String,
    /// What it means; none for names and for what is no host at all.
    pub(super) address: Option<IpAddr>,
    pub(super) class: Class,
}

const V4: &[(&str, Class)] = &[
    ("127.0.0.1", Local),
    ("127.255.255.254", Local),
    ("10.0.0.1", Local),
    ("10.255.255.255", Local),
    ("172.16.0.1", Local),
    ("172.31.255.255", Local),
    ("192.168.0.1", Local),
    ("192.168.255.255", Local),
    ("100.64.0.1", Local),
    ("100.127.255.255", Local),
    ("169.254.169.254", Metadata),
    ("169.254.170.2", Metadata),
    ("169.254.0.1", Metadata),
    ("100.100.100.200", Metadata),
    ("168.63.129.16", Metadata),
    ("192.0.0.192", Metadata),
    ("0.0.0.0", Reserved),
    ("0.255.255.255", Reserved),
    ("192.0.0.1", Reserved),
    ("192.0.2.1", Reserved),
    ("192.31.196.1", Reserved),
    ("192.52.193.1", Reserved),
    ("192.88.99.1", Reserved),
    ("192.175.48.1", Reserved),
    ("198.18.0.1", Reserved),
    ("198.19.255.255", Reserved),
    ("198.51.100.1", Reserved),
    ("203.0.113.1", Reserved),
    ("224.0.0.1", Reserved),
    ("239.255.255.255", Reserved),
    ("240.0.0.1", Reserved),
    ("255.255.255.255", Reserved),
];

const V6: &[(&str, Class)] = &[
    ("::1", Local),
    ("0:0:0:0:0:0:0:1", Local),
    ("0000:0000:0000:0000:0000:0000:0000:0001", Local),
    ("fc00::1", Local),
    ("FD12:3456:789A::1", Local),
    ("fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", Local),
    ("fd00:ec2::254", Metadata),
    ("FD00:0EC2:0:0:0:0:0:0254", Metadata),
    ("fd20:ce::254", Metadata),
    ("fe80::1", Metadata),
    ("fe80::a9fe:a9fe", Metadata),
    ("febf::1", Metadata),
    ("fe80::5efe:10.0.0.1", Metadata),
    ("::", Reserved),
    ("64:ff9b:1::1", Reserved),
    ("100::1", Reserved),
    ("100:0:0:1::1", Reserved),
    ("2001:2::1", Reserved),
    ("2001:10::1", Reserved),
    ("2001:20::1", Reserved),
    ("2001:db8::1", Reserved),
    ("2620:4f:8000::1", Reserved),
    ("3ffe::1", Reserved),
    ("3fff::1", Reserved),
    ("4000::1", Reserved),
    ("5f00::1", Reserved),
    ("fec0::1", Reserved),
    ("ff02::1", Reserved),
];

const NAMES: &[(&str, Class)] = &[
    ("localhost", Local),
    ("LOCALHOST", Local),
    ("localhost.", Local),
    ("LocalHost.", Local),
    ("%6cocalhost", Local),
    ("ｌｏｃａｌｈｏｓｔ", Local),
    ("loc\u{ad}alhost", Local),
    ("a.localhost", Local),
    ("localhost.localdomain", Local),
    ("printer.local", Local),
    ("PRINTER.LOCAL.", Local),
    ("db.internal", Local),
    ("router.home.arpa", Local),
    ("x.onion", Local),
    ("intranet", Local),
    ("kubernetes.default.svc.cluster.local", Local),
    ("metadata", Metadata),
    ("metadata.google.internal", Metadata),
    ("metadata.google.internal.", Metadata),
    ("METADATA.GOOGLE.INTERNAL", Metadata),
    ("metadata。google。internal", Metadata),
    ("metadata.goog", Metadata),
    ("instance-data", Metadata),
    ("instance-data.ec2.internal", Metadata),
    ("metadata.azure.internal", Metadata),
];

/// Forms that are no host at all, whoever asks.
pub(super) const NONSENSE: &[&str] = &[
    "[fe80::1%25eth0]",
    "[fe80::1%eth0]",
    "[::1]]",
    "[127.0.0.1]",
    "127.0.0.1.1",
    "256.256.256.256",
    "0x1.0x2.0x3.0x100000000",
    "1.2.3.08",
    "[::ffff:0x7f.1]",
    "",
    "exa mple.com",
];

/// All forms, none twice.
pub(super) fn all() -> Vec<Form> {
    let mut forms = BTreeMap::new();
    let mut add = |host: String, address: Option<IpAddr>, class| {
        forms.insert(host.clone(), Form { host, address, class });
    };
    for (text, class) in V4 {
        let address: Ipv4Addr = text.parse().unwrap();
        for spelling in spellings(address) {
            add(spelling, Some(address.into()), *class);
        }
        for carrier in carriers(address) {
            add(format!("[{carrier}]"), Some(carrier.into()), *class);
            add(format!("[{}]", spelled_out(carrier)), Some(carrier.into()), *class);
        }
        let tunnel_class = if *class == Metadata { Metadata } else { Reserved };
        for tunnel in tunnels(address) {
            add(format!("[{tunnel}]"), Some(tunnel.into()), tunnel_class);
        }
    }
    for (text, class) in V6 {
        add(format!("[{text}]"), Some(text.parse().unwrap()), *class);
    }
    for (name, class) in NAMES {
        add((*name).to_owned(), None, *class);
    }
    forms.into_values().collect()
}

/// The spellings of an IPv4 address that a URL may hold.
fn spellings(address: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = address.octets();
    let number = u32::from(address);
    let dotted = address.to_string();
    vec![
        format!("{dotted}."),
        number.to_string(),
        format!("{number:#x}"),
        format!("0X{number:X}"),
        format!("0{number:o}"),
        format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("000{a:o}.00{b:o}.0{c:o}.{d}"),
        format!("{a}.{}", number & 0x00ff_ffff),
        format!("{a}.{b}.{}", number & 0xffff),
        format!("{a:#x}.0{b:o}.{c}.{d:#x}"),
        dotted.chars().map(|one| one.to_digit(10).map_or(one, full_width)).collect(),
        dotted.chars().map(|one| one.to_digit(10).map_or(one, circled)).collect(),
        dotted.replace('.', "。"),
        dotted.replace('.', "．"),
        dotted.replace('.', "%2e"),
        dotted.chars().map(|one| format!("%{:02x}", u32::from(one))).collect(),
        dotted,
    ]
}

fn full_width(digit: u32) -> char {
    char::from_u32(0xff10 + digit).unwrap()
}

fn circled(digit: u32) -> char {
    if digit == 0 { '⓪' } else { char::from_u32(0x2460 + digit - 1).unwrap() }
}

/// IPv6 addresses that lead to the IPv4 address.
fn carriers(address: Ipv4Addr) -> [Ipv6Addr; 2] {
    let (high, low) = halves(address);
    [address.to_ipv6_mapped(), Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low)]
}

/// IPv6 addresses of the tunnels of old that end at the IPv4 address.
fn tunnels(address: Ipv4Addr) -> Vec<Ipv6Addr> {
    let (high, low) = halves(address);
    let mut tunnels = vec![
        Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
        Ipv6Addr::new(0x2001, 0, high, low, 0, 0, !0x0808, !0x0808),
        Ipv6Addr::new(0x2001, 0, 0x0808, 0x0808, 0, 0, !high, !low),
        Ipv6Addr::new(0x2606, 0x4700, 0, 0, 0, 0x5efe, high, low),
        Ipv6Addr::new(0x2606, 0x4700, 0, 0, 0x200, 0x5efe, high, low),
        Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
    ];
    // The compatible form of 0.0.0.0 is the unspecified address, which is in the other table.
    if !address.is_unspecified() {
        tunnels.push(Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low));
    }
    tunnels
}

fn halves(address: Ipv4Addr) -> (u16, u16) {
    let [a, b, c, d] = address.octets();
    (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
}

fn spelled_out(address: Ipv6Addr) -> String {
    let groups: Vec<String> = address.segments().iter().map(|group| format!("{group:04X}")).collect();
    groups.join(":")
}
