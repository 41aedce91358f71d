//! Keys in files.

use super::*;

#[cfg(unix)]
#[test]
fn a_key_file_that_others_can_read_is_refused_with_the_command_that_helps() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    std::fs::write(&path, "sk-test-0123456789\n").unwrap();
    for (mode, is_taken) in [(0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o620, false)] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let read = of_file(&path);
        assert_eq!(read.is_ok(), is_taken, "{mode:o}");
        if let Err(why) = read {
            assert!(why.contains(&format!("run `chmod 600 {}`", path.display())), "{why}");
            assert!(!why.contains("sk-test"), "{why}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_key_file_holds_one_line_of_visible_text() {
    use std::os::unix::fs::PermissionsExt as _;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("key");
    for (text, expected) in [
        ("", "the API key is empty"),
        (" \n", "the API key is empty"),
        ("one\ntwo", "characters that cannot be sent"),
        ("k\u{e9}y", "characters that cannot be sent"),
    ] {
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let why = of_file(&path).unwrap_err();
        assert!(why.contains(expected), "{text:?}: {why}");
    }
    std::fs::write(&path, "x".repeat(20_000)).unwrap();
    assert!(of_file(&path).unwrap_err().contains("too large"));
    assert!(of_file(directory.path()).unwrap_err().contains("is not a file"));
    assert!(of_file(&directory.path().join("none")).unwrap_err().contains("cannot be read"));
}

#[test]
fn an_entry_is_filled_in_with_variables_and_secrets() {
    let entry = |key: &str| ProviderConfig { api_key: Some(Secret::new(key.to_owned())), ..ProviderConfig::default() };
    let secrets = [("A".to_owned(), Secret::new("stored-key-1".to_owned()))].into_iter().collect();
    let around = openfang_egress::process::Surroundings::of([("B", "variable-key-1")]).with_secrets(secrets);

    assert_eq!(of_entry(&entry("${secret:A}"), &around).unwrap().expose(), "stored-key-1");
    assert_eq!(of_entry(&entry("${B}"), &around).unwrap().expose(), "variable-key-1");
    assert!(of_entry(&entry("${secret:C}"), &around).unwrap_err().contains("`openfang secret set C`"));
    assert!(of_entry(&entry("${C}"), &around).unwrap_err().contains("C is not set"));
}
