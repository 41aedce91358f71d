//! Which agents a query finds, and in which order.

use super::*;

fn text() -> AgentText<'static> {
    AgentText {
        name: "translator",
        tags: vec!["Language"],
        skills: vec!["summarize", "Makes long texts short"],
        tools: vec!["mcp_dictionary_*"],
        description: "Speaks French and German",
    }
}

#[test]
fn every_word_must_occur_and_the_best_place_counts() {
    let rows = [
        ("transl", Some(MatchedField::Name)),
        ("LANGUAGE", Some(MatchedField::Tag)),
        ("short", Some(MatchedField::Skill)),
        ("dictionary", Some(MatchedField::Tool)),
        ("german", Some(MatchedField::Description)),
        ("german translator", Some(MatchedField::Name)),
        ("  french\t german ", Some(MatchedField::Description)),
        ("german chess", None),
        ("zebra", None),
    ];
    for (query, expected) in rows {
        assert_eq!(AgentQuery::of(query).unwrap().matched(&text()), expected, "{query}");
    }
}

#[test]
fn a_query_without_words_or_with_too_many_is_refused() {
    for (query, why) in [
        (String::new(), AgentQueryError::Empty),
        (" \n".to_owned(), AgentQueryError::Empty),
        ("a".repeat(1024 * 1024), AgentQueryError::TooLong),
        ("ä".repeat(AGENT_QUERY_MAX_CHARS + 1), AgentQueryError::TooLong),
        ("a ".repeat(AGENT_QUERY_WORDS + 1), AgentQueryError::TooLong),
    ] {
        assert_eq!(AgentQuery::of(&query), Err(why));
    }
}

#[test]
fn the_best_place_is_first_and_names_decide_between_equals() {
    let found = |name: &str, matched| FoundAgent {
        agent: AgentSummary { name: name.parse().unwrap(), description: String::new(), is_external: false },
        matched,
    };
    let mixed =
        vec![found("a", MatchedField::Description), found("c", MatchedField::Name), found("b", MatchedField::Name)];
    let names: Vec<String> = ranked(mixed).iter().map(|found| found.agent.name.to_string()).collect();
    assert_eq!(names, ["b", "c", "a"]);
}
