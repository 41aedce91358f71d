//! A setting changes, and every other byte stays.

use super::*;

const TABLES: &str = "\
# all my servers
[[mcp_servers]]
name = \"files\" # mine
env = [\"TOKEN=hunter2\"]  # a token

# how it starts
[mcp_servers.transport]
type = \"stdio\"
command = \"x\"

[[mcp_servers]]
name = \"docs\"
transport = { type = \"http\", url = \"http://x\" }
";
const INLINE: &str =
    "mcp_servers = [\n  { name = \"files\", transport = { type = \"stdio\", command = \"x\" } }, # here\n]\n";

fn name(text: &str) -> ServerName {
    text.parse().unwrap()
}

fn selection(include: &[&str], exclude: &[&str]) -> ToolSelection {
    let patterns = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
    ToolSelection { include: patterns(include), exclude: patterns(exclude) }
}

fn enabled(enabled: bool) -> McpServerSettings {
    McpServerSettings { enabled: Some(enabled), ..McpServerSettings::default() }
}

fn tools(tools: ToolSelection) -> McpServerSettings {
    McpServerSettings { tools: Some(tools), ..McpServerSettings::default() }
}

#[test]
fn a_server_is_disabled_by_one_line_and_enabled_by_its_removal() {
    let disabled = set(TABLES, &name("files"), &enabled(false)).unwrap();
    let expected = TABLES.replace("# a token\n", "# a token\nenabled = false\n");

    assert_eq!(disabled, expected);
    assert_eq!(set(&disabled, &name("files"), &enabled(false)).unwrap(), expected);
    assert_eq!(set(&disabled, &name("files"), &enabled(true)).unwrap(), TABLES);
    assert_eq!(set(TABLES, &name("files"), &enabled(true)).unwrap(), TABLES);
}

#[test]
fn a_selection_is_written_changed_and_removed() {
    let written = set(TABLES, &name("files"), &tools(selection(&["read_*"], &["x"]))).unwrap();
    assert!(written.contains("\ntools = { include = [\"read_*\"], exclude = [\"x\"] }\n"), "{written}");

    let changed = set(&written, &name("files"), &tools(selection(&[], &["y"]))).unwrap();
    assert!(changed.contains("\ntools = { exclude = [\"y\"] }\n"), "{changed}");
    assert_eq!(set(&changed, &name("files"), &tools(ToolSelection::EVERYTHING)).unwrap(), TABLES);
}

#[test]
fn a_table_of_a_selection_stays_a_table() {
    let text = format!("{TABLES}\n[mcp_servers.tools]\n# only these\ninclude = [\"a\"] # for now\n");

    let edited = set(&text, &name("docs"), &tools(selection(&["b"], &[]))).unwrap();

    assert_eq!(edited, text.replace("[\"a\"]", "[\"b\"]"));
}

#[test]
fn an_entry_of_an_array_and_line_ends_stay_as_they_are() {
    let expected = INLINE.replace("\"x\" } }", "\"x\" }, enabled = false }");
    assert_eq!(set(INLINE, &name("files"), &enabled(false)).unwrap(), expected);
    assert_eq!(set(&expected, &name("files"), &enabled(true)).unwrap(), INLINE);

    let returns = TABLES.replace('\n', "\r\n");
    let disabled = set(&returns, &name("docs"), &enabled(false)).unwrap();
    assert_eq!(set(&disabled, &name("docs"), &enabled(true)).unwrap(), returns);
}

#[test]
fn an_unknown_server_is_named() {
    assert_eq!(set(TABLES, &name("nothing"), &enabled(false)), Err(EditError::Unknown(name("nothing"))));
    assert_eq!(set("", &name("files"), &enabled(false)), Err(EditError::Unknown(name("files"))));
}
