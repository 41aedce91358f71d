//! From words to an entry.

use clap::Parser as _;

use super::*;
use crate::args::{Args, Command, McpCommand};

fn typed(words: &[&str]) -> Result<McpServerConfigEntry, String> {
    let words = ["openfang", "mcp", "add"].iter().chain(words);
    let args = Args::try_parse_from(words).map_err(|error| error.to_string())?;
    let Command::Mcp(mcp) = args.command else { panic!() };
    let Some(McpCommand::Add(add)) = mcp.command else { panic!() };
    let AddTarget::Named(name) = add.name.clone() else { panic!() };
    entry_of(name, *add).map_err(|error| error.to_string())
}

#[test]
fn a_program_comes_after_two_dashes_with_flags_of_its_own() {
    let entry =
        typed(&["x", "-e", "A=1=2", "-e", "B", "--timeout", "5", "--trusted", "--", "npx", "-y", "--url", "-e"]);

    let args = ["-y", "--url", "-e"].map(str::to_owned).to_vec();
    let transport = McpTransportEntry::Stdio { command: "npx".to_owned(), args };
    let expected = McpServerConfigEntry {
        env: vec![EnvEntry::new("A=1=2".to_owned()), EnvEntry::new("B".to_owned())],
        timeout_secs: 5,
        trusted: true,
        ..McpServerConfigEntry::new("x".parse().unwrap(), transport)
    };
    assert_eq!(entry, Ok(expected));
}

#[test]
fn a_url_comes_with_a_flag_or_alone_and_takes_headers() {
    let headers: BTreeMap<String, Secret> = [("X-Key".to_owned(), Secret::new("a: b".to_owned()))].into();
    let url = "https://h/mcp".to_owned();
    let http = McpTransportEntry::Http { url: url.clone(), headers: headers.clone() };
    let sse = McpTransportEntry::Sse { url, headers };
    let rows: [(&[&str], McpTransportEntry); 3] = [
        (&["x", "--url", "https://h/mcp", "--header", "X-Key: a: b"], http.clone()),
        (&["--transport", "http", "x", "https://h/mcp", "-H", "X-Key:a: b"], http),
        (&["x", "https://h/mcp", "-t", "sse", "-H", "X-Key: a: b"], sse),
    ];
    for (words, expected) in rows {
        assert_eq!(typed(words).unwrap().transport, expected, "{words:?}");
    }
}

#[test]
fn what_is_wrong_is_said_without_the_secret_in_it() {
    let rows: [(&[&str], &str); 8] = [
        (&["x"], "-- command args"),
        (&["x", "npx"], "after `--`"),
        (&["x", "--url", "h/hunter2"], "not a URL"),
        (&["x", "-e", "hunter2 x", "--", "c"], "NAME=VALUE"),
        (&["x", "https://h", "-H", "hunter2"], "NAME: VALUE"),
        (&["x", "https://h", "-t", "stdio"], "http or sse"),
        (&["x", "-t", "http", "--", "c"], "omit --transport"),
        (&["x", "--url", "https://h", "-e", "A=hunter2"], "cannot be used with"),
    ];
    for (words, expected) in rows {
        let error = typed(words).unwrap_err();
        assert!(error.contains(expected), "{words:?}: {error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
}
