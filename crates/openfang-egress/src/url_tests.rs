//! What makes a URL one that may be asked for, and what of it is shown.

use openfang_types::limits::URL_MAX_BYTES;

use crate::address::Class;

use super::*;

fn refused(url: &str) -> &'static str {
    let guard = Guard::default();
    let (operator, foreign) = (guard.operator(url).unwrap_err(), guard.foreign(url).unwrap_err());
    assert_eq!(operator, foreign);
    operator.reason()
}

#[test]
fn what_is_no_web_url_is_refused_to_everybody() {
    for (url, reason) in [
        ("", "malformed"),
        ("example.com", "malformed"),
        ("/path", "malformed"),
        ("http://", "no_host"),
        ("https:///", "no_host"),
        ("file:///etc/passwd", "scheme"),
        ("ftp://example.com/", "scheme"),
        ("gopher://example.com/", "scheme"),
        ("data:text/plain,x", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("ws://example.com/", "scheme"),
        ("http+unix://socket/", "scheme"),
        ("http://user@example.com/", "credentials"),
        ("http://user:password@example.com/", "credentials"),
        ("http://:password@example.com/", "credentials"),
        ("http://example.com@127.0.0.1/", "credentials"),
        ("http://example.com:0/", "port"),
        ("http://example.com:99999/", "malformed"),
        ("http://exa mple.com/", "malformed"),
        ("http://exa\"mple.com/", "malformed"),
        ("http://exa{mple.com/", "malformed"),
        ("http://exa*mple.com/", "malformed"),
    ] {
        assert_eq!(refused(url), reason, "{url}");
    }
    let long = format!("http://example.com/{}", "x".repeat(URL_MAX_BYTES));
    assert_eq!(refused(&long), "too_long");
    let longer_when_encoded = format!("http://example.com/{}", "ä".repeat(URL_MAX_BYTES / 4));
    assert_eq!(refused(&longer_when_encoded), "too_long");
}

#[test]
fn what_looks_like_another_host_is_judged_by_the_one_that_is_asked() {
    let guard = Guard::default();
    for (url, host) in [
        ("http://example.com#@127.0.0.1/", "example.com"),
        ("http://example.com?@127.0.0.1/", "example.com"),
        ("http://127.0.0.1.example.com/", "127.0.0.1.example.com"),
        ("  http://example.com/\n", "example.com"),
    ] {
        assert_eq!(guard.foreign(url).unwrap().origin().host(), host, "{url:?}");
    }
    assert!(guard.foreign("http://127.0.0.1\\@example.com/").is_err());
}

#[test]
fn a_strangers_url_that_parsers_read_as_another_text_is_refused_and_has_no_host() {
    let guard = Guard::default();
    for url in [
        "h\tttp:\\\\example.com/",
        "h\nttp:/\\example.com/",
        "\u{1}http:\\\\example.com/",
        "http:\\\\example.com/",
        "http://exam\tple.com/",
        "http://example.com\\@127.0.0.1/",
        "http://example.com/\r\nx",
        "http://example.com/a\\b",
    ] {
        assert_eq!(guard.foreign(url).unwrap_err().reason(), "spelling", "{url:?}");
        assert_eq!(host_name_of(url), None, "{url:?}");
    }
    assert_eq!(host_name_of("\u{a0}h\tttp://example.com/"), None);
    for (url, host) in [
        ("https://docs.example.org/x?y=a\\b", Some("docs.example.org")),
        (" HTTPS://Docs.Example.org:8443", Some("docs.example.org")),
        ("http:docs.example.org", Some("docs.example.org")),
        ("https://docs.example.org@evil.net/", None),
        ("http://192.0.2.1/", None),
        ("http://[::1]/", None),
        ("https://", None),
        ("docs.example.org", None),
        ("ftp://docs.example.org/", None),
    ] {
        assert_eq!(host_name_of(url).as_deref(), host, "{url:?}");
    }
}

#[test]
fn strangers_name_ports_of_the_web_and_the_operator_any() {
    let guard = Guard::allowing(["printer.local"]).unwrap();
    for (port, is_open) in [
        (80, true),
        (443, true),
        (1_024, true),
        (8_080, true),
        (65_535, true),
        (22, false),
        (25, false),
        (1_023, false),
    ]
    .into_iter()
    .chain([2_049, 5_060, 6_000, 6_667, 10_080].map(|port| (port, false)))
    {
        let url = format!("http://example.com:{port}/");

        assert_eq!(guard.foreign(&url).is_ok(), is_open, "{port}");
        assert!(guard.operator(&url).is_ok(), "{port}");
        assert!(guard.foreign(&format!("http://printer.local:{port}/")).is_ok(), "{port}");
    }
}

#[test]
fn ports_of_databases_and_control_apis_are_for_the_operator_unless_they_are_allow_listed() {
    const PORTS: [u16; 14] = [6379, 5432, 3306, 27_017, 9200, 11_211, 2375, 2376, 2379, 8500, 6443, 10_250, 9092, 5984];
    let guard = Guard::allowing(["10.1.2.3:9200", "[fd00::1]:9200", "10.2.0.0/16", "search.internal:9200"]).unwrap();
    for port in PORTS {
        let url = format!("http://example.com:{port}/");
        let refused = guard.foreign(&url).unwrap_err();
        assert_eq!(refused.reason(), "port", "{port}");
        assert!(refused.to_string().contains(&format!("\"example.com:{port}\" to [egress] allow")), "{refused}");
        assert!(guard.foreign(&format!("http://10.2.0.1:{port}/")).is_err(), "a range opens no port by itself");
        assert!(guard.operator(&url).is_ok(), "{port}");
        let allowing = Guard::allowing([format!("example.com:{port}").as_str()]).unwrap();
        assert!(allowing.foreign(&url).is_ok(), "{port}");
        for host in ["10.1.2.3", "[fd00::1]", "search.internal"] {
            assert_eq!(guard.foreign(&format!("http://{host}:{port}/")).is_ok(), port == 9200, "{host}:{port}");
        }
    }
    let said = guard.foreign("http://example.com:6379/").unwrap_err().to_string();
    assert!(said.starts_with("port 6379 of example.com is that of Redis"), "{said}");
    assert!(guard.foreign("http://search.internal/").is_ok(), "the host is open for the web too");
}

#[test]
fn a_url_shows_its_origin_and_nothing_else() {
    let guard = Guard::default();
    let text = "https://example.com:8443/s3cret/path?token=s3cret#s3cret";
    let (operator, foreign) = (guard.operator(text).unwrap(), guard.foreign(text).unwrap());

    assert_eq!(operator.to_string(), "https://example.com:8443/...");
    assert_eq!(format!("{foreign:?}"), "ForeignUrl(https://example.com:8443/...)");
    assert_eq!(format!("{operator:?}"), "OperatorUrl(https://example.com:8443/...)");
    assert_eq!(foreign.as_str(), "https://example.com:8443/s3cret/path?token=s3cret");
    assert_eq!(guard.foreign("http://[2606:4700:0::1]:80/").unwrap().to_string(), "http://[2606:4700::1]/...");
}

#[test]
fn refusals_name_the_host_and_the_way_out_and_never_the_rest() {
    let guard = Guard::default();
    let refused = guard.foreign("http://10.1.2.3/s3cret?s3cret").unwrap_err();

    assert_eq!(
        refused.to_string(),
        "10.1.2.3 is local (private network), which only the operator's own urls may reach; allow-list it if it is meant"
    );
    for url in ["http://s3cret:s3cret@example.com/", "ftp://s3cret/", "s3cret", "http://127.0.0.1/s3cret"] {
        let refused = guard.foreign(url).unwrap_err();

        assert!(!format!("{refused} {refused:?}").contains("s3cret"), "{url}");
    }
}

#[test]
fn metadata_stays_out_of_reach_whatever_is_allow_listed() {
    for entry in ["169.254.169.254", "169.254.0.0/16", "fe80::/64", "metadata.google.internal", "METADATA."] {
        let refused = Guard::allowing([entry]).unwrap_err();

        assert_eq!(refused, AllowListError::Metadata { entry: entry.to_owned() });
    }
    let wide = Guard::allowing(["0.0.0.0/0", "::/0", "*.internal", "*.example.com"]).unwrap();
    for url in
        ["http://169.254.169.254/", "http://[fe80::1]/", "http://metadata.google.internal/", "http://[fd00:ec2::254]/"]
    {
        assert!(wide.foreign(url).is_err(), "{url}");
        assert!(wide.operator(url).is_err(), "{url}");
    }
    let named = wide.admits("www.example.com", "169.254.169.254".parse().unwrap(), Reach::Operator);
    assert_eq!(named.unwrap_err().class, Class::Metadata);
    assert!(wide.foreign("http://198.18.0.1/").is_ok(), "reserved ranges can be opened");
}

#[test]
fn an_allow_list_entry_that_means_nothing_is_an_error() {
    for entry in [
        "",
        "*",
        "*.",
        "10.0.0.0/33",
        "http://example.com",
        "a b",
        "exa*mple.com",
        "10.0.0.0/8/8",
        "example.com:",
        "example.com:0",
        "example.com:99999",
        "[::1]",
        "[::1]9",
    ] {
        let refused = Guard::allowing([entry]);

        assert!(matches!(refused, Err(AllowListError::Unknown { .. })), "{entry:?}: {refused:?}");
    }
}
