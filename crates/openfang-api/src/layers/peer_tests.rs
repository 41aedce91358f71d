//! Whom a proxy names, and who may name anybody.

use super::*;

fn peer(socket: &str, forwarded: &[&str], trusted: &[&str]) -> String {
    let mut headers = HeaderMap::new();
    for value in forwarded {
        headers.append(FORWARDED, value.parse().unwrap());
    }
    let trusted: Vec<IpAddr> = trusted.iter().map(|ip| ip.parse().unwrap()).collect();
    of(socket.parse().unwrap(), &headers, &trusted).to_string()
}

#[test]
fn a_stranger_cannot_name_another_peer() {
    assert_eq!(peer("192.0.2.1", &["for=127.0.0.1"], &[]), "192.0.2.1");
    assert_eq!(peer("192.0.2.1", &["for=127.0.0.1"], &["192.0.2.2"]), "192.0.2.1");
}

#[test]
fn a_trusted_proxy_names_the_last_hop() {
    let proxy = "127.0.0.1";
    let rows = [
        (vec!["for=198.51.100.7"], "198.51.100.7"),
        (vec!["for=127.0.0.1, for=\"198.51.100.7:4711\";proto=https"], "198.51.100.7"),
        (vec!["for=127.0.0.1", "For=\"[2001:db8::1]:80\""], "2001:db8::1"),
        (vec!["for=127.0.0.1, for=unknown"], "0.0.0.0"),
        (vec!["for=127.0.0.1"], "0.0.0.0"),
        (vec!["proto=https"], "0.0.0.0"),
        (vec!["for=unknown"], "0.0.0.0"),
        (vec![], "0.0.0.0"),
    ];
    for (forwarded, expected) in rows {
        assert_eq!(peer(proxy, &forwarded, &[proxy]), expected, "{forwarded:?}");
    }
}
