//! Tokens of imported entries become references; everything else stays.

use std::collections::BTreeMap;

use super::*;

fn entry(transport: McpTransportEntry, env: &[&str]) -> McpServerConfigEntry {
    let env = env.iter().map(|text| EnvEntry::new((*text).to_owned())).collect();
    McpServerConfigEntry { env, ..McpServerConfigEntry::new("gh".parse().unwrap(), transport) }
}

fn shown(taken: &[(SecretName, Secret)]) -> Vec<(&str, &str)> {
    taken.iter().map(|(name, value)| (name.as_str(), value.expose())).collect()
}

#[test]
fn tokens_of_variables_become_references_and_the_rest_stays() {
    let transport = McpTransportEntry::Stdio { command: "x".to_owned(), args: Vec::new() };
    let variables =
        ["GITHUB_TOKEN=ghp-0123456789", "PASSED_TOKEN", "API_KEY=${OTHER}", "LOG_LEVEL=debugging", "PIN_TOKEN=123"];
    let mut entry = entry(transport, &variables);

    let taken = take_tokens(&mut entry);

    assert_eq!(shown(&taken), [("gh.GITHUB_TOKEN", "ghp-0123456789")]);
    let left: Vec<&str> = entry.env.iter().map(EnvEntry::expose).collect();
    assert_eq!(left[0], "GITHUB_TOKEN=${secret:gh.GITHUB_TOKEN}");
    assert_eq!(left[1..], variables[1..]);
}

#[test]
fn tokens_of_headers_keep_their_scheme() {
    let headers =
        [("Authorization", "Bearer tok-0123456789"), ("Accept", "application/json"), ("X-Api-Key", "key-0123456789")];
    let headers: BTreeMap<String, Secret> = headers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), Secret::new(value.to_owned())))
        .collect();
    let mut entry = entry(McpTransportEntry::Http { url: "https://x.example/mcp".to_owned(), headers }, &[]);

    let taken = take_tokens(&mut entry);

    assert_eq!(shown(&taken), [("gh.Authorization", "tok-0123456789"), ("gh.X-Api-Key", "key-0123456789")]);
    let McpTransportEntry::Http { headers, .. } = &entry.transport else { unreachable!() };
    assert_eq!(headers["Authorization"].expose(), "Bearer ${secret:gh.Authorization}");
    assert_eq!(headers["Accept"].expose(), "application/json");
}
