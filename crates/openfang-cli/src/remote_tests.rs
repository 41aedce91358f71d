//! Which servers a key may be sent to.

use super::*;

#[test]
fn a_server_is_named_by_its_origin_and_without_tls_only_on_this_machine() {
    for (text, origin) in [
        ("https://openfang.example.com", "https://openfang.example.com"),
        ("https://OpenFang.example.com:8443/", "https://openfang.example.com:8443"),
        ("https://openfang.example.com:443", "https://openfang.example.com"),
        ("http://localhost:50051", "http://localhost:50051"),
        ("http://127.0.0.1:1", "http://127.0.0.1:1"),
        ("http://[::1]:1/", "http://[::1]:1"),
    ] {
        assert_eq!(ServerOrigin::parse(text).unwrap().as_str(), origin);
    }
    for (text, why) in [
        ("http://openfang.example.com", "in the clear"),
        ("http://127.0.0.1.example.com", "in the clear"),
        ("https://ada:secret@openfang.example.com", "user name"),
        ("https://openfang.example.com/api", "after the host"),
        ("https://openfang.example.com?x=1", "after the host"),
        ("ftp://openfang.example.com", "only http"),
        ("openfang.example.com", "write it like"),
        ("", "write it like"),
    ] {
        let error = ServerOrigin::parse(text).unwrap_err().to_string();
        assert!(error.contains(why), "{text}: {error}");
    }
}
