//! `openfang mcp --server NAME`: one MCP server as it is, over standard input and output.

use serde_json::json;

use super::profiles::{Ide, everywhere, servers};
use crate::support::binary::Openfang;

#[test]
fn one_server_is_served_under_its_own_names_in_both_eras_with_a_daemon_and_without() {
    let openfang = Openfang::new();
    openfang.write("config.toml", &servers(&openfang));
    everywhere(&openfang, |is_modern| {
        let mut tools = Ide::open(&openfang, &["mcp", "--server", "box"], is_modern);
        assert_eq!(tools.list("tools/list", ("tools", "name"), "echo"), ["echo", "read_file"]);
        let said = tools.ask("tools/call", json!({"name": "echo", "arguments": {"text": "hello"}}));
        assert_eq!(said["result"]["content"][0]["text"], "hello", "{said}");

        let mut books = Ide::open(&openfang, &["mcp", "--server", "shelf"], is_modern);
        assert_eq!(books.list("prompts/list", ("prompts", "name"), "p"), ["p"]);
        assert_eq!(books.list("resources/list", ("resources", "uri"), "book://a"), ["book://a"]);
        let unknown = books.ask("tools/call", json!({"name": "mcp_box_echo", "arguments": {}}));
        assert_eq!(unknown["error"]["message"], "unknown tool: mcp_box_echo", "{unknown}");
    });
}

#[test]
fn a_server_that_is_unknown_or_disabled_ends_the_command_with_the_next_step() {
    let openfang = Openfang::new();
    openfang.write("config.toml", &servers(&openfang));
    let test = || {
        let unknown = openfang.run_with_input(&["mcp", "--server", "bx"], b"");
        assert!(unknown.code == 1 && unknown.stderr.contains("there is no MCP server bx"), "{unknown:?}");
        let disabled = openfang.run_with_input(&["mcp", "--server", "box"], b"");
        assert!(disabled.code == 1 && disabled.stderr.contains("openfang mcp enable NAME"), "{disabled:?}");
    };
    assert_eq!(openfang.run(&["mcp", "disable", "box"]).code, 0);
    test();
    let _daemon = openfang.start();
    test();
    let both = openfang.run_with_input(&["mcp", "--server", "box", "--tools"], b"");
    assert_eq!(both.code, 2, "{both:?}");
}
