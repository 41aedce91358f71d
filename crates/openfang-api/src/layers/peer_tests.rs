//! Whom a proxy names, and who may name anybody.

use super::*;

fn config(trusted: &[&str], forwarded_header: ForwardedHeader) -> Config {
    let trusted_proxies = trusted.iter().map(|range| range.parse().unwrap()).collect();
    Config { trusted_proxies, forwarded_header, ..Config::default() }
}

fn peer(socket: &str, header: ForwardedHeader, lines: &[&str], trusted: &[&str]) -> String {
    let mut headers = HeaderMap::new();
    let (written, other) = match header {
        ForwardedHeader::XForwardedFor => (X_FORWARDED_FOR, (FORWARDED, "for=192.0.2.99")),
        ForwardedHeader::Forwarded => (FORWARDED, (X_FORWARDED_FOR, "192.0.2.99")),
    };
    // A client can send the header that the proxy does not write.
    headers.append(other.0, other.1.parse().unwrap());
    for line in lines {
        headers.append(&written, line.parse().unwrap());
    }
    let client = ClientAddress::of(socket.parse().unwrap(), &headers, &config(trusted, header));
    assert!(!(client.is_proxied && client.is_here(client.address)), "behind a proxy nobody is on this machine");
    client.address.to_string()
}

#[test]
fn a_stranger_cannot_name_another_peer() {
    for (header, line) in [(ForwardedHeader::Forwarded, "for=127.0.0.1"), (ForwardedHeader::XForwardedFor, "127.0.0.1")]
    {
        assert_eq!(peer("192.0.2.1", header, &[line], &[]), "192.0.2.1");
        assert_eq!(peer("192.0.2.1", header, &[line], &["192.0.2.2", "10.0.0.0/8"]), "192.0.2.1");
    }
}

#[test]
fn trusted_proxies_name_the_last_address_that_is_none_of_theirs() {
    let rows = [
        (vec!["198.51.100.7"], "198.51.100.7"),
        (vec!["127.0.0.1, 198.51.100.7:4711"], "198.51.100.7"),
        (vec!["127.0.0.1", "[2001:db8::1]:80"], "2001:db8::1"),
        (vec!["2001:db8::1"], "2001:db8::1"),
        (vec!["192.0.2.66, 198.51.100.7, 10.0.0.9"], "198.51.100.7"),
        (vec!["192.0.2.66, 198.51.100.7", "10.0.0.9", " 10.1.0.9 "], "198.51.100.7"),
        (vec!["10.0.0.9, 10.1.0.9"], "10.0.0.9"),
        (vec!["198.51.100.7, unknown"], "10.0.0.1"),
        (vec!["198.51.100.7, unknown, 10.0.0.9"], "10.0.0.9"),
        (vec!["198.51.100.7,"], "10.0.0.1"),
        (vec!["127.0.0.1"], "127.0.0.1"),
        (vec![""], "10.0.0.1"),
        (vec![], "10.0.0.1"),
    ];
    for (lines, expected) in rows {
        let seen = peer("10.0.0.1", ForwardedHeader::XForwardedFor, &lines, &["10.0.0.0/8"]);
        assert_eq!(seen, expected, "{lines:?}");
    }
}

#[test]
fn the_header_of_the_standard_is_read_where_config_says_so() {
    let rows = [
        (vec!["for=198.51.100.7"], "198.51.100.7"),
        (vec!["for=127.0.0.1, for=\"198.51.100.7:4711\";proto=https"], "198.51.100.7"),
        (vec!["for=127.0.0.1", "For=\"[2001:db8::1]:80\""], "2001:db8::1"),
        (vec!["for=198.51.100.7, for=10.0.0.9;by=10.0.0.1"], "198.51.100.7"),
        (vec!["for=198.51.100.7, for=unknown"], "10.0.0.1"),
        (vec!["for=127.0.0.1"], "127.0.0.1"),
        (vec!["proto=https"], "10.0.0.1"),
        (vec!["for=_hidden"], "10.0.0.1"),
        (vec![], "10.0.0.1"),
    ];
    for (lines, expected) in rows {
        let seen = peer("10.0.0.1", ForwardedHeader::Forwarded, &lines, &["10.0.0.0/8"]);
        assert_eq!(seen, expected, "{lines:?}");
    }
}

#[test]
fn a_proxy_that_names_nobody_is_itself_and_not_this_machine() {
    let config = config(&["127.0.0.1"], ForwardedHeader::XForwardedFor);
    let (localhost, mut headers) = (IpAddr::from([127, 0, 0, 1]), HeaderMap::new());
    let own = ClientAddress::of(localhost, &headers, &config);
    headers.append(X_FORWARDED_FOR, "198.51.100.7".parse().unwrap());
    let other = ClientAddress::of(localhost, &headers, &config);

    assert_ne!(own.network(), other.network());
    assert!(!own.is_loopback() && !own.is_here(localhost));
    assert!(ClientAddress::of([127, 0, 0, 2].into(), &headers, &config).is_loopback());
}

#[test]
fn one_ipv6_network_is_one_peer() {
    let seen = |text: &str| ClientAddress::of(text.parse().unwrap(), &HeaderMap::new(), &Config::default()).network();
    assert_eq!(seen("2001:db8::1"), seen("2001:db8::ffff:1"));
    assert_ne!(seen("2001:db8::1"), seen("2001:db8:0:1::1"));
    assert_ne!(seen("127.0.0.1"), seen("127.0.0.2"));
    assert_eq!(seen("::ffff:192.0.2.1"), seen("192.0.2.1"));
}
