//! Environments: what each kind gets, what can be listed, and what is refused.

use super::*;

fn ours() -> Surroundings {
    Surroundings::of([
        ("PATH", "/bin"),
        ("HOME", "/home"),
        ("USER", "ada"),
        ("LANG", "C"),
        ("TMPDIR", "/tmp"),
        ("SHELL", "/bin/sh"),
        ("TERM", "dumb"),
        ("API_KEY", "sk-0123456789"),
        ("LD_PRELOAD", "/evil.so"),
    ])
}

fn build(kind: EnvironmentKind, listed: &[&str]) -> Result<Environment, EnvironmentError> {
    Environment::build(kind, &listed.iter().map(|&entry| entry.to_owned()).collect::<Vec<_>>(), &ours())
}

fn shown(environment: &Environment) -> Vec<String> {
    let pair = |(name, value): (OsString, OsString)| format!("{}={}", name.display(), value.display());
    environment.expose().into_iter().map(pair).collect()
}

#[test]
fn a_server_gets_what_npx_needs_and_a_tool_even_less() {
    let server = build(EnvironmentKind::McpServer, &[]).unwrap();
    let tool = build(EnvironmentKind::Tool, &[]).unwrap();

    assert_eq!(
        shown(&server),
        ["HOME=/home", "LANG=C", "PATH=/bin", "SHELL=/bin/sh", "TERM=dumb", "TMPDIR=/tmp", "USER=ada"]
    );
    assert_eq!(shown(&tool), ["LANG=C", "PATH=/bin"]);
}

#[test]
fn what_we_do_not_have_is_left_out_except_a_path() {
    let nothing = Surroundings::of([("", ""); 0]);

    let environment = Environment::build(EnvironmentKind::McpServer, &[], &nothing).unwrap();

    assert_eq!(shown(&environment), ["PATH=/usr/local/bin:/usr/bin:/bin"]);
}

#[test]
fn names_are_passed_on_and_values_are_filled_in() {
    let listed = ["API_KEY", "TOKEN=Bearer ${API_KEY}/${USER}!", "PLAIN=$HOME=x", "EMPTY=", "PATH=/opt:${PATH}"];

    let environment = build(EnvironmentKind::Tool, &listed).unwrap();

    assert_eq!(
        shown(&environment),
        [
            "API_KEY=sk-0123456789",
            "EMPTY=",
            "LANG=C",
            "PATH=/opt:/bin",
            "PLAIN=$HOME=x",
            "TOKEN=Bearer sk-0123456789/ada!"
        ]
    );
    assert_eq!(environment.path(), "/opt:/bin");
}

#[test]
fn what_cannot_be_listed_is_said_without_its_value() {
    let rows = [
        ("*", "`*` would pass on every secret"),
        ("AWS_*", "`AWS_*` in env: `*` would"),
        ("*=x", "`*` would"),
        ("", "`` in env is not the name of a variable"),
        ("=sk-value", "`` in env is not the name"),
        ("A B=sk-value", "`A B` in env is not the name"),
        ("1A", "`1A` in env is not the name"),
        ("A\0B", "is not the name"),
        ("A=sk-value\0", "the value of A in env has a NUL"),
        ("A=sk-value${B", "the value of A in env has a `${` that is not closed"),
        ("A=sk-value${}", "the value of A in env has a `${}` without the name"),
        ("A=sk-value${B=c}", "without the name"),
        ("A=sk-value${MISSING}", "the variable MISSING is not set in the process that asks for it (A, pid"),
        ("MISSING", "the variable MISSING is not set in the process that asks for it (MISSING, pid"),
    ];
    for (entry, expected) in rows {
        let message = build(EnvironmentKind::McpServer, &[entry]).unwrap_err().to_string();

        assert!(message.contains(expected), "{entry:?}: {message}");
        assert!(!message.contains("sk-value"), "{entry:?}: {message}");
    }
}

#[test]
fn a_value_that_looks_like_a_reference_is_not_filled_in_again() {
    let ours = Surroundings::of([("A", "${B}"), ("B", "secret")]);

    let environment = Environment::build(EnvironmentKind::Tool, &["C=${A}".to_owned()], &ours).unwrap();

    assert!(shown(&environment).contains(&"C=${B}".to_owned()));
}

#[test]
fn a_temporary_home_replaces_ours_unless_another_is_listed() {
    let mut plain = build(EnvironmentKind::McpServer, &[]).unwrap();
    let mut listed = build(EnvironmentKind::McpServer, &["HOME=/srv"]).unwrap();

    plain.move_to(Path::new("/t"));
    listed.move_to(Path::new("/t"));

    assert!(shown(&plain).contains(&"HOME=/t".to_owned()) && shown(&plain).contains(&"TMPDIR=/t".to_owned()));
    assert!(shown(&listed).contains(&"HOME=/srv".to_owned()) && shown(&listed).contains(&"TMPDIR=/t".to_owned()));
}

#[test]
fn values_are_never_shown_and_the_listed_ones_are_secrets() {
    let environment = build(EnvironmentKind::McpServer, &["API_KEY", "PEM=first-line\nsecond-line\nx", "N=1"]).unwrap();

    assert_eq!(environment.secrets(), [&b"sk-0123456789"[..], b"first-line", b"second-line"]);
    for text in [format!("{environment:?}"), format!("{:?}", ours())] {
        assert!(text.contains("API_KEY") && !text.contains("sk-0123456789") && !text.contains("ada"), "{text}");
    }
}

#[test]
fn a_stored_secret_is_filled_in_and_one_that_is_missing_is_named() {
    let secrets = [("TOKEN".to_owned(), Secret::new("sk-stored".to_owned()))].into();
    let ours = Surroundings::of([("A", "x")]).with_secrets(secrets);

    assert_eq!(ours.fill_in("header", "Bearer ${secret:TOKEN}").unwrap(), "Bearer sk-stored");
    let missing = ours.fill_in("header", "${secret:OTHER}").unwrap_err().to_string();
    assert_eq!(
        missing,
        "there is no secret OTHER, and the entry asks for it (header); store it with `openfang secret set OTHER`"
    );
    assert!(!format!("{ours:?}").contains("sk-stored"));
}
