//! Version strings of callers.

use super::*;

#[test]
fn versions_we_speak_are_taken_whatever_their_patch() {
    for (text, dialect) in [
        ("1.0", Some(Dialect::V10)),
        ("1.0.1", Some(Dialect::V10)),
        ("1", Some(Dialect::V10)),
        ("0.3", Some(Dialect::V03)),
        (" 0.3.0 ", Some(Dialect::V03)),
        ("0.2.6", Some(Dialect::V03)),
        ("0.1", Some(Dialect::V01)),
        ("", None),
    ] {
        assert_eq!(stated(Some(text)), Ok(dialect), "{text:?}");
    }
    assert_eq!(stated(None), Ok(None));
}

#[test]
fn other_versions_are_refused_by_name() {
    for text in ["9.9", "0.5", "1.1", "2.0", "one", "1.0x", "-1", "0"] {
        assert_eq!(stated(Some(text)), Err(A2aError::VersionNotSupported(text.to_owned())), "{text:?}");
    }
}
