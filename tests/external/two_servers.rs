//! Two servers, as an operator starts them, that point at each other over A2A and over MCP.

use crate::support::binary::{Daemon, Openfang};

/// A home whose agent passes every message to the other server, by this tool.
fn passing_to(tool: &str) -> Openfang {
    let home = Openfang::new();
    home.write("config.toml", "[a2a]\nenabled = true\n");
    let manifest = "name = \"passer\"\ndescription = \"Passes everything on.\"\n[model]\nprovider = \"script\"\n\
                    [capabilities]\ntools = [\"a2a_*\", \"mcp_*\"]\n";
    home.write("agents/passer/agent.toml", manifest);
    let step = format!("{{ tool = {{ name = \"{tool}\", arguments = {{ message = \"go\" }} }} }}");
    home.write("agents/passer/script.toml", &format!("[[rules]]\nsteps = [{step}]\n"));
    home
}

/// Runs a command that must succeed.
fn done(home: &Openfang, arguments: &[&str]) -> String {
    let ran = home.run(arguments);
    assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
    ran.stdout
}

/// Two running servers, each of which knows the other by this command.
fn circle(tool: &str, add: impl Fn(&Daemon) -> Vec<String>) -> [(Openfang, Daemon); 2] {
    let [one, two] = [passing_to(tool), passing_to(tool)].map(|home| {
        let daemon = home.start();
        (home, daemon)
    });
    for ((home, _), (_, other)) in [(&one, &two), (&two, &one)] {
        let arguments = add(other);
        done(home, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
    }
    [one, two]
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(ToString::to_string).collect()
}

/// The names of all tools.
fn tools(home: &Openfang) -> Vec<String> {
    let listed = home.run(&["tool", "list", "--json"]).json();
    let tools = listed["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap_or_default().to_owned()).collect()
}

fn assert_ends_at_the_limit(home: &Openfang) {
    let sent = home.run(&["agent", "send", "passer", "go", "--json"]);
    let said = format!("{}{}", sent.stdout, sent.stderr);
    assert!(said.contains("agents may call agents 4 deep"), "{said}");
    let listed = home.run(&["task", "list", "--json"]).json();
    let count = listed["tasks"].as_array().unwrap_or_else(|| panic!("{listed}")).len();
    // A server has six tasks of a chain that begins there, and four of one that begins at the other.
    assert!(count <= 10, "{count} tasks");
}

#[test]
fn a_circle_over_a2a_ends_at_the_hop_limit_with_the_reason() {
    let [(one, _first), (two, _second)] = circle("a2a_other", |other| {
        words(&["a2a", "add", "other", &format!("http://{}/a2a/agents/passer", other.address())])
    });

    let before = tools(&one);
    assert_ends_at_the_limit(&one);
    assert_ends_at_the_limit(&two);

    assert!(before.contains(&"a2a_other".to_owned()), "{before:?}");
    assert_eq!(tools(&one), before);
}

#[test]
fn a_circle_over_mcp_ends_at_the_hop_limit_and_lists_nothing_twice() {
    let [(one, _first), (two, _second)] = circle("mcp_other_openfang_agent_passer", |other| {
        words(&["mcp", "add", "other", "--url", &format!("http://{}/mcp", other.address())])
    });

    let before = [tools(&one), tools(&two)];
    for _ in 0..3 {
        done(&one, &["mcp", "restart", "other"]);
        done(&two, &["mcp", "restart", "other"]);
        done(&one, &["mcp", "test", "other"]);
    }
    assert_ends_at_the_limit(&one);

    let after = [tools(&one), tools(&two)];
    assert!(after[0].contains(&"mcp_other_openfang_agent_passer".to_owned()), "{after:?}");
    for names in &after {
        assert!(names.iter().all(|name| !name.starts_with("mcp_other_mcp_other")), "{names:?}");
    }
    assert_eq!(after[0].len(), before[0].len(), "the list does not grow");
}
