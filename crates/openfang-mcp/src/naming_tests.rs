//! Names in and out.

use super::*;

fn unique<'a>(tools: impl IntoIterator<Item = (&'a str, &'a str), IntoIter: Clone>) -> Vec<(String, bool)> {
    unique_names(tools, 48).collect()
}

#[test]
fn names_are_those_of_the_guide() {
    assert_eq!(format_mcp_tool_name("github", "create_issue"), "mcp_github_create_issue");
    assert_eq!(format_mcp_tool_name("my-server", "do_thing"), "mcp_my_server_do_thing");
    assert_eq!(format_agent_tool_name("code-reviewer"), "openfang_agent_code_reviewer");
}

#[test]
fn a_server_is_shown_by_its_first_segment() {
    assert_eq!(extract_mcp_server("mcp_github_create_issue"), Some("github"));
    assert_eq!(extract_mcp_server("file_read"), None);
    assert_eq!(extract_mcp_server("mcp_"), None);
    assert_eq!(extract_mcp_server("mcp__x"), None);
    assert!(is_mcp_tool("mcp_github_create_issue"));
    assert!(!is_mcp_tool("my_mcp_tool"));
}

#[test]
fn names_that_collide_or_are_too_long_get_a_hash_that_stays_the_same() {
    let tools = [
        ("github", "create_issue"),
        ("github", "create-issue"),
        ("github", "Create_Issue"),
        ("github_create", "issue"),
        ("files", "a/b:c"),
        ("files", "a_tool_with_a_name_that_goes_on_and_on_and_on_for_ever"),
        ("files", "a_tool_with_a_name_that_goes_on_and_on_and_on_for_evil"),
    ];
    let names = unique(tools);
    assert!(names.iter().all(|(_, is_hashed)| *is_hashed), "{names:?}");
    let distinct: std::collections::HashSet<_> = names.iter().map(|(name, _)| name).collect();
    assert_eq!(distinct.len(), names.len());
    for (name, _) in &names {
        assert!(name.len() <= 48 && name.starts_with("mcp_"), "{name}");
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{name}");
    }
    assert_eq!(names, unique(tools));
}

#[test]
fn a_name_with_a_space_is_listed_under_one_without() {
    let names = unique([("files", "slow tool")]);
    assert!(names[0].1 && names[0].0.starts_with("mcp_files_slow_tool_"), "{names:?}");
}

#[test]
fn two_tools_of_one_server_share_no_name_and_the_first_keeps_the_plain_one() {
    let names = unique([("github", "create_issue"), ("github", "create-issue")]);
    assert_eq!(names[0], ("mcp_github_create_issue".to_owned(), false));
    assert!(names[1].1 && names[1].0.starts_with("mcp_github_create_issue_"), "{names:?}");
}

#[test]
fn a_name_that_two_servers_would_have_belongs_to_neither() {
    let alone = unique([("github_create", "issue")]);
    assert_eq!(alone[0].0, "mcp_github_create_issue");
    let both = unique([("github", "create_issue"), ("github_create", "issue")]);
    assert!(both.iter().all(|(name, is_hashed)| *is_hashed && name != "mcp_github_create_issue"), "{both:?}");
}

#[test]
fn a_tool_that_is_called_as_another_ones_hashed_name_gets_a_name_of_its_own() {
    let first = unique([("s", "a"), ("s", "A")]);
    let hashed = first[1].0.strip_prefix("mcp_s_").unwrap().to_owned();
    for order in [vec![("s", "a"), ("s", "A"), ("s", &*hashed)], vec![("s", &*hashed), ("s", "a"), ("s", "A")]] {
        let names = unique(order);
        let distinct: HashSet<_> = names.iter().map(|(name, _)| name).collect();
        assert_eq!(
            (distinct.len(), names.iter().filter(|(_, is_hashed)| *is_hashed).count() > 0),
            (3, true),
            "{names:?}"
        );
    }
}
