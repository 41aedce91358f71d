//! Checks of incoming messages.

use openfang_types::limits::FILENAME_MAX_CHARS;
use openfang_types::task::FileName;

use super::*;

#[test]
fn file_names_lose_their_paths_and_tricks() {
    for (name, kept) in [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\x.txt", "x.txt"),
        ("/abs/olute", "olute"),
        ("..", "file"),
        ("", "file"),
        ("a\u{0}b\n.txt", "ab.txt"),
        ("gpj.\u{202e}exe", "gpj.exe"),
        ("…ünïcode.md", "…ünïcode.md"),
    ] {
        assert_eq!(&*FileName::new(name), kept, "{name:?}");
    }
    assert_eq!(FileName::new(&"x".repeat(10_000)).len(), FILENAME_MAX_CHARS);
}

#[test]
fn content_that_a_browser_would_run_is_refused() {
    for media_type in ["text/html", "text/html+svg", "image/svg+xml", "TEXT/HTML; charset=utf-8", "text/javascript"] {
        let part = Part::file(vec![1], None, Some(media_type.to_owned()));
        assert!(matches!(check_part(&part), Err(Wrong::Type(_))), "{media_type}");
    }
    for media_type in ["text/plain", "image/png", "application/pdf", "application/vnd.x+json; v=1", "text"] {
        let part = Part::file(vec![1], None, Some(media_type.to_owned()));
        assert!(check_part(&part).is_ok(), "{media_type}");
    }
    for media_type in ["", "a b", "text/", "/plain", "text/pl\nain", &"x".repeat(300)] {
        let part = Part::file(vec![1], None, Some(media_type.to_owned()));
        assert!(check_part(&part).is_err(), "{media_type:?}");
    }
}

#[test]
fn without_a_type_a_file_is_judged_by_its_name() {
    for (name, is_taken) in [
        ("x.svg", false),
        ("x.HTML", false),
        ("x.txt.mjs. ", false),
        ("notes.md", true),
        ("html", true),
        ("svg.txt", true),
    ] {
        let part = || Part::file(vec![1], Some(name.into()), None);
        assert_eq!(check_part(&part()).is_ok(), is_taken, "{name}");
        let typed = Part { media_type: Some("text/plain".to_owned()), ..part() };
        assert!(check_part(&typed).is_ok(), "{name} as text");
    }
}

#[test]
fn only_web_addresses_are_taken_as_urls() {
    for (url, is_taken) in [
        ("https://example.org/x", true),
        ("file:///etc/passwd", false),
        ("javascript:alert(1)", false),
        ("nope", false),
    ] {
        assert_eq!(check_part(&Part::new(PartBody::Url(url.to_owned()))).is_ok(), is_taken, "{url}");
    }
}

#[test]
fn a_peer_that_reads_nothing_we_write_is_told_so() {
    for (mode, is_fine) in [("text", true), ("text/plain", true), ("*/*", true), ("image/png", false), ("", false)] {
        assert_eq!(is_written(mode), is_fine, "{mode}");
    }
}
