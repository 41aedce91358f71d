//! The right tool is found, among several hundred and among ten thousand.

use super::*;

const CATALOGUE: &str = include_str!("tool_index_tests/catalogue.txt");
/// Written before there was an index, and not changed for it.
const QUERIES: &str = include_str!("tool_index_tests/queries.txt");

fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.map(|line| line.split('|').map(str::trim).collect())
}

fn catalogue() -> Vec<ToolWords> {
    let tools = rows(CATALOGUE).map(|row| ToolWords {
        name: row[0].to_owned(),
        description: row[1].to_owned(),
        parameters: row[2].split(',').map(|name| name.trim().to_owned()).collect(),
    });
    tools.collect()
}

/// How many of the queries find their tool among the first five, and which do not.
fn found(index: &ToolIndex) -> (usize, Vec<String>) {
    let mut missed = Vec::new();
    let mut hits = 0;
    for row in rows(QUERIES) {
        let first: Vec<&str> = index.ranked(row[0], &[]).into_iter().take(5).collect();
        if first.contains(&row[1]) {
            hits += 1;
        } else {
            missed.push(format!("{:?} wants {}, found {first:?}", row[0], row[1]));
        }
    }
    (hits, missed)
}

#[test]
fn nine_in_ten_queries_find_their_tool_in_the_first_search() {
    assert!(catalogue().len() > 300);
    assert_eq!(rows(QUERIES).count(), 200);

    let (hits, missed) = found(&ToolIndex::of(catalogue()));

    assert!(hits >= 180, "{hits} of 200: {missed:#?}");
}

#[test]
fn among_ten_thousand_tools_the_right_one_is_still_found() {
    let more = (0..10_000 - catalogue().len()).map(|number| ToolWords {
        name: format!("mcp_warehouse{}_report_{number}", number % 40),
        description: format!("Report number {number} about the shelves of a warehouse, by day and by product"),
        parameters: vec!["from".to_owned(), "to".to_owned()],
    });
    let index = ToolIndex::of(catalogue().into_iter().chain(more));
    assert_eq!(index.len(), 10_000);

    let (hits, missed) = found(&index);

    assert!(hits >= 180, "{hits} of 200: {missed:#?}");
}

#[test]
fn a_tool_is_found_by_its_exact_name_its_parameters_and_words_with_other_endings() {
    let index = ToolIndex::of(catalogue());
    let first = |query: &str| index.ranked(query, &[]).first().map(|name| (*name).to_owned());

    assert_eq!(first("mcp_time_convert_time").as_deref(), Some("mcp_time_convert_time"));
    assert_eq!(first("pull_number merge_method").as_deref(), Some("mcp_github_merge_pull_request"));
    assert_eq!(first("creating gists").as_deref(), Some("mcp_github_create_gist"));
    assert_eq!(first("createGist").as_deref(), Some("mcp_github_create_gist"));
}

#[test]
fn a_query_without_a_word_of_any_tool_finds_nothing() {
    let index = ToolIndex::of(catalogue());
    for query in ["", " \u{0}\u{202e}", "the of and", "xyzzy", "\u{1f980}", &"x".repeat(1_000_000)] {
        assert_eq!(index.ranked(query, &[]), [""; 0], "{:.20}", query);
    }
    assert!(ToolIndex::default().is_empty() && ToolIndex::default().ranked("anything", &[]).is_empty());
}

#[test]
fn tools_beside_the_index_are_ranked_among_those_in_it() {
    let index = ToolIndex::of(catalogue());
    let agent = ToolWords {
        name: "openfang_agent_poet".to_owned(),
        description: "Writes sonnets about anything".to_owned(),
        parameters: vec!["message".to_owned()],
    };

    let found = index.ranked("write a sonnet", std::slice::from_ref(&agent));

    assert_eq!(found[0], "openfang_agent_poet");
    assert!(found.len() > 1 && !index.ranked("get weather", &[agent]).iter().take(3).any(|name| name.contains("poet")));
}
