//! Versions as clients write them.

use super::*;

fn stated_by(header: &str) -> Result<Option<Dialect>, A2aError> {
    let headers = HeaderMap::from_iter([(HEADER.parse().unwrap(), header.parse().unwrap())]);
    stated(&headers, None)
}

#[test]
fn versions_we_speak_are_taken_whatever_their_patch() {
    for (text, dialect) in [
        ("1.0", Some(Dialect::V10)),
        ("1.0.1", Some(Dialect::V10)),
        ("1", Some(Dialect::V10)),
        ("0.3", Some(Dialect::V03)),
        ("0.3.0", Some(Dialect::V03)),
        ("0.2.6", Some(Dialect::V03)),
        ("0.1", Some(Dialect::V01)),
        ("", None),
    ] {
        assert_eq!(stated_by(text), Ok(dialect), "{text:?}");
    }
}

#[test]
fn other_versions_are_refused_by_name() {
    for text in ["9.9", "0.5", "1.1", "2.0", "one", "1.0x", "-1", "0"] {
        assert_eq!(stated_by(text), Err(A2aError::VersionNotSupported(text.to_owned())), "{text:?}");
    }
}

#[test]
fn the_query_says_it_too_and_the_header_wins() {
    let headers = HeaderMap::from_iter([(HEADER.parse().unwrap(), "1.0".parse().unwrap())]);
    assert_eq!(stated(&HeaderMap::new(), Some("A2A-Version=0.3")), Ok(Some(Dialect::V03)));
    assert_eq!(stated(&headers, Some("A2A-Version=0.3")), Ok(Some(Dialect::V10)));
}
