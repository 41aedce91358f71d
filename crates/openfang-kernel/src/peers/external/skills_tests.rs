//! The names of skills as tools.

use super::*;

#[test]
fn a_name_is_plain_where_it_can_be_and_ends_with_a_hash_elsewhere() {
    let agent: AgentName = "far-away".parse().unwrap();
    let name = |skill: &str| tool_name(&agent, skill, 30).map(|name| name.to_string()).unwrap();

    assert_eq!(name("add_numbers"), "a2a_far_away_add_numbers");
    assert_eq!(name("Add-Numbers"), "a2a_far_away_add_numbers");
    for skill in ["a skill with a long name of its own", "füße", "a/b", "../x", ""] {
        let name = name(skill);
        assert!(name.len() <= 30 && name.starts_with("a2a_far_away_"), "{skill}: {name}");
    }
    assert_ne!(name("a/b"), name("a.b"));
}
