//! The table: the narrowest row decides, both ends of every range count, and names are what they seem.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::*;

fn class(address: &str) -> Option<Class> {
    judge(address.parse().unwrap()).map(|special| special.class)
}

#[test]
fn both_ends_of_every_range_are_what_the_row_says_or_a_narrower_row() {
    for (net, special) in table::rows() {
        for address in [net.network(), net.broadcast()] {
            let narrower = table::rows()
                .filter(|(other, _)| other.contains(&address))
                .max_by_key(|(other, _)| other.prefix_len())
                .map(|(_, narrower)| narrower);

            let found = judge(address);

            let is_tunnel = matches!(special.name, "Teredo" | "6to4" | "IPv4-compatible" | "IPv4-translated");
            assert!(found == narrower || (is_tunnel && found.is_some()), "{address} of {net}: {found:?}");
            assert!(found.is_some(), "{address} of {net} is {}", special.name);
        }
    }
}

#[test]
fn the_neighbours_of_special_ranges_are_public() {
    for address in [
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.0.1.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "223.255.255.255",
        "2001:200::1",
        "2003::1",
        "2606:4700::1111",
        "3ffd::1",
    ] {
        assert_eq!(class(address), None, "{address}");
    }
}

#[test]
fn every_octet_of_ipv4_is_either_public_or_in_the_table_as_the_standard_library_sees_it() {
    // The standard library knows the stable ones of these ranges on its own.
    for number in (0..=u32::MAX).step_by(65_521) {
        let address = Ipv4Addr::from(number);
        let is_special_to_std = address.is_private()
            || address.is_loopback()
            || address.is_link_local()
            || address.is_broadcast()
            || address.is_documentation()
            || address.is_multicast()
            || address.is_unspecified();

        assert!(!is_special_to_std || judge(address.into()).is_some(), "{address}");
    }
}

#[test]
fn outside_2000_3_nothing_is_public() {
    for first in 0..=u16::MAX {
        let address = Ipv6Addr::new(first, 0x1234, 0x5678, 0x9abc, 0xdef0, 0x1234, 0x5678, 0x9abc);

        if !(0x2000..=0x3fff).contains(&first) {
            assert!(judge(address.into()).is_some(), "{address}");
        }
    }
}

#[test]
fn carried_addresses_are_judged_as_the_host_they_lead_to() {
    for (address, expected) in [
        ("::ffff:8.8.8.8", None),
        ("::ffff:127.0.0.1", Some(Class::Local)),
        ("64:ff9b::8.8.8.8", None),
        ("64:ff9b::10.0.0.1", Some(Class::Local)),
        ("64:ff9b::169.254.169.254", Some(Class::Metadata)),
        ("64:ff9b:1::8.8.8.8", Some(Class::Reserved)),
        ("64:ff9b:1::169.254.169.254", Some(Class::Metadata)),
        ("2002:808:808::1", Some(Class::Reserved)),
        ("2002:a9fe:a9fe::1", Some(Class::Metadata)),
    ] {
        assert_eq!(class(address), expected, "{address}");
    }
    assert_eq!(meant("::ffff:1.2.3.4".parse().unwrap()), "1.2.3.4".parse::<IpAddr>().unwrap());
    assert_eq!(meant("2606:4700::1".parse().unwrap()), "2606:4700::1".parse::<IpAddr>().unwrap());
}

#[test]
fn names_are_judged_by_their_end_and_metadata_by_the_whole() {
    for (name, expected) in [
        ("example.com", None),
        ("localhost.example.com", None),
        ("notlocalhost.com", None),
        ("mylocal.example", None),
        ("metadata.example.com", None),
        ("xn--bcher-kva.example.com", None),
        ("localhost", Some(Class::Local)),
        ("A.B.LOCAL.", Some(Class::Local)),
        ("internal", Some(Class::Local)),
        ("single", Some(Class::Local)),
        ("", Some(Class::Local)),
        ("METADATA.google.internal.", Some(Class::Metadata)),
    ] {
        assert_eq!(judge_name(name).map(|special| special.class), expected, "{name}");
    }
}
