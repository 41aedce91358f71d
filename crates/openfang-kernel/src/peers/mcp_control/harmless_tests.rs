//! What is a secret and what is not, by name and by shape.

use super::*;

#[test]
fn names_that_say_so_make_every_value_a_secret() {
    for name in
        ["GITHUB_PAT", "S_JWT", "S_CRED", "S_PWD", "S_SIGNING", "S_SALT", "A_TOKEN", "SLACK_WEBHOOK", "PGPASSWORD"]
    {
        assert!(variable_tells(name), "{name}");
        assert!(!is_harmless(name, "12345678"), "{name}");
    }
    for name in ["PATH", "MYPATH", "PWD", "PATTERN", "DESIGN", "REGION", "LOG_LEVEL"] {
        assert!(!variable_tells(name), "{name}");
    }
}

#[test]
fn whatever_else_is_given_is_a_secret_unless_its_shape_says_that_it_is_none() {
    for harmless in [
        "short",
        "true",
        "4194304",
        "2026-01-01",
        "3.14159265",
        "/usr/bin:/bin",
        "/etc/ssl/certs",
        "./relative/path",
        "C:\\Program Files\\x",
        "https://api.example.org/v1/mcp",
        "db.internal.example.org:5432",
        "production",
        "us-east-1",
        "stdio,http",
    ] {
        assert!(is_harmless("S_OPTION", harmless), "{harmless}");
    }
    for secret in [
        "4f9c2a7b81d04e6e",
        "aBcDeFgHiJ",
        "correct-horse-battery-staple",
        "/Zk3vQ9xT7c/pL2mN8bR5wY1sD6fG0hJ4kA",
        "me@example.org",
        "AAAA1234BBBB",
        "hunter2hunter2",
    ] {
        assert!(!is_harmless("S_OPTION", secret), "{secret}");
    }
    assert!(is_harmless("RUST_LOG", "openfang=debug,hyper=trace"));
}

#[test]
fn the_path_of_a_webhook_is_not_plain() {
    for plain in ["", "v1", "mcp", "notifications", "oauth2-callback", "server-name", "@scope", "T123456"] {
        assert!(is_plain_segment(plain), "{plain}");
    }
    for secret in ["T00000000", "XXXXXXXXXXXXXXXXXXXXXXXX", "dF3kQ9xT7cpL2mN8", "9f86d081884c7d65"] {
        assert!(!is_plain_segment(secret), "{secret}");
    }
}
