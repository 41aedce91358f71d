//! Which file a command means, and what is said when it means none.

use std::os::unix::fs::PermissionsExt as _;

use super::*;

const SCRIPT: &str = "#!/bin/sh\n";

/// A directory with a few files: `a/tool` and `b/tool` run, `c/tool` may not be run.
fn files() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for place in ["a", "b", "c"] {
        std::fs::create_dir(directory.path().join(place)).unwrap();
        write(&directory.path().join(place).join("tool"), SCRIPT, if place == "c" { 0o644 } else { 0o755 });
    }
    directory
}

fn write(path: &Path, text: &str, mode: u32) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn path(directory: &Path, places: &[&str]) -> std::ffi::OsString {
    std::env::join_paths(places.iter().map(|place| directory.join(place))).unwrap()
}

#[test]
fn a_bare_name_is_the_first_that_runs_in_path() {
    let files = files();
    let at = |place: &str| files.path().join(place).join("tool");
    for (places, found) in [(&["a", "b"][..], "a"), (&["b", "a"], "b"), (&["missing", "c", "b"], "b")] {
        let program = Program::resolve("tool", &path(files.path(), places), Path::new("/")).unwrap();

        assert_eq!((program.path(), program.name().as_str()), (at(found).as_path(), "tool"));
    }
}

#[test]
fn a_path_counts_from_the_directory_and_an_absolute_one_stays() {
    let files = files();
    let absolute = files.path().join("a/tool");
    for command in ["a/tool", "./a/tool", absolute.to_str().unwrap()] {
        let program = Program::resolve(command, OsStr::new(""), files.path()).unwrap();

        assert!(program.path().is_absolute());
        assert_eq!(program.path().canonicalize().unwrap(), absolute.canonicalize().unwrap());
    }
}

#[test]
fn what_is_missing_names_where_it_was_looked_for_and_what_to_install() {
    let files = files();
    let places = path(files.path(), &["a", "missing"]);
    let root = files.path().display();

    let error = Program::resolve("npx", &places, Path::new("/")).unwrap_err();

    let expected = format!(
        "no program `npx`: looked in {root}/a, {root}/missing (does not exist); install Node.js (https://nodejs.org)"
    );
    assert_eq!(error.to_string(), expected);
    let rows =
        [("uvx", "install uv"), ("python3", "install Python"), ("docker", "install Docker"), ("x", "absolute path")];
    for (command, hint) in rows {
        let message = Program::resolve(command, &places, Path::new("/")).unwrap_err().to_string();
        assert!(message.contains(hint), "{message}");
    }
}

#[test]
fn places_that_are_not_absolute_are_not_searched() {
    let files = files();

    let error = Program::resolve("tool", OsStr::new("a:.:"), files.path()).unwrap_err().to_string();

    assert!(error.contains("a (not absolute, left out), . (not absolute, left out)"), "{error}");
    let none = Program::resolve("tool", OsStr::new(""), files.path()).unwrap_err();
    assert!(matches!(none, ProgramError::NotFound { .. }), "{none}");
}

#[test]
fn what_is_no_program_is_refused_by_what_it_is() {
    let files = files();
    write(&files.path().join("text"), "echo hello\n", 0o755);
    write(&files.path().join("empty"), "", 0o755);
    let rows = [
        ("", "the command is empty"),
        ("a\0b", "has a NUL"),
        ("../a/tool", "`../a/tool` contains `..`"),
        ("a/../a/tool", "contains `..`"),
        ("to..ol", "contains `..`"),
        ("./a", "it is a directory"),
        ("/dev/null", "it is not a file"),
        ("./c/tool", "it is not executable (see chmod +x)"),
        ("./text", "neither a binary of this system nor a script"),
        ("./empty", "neither a binary of this system nor a script"),
        ("./nothing", "/nothing; install it"),
    ];
    for (command, expected) in rows {
        let message = Program::resolve(command, OsStr::new("/bin"), files.path()).unwrap_err().to_string();

        assert!(message.contains(expected), "{command:?}: {message}");
    }
    let in_path = Program::resolve("tool", &path(files.path(), &["c"]), Path::new("/"))
        .unwrap_err()
        .to_string();
    assert!(in_path.contains("c/tool cannot be run: it is not executable"), "{in_path}");
}

#[test]
fn the_interpreter_is_what_the_first_line_names() {
    let files = files();
    let file = files.path().join("script");
    for (text, expected) in [
        ("#!/usr/bin/env node\n", "`/usr/bin/env`"),
        ("#! /bin/x\r\n", "`/bin/x`"),
        ("\x7fELF", "(the loader of this kind of binary)"),
    ] {
        write(&file, text, 0o755);
        assert_eq!(interpreter(&file), expected);
    }
}
