//! Which tools a selection lists.

use super::*;

fn patterns(texts: &[&str]) -> Vec<ToolPattern> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn a_selection_lists_what_it_includes_without_what_it_excludes() {
    let rows: [(&[&str], &[&str], &str, bool); 7] = [
        (&[], &[], "read", true),
        (&["read_*"], &[], "read_file", true),
        (&["read_*"], &[], "write_file", false),
        (&["read"], &[], "read_file", false),
        (&[], &["write_*"], "read_file", true),
        (&[], &["write_*"], "write_file", false),
        (&["*_file"], &["write_*"], "write_file", false),
    ];
    for (include, exclude, tool, expected) in rows {
        let selection = ToolSelection { include: patterns(include), exclude: patterns(exclude) };
        assert_eq!(selection.selects(tool), expected, "{selection:?} {tool}");
    }
}

#[test]
fn patterns_that_match_no_tool_are_found() {
    let selection = ToolSelection { include: patterns(&["read_*", "mcp_files_read"]), exclude: patterns(&["wirte_*"]) };

    let found: Vec<&str> = selection
        .without_effect(&["read_file", "write_file"])
        .into_iter()
        .map(ToolPattern::as_str)
        .collect();

    assert_eq!(found, ["mcp_files_read", "wirte_*"]);
}

#[test]
fn a_pattern_has_characters_and_no_control_characters() {
    assert!("get file/by.name:*".parse::<ToolPattern>().is_ok());
    for text in ["", "a\nb", &"x".repeat(MCP_TOOL_PATTERN_BYTES + 1)] {
        let error = text.parse::<ToolPattern>().unwrap_err().to_string();
        assert!(error.contains("with * for any characters"), "{error}");
    }
}
