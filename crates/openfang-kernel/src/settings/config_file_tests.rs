//! Broken configurations, and what is said about them.

use openfang_types::config::{A2aConfig, EgressConfig, EventsConfig, ExternalAgent, McpServerConfigEntry};

use super::*;

fn fault_of(text: &str) -> String {
    merge(Path::new("config.toml"), text, &[]).unwrap_err().to_string()
}

#[test]
fn a_broken_file_is_refused_with_file_line_key_and_nearest_key() {
    let rows = [
        ("\napi_listn = \"x\"", "config.toml:2: api_listn: unknown key; did you mean api_listen?"),
        ("[limits]\nbody_byte = 1", "config.toml:2: limits.body_byte: unknown key; did you mean body_bytes?"),
        ("[limit]\nbody_bytes = 1", "config.toml:1: limit: unknown key; did you mean limits?"),
        ("api_listen = 50051", "config.toml:1: api_listen: invalid type: integer `50051`, expected a string"),
        ("api_listen = \"localhost\"", "config.toml:1: api_listen: \"localhost\" is not a listen address"),
        ("public_url = \"example.org\"", "config.toml:1: public_url: must be an http or https URL"),
        (
            "\n\n[limits]\ntool_timeout_secs = -1",
            "config.toml:4: limits.tool_timeout_secs: invalid value: integer `-1`",
        ),
        ("[limits]\n\nbody_bytes = 0", "config.toml:3: limits.body_bytes: must be at least 1"),
        ("[log]\nlevel = \"loud\"", "config.toml:2: log.level: unknown variant `loud`, expected one of `error`"),
        ("[pii]\npatterns = [\"(\"]", "config.toml:2: pii.patterns: \"(\" is not a regular expression"),
        ("[loop_guard]\nblock_identical = 2", "config.toml:2: loop_guard.block_identical: must be larger"),
        ("api_key = \"a b\"", "config.toml:1: api_key: must be visible ASCII"),
        ("api_listen = \"127.0.0.1:1\"\napi_listen = \"127.0.0.1:2\"", "config.toml:2: duplicate key"),
        ("\n\napi_key = [", "config.toml:3: "),
        (
            "[[mcp_servers]]\nname = \"a\"\ntransport = { type = \"stdio\", command = \"x\" }\n\n[[mcp_servers]]\nnmae = \"b\"",
            "config.toml:6: mcp_servers[1].nmae: unknown key; did you mean name?",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\n[mcp_servers.transport]\ntype = \"stdio\"\ncomand = \"x\"",
            "config.toml:5: mcp_servers[0].transport.comand: unknown key; did you mean command?",
        ),
        (
            "[[mcp_servers]]\nname = \"a\"\n[mcp_servers.transport]\ntype = \"http\"\nurl = \"ftp://x\"",
            "config.toml:5: mcp_servers[0].transport.url: must begin with http:// or https://",
        ),
        (
            "[[mcp_servers]]\nname = \"a b\"\n[mcp_servers.transport]\ntype = \"stdio\"\ncommand = \"x\"",
            "config.toml:2: mcp_servers[0].name: \"a b\" is not a server name",
        ),
    ];
    for (text, expected) in rows {
        let said = fault_of(text);
        assert!(said.starts_with(expected), "{text:?}\n  said     {said}\n  expected {expected}");
    }
}

#[test]
fn every_unknown_key_is_named_at_once() {
    let said = fault_of("apikey = 1\n[limits]\nfoo = 2\n[log]\nlevle = \"info\"");

    assert_eq!(said.lines().count(), 3, "{said}");
}

#[test]
fn a_secret_is_not_quoted_by_any_error() {
    for text in ["api_key = 4711", "api_key = \"canary", "api_key = \"canary\u{7}x\"", "api_key = \"canary x\""] {
        let said = fault_of(text);
        assert!(!said.contains("canary") && !said.contains("4711"), "{said}");
    }
}

#[test]
fn the_environment_overlays_the_file_and_flags_overlay_both() {
    let variable = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let mut overlays = overlays_of(
        [
            variable("OPENFANG_API_LISTEN", "127.0.0.1:2"),
            variable("OPENFANG_LIMITS__BODY_BYTES", "77"),
            variable("OPENFANG_ALLOWED_HOSTS", "[\"a\", \"b\"]"),
            variable("OPENFANG_LOG__LEVEL", "debug"),
            variable("OPENFANG_HOME", "/elsewhere"),
            variable("PATH", "/bin"),
        ]
        .into_iter(),
    );
    overlays.push(Overlay {
        place: ValueSource::Flag("--listen".into()),
        key: "api_listen".into(),
        value: "127.0.0.1:3".into(),
    });

    let config = merge(Path::new("c"), "api_listen = \"127.0.0.1:1\"\n[limits]\nheaders = 9", &overlays).unwrap();

    assert_eq!(config.api_listen.port(), 3);
    assert_eq!((config.limits.body_bytes, config.limits.headers), (77, 9));
    assert_eq!(config.allowed_hosts, ["a", "b"]);
    assert_eq!(config.log.level, openfang_types::config::LogLevel::Debug);
}

