//! Names that strangers choose.

use super::*;
use crate::task::Part;

#[test]
fn a_name_is_the_last_of_a_path_without_what_is_not_seen() {
    for (given, plain) in [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Windows\\x.exe", "x.exe"),
        ("a\u{1b}[31m\r\nb.txt", "a[31mb.txt"),
        ("photo\u{202e}gpj.exe", "photogpj.exe"),
        ("a\u{180e}b\u{fe0f}c\u{3164}d\u{e0041}e\u{115f}.txt", "abcde.txt"),
        ("..", "file"),
        ("", "file"),
        ("dir/", "file"),
    ] {
        assert_eq!(&*FileName::new(given), plain, "{given:?}");
    }
    assert_eq!(FileName::new(&"é".repeat(300)).chars().count(), FILENAME_MAX_CHARS);
}

#[test]
fn a_part_that_was_stored_or_sent_with_another_name_has_a_plain_one() {
    let json = r#"{"raw":"aGk=","filename":"../a\u001b]0;x\u0007.txt"}"#;
    let part: Part = serde_json::from_str(json).unwrap();

    assert_eq!(part.filename.as_deref(), Some("a]0;x.txt"));
    assert!(serde_json::to_string(&part).unwrap().contains(r#""filename":"a]0;x.txt""#));
}
