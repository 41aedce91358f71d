//! The file on disk: replaced whole or left alone.

use openfang_types::config::McpTransportEntry;

use super::*;

fn entry(name: &str) -> McpServerConfigEntry {
    let transport = McpTransportEntry::Stdio { command: "cat".into(), args: Vec::new() };
    McpServerConfigEntry::new(name.parse().unwrap(), transport)
}

fn with_file(text: &str) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.toml");
    fs::write(&path, text).unwrap();
    (directory, path)
}

fn names_in(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn several_edits_are_one_and_nothing_else_is_left_in_the_directory() {
    let (directory, path) = with_file("# mine\n");
    let (one, two, gone) = (entry("one"), entry("two"), "one".parse().unwrap());

    let edits = [Edit::Add(&one, Existing::Keep), Edit::Add(&two, Existing::Keep), Edit::Remove(&gone)];
    rewrite(&path, &edits).unwrap();

    let config = config_file::load(&path, &[]).unwrap();
    assert_eq!(config.mcp_servers, [two]);
    assert_eq!(names_in(directory.path()), ["config.toml"]);
}

#[test]
fn an_edit_that_a_start_would_refuse_changes_nothing() {
    let (directory, path) = with_file("# mine\n");
    let wrong = McpServerConfigEntry { timeout_secs: 0, ..entry("x") };

    let Err(EditError::Faulty(why)) = rewrite(&path, &[Edit::Add(&wrong, Existing::Keep)]) else { panic!() };

    assert!(why.contains("mcp_servers[0].timeout_secs"), "{why}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "# mine\n");
    assert_eq!(names_in(directory.path()), ["config.toml"]);
}

#[test]
fn what_the_environment_makes_right_does_not_stand_in_the_way() {
    let (_directory, path) = with_file("api_listen = \"0.0.0.0:1\" # api_key is in the environment\n");

    rewrite(&path, &[Edit::Add(&entry("x"), Existing::Keep)]).unwrap();

    assert!(fs::read_to_string(&path).unwrap().contains("[[mcp_servers]]"));
}

#[test]
fn a_file_that_was_changed_meanwhile_is_not_overwritten() {
    let (_directory, path) = with_file("# theirs\n");

    assert_eq!(replace_text(&path, "# as it was read\n", "# ours\n"), Err(EditError::Changed));

    assert_eq!(fs::read_to_string(&path).unwrap(), "# theirs\n");
}

#[cfg(unix)]
#[test]
fn permissions_and_links_stay() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (directory, real) = with_file("");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let link = elsewhere.path().join("config.toml");
    std::os::unix::fs::symlink(&real, &link).unwrap();

    rewrite(&link, &[Edit::Add(&entry("x"), Existing::Keep)]).unwrap();

    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("name = \"x\""));
    assert_eq!(mode(&real), 0o640);
    assert_eq!(names_in(directory.path()), ["config.toml"]);
    let new = elsewhere.path().join("new.toml");
    rewrite(&new, &[Edit::Add(&entry("x"), Existing::Keep)]).unwrap();
    assert_eq!(mode(&new), 0o600, "what may hold secrets is its owner's");
    let nowhere = elsewhere.path().join("nowhere.toml");
    std::os::unix::fs::symlink("missing", &nowhere).unwrap();
    assert!(rewrite(&nowhere, &[Edit::Add(&entry("x"), Existing::Keep)]).is_err());
    assert!(fs::symlink_metadata(&nowhere).unwrap().is_symlink());
}
