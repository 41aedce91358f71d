//! Which external agents are refused, and what an entry says about itself.

use super::*;

/// A change of an entry.
type Edit = fn(&mut ExternalAgent);

fn agent(name: &str) -> ExternalAgent {
    ExternalAgent::new(name.parse().unwrap(), "https://agents.example.org/research".to_owned())
}

fn problem_keys(agents: &[ExternalAgent]) -> Vec<String> {
    problems(agents).into_iter().map(|problem| problem.key).collect()
}

#[test]
fn an_entry_with_a_name_and_a_url_is_enough() {
    let written: ExternalAgent = toml_like("research", "https://agents.example.org/research");

    assert_eq!(written, agent("research"));
    assert!(problems(&[written, agent("data-analyst")]).is_empty());
}

fn toml_like(name: &str, url: &str) -> ExternalAgent {
    serde_json::from_value(serde_json::json!({ "name": name, "url": url })).unwrap()
}

#[test]
fn each_bad_value_is_named_with_its_key() {
    let with = |change: fn(&mut ExternalAgent)| {
        let mut changed = agent("research");
        change(&mut changed);
        problem_keys(&[agent("first"), changed])
    };

    let rows: [(Edit, &str); 9] = [
        (|agent| agent.name = "send".parse().unwrap(), "name"),
        (|agent| agent.name = "first".parse().unwrap(), "name"),
        (|agent| agent.url = "agents.example.org".to_owned(), "url"),
        (|agent| agent.endpoint = Some("/a2a".to_owned()), "endpoint"),
        (|agent| agent.origins = vec!["https://*".to_owned()], "origins"),
        (|agent| agent.timeout_secs = 0, "timeout_secs"),
        (|agent| agent.max_secs = 604_801, "max_secs"),
        (|agent| agent.max_live = 0, "max_live"),
        (
            |agent| {
                let _ = agent.headers.insert("A".to_owned(), Secret::new("${OPENFANG_API_KEY}".to_owned()));
            },
            "headers",
        ),
    ];
    for (change, key) in rows {
        assert_eq!(with(change), [format!("a2a.external_agents[1].{key}")]);
    }
}

#[test]
fn names_that_fold_to_one_tool_name_are_refused() {
    assert_eq!(agent("data-analyst").tool_name().as_str(), "a2a_data_analyst");
    assert_eq!(problem_keys(&[agent("a-b"), agent("a-b")]), ["a2a.external_agents[1].name"]);
}

#[test]
fn variables_are_seen_wherever_they_stand() {
    assert!(!agent("a").names_variables());
    for change in [
        |agent: &mut ExternalAgent| agent.url = "${URL}".to_owned(),
        |agent: &mut ExternalAgent| agent.endpoint = Some("https://x/${P}".to_owned()),
        |agent: &mut ExternalAgent| {
            let _ = agent.headers.insert("A".to_owned(), Secret::new("Bearer ${T}".to_owned()));
        },
    ] {
        let mut changed = agent("a");
        change(&mut changed);
        assert!(changed.names_variables());
    }
}

#[test]
fn protocols_are_written_as_their_versions() {
    for word in ["auto", "1.0", "0.3", "0.2", "0.1", "openfang"] {
        let read: A2aProtocol = serde_json::from_value(word.into()).unwrap();
        assert_eq!(serde_json::to_value(read).unwrap(), word);
    }
}
