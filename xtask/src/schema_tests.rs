//! The schema's file: written, compared, never both.

use super::*;

fn args(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn a_mode_is_one_flag_or_none() {
    assert_eq!(mode(&args(&[])).unwrap(), Mode::Print);
    assert_eq!(mode(&args(&["--write"])).unwrap(), Mode::Write);
    assert_eq!(mode(&args(&["--check"])).unwrap(), Mode::Check);
    assert!(mode(&args(&["--check", "--write"])).is_err());
    assert!(mode(&args(&["--force"])).is_err());
}

#[test]
fn check_passes_after_write_and_fails_once_the_schema_changes() {
    let directory = std::env::temp_dir().join(format!("xtask-schema-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let file = directory.join(FILE);

    assert!(apply(Mode::Check, "{}\n", &file).is_err());
    apply(Mode::Write, "{}\n", &file).unwrap();
    assert!(apply(Mode::Check, "{}\n", &file).is_ok());
    assert!(apply(Mode::Check, "{\"a\": 1}\n", &file).is_err());

    fs::remove_dir_all(&directory).unwrap();
}
