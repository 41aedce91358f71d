//! What people put into arguments and URLs and would not want to read again.

use super::*;

fn program(words: &[&str]) -> McpServerConfigEntry {
    let (command, args) = words.split_first().unwrap();
    let args = args.iter().map(|&arg| arg.to_owned()).collect();
    McpServerConfigEntry::new("x".parse().unwrap(), McpTransportEntry::Stdio { command: (*command).to_owned(), args })
}

fn words(entry: &McpServerConfigEntry) -> String {
    match shown(entry).transport {
        McpTransportEntry::Stdio { command, args } => format!("{command} {}", args.join(" ")),
        McpTransportEntry::Sse { url, .. } | McpTransportEntry::Http { url, .. } => url,
    }
}

#[test]
fn arguments_show_what_they_are_and_not_what_they_hide() {
    let rows: [(&[&str], &str); 10] = [
        (&["npx", "-y", "@scope/server", "/srv/me"], "npx -y @scope/server /srv/me"),
        (&["x", "--api-key", "abc", "--verbose"], "x --api-key [redacted] --verbose"),
        (&["x", "--token=abc", "--port=1"], "x --token=[redacted] --port=1"),
        (&["x", "--token", "${TOKEN}", "--key=${KEY}"], "x --token ${TOKEN} --key=${KEY}"),
        (
            &["docker", "run", "-e", "GITHUB_TOKEN=abc", "-e", "DEBUG=1"],
            "docker run -e GITHUB_TOKEN=[redacted] -e DEBUG=1",
        ),
        (
            &["mcp-remote", "https://h/mcp", "--header", "Authorization: Bearer abc"],
            "mcp-remote https://h/mcp --header Authorization:[redacted]",
        ),
        (&["x", "AKIAABCDEFGHIJKLMNOP"], "x [redacted]"),
        (&["x", "postgres://me:pw@db/1?sslkey=2"], "x postgres://db/1?sslkey=[redacted]"),
        (&["x", "C:\\tools", "a:b"], "x C:\\tools a:b"),
        (
            &["docker", "-e", "S_OPTION=4f9c2a7b81d04e6e", "-e", "GITHUB_PAT=abcdefgh", "-e", "REGION=us-east-1"],
            "docker -e S_OPTION=[redacted] -e GITHUB_PAT=[redacted] -e REGION=us-east-1",
        ),
    ];
    for (given, expected) in rows {
        assert_eq!(words(&program(given)), expected);
    }
}

#[test]
fn urls_lose_user_password_and_the_values_of_their_query() {
    let rows = [
        ("https://mcp.example.org/v1?key=abc&b", "https://mcp.example.org/v1?key=[redacted]&[redacted]"),
        ("https://u:p@h:1/x?k=${K}", "https://h:1/x?k=${K}"),
        ("${BASE}/mcp", "${BASE}/mcp"),
        ("http://a@b@h", "http://h"),
        ("https://h/services/T0/dF3kQ9xT7cpL2mN8/mcp", "https://h/services/T0/[redacted]/mcp"),
    ];
    for (url, expected) in rows {
        let transport = McpTransportEntry::Http { url: url.to_owned(), headers: Default::default() };
        assert_eq!(words(&McpServerConfigEntry::new("x".parse().unwrap(), transport)), expected);
    }
}

#[test]
fn what_a_server_says_about_itself_loses_the_secrets_of_its_entry() {
    let sensitive = Sensitive::new([], &PiiConfig::default()).unwrap();
    let shown = EntryPreview::new(&sensitive);
    let mut entry = program(&["x", "--token", "argument-secret"]);
    entry.env = vec![openfang_types::config::EnvEntry::new("A=variable-secret".into())];
    assert_eq!(shown.text(&entry, "got variable-secret and argument-secret"), "got [redacted] and [redacted]");

    let headers = [("Authorization".to_owned(), Secret::new("Bearer header-secret".to_owned()))].into();
    let transport = McpTransportEntry::Http { url: "https://h/?k=query-secret".to_owned(), headers };
    let entry = McpServerConfigEntry::new("x".parse().unwrap(), transport);
    assert_eq!(
        shown.text(&entry, "https://h/?k=query-secret refused header-secret"),
        "https://h/?k=[redacted] refused [redacted]"
    );
}
