//! What a server says is shown without what it was given.

use std::borrow::Cow;

use openfang_types::config::EnvEntry;
use openfang_types::secret::Secret;

use super::*;

fn secrets(entry: &McpServerConfigEntry) -> Arc<Redactor> {
    ServerSecrets::new(&Redactor::new(["our-own-api-key"]).unwrap(), entry).redactor()
}

fn program(args: &[&str], env: &[&str]) -> McpServerConfigEntry {
    let args = args.iter().map(|arg| (*arg).to_owned()).collect();
    let transport = McpTransportEntry::Stdio { command: "x".to_owned(), args };
    let env = env.iter().map(|entry| EnvEntry::new((*entry).to_owned())).collect();
    McpServerConfigEntry { env, ..McpServerConfigEntry::new("s".parse().unwrap(), transport) }
}

#[test]
fn what_a_server_was_given_and_what_is_ours_is_nowhere_in_what_it_says() {
    let server = program(&[], &["A_TOKEN=canary-token-1", "B_PASSWORD=canary-token-2", "C_KEY=short"]);
    let redactor = secrets(&server);
    let said = redactor.text("bad auth: canary-token-2, canary-token-1, our-own-api-key and a short word");
    assert_eq!(said, "bad auth: [redacted], [redacted], [redacted] and a short word");
    assert!(matches!(redactor.text("nothing of that"), Cow::Borrowed(_)));
}

#[test]
fn arguments_urls_and_headers_are_given_too() {
    let args = ["--token", "canary-token-1", "--api-key=canary-token-2", "-H", "Authorization: Bearer canary-token-3"];
    let urls = ["postgres://me:canary%2Ftoken-4@host/db", "https://x/?api_key=canary-token-5&page=1"];
    let redactor =
        secrets(&program(&[&args[..], &urls[..]].concat(), &["DATABASE_URL=redis://:canary-token-6@host/1"]));
    for number in [1, 2, 3, 5, 6] {
        let said = format!("<canary-token-{number}>");
        assert_eq!(redactor.text(&said), "<[redacted]>", "{said}");
    }
    assert_eq!(redactor.text("canary/token-4 at host"), "[redacted] at host");

    let headers = [("Authorization", "Basic bWU6Y2FuYXJ5LXRva2Vu"), ("Accept", "application/json"), ("X", "canary-x")];
    let headers = headers.map(|(name, value)| (name.to_owned(), Secret::new(value.to_owned())));
    let transport =
        McpTransportEntry::Http { url: "https://x/mcp?k=0123456789abcdef".to_owned(), headers: headers.into() };
    let redactor = secrets(&McpServerConfigEntry::new("s".parse().unwrap(), transport));
    let said = "canary-token, bWU6Y2FuYXJ5LXRva2Vu, canary-x, 0123456789abcdef, application/json";
    assert_eq!(redactor.text(said), "[redacted], [redacted], [redacted], [redacted], application/json");
}

#[test]
fn whatever_was_given_is_a_secret_unless_its_name_or_its_shape_is_harmless() {
    let given = [
        "GITHUB_PAT=canary-pat-one",
        "S_JWT=canary-jwt-one",
        "S_CRED=canary-cred",
        "S_PWD=canary-pwd",
        "S_SIGNING=canary-sign",
        "S_SALT=canary-salt",
        "S_OPTION=canary4711option",
        "HOOK=https://hooks.example.org/services/T0/canary4711hook",
        "REGION=us-east-1",
        "LOG_LEVEL=information",
        "ROOT=/usr/share/canary",
        "COUNT=12345678",
        "BASE=https://api.example.org/v1",
    ];
    let redactor = secrets(&program(&["-e", "X_OPTION=canary4711arg"], &given));
    for secret in [
        "canary-pat-one",
        "canary-jwt-one",
        "canary-cred",
        "canary-pwd",
        "canary-sign",
        "canary-salt",
        "canary4711option",
        "canary4711hook",
        "canary4711arg",
    ] {
        assert_eq!(redactor.text(secret), "[redacted]", "{secret}");
    }
    let harmless = "us-east-1 information /usr/share/canary 12345678 https://api.example.org/v1 https://hooks.example.org/services/T0/";
    assert_eq!(redactor.text(harmless), harmless);
}

#[test]
fn a_variable_whose_name_says_so_is_a_secret_wherever_it_goes_and_words_and_paths_are_none() {
    let redactor = secrets(&program(&["${PATH}"], &["PGPASSWORD=postgres", "ROOT=/srv/data/files"]));
    assert_eq!(redactor.text("postgres://host in /srv/data/files"), "postgres://host in /srv/data/files");
}
