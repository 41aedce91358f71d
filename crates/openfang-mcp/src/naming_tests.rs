//! Names in and out.

use super::*;

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
