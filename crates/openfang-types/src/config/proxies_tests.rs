//! Which proxies there can be.

use super::*;

#[test]
fn a_range_is_an_address_or_a_network_and_never_everybody() {
    for (text, inside, outside) in [
        ("127.0.0.1", "127.0.0.1", "127.0.0.2"),
        ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
        ("10.1.2.3/8", "10.255.0.1", "11.0.0.1"),
        ("fd00::/8", "fd12::1", "fe00::1"),
        ("::ffff:192.0.2.1", "192.0.2.1", "192.0.2.2"),
        ("192.0.2.0/24", "::ffff:192.0.2.9", "::ffff:192.0.3.9"),
    ] {
        let range: IpRange = text.parse().unwrap();
        assert!(range.contains(inside.parse().unwrap()), "{text} {inside}");
        assert!(!range.contains(outside.parse().unwrap()), "{text} {outside}");
        assert_eq!(range.to_string().parse(), Ok(range), "{text}");
    }
    for text in ["", "localhost", "10.0.0.0/33", "10.0.0/8", "10.0.0.0/"] {
        assert_eq!(text.parse::<IpRange>(), Err(IpRangeError::Unreadable(text.to_owned())));
    }
    for text in ["0.0.0.0/0", "::/0"] {
        assert_eq!(text.parse::<IpRange>(), Err(IpRangeError::Everybody(text.to_owned())));
    }
}

#[test]
fn config_names_the_header_as_it_is_written() {
    #[derive(Deserialize)]
    struct Written {
        header: ForwardedHeader,
    }
    let read = |text: &str| toml::from_str::<Written>(&format!("header = {text:?}")).map(|written| written.header);
    assert_eq!(read("x-forwarded-for"), Ok(ForwardedHeader::XForwardedFor));
    assert_eq!(read("forwarded"), Ok(ForwardedHeader::Forwarded));
    assert!(read("x-real-ip").is_err());
}
