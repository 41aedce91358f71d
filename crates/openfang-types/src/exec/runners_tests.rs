//! Which programs run programs.

use super::*;

#[test]
fn interpreters_are_known_with_and_without_a_version() {
    for name in
        ["sh", "bash", "python", "python3", "python3.11", "Python3", "perl5.36", "node", "env", "xargs", "sudo", "make"]
    {
        assert!(runs_programs(name), "{name}");
    }
    for name in ["ld-linux-x86-64.so.2", "ld-musl-x86_64.so.1", "lua5.4", "ruby3.1", "gdb", "vim", "ssh"] {
        assert!(runs_programs(name), "{name}");
    }
    for name in ["git", "find", "ls", "cat", "cargo", "echo", "shasum", "7", "sha256sum", ""] {
        assert!(!runs_programs(name), "{name}");
    }
}

#[test]
fn options_that_name_a_program_are_found_in_every_spelling() {
    let rows: [(&str, &[&str], Option<&str>); 16] = [
        ("git", &["-c", "core.pager=sh"], Some("-c")),
        ("git", &["fetch", "--upload-pack=sh"], Some("--upload-pack=sh")),
        ("git", &["fetch", "--upload-pa=sh"], Some("--upload-pa=sh")),
        ("git", &["grep", "-Osh", "x"], Some("-Osh")),
        ("git", &["grep", "-lO", "x"], Some("-lO")),
        ("git", &["rebase", "-x", "sh"], Some("-x")),
        ("git", &["diff", "--ext-diff"], Some("--ext-diff")),
        ("git", &["status", "--short"], None),
        ("git", &["log", "-1"], None),
        ("find", &[".", "-exec", "sh"], Some("-exec")),
        ("find", &[".", "-name", "x"], None),
        ("tar", &["xf", "a", "--checkpoint-action=exec=sh"], Some("--checkpoint-action=exec=sh")),
        ("tar", &["-Ish", "-xf", "a"], Some("-Ish")),
        ("tar", &["xf", "a"], None),
        ("rsync", &["-avzesh", "a", "b"], Some("-avzesh")),
        ("ls", &["-exec"], None),
    ];
    for (program, arguments, found) in rows {
        assert_eq!(runs_programs_by_option(program, arguments.iter().copied()), found, "{program} {arguments:?}");
    }
}