#[test]
fn a_fault_in_an_overlay_names_the_variable() {
    let said = |name: &str, value: &str| {
        let overlays = overlays_of([(name.to_owned(), value.to_owned())].into_iter());
        merge(Path::new("c"), "", &overlays).unwrap_err().to_string()
    };

    let unknown = said("OPENFANG_API_KEYS", "x");
    assert_eq!(unknown, "environment variable OPENFANG_API_KEYS: api_keys: unknown key; did you mean api_key?");
    let zero = said("OPENFANG_LIMITS__HEADERS", "0");
    assert!(zero.starts_with("environment variable OPENFANG_LIMITS__HEADERS: limits.headers: must be"), "{zero}");
    assert!(said("OPENFANG_LIMITS__HEADERS", "many").contains("is not a valid value"));
}

#[test]
fn the_example_file_holds_every_key_at_its_default() {
    let text = include_str!("../../../../config.example.toml");
    let enabled: String = text
        .lines()
        .map(|line| line.strip_prefix("#: ").unwrap_or(line))
        .collect::<Vec<_>>()
        .join("\n");

    let example = merge(Path::new("config.example.toml"), &enabled, &[]).unwrap();
    let [server] = example.mcp_servers.as_slice() else { panic!("the example has one server") };
    let usual = McpServerConfigEntry::new(server.name.clone(), server.transport.clone());
    let (env, cwd, tools) = (server.env.clone(), server.cwd.clone(), server.tools.clone());
    let sandbox = server.sandbox.clone();
    assert_eq!(*server, McpServerConfigEntry { env, cwd, tools, sandbox, ..usual });
    let [agent] = example.a2a.external_agents.as_slice() else { panic!("the example has one external agent") };
    let usual = ExternalAgent {
        endpoint: agent.endpoint.clone(),
        headers: agent.headers.clone(),
        origins: agent.origins.clone(),
        description: agent.description.clone(),
        keys: agent.keys.clone(),
        ..ExternalAgent::new(agent.name.clone(), agent.url.clone())
    };
    assert_eq!(*agent, usual);
    let defaults = Config {
        api_key: example.api_key.clone(),
        public_url: example.public_url.clone(),
        default_agent: example.default_agent.clone(),
        a2a: A2aConfig {
            card_key: example.a2a.card_key.clone(),
            external_agents: example.a2a.external_agents.clone(),
            ..A2aConfig::default()
        },
        egress: EgressConfig {
            proxy: example.egress.proxy.clone(),
            no_proxy: example.egress.no_proxy.clone(),
            ..EgressConfig::default()
        },
        events: EventsConfig { hooks: example.events.hooks.clone(), ..EventsConfig::default() },
        mcp_servers: example.mcp_servers.clone(),
        profiles: example.profiles.clone(),
        providers: example.providers.clone(),
        models: example.models.clone(),
        ..Config::default()
    };
    assert_eq!(example, defaults);

    let written: toml::Table = toml::from_str(&enabled).unwrap();
    let schema = strict_toml::schema_of::<Config>();
    assert_eq!(missing_keys(&schema, &written, ""), Vec::<String>::new());
}

fn missing_keys(schema: &Schema, written: &toml::Table, path: &str) -> Vec<String> {
    let mut missing = Vec::new();
    for (key, below) in properties(schema).into_iter().flatten() {
        let full = format!("{path}{key}");
        match written.get(key) {
            None => missing.push(full),
            Some(toml::Value::Table(table)) => missing.extend(missing_keys(below, table, &format!("{full}."))),
            Some(toml::Value::Array(items)) => {
                let tables = items.iter().filter_map(toml::Value::as_table);
                missing.extend(tables.flat_map(|table| missing_keys(&below["items"], table, &format!("{full}."))));
            }
            Some(_) => {}
        }
    }
    missing
}

#[test]
fn the_key_of_the_cards_is_found_beside_the_file_from_everywhere() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.toml");
    let pem = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap().serialize_pem();
    std::fs::write(directory.path().join("card.pem"), pem).unwrap();
    std::fs::write(&path, "[a2a]\nenabled = true\ncard_key = \"card.pem\"\n").unwrap();

    let config = load(&path, &[]).unwrap();

    assert_eq!(config.a2a.card_key, Some(directory.path().join("card.pem")));
}
