//! What is refused before it is kept (PSH-01, PSH-02), and what a configuration is called.

use super::*;

/// What strangers may not name, in the spellings people try; the table of all of them is in egress.
const OUT_OF_REACH: &[&str] = &[
    "2130706433",
    "0x7f.1",
    "0x7f000001",
    "017700000001",
    "0177.0.0.1",
    "127.1",
    "127.0.0.1",
    "127.0.0.1.",
    "127.255.255.254",
    "①②⑦.⓪.⓪.①",
    "１２７.０.０.１",
    "127。0。0。1",
    "0",
    "0.0.0.0",
    "2852039166",
    "[::]",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::169.254.169.254]",
    "[2002:7f00:1::1]",
    "[::127.0.0.1]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "[fc00::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[2001:db8::1]",
    "localhost",
    "localhost.",
    "LOCALHOST",
    "a.localhost",
    "%6cocalhost",
    "169.254.169.254",
    "169.254.169.254.",
    "0xa9fea9fe",
    "metadata.google.internal",
    "METADATA.google.internal.",
    "metadata",
    "instance-data",
    "100.100.100.200",
    "168.63.129.16",
    "10.0.0.1",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "100.64.0.1",
    "198.18.0.1",
    "192.0.0.1",
    "192.0.2.1",
    "203.0.113.9",
    "224.0.0.1",
    "255.255.255.255",
    "intranet",
    "printer.local",
    "db.internal",
    "router.home.arpa",
];

const NONSENSE: &[&str] = &[
    "",
    "hooks.example.com/path",
    "//hooks.example.com/",
    "http://",
    "http:///path",
    "file:///etc/passwd",
    "gopher://hooks.example.com/",
    "ftp://hooks.example.com/",
    "ws://hooks.example.com/",
    "javascript:alert(1)",
    "http://user:password@hooks.example.com/",
    "http://hooks.example.com:22/",
    "http://hooks.example.com:25/",
    "http://hooks.example.com:0/",
    "http://hooks.example.com:6000/",
    "http://hooks .example.com/",
    "http://[::1%25eth0]/",
    "http://127.0.0.1.1/",
];

fn push(url: &str) -> PushNotificationConfig {
    PushNotificationConfig { id: None, url: url.to_owned(), token: None, authentication: None }
}

fn check(push: PushNotificationConfig) -> Result<CheckedPush, KernelError> {
    checked(push, Origin::V10, &Guard::default())
}

#[track_caller]
fn refused(push: PushNotificationConfig, expected: &str) -> String {
    match check(push) {
        Err(KernelError::InvalidPush { field, why }) => {
            assert_eq!(field, expected, "{why}");
            why
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_strangers_may_not_reach_is_refused_however_it_is_written() {
    for host in OUT_OF_REACH {
        for url in [format!("http://{host}/"), format!("https://{host}:8443/x?y"), format!("http:\\\\{host}\\x")] {
            let why = refused(push(&url), "url");

            assert!(why.starts_with("is refused: "), "{url}: {why}");
        }
    }
    for url in NONSENSE {
        refused(push(url), "url");
    }
    refused(push(&format!("https://hooks.example.com/{}", "x".repeat(10_000))), "url");
}

#[test]
fn what_the_operator_allows_may_be_named_and_metadata_never() {
    let guard = Guard::allowing(["127.0.0.0/8", "db.internal"]).unwrap();
    for url in ["http://127.0.0.1:8080/", "http://2130706433/", "http://db.internal/"] {
        assert!(checked(push(url), Origin::V10, &guard).is_ok(), "{url}");
    }
    assert!(checked(push("http://169.254.169.254/"), Origin::V10, &guard).is_err());
}

#[test]
fn secrets_that_could_end_a_header_or_fill_one_are_refused() {
    let long = "x".repeat(1024 * 1024);
    for text in ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "\u{7f}", "\u{e4}", "\u{1f980}", "a\tb", &long] {
        let secret = || Some(Secret::new(text.to_owned()));
        let with_token = PushNotificationConfig { token: secret(), ..push("https://hooks.example.com/") };
        let authentication = PushAuthentication { scheme: "Bearer".to_owned(), credentials: secret() };
        let with_credentials =
            PushNotificationConfig { authentication: Some(authentication), ..push("https://hooks.example.com/") };

        for why in [refused(with_token, "token"), refused(with_credentials, "authentication.credentials")] {
            assert!(why.len() < 200 && !why.contains("Evil"), "it quotes nothing: {why}");
        }
    }
    for scheme in ["", "Bear er", "Bearer\r\n", "Bearer:", "\u{e4}", &"x".repeat(65)] {
        let credentials = Some(Secret::new("key".to_owned()));
        let authentication = PushAuthentication { scheme: scheme.to_owned(), credentials };
        let push =
            PushNotificationConfig { authentication: Some(authentication), ..push("https://hooks.example.com/") };

        refused(push, "authentication.scheme");
    }
}

#[test]
fn names_of_a_peer_are_taken_if_they_can_be_shown() {
    let named = |id: &str| PushNotificationConfig { id: Some(id.to_owned()), ..push("https://hooks.example.com/") };
    for id in ["a\nb", "a\0", &"x".repeat(PEER_ID_MAX_BYTES + 1)] {
        refused(named(id), "id");
    }
    let fresh = Uuid::from_u128(2);
    let called = |push: PushNotificationConfig, origin| {
        let checked = checked(push, origin, &Guard::default()).unwrap();
        checked.named(|| fresh).id
    };

    for origin in Origin::ALL {
        assert_eq!(called(named("mine \u{1f980}"), origin), "mine \u{1f980}");
    }
    for origin in [Origin::OpenFangA2a, Origin::V01, Origin::V03] {
        assert_eq!(called(named(""), origin), ONLY_ONE, "the next one without a name takes its place");
    }
    for origin in [Origin::OpenFang, Origin::V10] {
        assert_eq!(called(push("https://hooks.example.com/"), origin), fresh.to_string());
    }
}

#[test]
fn empty_texts_are_none() {
    let empty = || Some(Secret::new(String::new()));
    let authentication = Some(PushAuthentication { scheme: String::new(), credentials: empty() });
    let push = PushNotificationConfig { token: empty(), authentication, ..push("https://hooks.example.com/a?b=c") };

    let checked = check(push).unwrap();

    assert_eq!((checked.token, checked.authorization), (None, None));
    assert_eq!(checked.url, "https://hooks.example.com/a?b=c");
}

#[test]
fn a_host_has_one_name_however_it_is_written() {
    for (url, host) in [
        ("https://Hooks.Example.COM./x", "hooks.example.com"),
        ("http://hooks.example.com:8080/", "hooks.example.com"),
        ("http://134744072/", "8.8.8.8"),
        ("http://[::ffff:8.8.8.8]/", "8.8.8.8"),
        ("http://[2606:4700::1111]:8443/", "2606:4700::1111"),
    ] {
        assert_eq!(check(push(url)).unwrap().host, host, "{url}");
    }
}
