//! The source of manual pages.

use super::*;

#[test]
fn every_command_has_a_page_with_its_options_and_an_example() {
    let mut command = Args::command();
    command.build();
    let mut pages = Vec::new();
    gather(&command, "openfang", "2026-11-18", &mut pages);

    let page = |name: &str| &pages.iter().find(|(held, _)| held == name).unwrap().1;
    assert!(page("openfang").contains(".SH COMMANDS"));
    let add = page("openfang-mcp-add");
    assert!(add.starts_with(".TH \"OPENFANG-MCP-ADD\" \"1\""), "{add}");
    assert!(add.contains("\\fB\\-\\-url\\fR \\fIURL\\fR"), "{add}");
    assert!(add.contains(".SH EXAMPLES\n.nf\nExamples:\n  openfang mcp add files \\-\\- npx"), "{add}");
    for (name, page) in &pages {
        assert!(page.lines().all(|line| !line.starts_with('\'')), "{name}");
        assert!(page.contains(".SH DESCRIPTION"), "{name}");
    }
}

#[test]
fn a_line_that_begins_like_a_request_is_none() {
    assert_eq!(lines(".mcp.json\n'x"), "\\&.mcp.json\n\\&'x");
    assert_eq!(text("a\\b-c"), "a\\eb\\-c");
}
