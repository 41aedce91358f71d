//! The command line of the soak, and its table of attacks.

use super::*;

#[test]
fn the_command_line_says_what_is_attacked_and_for_how_long() {
    let read = options(&["--openfang", "bin", "--short", "--only", "lists"]).unwrap();
    assert_eq!(read, Options { openfang: Path::new("bin"), total: SHORT, only: Some("lists") });
    assert_eq!(options(&["--openfang", "bin"]).unwrap().total, LONG);
}

#[test]
fn an_unknown_option_or_a_missing_binary_is_an_error_with_the_usage() {
    for words in [&["--short"][..], &["--openfang", "bin", "--fast"]] {
        assert!(options(words).unwrap_err().to_string().contains("Usage"));
    }
}

#[test]
fn attacks_have_names_of_their_own() {
    let mut names: Vec<&str> = ATTACKS.iter().map(|attack| attack.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ATTACKS.len());
}
