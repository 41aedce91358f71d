//! Whose connections are counted together.

use super::*;

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn the_addresses_of_one_ipv6_network_are_one_peer() {
    let counts = Arc::new(PeerCounts::default());
    let first = counts.seat(address("2001:db8:1:2::1"), 2, &[]);
    let second = counts.seat(address("2001:db8:1:2:ffff::2"), 2, &[]);

    assert!(first.is_some() && second.is_some());
    assert!(counts.seat(address("2001:db8:1:2::3"), 2, &[]).is_none());
    assert!(counts.seat(address("2001:db8:1:3::1"), 2, &[]).is_some(), "the network beside it is another peer");
    drop(first);
    assert!(counts.seat(address("2001:db8:1:2::3"), 2, &[]).is_some());
}

#[test]
fn an_ipv4_address_is_one_peer_however_it_is_written_and_loopback_has_no_limit() {
    let counts = Arc::new(PeerCounts::default());
    let seat = counts.seat(address("192.0.2.1"), 1, &[]);

    assert!(seat.is_some());
    assert!(counts.seat(address("::ffff:192.0.2.1"), 1, &[]).is_none());
    assert!(counts.seat(address("192.0.2.2"), 1, &[]).is_some());
    let local: Vec<_> = (0..3).map(|_| counts.seat(address("127.0.0.1"), 1, &[])).collect();
    assert!(local.iter().all(Option::is_some));
}

#[test]
fn a_trusted_proxy_has_no_limit_wherever_it_is() {
    let counts = Arc::new(PeerCounts::default());
    let proxies = ["192.0.2.0/30".parse().unwrap(), "2001:db8::1".parse().unwrap()];

    for (peer, expected) in
        [("192.0.2.1", 3), ("::ffff:192.0.2.2", 3), ("2001:db8::1", 3), ("192.0.2.9", 1), ("2001:db8::2", 1)]
    {
        let seats: Vec<_> = (0..3).filter_map(|_| counts.seat(address(peer), 1, &proxies)).collect();
        assert_eq!(seats.len(), expected, "{peer}");
    }
}
