//! What becomes of a file's bytes, and which labels they get.

use super::*;

#[test]
fn a_cut_in_the_middle_of_a_character_loses_only_that_character() {
    let file = FileBytes { bytes: vec![b'a', 0xc3], size: 99, truncated: true };

    assert_eq!(text_of("f", file).unwrap(), "a\n[truncated: the file has 99 bytes]");
}

#[test]
fn a_file_that_is_not_text_says_so() {
    let file = FileBytes { bytes: vec![0xff; 9], size: 9, truncated: false };

    assert!(text_of("f", file).unwrap_err().to_string().contains("is not text"));
}

#[test]
fn a_personal_directory_covers_what_is_below_it_and_not_its_namesakes() {
    let pii = PiiConfig { paths: vec!["people/".into()], ..PiiConfig::default() };
    let personal = |path: &str| labels_of(path, &pii).contains(Label::Pii);

    assert!(personal("people/ada.txt") && personal("./people//x/y") && personal("people"));
    assert!(!personal("people2/ada.txt") && !personal("x/people"));
}
