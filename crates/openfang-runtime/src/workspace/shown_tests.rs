//! How names and paths are shown.

use super::{name, path};

#[test]
fn ordinary_names_are_shown_as_they_are() {
    for plain in ["notes.txt", "Überblick – März.md", "日本語", "a b", "'quoted'", "%20", "$HOME"] {
        assert_eq!(name(plain.as_bytes()), plain);
    }
}

#[test]
fn what_hides_or_moves_text_is_escaped() {
    let rows: [(&[u8], &str); 7] = [
        (b"a\nb", "a\\nb"),
        (b"\x1b[2J", "\\u{1b}[2J"),
        (b"a\\b", "a\\\\b"),
        (b"caf\xe9", "caf\\xe9"),
        ("x\u{202e}txt.exe".as_bytes(), "x\\u{202e}txt.exe"),
        ("a\u{200b}b".as_bytes(), "a\\u{200b}b"),
        ("\u{e0041}".as_bytes(), "\\u{e0041}"),
    ];
    for (raw, shown) in rows {
        assert_eq!(name(raw), shown);
    }
}

#[test]
fn two_different_names_never_look_the_same() {
    assert_ne!(name(b"\xff"), name(b"\\xff"));
    assert_ne!(name(b"\n"), name(b"\\n"));
}

#[test]
fn long_paths_lose_their_middle() {
    let long = format!("start/{}/end.txt", "é".repeat(5_000));

    let shown = path(&long);

    assert_eq!(shown.chars().count(), 113);
    assert!(shown.starts_with("start/é") && shown.contains("...") && shown.ends_with("é/end.txt"));
    assert_eq!(path("short"), "short");
}
